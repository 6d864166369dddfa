"""Join order: which literal of a body comes next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from engine.plan.rule import GENERATORS, Absent, Compare, Compute, Fold, Literal, Match, Never, Operand, Record


class Sample(Protocol):
    """Some bindings of the variables of the atoms taken so far."""

    def fan_out(self, literal: Match) -> float | None:
        """The mean number of matches of an atom among them, or None if it is not known."""

    def take(self, literal: Literal) -> None:
        """Extend the bindings by a literal."""


class Sizes(Protocol):
    """What the planner knows of the data."""

    def rows(self, relation: str) -> float:
        """The number of rows of a relation."""

    def fan_out(self, relation: str, columns: tuple[int, ...]) -> float:
        """The expected number of rows with given values in the columns."""

    def sample(self, first: Match, is_delta: bool) -> Sample | None:
        """A sample of the bindings of a first atom, if there are enough to need one."""


def order(
    body: Sequence[Literal], first: Match | None, bound: Iterable[str], wanted: Iterable[Operand], sizes: Sizes
) -> list[Literal]:
    """Return the literals in an order in which each is evaluable, cheap by the expected number of rows.

    `first`, if given, comes first (the delta); else every positive atom is tried as the first. After it, the next atom
    is the one with the smallest fan-out; filters run as soon as they can, values that only the head needs come last.
    """
    matches = [literal for literal in body if isinstance(literal, Match)]
    starts = [first] if first is not None or not matches else matches
    if len(matches) <= 1:
        starts = [first]
    if len(matches) <= 2 and first is not None:
        return Search(body, set(bound), set(wanted), sizes, None).run(first)[1]
    plans = [
        Search(body, set(bound), set(wanted), sizes, start and sizes.sample(start, first is not None)).run(start)
        for start in starts
    ]
    return min(plans, key=lambda plan: plan[0])[1]


class Search:
    """A greedy search: what is bound so far, what is left, and the rows expected."""

    def __init__(
        self, body: Sequence[Literal], bound: set[str], wanted: set[Operand], sizes: Sizes, sample: Sample | None
    ) -> None:
        self.left, self.bound, self.wanted, self.sizes, self.sample = list(body), bound, wanted, sizes, sample
        self.steps: list[Literal] = []
        self.first: Match | None = None
        self.rows, self.cost = 1.0, 0.0

    def run(self, first: Match | None) -> tuple[float, list[Literal]]:
        self.first = first
        if first is not None:
            self.take_ready(constants_only=True)
            self.match(first)
        self.take_ready()
        while matches := [literal for literal in self.left if isinstance(literal, Match)]:
            self.match(min(self.connected(matches), key=self.fan_out))
            self.take_ready()
        while self.left:
            literal = next((x for x in self.left if self.ready(x)), None)
            if literal is None:
                raise AssertionError(f"no literal can be evaluated next: {self.left}")
            self.take(literal)
        return self.cost, self.steps

    def connected(self, matches: list[Match]) -> list[Match]:
        """The atoms that share a bound term with what is there, if there is any: a cross product is the last resort."""
        return [x for x in matches if not x.terms or any(map(self.is_bound, x.terms))] or matches

    def match(self, literal: Match) -> None:
        self.rows *= self.fan_out(literal)
        self.cost += self.rows
        self.take(literal)

    def take(self, literal: Literal) -> None:
        if self.sample is not None and literal is not self.first:
            self.sample.take(literal)
        self.left.remove(literal)
        self.steps.append(literal)
        self.bound |= literal.variables

    def take_ready(self, constants_only: bool = False) -> None:
        """Take what can be evaluated now and pays: filters, cheap bindings, values that another literal needs."""
        while True:
            ready = [x for x in self.left if self.ready(x) and self.eager(x)]
            if constants_only:
                ready = [x for x in ready if isinstance(x, Compare) and x.op == "=" and len(x.variables) == 1]
            if not ready:
                return
            self.take(min(ready, key=expense))

    def is_bound(self, term: Operand | None) -> bool:
        return term is not None and (isinstance(term, int) or term in self.bound)

    def ready(self, literal: Literal) -> bool:
        match literal:
            case Match():
                return False
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
            case Never():
                return True

    def eager(self, literal: Literal) -> bool:
        """Whether a literal that is ready should not wait for the end."""
        if isinstance(literal, Compute) and literal.functor in GENERATORS:
            return not any(isinstance(x, Match) and literal.target in x.variables for x in self.left)
        if isinstance(literal, Compute | Fold) or (isinstance(literal, Record) and not self.is_bound(literal.target)):
            return self.is_bound(literal.target) or any(
                literal.target in x.variables for x in self.left if x is not literal
            )
        return True

    def fan_out(self, literal: Match) -> float:
        columns = tuple(i for i, term in enumerate(literal.terms) if self.is_bound(term))
        if self.sample is not None and literal is not self.first:
            measured = self.sample.fan_out(literal)
            if measured is not None:
                return measured
        if len(columns) == len(literal.terms):
            return 0.5
        if not columns:
            return max(1.0, self.sizes.rows(literal.relation))
        return max(0.01, self.sizes.fan_out(literal.relation, columns))


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
