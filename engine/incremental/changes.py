"""The changes of an update, as tuples inserted and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.incremental.maintained_relation import MaintainedRelation, Moving
from engine.kernels.iterations import ABSENT

if TYPE_CHECKING:
    from engine.incremental.maintained_program import MaintainedProgram


@dataclass
class Change:
    """The change of a relation: its tuples inserted and deleted, [arity, n] each.

    `moved` counts the tuples that remain, but are derived in another iteration.
    """

    inserted: Columns
    deleted: Columns
    moved: int


class Changes(Mapping[str, Change]):
    """The changes by relation, put together when first asked for: many updates are only followed by a report.

    That must be before the next update.
    """

    def __init__(self, find: Callable[[], dict[str, Change]] = dict) -> None:
        self._find = find

    @cached_property
    def _found(self) -> dict[str, Change]:
        return self._find()

    def __getitem__(self, name: str) -> Change:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def difference(old: MaintainedProgram, new: MaintainedProgram) -> dict[str, Change]:
    """Return what has changed from the last state of a view to that of another one of the same program."""
    changes = {}
    for name, relation in new.relations.items():
        before = old.relations[name]
        was, becomes = before.before(), relation.now()
        inserted = lacking(relation, becomes, before, was)
        deleted = lacking(before, was, relation, becomes)
        if inserted.shape[1] or deleted.shape[1]:
            changes[name] = Change(inserted, deleted, 0)
    return changes


def lacking(
    relation: MaintainedRelation, iterations: np.ndarray, other: MaintainedRelation, others: np.ndarray
) -> Columns:
    """The tuples that are there by `iterations`, but not in another relation by `others`."""
    there = np.flatnonzero(iterations != ABSENT)
    rows = relation.rows_at(there)
    ids = other.known(rows)
    held = ids >= 0
    held[held] = others[ids[held]] != ABSENT
    return rows[:, ~held]


def change_of(relation: MaintainedRelation, moving: Moving) -> Change:
    """Return the change of a relation whose tuples were `moving` in an update."""
    inserted, deleted = moving.changes()
    n_moved = len(moving.ids) - len(inserted) - len(deleted)
    return Change(relation.rows_at(inserted), relation.rows_at(deleted), n_moved)
