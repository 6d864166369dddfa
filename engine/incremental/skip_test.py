"""Tells whether a few tuples can take part in a rule, by the arrangements that are there, before a plan is made.

Of the plans that a process would make for a small update, most never produce a row: some other atom has no tuple for
any of those that the variant begins with. Asking for one takes a tenth of what planning takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from engine.database import Columns
from engine.kernels.csr_runs import LENGTH
from engine.plan.rule import Literal, Match
from engine.storage.relation import Relation

FEW = 1 << 10
"""For more tuples than this a plan is made anyway."""


def may_match(given: Match, body: Iterable[Literal], relations: Mapping[str, Relation], rows: Columns) -> bool:
    """Return True if none of the other atoms of a body rules out all rows, those of the atom `given`.

    False is certain: an atom is asked by columns that an instantiation must agree on, of all tuples that are arranged.
    """
    if rows.shape[1] > FEW:
        return True
    fitting = np.ones(rows.shape[1], np.bool_)
    for column, term in enumerate(given.terms):
        if isinstance(term, int):
            fitting &= rows[column] == term
    chunk = np.ascontiguousarray(rows[:, fitting])
    n, live = chunk.shape[1], np.arange(len(chunk))
    columns = {term: column for column, term in enumerate(given.terms) if isinstance(term, str)}
    for atom in body:
        if n and isinstance(atom, Match) and atom is not given:
            relation = relations[atom.relation]
            bound = {column: columns[term] for column, term in enumerate(atom.terms) if term in columns}
            keys = [key for key in relation.arrangements if bound.keys() >= set(key)]
            if keys and relation.dtype == chunk.dtype:
                by = relation.arrangements[max(keys, key=len)]
                n = by.keep(chunk, n, np.array([bound[c] for c in by.key.tolist()], np.int64), LENGTH, True, live)
    return n > 0
