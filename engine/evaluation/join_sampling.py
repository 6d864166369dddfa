"""Measured fan-outs: a sample of bindings, carried through the arrangements at hand while a join order is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.kernels.csr_runs import LENGTH, bounds, count_matches, total_matches
from engine.plan.rule import Compare, Intersect, Match, Operand, Ordered
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.arrangement import Arrangement, Block
from engine.storage.relation import Relation

SAMPLE_ROWS = 512
MOST_MATCHES = 4096
FEW_ROWS = 32
"""So few of many bindings tell nothing of the others."""


class Sample:
    """Some bindings of the variables of the atoms taken so far (index-based join sampling, Leis et al., 2017).

    `columns` holds their values by variable. Without rows, or with few that stand for many more (`is_part`), it knows
    nothing. Relations that do not grow, of at most `most_arranged` rows, are arranged where no arrangement is at hand:
    otherwise what others have asked for before would decide what can be measured.
    """

    def __init__(
        self, relations: Mapping[str, Relation], first: Match, blocks: Sequence[Block], most_arranged: int
    ) -> None:
        """Begin with rows from blocks of the first atom's relation."""
        self.relations, self.most_arranged = relations, most_arranged
        total = sum(block.hi - block.lo for block in blocks)
        step = max(1, total // SAMPLE_ROWS)
        rows = np.concatenate([b.rows[:, b.lo : b.hi : step] for b in blocks], axis=1)
        kept = np.ones(rows.shape[1], np.bool_)
        self.columns: dict[str, np.ndarray] = {}
        for term, values in zip(first.terms, rows, strict=True):
            if isinstance(term, int):
                kept &= values == term
            elif term is not None:
                kept &= self.columns.setdefault(term, values) == values
        self.columns = {v: values[kept] for v, values in self.columns.items()}
        self.n, self.is_part = int(kept.sum()), step > 1

    def fan_out(self, literal: Match) -> float | None:
        """The mean number of matches of an atom, or None if it cannot be measured."""
        found = self._arrangement(literal)
        if found is None:
            return None
        arrangement, ids, rest = found
        total = total_matches(ids, self.n, arrangement.runs, LENGTH)
        if rest and total:
            pairs = self._expand(arrangement, ids)
            total *= np.count_nonzero(self._agree(literal, arrangement, rest, pairs)) / pairs.shape[1]
        return max(total, self.is_part) / self.n  # That none of some has a match does not say that none of all has.

    def least_fan_out(self, atoms: Sequence[Match]) -> float | None:
        """The mean number of matches of the atom that has the fewest for a row; builds the arrangements it needs.

        Like `fan_out`, it does not know values that functors make: None where an atom has nothing else.
        """
        counts = []
        if any(isinstance(self.relations[literal.relation], AggregateRelation) for literal in atoms):
            return None
        for literal in atoms if self.n else ():
            known = [c for c, term in enumerate(literal.terms) if term is not None and self.knows(term)]
            if not known:
                return None
            arrangement = self.relations[literal.relation].arrangement(known, payload=True, old=False)
            chunk = np.array([self._values(literal.terms[c]) for c in known], arrangement.dtype)
            ids = arrangement.locate(chunk, self.n, np.arange(len(known)))
            counts.append(np.empty(self.n, np.int32))
            count_matches(ids, self.n, arrangement.runs, LENGTH, counts[-1])
        return float(np.minimum.reduce(counts).mean()) if counts else None

    def take(self, literal: Ordered) -> None:
        """Extend the bindings by a literal that has been chosen."""
        if isinstance(literal, Compare) and literal.op == "=":
            self._equate(literal.left, literal.right)
            self._equate(literal.right, literal.left)
        elif isinstance(literal, Match):
            self._join(literal)
        elif isinstance(literal, Intersect):
            for atom in literal.atoms:
                self._join(atom)

    def _equate(self, target: Operand, source: Operand) -> None:
        if isinstance(target, str) and target not in self.columns and self.knows(source):
            self.columns[target] = self._values(source)

    def knows(self, term: Operand | None) -> bool:
        return isinstance(term, int) or term in self.columns

    def _values(self, term: Operand) -> np.ndarray:
        return np.full(self.n, term) if isinstance(term, int) else self.columns[term]

    def _arrangement(self, literal: Match) -> tuple[Arrangement, np.ndarray, list[int]] | None:
        """An arrangement by known terms of an atom, the keys of the sample in it, and the known columns left out."""
        relation = self.relations[literal.relation]
        if isinstance(relation, AggregateRelation):
            return None
        known = [c for c, term in enumerate(literal.terms) if term is not None and self.knows(term)]
        keys = [
            key
            for key, arrangement in tuple(relation.arrangements.items())
            if key and set(key) <= set(known) and (arrangement.arena is not None or len(key) == len(known))
        ]
        if not self.n or (self.is_part and self.n < FEW_ROWS):
            return None
        if not keys and 0 < len(known) < relation.arity and not relation.n_delta and relation.n <= self.most_arranged:
            relation.arrangement(known, payload=True, old=False)
            keys = [tuple(known)]
        if not keys:
            return None
        key = max(keys, key=len)
        chunk = np.array([self._values(literal.terms[c]) for c in key], relation.dtype)
        arrangement = relation.arrangements[key]
        return arrangement, arrangement.locate(chunk, self.n, np.arange(len(key))), [c for c in known if c not in key]

    def _expand(self, arrangement: Arrangement, ids: np.ndarray) -> np.ndarray:
        """Pairs of a row of the sample (its number) and a match (the payload): if they are many, some, evenly."""
        starts, lengths = np.empty(self.n, np.int64), np.empty(self.n, np.int64)
        bounds(ids, self.n, arrangement.runs, LENGTH, starts, lengths)
        ends = np.cumsum(lengths)
        total = int(ends[-1])
        n = min(total, MOST_MATCHES)
        chosen = np.arange(n) * total // max(1, n)
        rows = np.searchsorted(ends, chosen, side="right")
        places = starts[rows] + chosen - (ends - lengths)[rows]
        return np.concatenate([rows[None, :].astype(arrangement.dtype), arrangement.arena[:, places]])

    def _agree(self, literal: Match, by: Arrangement, columns: Sequence[int], pairs: np.ndarray) -> np.ndarray:
        """Return which of the pairs agree on the given columns of the atom."""
        place = {c: 1 + i for i, c in enumerate(by.payload.tolist())}
        kept = np.ones(pairs.shape[1], np.bool_)
        for c in columns:
            kept &= self._values(literal.terms[c])[pairs[0]] == pairs[place[c]]
        return kept

    def _join(self, literal: Match) -> None:
        found = self._arrangement(literal)
        if found is None or found[0].arena is None:
            self.n, self.columns = 0, {}
            return
        arrangement, ids, rest = found
        pairs = self._expand(arrangement, ids)
        picked = pairs[:, self._agree(literal, arrangement, rest, pairs)]
        step = max(1, picked.shape[1] // SAMPLE_ROWS)
        picked = picked[:, ::step]
        self.is_part |= step > 1 or pairs.shape[1] == MOST_MATCHES
        self.n = picked.shape[1]
        self.columns = {v: values[picked[0]] for v, values in self.columns.items()}
        for c, values in zip(arrangement.payload.tolist(), picked[1:], strict=True):
            if isinstance(literal.terms[c], str):
                self.columns.setdefault(literal.terms[c], values)
