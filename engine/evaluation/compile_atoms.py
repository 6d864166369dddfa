"""Compile atoms to operators: scans, joins and tests of existence, bound to arrangements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np

from engine.evaluation.bindings import Bindings
from engine.evaluation.index_selection import in_order_of
from engine.evaluation.operators import Contains, Exists, Join, Scan
from engine.evaluation.registers import Registers
from engine.plan.rule import Absent, Compare, Match, Operand
from engine.storage.arrangement import Readable
from engine.storage.narrowed_arrangement import OrderedRuns, RangedArrangement
from engine.storage.relation import Relation

SELECTIVE = 2.0
"""A key with at most so many rows need not be told apart any further."""
LOWER = {">": 1, ">=": 0}
UPPER = {"<": 0, "<=": 1}
"""Whether the numbers in order that a bound lets through begin, or end, behind those equal to it."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Atoms(Registers):
    """Builds the operators of atoms.

    `old` are the ids of the atoms that read earlier iterations only, `recursive` the relations being evaluated,
    `filters` the comparisons that directly follow the atom at hand.
    """

    def __init__(self, wide: Mapping[str, bool], bindings: Bindings, depth: int = 0) -> None:
        super().__init__(wide, bindings, depth)
        self.source: Relation | None = None
        self.scan: Scan | None = None
        self.old: frozenset[int] = frozenset()
        self.recursive: Set[str] = frozenset()
        self.filters: Sequence[Compare] = ()

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
        arrangement = self.arrangement(relation, key, payload=True, old=old)
        key = [int(column) for column in arrangement.key]
        registers = [self.register_of(literal.terms[c]) for c in key]
        if not old and literal.relation not in self.recursive and type(relation) is Relation:
            with relation.arranging:
                arrangement = self.between(arrangement, payload)
        after, self.needed = self.needed, self.needed | {term for term, _ in checked}
        segment, take = self.next_segment()
        for variable in payload:
            self.env[variable] = segment.register(self.is_wide(relation, variable))
        pairs = [(self.operand(term), segment.register(relation.dtype == np.int64)) for term, _ in checked]
        columns = [*payload.values(), *(column for _, column in checked)]
        self.operators.append(Join(relation.name, arrangement, old, registers, segment, take, columns))
        self.needed = after
        self.check_equal(pairs)

    def between(self, arrangement: Readable, payload: Mapping[str, int]) -> Readable | OrderedRuns:
        """The arrangement of a complete relation, or its runs between bounds that the filters give to a number."""
        found: dict[str, tuple[list[tuple[Operand, int]], list[tuple[Operand, int]]]] = {}
        for filter in self.filters:
            for op, variable, bound in (
                (filter.op, filter.left, filter.right),
                (MIRRORED.get(filter.op, ""), filter.right, filter.left),
            ):
                if op in MIRRORED and filter.kind == "number" and variable in payload and self.is_bound(bound):
                    lows, highs = found.setdefault(str(variable), ([], []))
                    if op in LOWER:
                        lows.append((bound, LOWER[op]))
                    else:
                        highs.append((bound, UPPER[op]))
        if not found:
            return arrangement
        variable = max(found, key=lambda each: all(found[each]))
        if not in_order_of(arrangement, payload[variable]):
            return arrangement
        begin, end = ([(self.register_of(term), beyond) for term, beyond in bounds] for bounds in found[variable])
        return RangedArrangement(arrangement, payload[variable], begin, end)

    def index_columns(self, relation: Relation, bound: tuple[int, ...]) -> tuple[int, ...]:
        """The columns to look an atom up by: all that are bound, or a few that select almost as well.

        So one arrangement serves many atoms; the columns left out are compared afterwards.
        """
        bound = tuple(column for column in bound if column in relation.group)
        if len(bound) < 2 or bound in relation.arrangements:
            return bound
        if len(bound) == relation.arity and relation.name in self.recursive and relation.read_early:
            return bound
        known = [key for key in tuple(relation.arrangements) if set(key) < set(bound)]
        candidates = [*known, *((column,) for column in bound)]
        best = min(candidates, key=lambda key: self.bindings.sizes.fan_out(relation.name, key))
        return best if self.bindings.sizes.fan_out(relation.name, best) <= SELECTIVE else bound

    def arrangement(self, relation: Relation, key: Sequence[int], *, payload: bool, old: bool) -> Readable:
        """The arrangement to look some columns up by; of a complete relation, perhaps one by fewer, with runs in order.

        The columns of its key may be in another order.
        """
        found = None if relation.name in self.recursive else self.bindings.indexes.prefix_of(relation, key)
        return found or relation.arrangement(key, payload=payload, old=old)

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
        """Return True if a first atom is better read through an arrangement by its constants than scanned."""
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
        if len(columns) == relation.arity and self.is_looked_up(relation):
            self.operators.append(Contains(relation, key, wanted, live))
        else:
            arrangement = self.arrangement(relation, columns, payload=False, old=old)
            key = [key[columns.index(column)] for column in arrangement.key]
            self.operators.append(Exists(relation.name, arrangement, old, key, wanted, live))

    def is_looked_up(self, relation: Relation) -> bool:
        """Return True if whole rows are looked up in the relation itself: it is complete, or may be read early."""
        return relation.read_early if relation.name in self.recursive else relation.bits == 0

    def absent(self, literal: Absent) -> None:
        relation = self.bindings.relations[literal.relation]
        self.current()
        columns = [c for c, term in enumerate(literal.terms) if term is not None]
        key = [self.register_of(literal.terms[c]) for c in columns]
        self.exists(relation, columns, key, old=False, wanted=False)
