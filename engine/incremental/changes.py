"""The changes of an update, as tuples inserted and deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.incremental.maintained_relation import MaintainedRelation
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
    rows = np.ascontiguousarray(relation.partitions[0].rows[: relation.width, there])
    ids = other.known(rows)
    held = ids >= 0
    held[held] = others[ids[held]] != ABSENT
    return rows[:, ~held]


def change_of(relation: MaintainedRelation) -> Change:
    inserted, deleted = relation.changes()
    store = relation.partitions[0].rows[: relation.width]
    return Change(store[:, inserted], store[:, deleted], len(relation.changed) - len(inserted) - len(deleted))
