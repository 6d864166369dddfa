"""From the ordered literals of a rule to operators bound to arrangements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.local.aggregates import Aggregate
from engine.local.aggregates import Fold as FoldOperator
from engine.local.functors import Functors, generate_range
from engine.local.operators import (
    Compute,
    Constant,
    Construct,
    Contains,
    Destructure,
    Exists,
    Filter,
    Generate,
    Insert,
    Join,
    Operator,
    Scan,
    Segment,
    Source,
)
from engine.local.registers import Registers
from engine.plan import rule as logical
from engine.plan.order import Sizes, order
from engine.plan.rule import Absent, Compare, Fold, Literal, Match, Never, Operand, Record, Rule
from engine.storage.records import RecordTable
from engine.storage.relation import Relation

SELECTIVE = 2.0
"""A key with at most so many rows need not be told apart any further."""


@dataclass
class Bindings:
    """What plans are bound to."""

    relations: Mapping[str, Relation]
    records: Mapping[str, RecordTable]
    functors: Functors
    sizes: Sizes


@dataclass
class Plan:
    """A rule, or a semi-naive variant of one, ready to run over the rows of its first atom (or once, without one)."""

    source: Relation | None
    scan: Scan | None
    seed: Segment | None
    operators: tuple[Operator, ...]
    steps: tuple[Literal, ...]
    never: bool = False


class Unsatisfiable(Exception):
    """The rule derives nothing, whatever the data."""


def build(rule: Rule, bindings: Bindings, delta: int | None = None, recursive: frozenset[str] = frozenset()) -> Plan:
    """Plan a rule; `delta` is the position in its body of the atom that reads the delta.

    Atoms of relations in `recursive` before that position read earlier iterations only.
    """
    first = None if delta is None else rule.body[delta]
    steps = order(rule.body, first, (), rule.head, bindings.sizes)
    builder = Builder(rule.wide, bindings)
    if delta is not None:
        earlier = (x for x in rule.body[:delta] if isinstance(x, Match) and x.relation in recursive)
        builder.old = frozenset(map(id, earlier))
        builder.recursive = recursive
    try:
        builder.steps(steps, rule.head)
        take = [builder.register_of(term) for term in rule.head]
        builder.operators.append(Insert(bindings.relations[rule.relation], take))
    except Unsatisfiable:
        return Plan(None, None, None, (), tuple(steps), never=True)
    return Plan(builder.source, builder.scan, builder.seed, tuple(builder.operators), tuple(steps))


class Builder(Registers):
    """Turns literals into operators, one after the other.

    `old` are the ids of the atoms that read earlier iterations only, `recursive` the relations being evaluated.
    """

    def __init__(self, wide: Mapping[str, bool], bindings: Bindings, depth: int = 0) -> None:
        super().__init__(wide, depth)
        self.bindings = bindings
        self.source: Relation | None = None
        self.scan: Scan | None = None
        self.old: frozenset[int] = frozenset()
        self.recursive: frozenset[str] = frozenset()

    def steps(self, steps: Sequence[Literal], wanted: Iterable[Operand]) -> None:
        remaining = [set(wanted)]
        for literal in reversed(steps):
            remaining.append(remaining[-1] | literal.variables)
        for literal, needed in zip(steps, reversed(remaining[:-1]), strict=True):
            self.needed = needed
            self.step(literal)
        self.needed = set(wanted)

    def step(self, literal: Literal) -> None:
        match literal:
            case Match():
                self.match(literal)
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

    # ---- literals

    def match(self, literal: Match) -> None:
        relation = self.bindings.relations[literal.relation]
        fresh, repeated = self.new_variables(literal)
        if self.segment is None and not self.prefers_index(literal):
            self.begin_scan(literal, relation, fresh, repeated)
            return
        self.current()
        bound = tuple(c for c, term in enumerate(literal.terms) if term is not None and self.is_bound(term))
        key = self.index_columns(relation, bound)
        payload = {v: c for v, c in fresh.items() if v in self.needed or v in repeated}
        if payload or key != bound:
            checked = [(literal.terms[c], c) for c in bound if c not in key]
            self.join(literal, key, payload, [*checked, *((v, c) for v, cs in repeated.items() for c in cs)])
        else:
            registers = [self.register_of(literal.terms[c]) for c in key]
            self.exists(relation, key, registers, old=id(literal) in self.old, wanted=True)

    def join(
        self, literal: Match, key: Sequence[int], payload: Mapping[str, int], checked: Sequence[tuple[Operand, int]]
    ) -> None:
        """Join with an atom by some columns; keep the rows where each term of `checked` equals its column."""
        relation, old = self.bindings.relations[literal.relation], id(literal) in self.old
        arrangement = relation.arrangement(key, payload=True, old=old)
        registers = [self.register_of(literal.terms[c]) for c in key]
        after, self.needed = self.needed, self.needed | {term for term, _ in checked}
        segment, take = self.next_segment()
        for variable in payload:
            self.env[variable] = segment.register(self.is_wide(relation, variable))
        pairs = [(self.operand(term), segment.register(relation.dtype == np.int64)) for term, _ in checked]
        columns = [*payload.values(), *(column for _, column in checked)]
        self.operators.append(Join(arrangement, old, registers, segment, take, columns))
        self.needed = after
        self.check_equal(pairs)

    def index_columns(self, relation: Relation, bound: tuple[int, ...]) -> tuple[int, ...]:
        """The columns to look an atom up by: all that are bound, or a few that select almost as well.

        So one arrangement serves many atoms; the columns left out are compared afterwards.
        """
        if len(bound) < 2 or bound in relation.arrangements:
            return bound
        known = [key for key in relation.arrangements if set(key) < set(bound)]
        candidates = [*known, *((column,) for column in bound)]
        best = min(candidates, key=lambda key: self.bindings.sizes.fan_out(relation.name, key))
        return best if self.bindings.sizes.fan_out(relation.name, best) <= SELECTIVE else bound

    def is_wide(self, relation: Relation, variable: str) -> bool:
        return self.wide.get(variable, relation.dtype == np.int64)

    def new_variables(self, literal: Match) -> tuple[dict[str, int], dict[str, list[int]]]:
        """The unbound variables of an atom with their first column, and the further columns of repeated ones."""
        fresh: dict[str, int] = {}
        repeated: dict[str, list[int]] = {}
        for column, term in enumerate(literal.terms):
            if isinstance(term, str) and term not in self.env:
                if term in fresh:
                    repeated.setdefault(term, []).append(column)
                else:
                    fresh[term] = column
        return fresh, repeated

    def prefers_index(self, literal: Match) -> bool:
        """Whether a first atom is better read through an arrangement by its constants than scanned."""
        if self.scan is not None or id(literal) in self.old or literal.relation in self.recursive:
            return False
        columns = tuple(c for c, term in enumerate(literal.terms) if term is not None and self.is_bound(term))
        relation = self.bindings.relations[literal.relation]
        return bool(columns) and relation.n > 1024 and self.bindings.sizes.shared(literal.relation, columns)

    def begin_scan(
        self, literal: Match, relation: Relation, fresh: dict[str, int], repeated: dict[str, list[int]]
    ) -> None:
        self.segment, self.source = self.new_segment(), relation
        equal = []
        for column, term in enumerate(literal.terms):
            if term is not None and self.is_bound(term):
                equal.append((column, self.operand(term).value))
        same = [(fresh[v], column) for v, columns in repeated.items() for column in columns]
        taken = {v: c for v, c in fresh.items() if v in self.needed}
        for variable in taken:
            self.env[variable] = self.segment.register(self.is_wide(relation, variable))
        self.scan = Scan(self.segment, equal, same, list(taken.values()))

    def exists(
        self, relation: Relation, columns: Sequence[int], key: Sequence[int], *, old: bool, wanted: bool
    ) -> None:
        live = self.live()
        if len(columns) == relation.arity and relation.bits == 0 and relation.name not in self.recursive:
            self.operators.append(Contains(relation, key, wanted, live))
        else:
            arrangement = relation.arrangement(columns, payload=False, old=old)
            self.operators.append(Exists(arrangement, old, key, wanted, live))

    def absent(self, literal: Absent) -> None:
        relation = self.bindings.relations[literal.relation]
        self.current()
        columns = [c for c, term in enumerate(literal.terms) if term is not None]
        key = [self.register_of(literal.terms[c]) for c in columns]
        self.exists(relation, columns, key, old=False, wanted=False)

    def filter(self, predicate: Callable, operands: Sequence[Source]) -> None:
        """Keep the rows where a predicate holds; one on constants alone is decided now."""
        if all(isinstance(operand, Constant) for operand in operands):
            if not np.all(predicate(*[operand.value for operand in operands])):
                raise Unsatisfiable
            return
        self.current()
        self.operators.append(Filter(predicate, operands, self.live()))

    def compare(self, literal: Compare) -> None:
        left, right = literal.left, literal.right
        if literal.op == "=" and not (self.is_bound(left) and self.is_bound(right)):
            unbound, bound = (left, right) if not self.is_bound(left) else (right, left)
            self.env[unbound] = self.operand(bound)
            return
        predicate = self.bindings.functors.predicate(literal.op, literal.kind)
        self.filter(predicate, (self.operand(left), self.operand(right)))

    def bind(self, target: str, produce: Callable[[str, int], None], kind: str) -> None:
        """Let `produce` fill a register for `target`; if that is bound already, keep the rows where both agree."""
        register = self.new_register(target)
        bound = self.env.setdefault(target, register)
        produce(target, register)
        if bound != register:
            self.filter(self.bindings.functors.predicate("=", kind), (bound, register))

    def compute(self, literal: logical.Compute) -> None:
        operands = [self.operand(argument) for argument in literal.arguments]
        if literal.functor in logical.GENERATORS:
            self.generate(literal, operands)
            return
        function = self.bindings.functors.functor(literal.functor, literal.kind, literal.result)
        if all(isinstance(operand, Constant) for operand in operands):
            self.fold_constant(literal, function(*[operand.value for operand in operands]))
            return

        def produce(target: str, register: int) -> None:
            live = self.live(register, self.env[target])
            self.operators.append(Compute(function, operands, register, live))

        self.bind(literal.target, produce, literal.result)

    def fold_constant(self, literal: logical.Compute, result: tuple) -> None:
        value, defined = result
        if defined is not None and not np.all(defined):
            raise Unsatisfiable
        constant = Constant(int(np.ravel(value)[0]))
        if literal.target not in self.env:
            self.env[literal.target] = constant
        else:
            predicate = self.bindings.functors.predicate("=", literal.result)
            self.filter(predicate, (self.env[literal.target], constant))

    def generate(self, literal: logical.Compute, operands: Sequence[Source]) -> None:
        self.current()
        bound = self.env.get(literal.target)
        fixed = isinstance(bound, Constant)
        segment, take = self.next_segment() if bound is None or fixed else self.keep_all(literal.target)
        register = segment.register(self.wide.get(literal.target, False))
        self.operators.append(Generate(generate_range(literal.kind), operands, segment, take))
        if bound is None:
            self.env[literal.target] = register
        else:
            self.filter(self.bindings.functors.predicate("=", literal.kind), (self.env[literal.target], register))

    def keep_all(self, variable: str) -> tuple[Segment, list[int]]:
        self.needed = self.needed | {variable}
        return self.next_segment()

    def record(self, literal: Record) -> None:
        table = self.bindings.records[literal.table]
        if not self.is_bound(literal.target):
            register = self.new_register(literal.target)
            fields = [self.register_of(f) for f in literal.fields]
            self.operators.append(Construct(table, fields, register))
            self.env[literal.target] = register
            return
        record = self.register_of(literal.target)
        fresh, checks = [], []
        for position, field in enumerate(literal.fields):
            is_read = self.is_bound(field) or field in self.needed or literal.fields.count(field) > 1
            if field is None or not is_read:
                continue
            register = self.current().register(table.dtype == np.int64)
            fresh.append((position, register))
            if self.is_bound(field):
                checks.append((self.operand(field), register))
            else:
                self.env[field] = register
        held = [source for source, _ in checks]
        self.operators.append(Destructure(table, record, self.live(record, *held), fresh))
        self.check_equal(checks)

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
        steps = order(literal.body, None, injected, everything, self.bindings.sizes)
        outer = [self.register_of(v) for v in injected]
        register = self.new_register(literal.target)
        bound = self.env.get(literal.target)
        live = self.live(register, register if bound is None else bound)
        try:
            inner.steps(steps, everything)
            value = 0 if literal.value is None else inner.register_of(literal.value)
        except Unsatisfiable:
            inner.operators, value = [Filter(never, (0,), [])], 0
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
            )
        )
        if bound is None:
            self.env[literal.target] = register
        else:
            self.filter(self.bindings.functors.predicate("=", "number"), (bound, register))


def never(values: np.ndarray) -> np.ndarray:
    """The predicate that holds nowhere."""
    return np.zeros(len(values), np.bool_)
