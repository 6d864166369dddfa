"""Compile constraints, functors and records to operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.evaluation.operators import Compute, Constant, Construct, Destructure, Filter, Generate, Segment, Source
from engine.evaluation.registers import Registers
from engine.evaluation.vectorized_functors import generate_range
from engine.plan import rule as logical
from engine.plan.rule import Compare, Record


class Unsatisfiable(Exception):
    """The rule derives nothing, whatever the data."""


class Values(Registers):
    """Builds the operators of literals that compare and compute."""

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
            named = literal.functor if literal.kind == literal.result == "number" else ""
            self.operators.append(Compute(function, operands, register, live, named))

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
