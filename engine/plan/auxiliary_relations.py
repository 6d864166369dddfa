"""Auxiliary relations: the join of some literals of a rule, projected on the variables that the rest of it reads.

That is exact for sets of rows: an auxiliary relation is read in the stead of what it joins. Rules that join the same
atoms in the same way, up to the names of variables, share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from engine.plan.rule import Absent, Compare, FlatAtom, Literal, Match, Operand, Rule

MOST_REORDERED = 4
"""Joins of up to so many atoms are recognised in whatever order they are written."""


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A made-up relation: its columns are variables of the rule it was made for; `wide` if any needs 64 bits."""

    name: str
    arity: int
    wide: bool


Form = tuple[Any, ...]
"""The canonical form of a join: equal for joins that differ in names of variables and the order of atoms alone."""


class Auxiliaries:
    """The auxiliary relations of a component. `wide` says of each relation whether its columns have 64 bits."""

    def __init__(self, wide: Mapping[str, bool]) -> None:
        self.wide = dict(wide)
        self.made: list[Auxiliary] = []
        self._shared: dict[Form, tuple[str, tuple[int, ...]]] = {}

    def copy(self) -> Auxiliaries:
        """The same, to make further ones apart."""
        other = Auxiliaries(self.wide)
        other.made, other._shared = list(self.made), dict(self._shared)
        return other

    def cut(self, rule: Rule, parts: Sequence[Literal]) -> tuple[Rule | None, Rule]:
        """Return the rule of an auxiliary relation that joins `parts`, and the rule that reads it in their stead.

        The first is None if there is such a relation already.
        """
        rest = [x for x in rule.body if x not in parts]
        head = wanted(parts, rest, rule.head)
        key, variables = canonical(parts, head)
        first = None
        if key not in self._shared:
            name = f"{rule.relation}&{len(self.made)}"
            self._shared[key] = name, tuple(map(variables.index, head))
            place = rule.text.partition(" ")[2]
            first = replace(rule, relation=name, head=head, body=tuple(parts), text=f"{name} {place}", clause=None)
            self._enter(first)
        name, columns = self._shared[key]
        return first, replace(rule, body=(Match(name, tuple(variables[i] for i in columns)), *rest))

    def _enter(self, rule: Rule) -> None:
        unknown = any(self.wide[x.relation] for x in rule.body if isinstance(x, Match))
        self.wide[rule.relation] = any(rule.wide.get(v, unknown) for v in rule.head if isinstance(v, str))
        self.made.append(Auxiliary(rule.relation, len(rule.head), self.wide[rule.relation]))


def wanted(parts: Sequence[Literal], rest: Iterable[Literal], head: Iterable[Operand]) -> tuple[str, ...]:
    """The variables of the atoms among `parts` that the rest of the rule reads, in order of appearance."""
    read = set(head).union(*(x.variables for x in rest))
    atoms = (x for x in parts if isinstance(x, Match))
    return tuple(dict.fromkeys(t for x in atoms for t in x.terms if isinstance(t, str) and t in read))


def canonical(parts: Sequence[Literal], read: Iterable[str]) -> tuple[Form, list[str]]:
    """Return the canonical form of `parts`, independent of names of variables and order of atoms; and the variables.

    The variables come in an order that is the same for all parts of equal form.
    """
    atoms = [x for x in parts if isinstance(x, Match)]
    filters = [x for x in parts if not isinstance(x, Match)]
    orders = permutations(atoms) if len(atoms) <= MOST_REORDERED else [atoms]
    return min((form(order, filters, read) for order in orders), key=lambda found: found[0])


def form(atoms: Sequence[Match], filters: Sequence[Literal], read: Iterable[str]) -> tuple[Form, list[str]]:
    """The form of a join with the atoms in a given order: variables are numbered as they appear."""
    names = list(dict.fromkeys(t for x in atoms for t in x.terms if isinstance(t, str)))
    numbers = {name: i for i, name in enumerate(names)}
    joined = tuple(literal_form(x, numbers) for x in atoms)
    kept = tuple(sorted(literal_form(x, numbers) for x in filters))
    return (joined, kept, tuple(sorted(numbers[v] for v in read))), names


def literal_form(literal: Literal, numbers: Mapping[str, int]) -> tuple[str, tuple]:
    """An atom, a negated atom or a comparison, with numbers for variables."""

    def term(operand: Operand | None) -> tuple[str, int]:
        if isinstance(operand, str):
            return "variable", numbers[operand]
        return ("any", 0) if operand is None else ("constant", operand)

    match literal:
        case Compare():
            return f"{literal.op} {literal.kind}", (term(literal.left), term(literal.right))
        case Absent():
            return f"!{literal.relation}", tuple(map(term, literal.terms))
        case FlatAtom():
            return literal.relation, tuple(map(term, literal.terms))
    raise TypeError(f"no part of a sub-join: {literal}")
