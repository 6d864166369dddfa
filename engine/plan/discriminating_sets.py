"""Discriminating sets by Read/Write Analysis: which columns decide the partition that a relation's tuples live in.

The sets of all relations of a component, and the columns by which its rules join, are chosen together so that the least
is sent (Yang, Shkapsky and Zaniolo, VLDB J. 2017; Condie et al., 2018, §7.3). The analysis' costs of locks become those
of messages: nothing for a worker that stays in its own partition, 1 for tuples that are sent to another (a write, or a
copy of the relation at a further port), 3 where a join could meet anywhere. A component of cost 0 is decomposable.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import prod
from types import MappingProxyType

from engine.plan.rule import Match, Rule

Columns = tuple[int, ...]
MAX_ASSIGNMENTS = 1 << 12
EVERY_SUBSET = 4
"""Up to this arity all subsets of the columns are tried; beyond it single columns, all columns and keys of joins."""

OWN, SEND, PROBE_ALL = 0, 1, 3
NOTHING: Mapping[str, Columns] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ExchangePort:
    """A place where tuples of a relation arrive: a partitioning by a hash of the columns `key`.

    Ports that differ in nothing but `copy` are different places.
    """

    relation: str
    key: Columns
    copy: int = 0


@dataclass(frozen=True, slots=True)
class Placement:
    """`owner_keys`: the discriminating set by relation. `joins`: the ports where each rule's recursive atoms arrive."""

    owner_keys: Mapping[str, Columns]
    joins: Sequence[tuple[ExchangePort, ...]]
    cost: int


def place(
    columns: Mapping[str, Sequence[int]], rules: Sequence[Rule], fixed: Mapping[str, Columns] = NOTHING
) -> Placement:
    """Return the placement of least cost; of several, one that spreads tuples by most columns.

    `columns` are those that may discriminate, by relation: all, or those that group an aggregated one. Each rule has at
    most two atoms of these relations; `fixed` are discriminating sets that are given. All assignments are tried if they
    are few, else one choice is improved at a time.
    """
    search = Search(columns, rules, fixed)
    if prod(len(options) for options in search.options) <= MAX_ASSIGNMENTS:
        best = min(map(list, product(*search.options)), key=search.cost)
    else:
        best = search.improve([options[0] for options in search.options])
    return search.placement(best)


class Search:
    """An assignment is a list: a discriminating set for each relation, then the ports of each rule's atoms."""

    def __init__(
        self, columns: Mapping[str, Sequence[int]], rules: Sequence[Rule], fixed: Mapping[str, Columns] = NOTHING
    ) -> None:
        self.names, self.rules = list(columns), list(rules)
        self.at = {name: i for i, name in enumerate(self.names)}
        self.atoms = [atoms_of(rule, columns) for rule in rules]
        joins = [list(join_ports(atoms, columns)) if len(atoms) == 2 else [()] for atoms in self.atoms]
        keys: dict[str, dict[Columns, None]] = {name: {} for name in columns}
        for port in chain.from_iterable(chain.from_iterable(joins)):
            keys[port.relation][port.key] = None
        owner_keys = [
            [fixed[name]]
            if name in fixed
            else list(dict.fromkeys((*subsets(columns[name]), *filter(None, keys[name]))))
            for name in columns
        ]
        self.options: list[list] = [*owner_keys, *joins]

    def cost(self, assignment: Sequence) -> tuple[int, int]:
        """The messages of an assignment and, to prefer sets that spread tuples, minus the columns of its sets."""
        owner_keys, ports = assignment[: len(self.names)], assignment[len(self.names) :]
        further = {port for pair in ports for port in pair if port.key != owner_keys[self.at[port.relation]]}
        total = sum(SEND if port.key else PROBE_ALL for port in further)
        for rule, atoms, pair in zip(self.rules, self.atoms, ports, strict=True):
            own_key = owner_keys[self.at[rule.relation]]
            for i, atom in enumerate(atoms):
                key = pair[i].key if pair else owner_keys[self.at[atom.relation]]
                stays = len(key) == len(own_key) and all(
                    atom.terms[a] is not None and atom.terms[a] == rule.head[b]
                    for a, b in zip(key, own_key, strict=True)
                )
                total += OWN if stays else SEND
        return total, -sum(map(len, owner_keys))

    def improve(self, assignment: list) -> list:
        """Change one choice after the other for the better, until no single change helps."""
        cost, before = self.cost(assignment), None
        while cost != before:
            before = cost
            for i, options in enumerate(self.options):
                for option in options:
                    changed = [*assignment[:i], option, *assignment[i + 1 :]]
                    if (cheaper := self.cost(changed)) < cost:
                        assignment, cost = changed, cheaper
        return assignment

    def placement(self, assignment: Sequence) -> Placement:
        owner_keys = dict(zip(self.names, assignment, strict=False))
        at_owners = owner_ports(self.rules, owner_keys)
        joins = [pair or ports for pair, ports in zip(assignment[len(owner_keys) :], at_owners, strict=True)]
        return Placement(owner_keys, joins, self.cost(assignment)[0])


def owner_ports(rules: Iterable[Rule], owner_keys: Mapping[str, Columns]) -> list[tuple[ExchangePort, ...]]:
    """The owners' ports of the atoms of each rule."""
    return [
        tuple(ExchangePort(x.relation, owner_keys[x.relation]) for x in atoms_of(rule, owner_keys)) for rule in rules
    ]


def atoms_of(rule: Rule, relations: Container[str]) -> list[Match]:
    return [x for x in rule.body if isinstance(x, Match) and x.relation in relations]


def join_ports(
    atoms: Sequence[Match], columns: Mapping[str, Sequence[int]]
) -> Iterator[tuple[ExchangePort, ExchangePort]]:
    """The ports at which two atoms can meet: by all variables they share or by one of them, else by nothing."""
    first, second = atoms
    shared = [v for v in dict.fromkeys(first.terms) if isinstance(v, str) and v in second.variables]
    usable = [v for v in shared if all(x.terms.index(v) in columns[x.relation] for x in atoms)]
    for variables in dict.fromkeys((tuple(usable), *((v,) for v in usable))):
        here, there = (ExchangePort(x.relation, tuple(x.terms.index(v) for v in variables)) for x in atoms)
        yield here, there


def subsets(columns: Sequence[int]) -> Iterable[Columns]:
    """The sets of columns to consider; of no columns only the empty one."""
    if len(columns) > EVERY_SUBSET:
        return [*((c,) for c in columns), tuple(columns)]
    return chain.from_iterable(combinations(columns, n) for n in range(min(1, len(columns)), len(columns) + 1))
