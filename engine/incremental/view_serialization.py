"""A view as named arrays and a description, and back: what is saved of it, and nothing about files.

Arrays keep the form that evaluation uses, hash tables and arrangements included: a restored view goes on at once.
The description is made of dicts, lists and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.incremental.bounded_recursion import BoundedRecursion
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.mapped_file import Part, Verified
from engine.incremental.recomputed_stratum import RecomputedStratum
from engine.kernels.iterations import ABSENT
from engine.storage.arrangement import Arrangement
from engine.storage.key_tables import HashedKeys, ValueKeys
from engine.storage.record_table import RecordTable

Parts = dict[str, Part]
Arrays = Mapping[str, np.ndarray]
Description = dict[str, Any]
Stratum = MaintainedStratum | RecomputedStratum | BoundedRecursion

FEW_ROWS = 1 << 10
GONE_SHARE = 0.25
"""Relations in which more of the tuples are gone are compacted."""


def held_by(view: MaintainedProgram) -> Iterator[MaintainedRelation]:
    """All that holds tuples: relations, projections, and the facts of strata that are evaluated anew."""
    for stratum in view.strata:
        yield from held_in(stratum)


def held_in(stratum: Stratum) -> Iterator[MaintainedRelation]:
    """All that holds tuples of a stratum."""
    yield from stratum.relations
    if isinstance(stratum, RecomputedStratum):
        yield from stratum.given.values()
    elif isinstance(stratum, BoundedRecursion):
        for level in stratum.levels:
            yield from (*level.stratum.relations, *level.source.relations)


def maintained_in(stratum: Stratum) -> tuple[MaintainedStratum, ...]:
    """Return what keeps the relations of a stratum up to date tuple by tuple."""
    if isinstance(stratum, BoundedRecursion):
        return stratum.final, stratum.source
    return (stratum,) if isinstance(stratum, MaintainedStratum) else ()


# ---- saving


def serialize(view: MaintainedProgram, relations: Mapping[str, MaintainedRelation]) -> tuple[Parts, Description]:
    """Return what is to be saved of a view; `relations` holds, by name, what stands for its own.

    That is a compacted relation, the relation itself, or for one that sleeps its arrays as they are.
    """
    parts: Parts = {}
    description: Description = {
        "relations": {name: serialize_relation(relation, parts) for name, relation in relations.items()},
        "records": {name: serialize_records(name, table, parts) for name, table in view.records.items()},
        "permanent": {},
        "repeated": {},
        "levels": {},
        "max_rows": view.bound and view.bound.max_rows,
    }
    for stratum in view.strata:
        for kept in maintained_in(stratum):
            for name, held in (("permanent", kept.permanent), ("repeated", kept.repeated)):
                for own, ids in held.items():
                    saved = relations[own.name]
                    is_same = saved is own or own.lazy
                    there = ids if is_same else saved.known(own.partitions[0].rows[: own.width, ids])
                    description[name][own.name] = there.tolist()
        if isinstance(stratum, BoundedRecursion):
            description["levels"][stratum.bound.relation] = [level.last for level in stratum.levels]
    return parts, description


def serialize_relation(relation: MaintainedRelation, parts: Parts) -> Description:
    name, n = relation.name, relation.n_ids
    parts[f"{name} rows"] = Part(relation.partitions[0].rows, n)
    parts[f"{name} later"] = Part(relation.later, n, ABSENT)
    parts[f"{name} count"] = Part(relation.count, n)
    parts[f"{name} slots"] = Part(relation.table.slots, len(relation.table.slots), room=False)
    arrangements = [serialize_arrangement(name, a, parts) for a in relation.arrangements.values()]
    return {"n": n, "end": relation.partitions[0].end, "arrangements": arrangements}


def serialize_arrangement(relation: str, arrangement: Arrangement, parts: Parts) -> Description:
    arrangement.close_batch()
    key = arrangement.key.tolist()
    name = f"{relation} by {key}"
    width = arrangement.runs.shape[1]
    parts[f"{name} runs"] = Part(arrangement.runs.reshape(-1), arrangement.n_keys * width)
    if arrangement.arena is not None:
        parts[f"{name} arena"] = Part(arrangement.arena, arrangement.top)
    numbers = {number: getattr(arrangement, number) for number in NUMBERS}
    tracks_old = arrangement.batch is not None
    keys = serialize_keys(name, arrangement.keys, parts)
    has_arena = arrangement.arena is not None
    return {"key": key, "width": width, "has_arena": has_arena, "tracks_old": tracks_old, "keys": keys, **numbers}


NUMBERS = ("dense", "n_keys", "n_rows", "top", "checked")


def serialize_keys(name: str, keys: HashedKeys | ValueKeys, parts: Parts) -> Description:
    parts[f"{name} keys"] = Part(keys.columns, keys.n)
    if isinstance(keys, ValueKeys):
        parts[f"{name} index"] = Part(keys.index, len(keys.index), room=False)
        return {"n": keys.n, "few": keys.few}
    parts[f"{name} slots"] = Part(keys.table, len(keys.table), room=False)
    return {"n": keys.n}


def serialize_records(name: str, table: RecordTable, parts: Parts) -> Description:
    return serialize_keys(f"record {name}", table.keys, parts)


# ---- restoring


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A relation as it was saved (`tracked.LazyRelation`)."""

    name: str
    width: int
    dtype: np.dtype
    saved: Description
    arrays: Verified

    def verified(self) -> MaintainedRelation:
        return self._made(self.arrays)

    def unverified(self) -> MaintainedRelation:
        return self._made(self.arrays.unverified)

    def _made(self, arrays: Arrays) -> MaintainedRelation:
        relation = MaintainedRelation(self.name, self.width, self.dtype)
        restore_relation(relation, self.saved, arrays)
        return relation


def restore_lazily(relation: MaintainedRelation, saved: Description, arrays: Verified) -> None:
    """Let a relation be what was saved, and its arrays be verified when it is first used."""
    count_rows(relation, saved)
    relation.load_lazily(StoredRelation(relation.name, relation.width, relation.dtype, saved, arrays))


def as_stored(relation: MaintainedRelation) -> MaintainedRelation:
    """The relation, or for one that sleeps its arrays as they are."""
    return relation.lazy.unverified() if relation.lazy else relation


def restore(
    strata: Iterable[Stratum],
    description: Description,
    arrays: Arrays,
    lay: Callable[[MaintainedRelation, Description, Arrays], None],
) -> None:
    """Let strata go on from what was saved; `lay` lets a relation do so, at once or when it is first used."""
    for stratum in strata:
        if isinstance(stratum, BoundedRecursion):
            for last in description["levels"][stratum.bound.relation][len(stratum.levels) :]:
                stratum.add_level(last)
        for relation in held_in(stratum):
            lay(relation, description["relations"][relation.name], arrays)
        for kept in maintained_in(stratum):
            for relation in kept.relations:
                kept.permanent[relation] = np.array(description["permanent"][relation.name], np.int32)
                kept.repeated[relation] = np.array(description["repeated"][relation.name], np.int32)


def restore_relation(relation: MaintainedRelation, saved: Description, arrays: Arrays) -> None:
    name, store = relation.name, relation.partitions[0]
    count_rows(relation, saved)
    store.rows, store.n = arrays[f"{name} rows"], saved["n"]
    store.old = store.end = relation.n
    relation.table.slots = arrays[f"{name} slots"]
    relation.later, relation.count = arrays[f"{name} later"], arrays[f"{name} count"]
    known = relation.arrangements
    relation.arrangements = {}
    for each in saved["arrangements"]:
        key = tuple(each["key"])
        arrangement = known.get(key) or Arrangement(key, relation.arity, relation.dtype)
        relation.arrangements[key] = arrangement
        restore_arrangement(f"{name} by {each['key']}", arrangement, each, arrays)


def count_rows(relation: MaintainedRelation, saved: Description) -> None:
    relation.n = saved["end"]
    relation.delta, relation.n_delta, relation.magnitude = [], 0, (relation.n.bit_length() + 2) // 3


def restore_arrangement(name: str, arrangement: Arrangement, saved: Description, arrays: Arrays) -> None:
    arrangement.runs = arrays[f"{name} runs"].reshape(-1, saved["width"])
    # The array may be there all the same, of an arrangement that the relation had when the base was written.
    arrangement.arena = arrays[f"{name} arena"] if saved["has_arena"] else None
    for number in NUMBERS:
        setattr(arrangement, number, saved[number])
    arrangement.batch = [] if saved["tracks_old"] else None
    arrangement.keys = restore_keys(name, saved["keys"], arrays)


def restore_keys(name: str, saved: Description, arrays: Arrays) -> HashedKeys | ValueKeys:
    columns = arrays[f"{name} keys"]
    if "few" in saved:
        values = ValueKeys(columns.dtype, saved["few"])
        values.columns, values.n, values.index = columns, saved["n"], arrays[f"{name} index"]
        return values
    keys = HashedKeys(len(columns), columns.dtype)
    keys.columns, keys.n, keys.table = columns, saved["n"], arrays[f"{name} slots"]
    return keys


def restore_records(tables: Mapping[str, RecordTable], description: Description, arrays: Arrays) -> None:
    """Let record tables hold what was saved."""
    for name in tables.keys() & description["records"].keys():
        tables[name].keys = restore_keys(f"record {name}", description["records"][name], arrays)


# ---- compaction


def compacted(relation: MaintainedRelation) -> MaintainedRelation:
    """Return the relation or, where many of its tuples are gone, one without these; ids are others then."""
    present = relation.present()
    if relation.n_ids < FEW_ROWS or len(present) >= (1 - GONE_SHARE) * relation.n_ids:
        return relation
    fresh = MaintainedRelation(relation.name, relation.width, relation.dtype)
    fresh.add(relation.generators())
    fresh.later[: len(present)], fresh.count[: len(present)] = relation.later[present], relation.count[present]
    if relation.n:
        fresh.advance()
        fresh.settle()
    for key, arrangement in relation.arrangements.items():
        fresh.arrangement(key, payload=arrangement.arena is not None, old=arrangement.batch is not None)
    return fresh
