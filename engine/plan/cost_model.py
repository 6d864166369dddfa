"""Decides whether an auxiliary relation pays: the rows that a rule derives with and without it.

What it costs is known before, what it saves only if all sizes are. A rule that is not recursive is cut if that saves
rows whether keys are asked for evenly, or the more often, the more rows they have. Of a recursive rule one size is
open. It is cut if that saves rows where the recursion derives most of what it could, and costs little where it never
derives a row of the auxiliary relation twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf, prod
from typing import Protocol

from engine.plan.join_order import Sizes, Step, order
from engine.plan.rule import Absent, Compare, Compute, Literal, Match, Operand, Rule
from engine.plan.variable_elimination import Bucket, Expected

GAIN = 2.0
"""Minimum saving of a cut rule, as a factor of rows."""
LOSS = 1.5
"""Maximum cost of cutting a recursive rule, as a factor of its rows, if nothing is derived twice."""
INSERTION = 2.0
"""The cost of storing a new row, in rows derived."""
MIN_ROWS = 1 << 20
"""Rules that are expected to derive fewer rows are left alone."""

Assumed = Mapping[str, tuple[float, Sequence[float]]]
"""Relations that do not exist yet: their rows, and the number of distinct values of each column."""


class Domains(Sizes, Protocol):
    """The planner's statistics of the data, with numbers of distinct values."""

    def distinct(self, relation: str, column: int) -> float:
        """Return an upper bound of the number of distinct values in a column."""


class RowCostModel:
    """Eliminates what saves rows. `orders` has the order of each rule for which that was looked at."""

    def __init__(self, sizes: Domains) -> None:
        self.sizes = sizes
        self.orders: dict[Rule, Sequence[Step]] = {}
        self.known: dict[str, tuple[float, Sequence[float]]] = {}
        self.values: dict[str, float] = {}

    def choose(
        self, rule: Rule, possible: Sequence[Bucket], component: Collection[str]
    ) -> tuple[Bucket, Expected] | None:
        moving = [x for x in rule.body if isinstance(x, Match) and x.relation in component]
        first = moving[0] if moving else None
        possible = [bucket for bucket in possible if first is None or first in bucket.atoms]
        if len(moving) > 1 or not possible or self.most_rows(rule, first) < MIN_ROWS:
            return None
        if first is None and self.expected_rows(rule) < MIN_ROWS:
            return None
        values = self.values_of(rule, component)
        self.values |= values
        if first is None:
            return self.of_known_size(rule, possible, values)
        return self.of_open_size(rule, possible, first, values)

    def most_rows(self, rule: Rule, first: Match | None) -> float:
        """Return an upper bound of the rows that a rule derives in any order, if the size of `first` is open.

        It takes a fraction of the time of an order: a relation has no more values than rows.
        """
        atoms = [x for x in rule.body if isinstance(x, Match)]
        rows = {id(x): max(1.0, self.rows(x.relation)) for x in atoms if x is not first}
        if first is not None:
            holding = ([rows[id(x)] for x in atoms if x is not first and v in x.variables] for v in first.variables)
            rows[id(first)] = prod(min(sizes, default=1.0) for sizes in holding)
        return len(atoms) * prod(rows.values())

    def expected_rows(self, rule: Rule) -> float:
        """Return the rows that the joins of a rule that is not recursive are expected to derive as it stands."""
        if not self.known.keys().isdisjoint(rule.relations()):
            return inf
        steps = self.orders[rule] = order(rule.body, None, (), rule.head, self.sizes)
        return sum(step.rows for step in steps if not isinstance(step.literal, Absent | Compare | Compute))

    def rows(self, relation: str) -> float:
        return self.known[relation][0] if relation in self.known else self.sizes.rows(relation)

    def enter(self, atom: Match, bucket: Bucket) -> None:
        values = [self.values[t] for t in atom.terms if isinstance(t, str)]
        rows = UniformSizes(self.sizes, self.known).results(bucket.parts, None)
        self.known[atom.relation] = min(rows, prod(values)), values

    def of_known_size(
        self, rule: Rule, possible: Sequence[Bucket], values: Mapping[str, float]
    ) -> tuple[Bucket, Expected] | None:
        even, skewed = UniformSizes(self.sizes, self.known), SkewedSizes(self.sizes, self.known)
        without = even.derived(rule.body, None, rule.head)
        if without < MIN_ROWS:
            return None
        bucket = min(possible, key=lambda bucket: even.with_bucket(rule, bucket, None, values))
        rows = even.with_bucket(rule, bucket, None, values)
        saves = GAIN * rows <= without
        saves &= GAIN * skewed.with_bucket(rule, bucket, None, values) <= skewed.derived(rule.body, None, rule.head)
        return (bucket, Expected(without, rows)) if saves else None

    def of_open_size(
        self, rule: Rule, possible: Sequence[Bucket], first: Match, values: Mapping[str, float]
    ) -> tuple[Bucket, Expected] | None:
        """Decide for a rule in which the size of `first` is open.

        Dense, it holds all combinations of the values that the other atoms have for its variables. A variable that
        they do not read counts as one value: all rows are then those for each of its values.
        """
        terms = [values.get(t, 1.0) if isinstance(t, str) else 1.0 for t in first.terms]
        dense = UniformSizes(self.sizes, {**self.known, first.relation: (combinations(first.variables, values), terms)})
        without = dense.derived(rule.body, first, rule.head)
        if without < MIN_ROWS:
            return None
        bucket = min(possible, key=lambda bucket: dense.with_bucket(rule, bucket, first, values))
        rows = dense.with_bucket(rule, bucket, first, values)
        if GAIN * rows > without or dense.with_bucket(rule, bucket, first, {}) > LOSS * without:
            return None
        return bucket, Expected(without, rows, first.relation)

    def values_of(self, rule: Rule, component: Collection[str]) -> dict[str, float]:
        """Return the maximum number of values of each variable, by the atoms of known size."""
        values: dict[str, float] = {}
        for atom in rule.body:
            if isinstance(atom, Match) and atom.relation not in component:
                for column, term in enumerate(atom.terms):
                    if isinstance(term, str):
                        values[term] = min(self.distinct(atom.relation, column), values.get(term, inf))
        return values

    def distinct(self, relation: str, column: int) -> float:
        if relation in self.known:
            return self.known[relation][1][column]
        return max(1.0, self.sizes.distinct(relation, column))


def combinations(variables: Iterable[str], values: Mapping[str, float]) -> float:
    return prod(values.get(v, 1.0) for v in variables)


class UniformSizes:
    """Sizes in which all values of a column have equally many rows, in the form that `join_order` asks for."""

    min_sampled = inf

    def __init__(self, sizes: Domains, assumed: Assumed) -> None:
        self.sizes, self.assumed = sizes, dict(assumed)

    def derived(self, body: Sequence[Literal], first: Match | None, head: Iterable[Operand]) -> float:
        """The rows that all joins of a body derive."""
        return sum(step.rows for step in order(body, first, (), head, self) if isinstance(step.literal, Match))

    def results(self, body: Sequence[Literal], first: Match | None) -> float:
        """The rows that the last join of a body derives."""
        return order(body, first, (), {v for x in body for v in x.variables}, self)[-1].rows

    def with_bucket(self, rule: Rule, bucket: Bucket, first: Match | None, values: Mapping[str, float]) -> float:
        """The rows derived if a bucket is joined first, and stored.

        They are stored once if they agree on the variables that the rest reads, each of which has so many `values`; if
        these are not known all rows are taken to differ.
        """
        rest = [x for x in rule.body if x not in bucket.parts]
        read = set(rule.head).union(*(x.variables for x in rest))
        bound = {v for x in bucket.atoms for v in x.variables}
        terms = tuple(sorted(bound & read))
        atom = Match("&", terms)
        stored = self.results(bucket.parts, first)
        if values:
            stored = min(stored, combinations(atom.variables, values))
        self.assumed[atom.relation] = stored, [values.get(v, stored) for v in terms]
        again = self.derived((atom, *rest), None if first is None else atom, rule.head)
        return self.derived(bucket.parts, first, terms) + INSERTION * stored + again

    # ---- what `join_order` asks for

    def rows(self, relation: str) -> float:
        return self.assumed[relation][0] if relation in self.assumed else self.sizes.rows(relation)

    def fan_out(self, relation: str, columns: tuple[int, ...]) -> float:
        if relation in self.assumed:
            rows, values = self.assumed[relation]
            found = prod(values[c] for c in columns)
        else:
            rows, found = self.sizes.rows(relation), prod(self.sizes.distinct(relation, c) for c in columns)
        return rows / max(1.0, min(rows, found))

    def sample(self, first: Match, is_delta: bool) -> None:
        return None


class SkewedSizes(UniformSizes):
    """Sizes in which a key is asked for in proportion to its rows."""

    def fan_out(self, relation: str, columns: tuple[int, ...]) -> float:
        if relation in self.assumed:
            return super().fan_out(relation, columns)
        return self.sizes.fan_out(relation, columns)
