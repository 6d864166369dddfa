"""Build the operators of a rule from its ordered literals, bound to arrangements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from engine.evaluation.bindings import Bindings
from engine.evaluation.body_aggregates import Aggregate
from engine.evaluation.body_aggregates import Fold as FoldOperator
from engine.evaluation.compile_atoms import Atoms
from engine.evaluation.compile_expressions import Unsatisfiable, Values
from engine.evaluation.multiway_join import Branch, Intersection
from engine.evaluation.operator_fusion import fused
from engine.evaluation.operators import Constant, Distinct, Filter, Insert, Join, Operator, Scan, Segment
from engine.evaluation.semi_join import SemiJoin
from engine.language.syntax import Atom
from engine.plan import rule as logical
from engine.plan.join_order import Step, order
from engine.plan.rule import Absent, Compare, Fold, Intersect, Match, Never, Operand, Ordered, Record, Rule, Some
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.relation import Relation

ROW = "@row"
"""Stands for the number of a row while its matches are looked at."""


@dataclass
class Plan:
    """A rule, or a semi-naive variant of one, ready to run over the rows of its first atom (or once, without one).

    `steps` is the ordered body; the operators of step i end before `operators[ends[i]]`.
    """

    source: Relation | None
    scan: Scan | None
    seed: Segment | None
    operators: tuple[Operator, ...]
    steps: tuple[Step, ...]
    ends: tuple[int, ...] = ()
    never: bool = False


def build(
    rule: Rule,
    bindings: Bindings,
    delta: int | None = None,
    recursive: frozenset[str] = frozenset(),
    advanced: frozenset[str] | None = None,
    steps: Sequence[Step] | None = None,
) -> Plan:
    """Plan a rule, by `steps` if its order is known; `delta` is the position of the atom that reads the delta.

    Atoms before that position read earlier iterations only if their relations are `advanced` with that of the delta, by
    default all that are `recursive`.
    """
    first = None if delta is None else rule.atom(delta)
    hint = hinted(rule, delta, recursive)
    if steps is None or hint:
        steps = order(rule.body, first, (), rule.head, bindings.sizes, hint)
    builder = Builder(rule.wide, bindings)
    if delta is not None:
        together = recursive if advanced is None else advanced
        earlier = (x for x in rule.body[:delta] if isinstance(x, Match) and x.relation in together)
        earlier = (x for x in earlier if not isinstance(bindings.relations[x.relation], AggregateRelation))
        builder.old = frozenset(map(id, earlier))
        builder.recursive = recursive
    builder.projected = projected(steps, rule.head)
    try:
        builder.steps([step.literal for step in steps], rule.head)
        builder.current()
        take = [builder.register_of(term) for term in rule.head]
        builder.operators.append(Insert(bindings.relations[rule.relation], take))
    except Unsatisfiable:
        return Plan(None, None, None, (), tuple(steps), never=True)
    return Plan(builder.source, builder.scan, builder.seed, fused(builder.operators), tuple(steps), tuple(builder.ends))


def hinted(rule: Rule, delta: int | None, recursive: frozenset[str]) -> Sequence[Match]:
    """The atoms of a rule in the order that its `.plan` has for this variant; nothing if it has none.

    Version 0 is that of a rule without recursion, or with the delta in its first recursive atom, version 1 with it in
    the second, and so on, as in Soufflé. A rule whose body was rewritten has other atoms: the hint is not for it.
    """
    if rule.clause is None or not rule.clause.plan:
        return ()
    atoms = [x for x in rule.body if isinstance(x, Match)]
    written = [x.relation for x in rule.clause.body if isinstance(x, Atom)]
    moving = [x for x in atoms if x.relation in recursive]
    version = 0 if delta is None else next(i for i, x in enumerate(moving) if x is rule.body[delta])
    positions = dict(rule.clause.plan).get(version, ())
    if [x.relation for x in atoms] != written or len(positions) != len(atoms):
        return ()
    return [atoms[position - 1] for position in positions]


def projected(steps: Sequence[Step], wanted: Iterable[Operand]) -> Ordered | None:
    """The literal behind which rows may be equal: the last one before the second atom, if the first loses columns."""
    atoms = [i for i, step in enumerate(steps) if isinstance(step.literal, Match | Intersect)]
    if len(atoms) < 2 or not isinstance(first := steps[atoms[0]].literal, Match):
        return None
    read = {v for step in steps[atoms[1] :] for v in step.literal.variables}.union(wanted)
    loses = any(term is None or (isinstance(term, str) and term not in read) for term in first.terms)
    return steps[atoms[1] - 1].literal if loses else None


class Builder(Atoms, Values):
    """Turns literals into operators, one after the other; `ends` counts the operators after each.

    Behind the literal `projected` rows that are equal are dropped.
    """

    projected: Ordered | None = None

    def steps(self, literals: Sequence[Ordered], wanted: Iterable[Operand]) -> None:
        self.ends: list[int] = []
        remaining = [set(wanted)]
        for literal in reversed(literals):
            remaining.append(remaining[-1] | literal.variables)
        for at, (literal, needed) in enumerate(zip(literals, reversed(remaining[:-1]), strict=True), 1):
            self.needed = needed
            self.filters = tuple(takewhile(lambda each: isinstance(each, Compare), literals[at:]))
            self.step(literal)
            if literal is self.projected:
                self.operators.append(Distinct(self.live()))
            self.ends.append(len(self.operators))
        self.needed = set(wanted)

    def step(self, literal: Ordered) -> None:
        match literal:
            case Match():
                self.match(literal)
            case Intersect():
                self.intersect(literal)
            case Some():
                self.some(literal)
            case Absent():
                self.absent(literal)
            case Compare():
                self.compare(literal)
            case logical.Compute():
                self.compute(literal)
            case Record():
                self.record(literal)
            case Fold():
                self.fold(literal)
            case Never():
                raise Unsatisfiable

    def intersect(self, literal: Intersect) -> None:
        """Let each of the atoms propose in a branch of its own, in which it comes first."""
        self.current()
        wanted, begin = self.needed, (self.env, self.segment, self.depth)
        operators, ends, deepest, branches = self.operators, self.ends, self.depth, []
        for first in literal.atoms:
            self.operators, (self.env, self.segment, self.depth) = [], (dict(begin[0]), *begin[1:])
            others = [atom for atom in literal.atoms if atom is not first]
            self.steps([first, *sorted(others, key=lambda atom: len(atom.variables - self.env.keys()))], wanted)
            at = next(i for i, operator in enumerate(self.operators) if isinstance(operator, Join))
            operators += self.operators[:at]  # They fill in constants.
            branches.append((self.operators[at], tuple(self.operators[at + 1 :]), self.env, self.segment.dtype))
            deepest = max(deepest, self.depth)
        self.operators, self.ends, self.needed, self.depth = operators, ends, wanted, deepest
        self.segment = self.new_segment()
        kept = [v for v, source in self.env.items() if v in wanted and not isinstance(source, Constant)]
        self.env = {v: source for v, source in self.env.items() if isinstance(source, Constant)}
        is_wide = any(dtype == np.int64 for *_, dtype in branches)
        self.env |= {v: self.segment.register(is_wide) for v in kept}
        found = [Branch(join, rest, tuple(env[v] for v in kept)) for join, rest, env, _ in branches]
        self.operators.append(Intersection(found, self.segment))

    def some(self, literal: Some) -> None:
        """Let rows pass that have a match in the atom which the filters, in chunks of their own, let pass."""
        self.current()
        wanted, operators, ends = self.needed, self.operators, self.ends
        number = self.env[ROW] = self.segment.register(False)
        outer = dict(self.env), self.segment
        self.operators = []
        self.steps(literal.parts, {ROW})
        at = next(i for i, operator in enumerate(self.operators) if isinstance(operator, Join))
        join, filters, found = self.operators[at], tuple(self.operators[at + 1 :]), self.env[ROW]
        self.operators, self.ends, self.needed = [*operators, *self.operators[:at]], ends, wanted
        self.env, self.segment = outer
        del self.env[ROW]
        self.operators.append(SemiJoin(join, filters, number, found, self.live()))

    def fold(self, literal: Fold) -> None:
        self.current()
        injected = sorted(literal.injected)
        inner = Builder(self.wide, self.bindings, self.depth)
        inner.segment = inner.seed = inner.new_segment()
        group = "@group"
        inner.env[group] = inner.segment.register(False)
        for variable in injected:
            inner.env[variable] = inner.new_register(variable)
        everything = {v for step in literal.body for v in step.variables} | {group}
        if literal.value is not None:
            everything.add(literal.value)
        steps = [step.literal for step in order(literal.body, None, injected, everything, self.bindings.sizes)]
        outer = [self.register_of(v) for v in injected]
        register = self.new_register(literal.target)
        bound = self.env.get(literal.target)
        live = self.live(register, register if bound is None else bound)
        try:
            inner.steps(steps, everything)
            value = 0 if literal.value is None else inner.register_of(literal.value)
            known = (group, *sorted(named(literal))) if has_wildcards(literal) else ()
            distinct_on = [inner.register_of(v) for v in known]
        except Unsatisfiable:
            inner.operators, value, distinct_on = [Filter(never, (0,), [])], 0, []
        self.depth = inner.depth
        self.operators.append(
            FoldOperator(
                Aggregate(literal.aggregate, literal.kind, self.bindings.functors),
                np.array(outer, np.int64),
                inner.seed,
                inner.operators,
                inner.env[group],
                value,
                register,
                np.array(live, np.int64),
                np.array(distinct_on, np.int64),
            )
        )
        if bound is None:
            self.env[literal.target] = register
        else:
            self.filter(self.bindings.functors.predicate("=", "number"), (bound, register))


def has_wildcards(literal: Fold) -> bool:
    """Return True if bindings may have several matches that differ in what has no name."""
    return any(
        None in (part.terms if isinstance(part, Match) else part.fields)
        for part in literal.body
        if isinstance(part, Match | Record)
    )


def named(literal: Fold) -> set[str]:
    """The variables of an aggregate's body that the program names."""
    return {v for part in literal.body for v in part.variables if not v.startswith("#")}


def never(values: np.ndarray) -> np.ndarray:
    """The predicate that holds nowhere."""
    return np.zeros(len(values), np.bool_)
