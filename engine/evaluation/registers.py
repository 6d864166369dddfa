"""Registers of a plan in the making: where the values of its variables stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.evaluation.bindings import Bindings
from engine.evaluation.operators import Constant, Fill, Filter, Operator, Segment, Source
from engine.evaluation.vectorized_functors import COMPARISONS
from engine.plan.rule import Operand


class Registers:
    """Operators so far, and what they leave in registers.

    `env` maps variables to a register of the current segment or to a constant. `needed` are the variables that
    literals still to come, or the head, read. `seed` is the first segment of a plan that begins without an atom.
    """

    def __init__(self, wide: Mapping[str, bool], bindings: Bindings, depth: int = 0) -> None:
        self.wide, self.bindings, self.depth = wide, bindings, depth
        self.operators: list[Operator] = []
        self.env: dict[str, Source] = {}
        self.needed: set[Operand | None] = set()
        self.segment: Segment | None = None
        self.seed: Segment | None = None

    def is_bound(self, term: Operand | None) -> bool:
        return isinstance(term, int) or term in self.env

    def operand(self, term: Operand) -> Source:
        return Constant(term) if isinstance(term, int) else self.env[term]

    def new_segment(self) -> Segment:
        self.depth += 1
        return Segment(self.depth)

    def current(self) -> Segment:
        """The current segment; a plan that begins without an atom begins with one row of no columns."""
        if self.segment is None:
            self.segment = self.seed = self.new_segment()
        return self.segment

    def register_of(self, term: Operand) -> int:
        """The register that holds a term; constants are filled in."""
        source = self.operand(term)
        if isinstance(source, Constant):
            register = self.current().register(not -(2**31) <= source.value < 2**31)
            self.operators.append(Fill(register, source.value))
            return register
        return source

    def new_register(self, variable: str) -> int:
        return self.current().register(self.wide.get(variable, False))

    def live(self, *more: Source) -> list[int]:
        """The registers in use from here on, and some more."""
        env = self.env
        used = [env[v] for v in self.needed if v in env]
        return sorted({r for r in (*used, *more) if not isinstance(r, Constant)})

    def next_segment(self) -> tuple[Segment, list[int]]:
        """Begin a segment that carries the live registers over; return it and the registers taken from the old one."""
        self.current()
        segment, take = self.new_segment(), []
        moved: dict[int, int] = {}
        for variable, source in self.env.items():
            if variable in self.needed and not isinstance(source, Constant) and source not in moved:
                moved[source] = segment.register(self.wide.get(variable, False))
                take.append(source)
        self.env = {v: s if isinstance(s, Constant) else moved[s] for v, s in self.env.items() if self.kept(s, moved)}
        self.segment = segment
        return segment, take

    @staticmethod
    def kept(source: Source, moved: Mapping[int, int]) -> bool:
        return isinstance(source, Constant) or source in moved

    def check_equal(self, pairs: Sequence[tuple[Source, Source]]) -> None:
        """Keep the rows where the two sides of every pair agree."""
        for i, pair in enumerate(pairs):
            rest = [source for other in pairs[i + 1 :] for source in other]
            self.operators.append(Filter(COMPARISONS["="], pair, self.live(*rest)))
