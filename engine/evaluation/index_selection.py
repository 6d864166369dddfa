"""Index selection: which arrangement serves a search for values in some columns of a relation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from engine.plan.chain_cover import Signature, minimum_chains, order_of
from engine.storage.arrangement import Arrangement
from engine.storage.narrowed_arrangement import NarrowedArrangement, narrowed
from engine.storage.relation import Relation


@dataclass
class Indexes:
    """The signatures that plans have searched complete relations by, and that are arranged."""

    searched: defaultdict[str, set[Signature]] = field(default_factory=lambda: defaultdict(set))

    def prefix_of(self, relation: Relation, key: Sequence[int]) -> NarrowedArrangement | None:
        """Return an arrangement by fewer columns, in the order that a minimum chain cover gives to the others, or None.

        For complete relations whose rows will not change: what is arranged once serves a chain of signatures.
        """
        if not isinstance(relation, Relation) or len(key) < 2 or tuple(key) in relation.arrangements:
            return None
        with relation.arranging:
            return self._prefix_of(relation, key)

    def _prefix_of(self, relation: Relation, key: Sequence[int]) -> NarrowedArrangement | None:
        bases = {frozenset(k): a for k, a in relation.arrangements.items() if k and serves(a)}
        wanted, searched = frozenset(key), self.searched[relation.name]
        searched.add(wanted)
        chain = next(chain for chain in minimum_chains(searched | bases.keys()) if wanted in chain)
        chain = chain[: chain.index(wanted) + 1]
        base = next((signature for signature in chain if signature in bases), None)
        if base is None or base == wanted:
            return None
        return narrowed(bases[base], order_of(chain)[len(base) :])


LONG_RUN = 8
"""Runs of fewer rows are read faster than searched."""


def in_order_of(arrangement: object, column: int) -> TypeGuard[Arrangement]:
    """Put the runs of an arrangement that will not grow in order of a column; return True if they are, and are long."""
    if not serves(arrangement) or arrangement.n_rows < LONG_RUN * arrangement.n_keys:
        return False
    return narrowed(arrangement, (column,)) is not None


def serves(arrangement: object) -> TypeGuard[Arrangement]:
    """Return True if the payload of an arrangement can be put in order."""
    return isinstance(arrangement, Arrangement) and arrangement.arena is not None
