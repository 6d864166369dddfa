"""Join order: which literal of a body comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Protocol

from engine.plan.rule import (
    GENERATORS,
    Absent,
    Compare,
    Compute,
    Fold,
    Intersect,
    Literal,
    Match,
    Never,
    Operand,
    Ordered,
    Record,
    Some,
)

PROBE = 0.5
"""The cost of counting an atom's matches for a row, relative to the cost of producing one."""
CHEAP = 1000.0
"""Once a plan is expected to produce so few rows no other is looked for: that would take longer."""


class Sample(Protocol):
    """Some bindings of the variables of the atoms taken so far."""

    def fan_out(self, literal: Match) -> float | None:
        """The mean number of matches of an atom among them, or None if it is not known."""

    def least_fan_out(self, atoms: Sequence[Match]) -> float | None:
        """The mean over them of the number of matches of that atom which has the fewest, or None."""

    def knows(self, term: Operand | None) -> bool:
        """Return True for a constant, and for a variable with values in the sample."""

    def take(self, literal: Ordered) -> None:
        """Extend the bindings by a literal."""


class Sizes(Protocol):
    """The planner's statistics of the data.

    Orders that are expected to cost fewer rows than `min_sampled` are chosen without samples, which take longer.
    """

    @property
    def min_sampled(self) -> float: ...

    def rows(self, relation: str) -> float:
        """The number of rows of a relation."""

    def fan_out(self, relation: str, columns: tuple[int, ...]) -> float:
        """The expected number of rows with given values in the columns."""

    def sample(self, first: Match, is_delta: bool) -> Sample | None:
        """A sample of the bindings of a first atom, if there is one."""


@dataclass(frozen=True, slots=True)
class Step:
    """A literal in its place: the columns of an atom that are bound then, and the rows expected after it.

    `fan_out` is the expected number of matches a row, `is_measured` whether a sample of bindings gave it.
    """

    literal: Ordered
    rows: float
    bound: tuple[int, ...] = ()
    fan_out: float = 1.0
    is_measured: bool = False


class Candidates(NamedTuple):
    """The expected rows of an atom for each row, at most one if one match is enough, and whether that was measured.

    One is enough if it passes the `filters` (see `Search.filters`).
    """

    rows: float
    is_measured: bool
    filters: tuple[Literal, ...] | None


def order(
    body: Sequence[Literal],
    first: Match | None,
    bound: Iterable[str],
    wanted: Iterable[Operand],
    sizes: Sizes,
    hint: Sequence[Match] = (),
) -> list[Step]:
    """Return the literals in an order in which each is evaluable, cheap by the expected number of rows.

    `first`, if given, comes first (the delta); else every positive atom is tried as the first. After it, the next atom
    is the one with the smallest fan-out; filters run as soon as they can, values that only the head needs come last.
    A `hint` holds all atoms in the order in which they are to come, but for `first`.
    """
    if hint:
        return Search(body, set(bound), set(wanted), sizes, None).follow(first or hint[0], hint)
    matches = [literal for literal in body if isinstance(literal, Match)]
    if len(matches) == len(body) == 1:
        alone = Search(body, set(bound), set(), sizes, None)
        alone.match(matches[0])
        return alone.steps
    starts = [first] if first is not None or not matches else [x for x in matches if x.terms] or matches
    if len(matches) <= 1:
        starts = [first]
    best, cost = cheapest(starts, lambda start: Search(body, set(bound), set(wanted), sizes, None), sizes)
    if cost < sizes.min_sampled or (len(matches) <= 2 and first is not None):
        return best

    def sampled(start: Match | None) -> Search:
        sample = None if start is None else sizes.sample(start, first is not None)
        return Search(body, set(bound), set(wanted), sizes, sample)

    return cheapest(starts, sampled, sizes)[0]


def cheapest(
    starts: Sequence[Match | None], search: Callable[[Match | None], Search], sizes: Sizes
) -> tuple[list[Step], float]:
    """Return the cheapest order that begins with one of the atoms, and its cost. Of equal ones the first counts."""
    sizes_of = [0.0 if start is None else sizes.rows(start.relation) for start in starts]
    best: list[Step] = []
    least, best_at = inf, len(starts)
    # Begun with the smallest relation, most others cost more before they end.
    for at in sorted(range(len(starts)), key=sizes_of.__getitem__):
        found = search(starts[at])
        steps = found.run(starts[at], least)
        if steps is not None and (found.cost, at) < (least, best_at):
            best, least, best_at = steps, found.cost, at
        if least <= CHEAP:
            break
    return best, least


class Search:
    """A greedy search: what is bound so far, what is left, and the rows expected."""

    def __init__(
        self, body: Sequence[Literal], bound: set[str], wanted: set[Operand], sizes: Sizes, sample: Sample | None
    ) -> None:
        self.atoms = [literal for literal in body if isinstance(literal, Match)]
        self.others: list[Literal] = [literal for literal in body if not isinstance(literal, Match)]
        self.bound, self.wanted, self.sizes, self.sample = bound, wanted, sizes, sample
        self.steps: list[Step] = []
        self.first: Match | None = None
        self.rows, self.cost = 1.0, 0.0
        self.joined = False

    def run(self, first: Match | None, most: float) -> list[Step] | None:
        """Return the literals in order, or None as soon as they cost more than `most`."""
        self.first = first
        if first is not None:
            self.take_ready(constants_only=True)
            self.match(first)
        self.take_ready()
        while self.atoms:
            if self.cost > most:
                return None
            matches = self.connected(self.atoms)
            least, together = self.intersection(matches)
            found = [self.candidates(literal) for literal in matches]
            at = min(range(len(found)), key=lambda at: found[at].rows)
            if together is not None and least + PROBE * len(together.atoms) < found[at].rows:
                self.intersect(together, least)
            else:
                self.match(matches[at], found[at])
            self.take_ready()
        return self.rest()

    def follow(self, first: Match, hint: Sequence[Match]) -> list[Step]:
        """Take the atoms in a given order."""
        self.first = first
        self.take_ready(constants_only=True)
        for literal in (first, *(x for x in hint if x is not first)):
            self.match(literal)
            self.take_ready()
        return self.rest()

    def rest(self) -> list[Step]:
        """Take what only the head needs, after all atoms."""
        while self.others:
            literal = next((x for x in self.others if self.ready(x)), None)
            if literal is None:
                raise AssertionError(f"no literal can be evaluated next: {self.others}")
            self.take(literal)
        return self.steps

    def connected(self, matches: list[Match]) -> list[Match]:
        """The atoms that share a bound term with what is there, if there is any: a cross product is the last resort."""
        return [x for x in matches if not x.terms or any(map(self.is_bound, x.terms))] or matches

    def intersection(self, matches: Sequence[Match]) -> tuple[float, Intersect | None]:
        """The atoms that are best taken together, if a sample tells, and the candidates a row that remain then.

        Taking the least of several proposals for each row keeps cyclic joins within the worst-case bound on the size of
        their result, which any order of joins of two can exceed (Ngo, Porat, Ré and Rudra, Worst-case optimal join
        algorithms, 2012; counting, proposing and intersecting is dogs^3 of Ammar, McSherry, Salihoglu and Joglekar,
        Distributed evaluation of subgraph queries, 2018).
        """
        found: tuple[float, Intersect | None] = (0.0, None)
        if self.sample is None or len(matches) < 2:
            return found
        for variable in {v for literal in matches for v in literal.variables - self.bound}:
            atoms = tuple(x for x in matches if variable in x.variables and any(map(self.is_bound, x.terms)))
            if not all(map(self.is_sampled, atoms)):
                continue
            wider = [x for x in atoms if x.variables - self.bound != {variable}]
            if len(atoms) < 2 or len(wider) > 1:
                continue
            least = self.sample.least_fan_out(atoms)
            if least is not None and (found[1] is None or least < found[0]):
                found = least, Intersect(variable, atoms)
        return found

    def intersect(self, together: Intersect, least: float) -> None:
        self.rows *= least
        self.cost += self.rows
        self.joined = True
        step = Step(together, self.rows, fan_out=least, is_measured=True)
        if self.sample is not None:
            self.sample.take(together)
        for atom in together.atoms:
            self.atoms.remove(atom)
        self.steps.append(step)
        self.bound |= together.variables

    def match(self, literal: Match, candidates: Candidates | None = None) -> None:
        fan_out, is_measured, found = candidates or self.candidates(literal)
        self.rows *= fan_out
        self.cost += self.rows
        columns = self.bound_columns(literal)
        self.joined = True
        fresh = [term for term in literal.terms if isinstance(term, str) and term not in self.bound]
        if not found and (found is None or len(fresh) == len({*fresh})):
            self.take(literal, Step(literal, self.rows, columns, fan_out, is_measured))
            return
        for each in found:
            self.others.remove(each)
        self.atoms.remove(literal)
        self.steps.append(Step(Some(literal, found), self.rows, columns, fan_out, is_measured))

    def candidates(self, literal: Match) -> Candidates:
        fan_out, is_measured = self.fan_out(literal)
        filters = self.filters(literal)
        return Candidates(fan_out if filters is None else min(1.0, fan_out), is_measured, filters)

    def filters(self, literal: Match) -> tuple[Literal, ...] | None:
        """The literals that read what only an atom binds, where one match that passes them is enough; else None.

        So it is if nothing that they or the atom bind is read by the head or another literal. The first atom of a body
        is what there is a match for.
        """
        forgotten = literal.variables - self.bound
        if literal is self.first or not self.joined or not forgotten.isdisjoint(self.wanted):
            return None
        if self.is_joined_by(forgotten, literal):
            return None
        found: list[Literal] = []
        while more := [x for x in self.others if x not in found and not x.variables.isdisjoint(forgotten)]:
            for other in more:
                if not isinstance(other, Compare | Absent | Compute | Record):
                    return None
                if isinstance(other, Compute) and other.functor in GENERATORS:
                    return None
                found.append(other)
                forgotten |= other.variables - self.bound
        if found and (self.is_joined_by(forgotten, literal) or not forgotten.isdisjoint(self.wanted)):
            return None
        return self.in_turn(literal, found)

    def is_joined_by(self, variables: Set[str], literal: Match) -> bool:
        """Return True if an atom besides a literal reads one of some variables."""
        return any(x is not literal and not x.variables.isdisjoint(variables) for x in self.atoms)

    def in_turn(self, literal: Match, filters: list[Literal]) -> tuple[Literal, ...] | None:
        """Filters in an order in which each can be evaluated behind an atom, or None if they need something else."""
        inner = Search(filters, self.bound | literal.variables, set(), self.sizes, None)
        inner.take_ready()
        while inner.others:
            ready = next((x for x in inner.others if inner.ready(x)), None)
            if ready is None:
                return None
            inner.take(ready)
        return tuple(taken for step in inner.steps if not isinstance(taken := step.literal, Intersect | Some))

    def take(self, literal: Literal, step: Step | None = None) -> None:
        if self.sample is not None and literal is not self.first:
            if isinstance(literal, Match) and not self.is_sampled(literal):
                self.sample = None
            else:
                self.sample.take(literal)
        if isinstance(literal, Match):
            self.atoms.remove(literal)
        else:
            self.others.remove(literal)
        self.steps.append(step or Step(literal, self.rows))
        self.bound |= literal.variables

    def take_ready(self, constants_only: bool = False) -> None:
        """Take what can be evaluated now and pays: filters, cheap bindings, values that another literal needs."""
        while self.others:
            ready = [x for x in self.others if self.ready(x) and self.eager(x)]
            if constants_only:
                ready = [x for x in ready if isinstance(x, Compare) and x.op == "=" and len(x.variables) == 1]
            if not ready:
                return
            self.take(min(ready, key=expense))

    def is_bound(self, term: Operand | None) -> bool:
        return term is not None and (isinstance(term, int) or term in self.bound)

    def ready(self, literal: Literal) -> bool:
        """Return True if a literal that is no atom can be evaluated."""
        match literal:
            case Compare(op="="):
                return self.is_bound(literal.left) or self.is_bound(literal.right)
            case Compare() | Absent():
                return literal.variables <= self.bound
            case Compute():
                return all(map(self.is_bound, literal.arguments))
            case Record():
                return self.is_bound(literal.target) or all(map(self.is_bound, literal.fields))
            case Fold():
                return literal.injected <= self.bound
            case _:
                return True

    def eager(self, literal: Literal) -> bool:
        """Return True if a literal that is ready should not wait for the end."""
        if isinstance(literal, Compute) and literal.functor in GENERATORS:
            return not any(literal.target in x.variables for x in self.atoms)
        if isinstance(literal, Compute | Fold) or (isinstance(literal, Record) and not self.is_bound(literal.target)):
            return self.is_bound(literal.target) or any(
                literal.target in x.variables for x in (*self.atoms, *self.others) if x is not literal
            )
        return True

    def is_sampled(self, literal: Match) -> bool:
        """Return True if the sample has values for all terms that are bound: without one it counts too many matches.

        Values that functors make, and fields of records, are not in it.
        """
        return self.sample is not None and all(self.sample.knows(term) for term in literal.terms if self.is_bound(term))

    def bound_columns(self, literal: Match) -> tuple[int, ...]:
        bound = self.bound
        return tuple([i for i, term in enumerate(literal.terms) if term in bound or isinstance(term, int)])

    def fan_out(self, literal: Match) -> tuple[float, bool]:
        """The expected number of matches a row, and whether it was measured on a sample."""
        columns = self.bound_columns(literal)
        if self.sample is not None and literal is not self.first and self.is_sampled(literal):
            measured = self.sample.fan_out(literal)
            if measured is not None:
                return measured, True
        if len(columns) == len(literal.terms):
            return 0.5, False
        if not columns:
            return max(1.0, self.sizes.rows(literal.relation)), False
        return max(0.01, self.sizes.fan_out(literal.relation, columns)), False


def expense(literal: Literal) -> int:
    """Rank what is ready: the cheaper and the more selective first."""
    match literal:
        case Never():
            return 0
        case Compare():
            return 1 if literal.op in ("=", "!=", "<", "<=", ">", ">=") and literal.kind != "symbol" else 4
        case Record():
            return 2
        case Absent():
            return 3
        case Compute():
            return 5
    return 6
