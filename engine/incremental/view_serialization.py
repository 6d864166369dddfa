"""A view as named blocks and a description, and back: what is saved of it, and nothing about files.

A base holds the tuples of each relation that are there, sorted, with their iterations and counts. What finds them,
tables and arrangements, is made again when it is needed. The id of a tuple is its position. A log holds the tuples that
have come since, and the ids whose iteration or count is another one. The description is made of dicts, lists and
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from engine.database import Columns
from engine.incremental.block_file import Block, BlockFile, decode_rows, encode, encode_rows
from engine.incremental.bounded_recursion import BoundedRecursion
from engine.incremental.extremal_recursion import ExtremalRecursion
from engine.incremental.grouped_stratum import GroupedStratum
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.make_strata import Stratum, held_in
from engine.kernels.delta_codes import sort_by
from engine.symbols import Symbols

Named = tuple[str, Block]
Description = dict[str, Any]

TEXTS, LENGTHS = "symbol texts", "symbol lengths"
LARGE_ROWS = 1 << 12
"""A relation of fewer tuples is encoded in less time than a thread takes to be asked for it."""


def held_by(view: MaintainedProgram) -> Iterator[MaintainedRelation]:
    """All that holds tuples: relations, projections, and the facts of strata that are evaluated anew."""
    for stratum in view.own_strata:
        yield from held_in(stratum)


def maintained_in(stratum: Stratum) -> tuple[MaintainedStratum, ...]:
    """Return what keeps the relations of a stratum up to date tuple by tuple."""
    if isinstance(stratum, BoundedRecursion):
        return stratum.final, stratum.source
    if isinstance(stratum, ExtremalRecursion):
        return (stratum.tight,)
    return (stratum,) if isinstance(stratum, MaintainedStratum) else ()


# ---- what is stored


@dataclass(frozen=True, slots=True)
class StoredView:
    """A base, and the log that goes on from it, if there is one."""

    base: BlockFile
    log: BlockFile | None

    def relation(self, name: str) -> StoredRelation:
        return StoredRelation(name, self.base, self.log)

    def grown(self, name: str) -> np.ndarray:
        """An array to which a log only adds."""
        if self.log is None:
            return self.base[name]
        return np.concatenate([self.base[name], self.log[name]], axis=-1)

    def texts(self) -> list[str]:
        text = self.grown(TEXTS).tobytes().decode("utf-8", "surrogatepass")
        return [text[lo:hi] for lo, hi in pairwise(accumulate(self.grown(LENGTHS).tolist(), initial=0))]

    def records(self, name: str) -> Columns:
        return self.grown(records_of(name))


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """The tuples of a relation as they were saved."""

    name: str
    base: BlockFile
    log: BlockFile | None

    def read(self) -> Columns:
        """Return the tuples by id, [width + 2, n]: the last two rows are iterations and counts. Raises DamagedFile."""
        place = self._whole.places[tuples_of(self.name)]
        tuples = np.empty((place.shape[0], self.n), place.dtype)
        self.read_into(tuples[:-2], tuples[-2], tuples[-1])
        return tuples

    def read_into(self, rows: Columns, later: np.ndarray, count: np.ndarray) -> None:
        """Write the tuples by id, with their iterations and counts, to the beginning of arrays. Raises DamagedFile."""
        block, out = self._whole.block(tuples_of(self.name)), (*rows, later, count)
        n = block.shape[1]
        decode_rows(block, [row[:n] for row in out])
        if self.log is not None and changed_of(self.name) in self.log:
            ids, iterations, counts = self.log[changed_of(self.name)]
            later[ids], count[ids] = iterations, counts
            new = self.log[new_of(self.name)]
            for row, values in zip(out, new, strict=True):
                row[n : n + len(values)] = values

    @property
    def _whole(self) -> BlockFile:
        """The file that holds the tuples that ids begin with."""
        return self.log if self.log is not None and self.is_logged_whole else self.base

    @property
    def n(self) -> int:
        """The number of tuples, those that have gone included."""
        log = {} if self.log is None else self.log.places
        if self.is_logged_whole:
            return log[tuples_of(self.name)].shape[1]
        new = log.get(new_of(self.name))
        return self.base.places[tuples_of(self.name)].shape[1] + (new.shape[1] if new else 0)

    @property
    def n_sorted(self) -> int:
        """The number of those at the beginning that are sorted."""
        return 0 if self.is_logged_whole else self.base.places[tuples_of(self.name)].shape[1]

    @property
    def is_logged_whole(self) -> bool:
        """True if the log holds all tuples, by ids of its own."""
        return self.log is not None and tuples_of(self.name) in self.log

    def logged(self) -> list[Named]:
        """Return the blocks that the log has of it, with their names."""
        log, names = self.log, (tuples_of(self.name), changed_of(self.name), new_of(self.name))
        return [] if log is None else [(name, log.block(name)) for name in names if name in log]


def tuples_of(name: str) -> str:
    return f"{name} tuples"


def new_of(name: str) -> str:
    return f"{name} new"


def changed_of(name: str) -> str:
    return f"{name} changed"


def records_of(name: str) -> str:
    return f"record {name}"


# ---- saving


def described(view: MaintainedProgram) -> Description:
    """Return what is saved of a view beside blocks, with ids as they are."""
    kept = [each for stratum in view.own_strata for each in maintained_in(stratum)]
    bounded = [stratum for stratum in view.own_strata if isinstance(stratum, BoundedRecursion)]
    return {
        "relations": [relation.name for relation in held_by(view)],
        "permanent": {relation.name: ids.tolist() for each in kept for relation, ids in each.permanent.items()},
        "repeated": {relation.name: ids.tolist() for each in kept for relation, ids in each.repeated.items()},
        "levels": {stratum.bound.relation: [level.last for level in stratum.levels] for stratum in bounded},
        "max_rows": {bound.relation: [*bound.max_rows] for bound in view.bounds},
    }


def whole(view: MaintainedProgram, description: Description) -> Iterator[Named]:
    """Give the blocks of a base. The ids in the description become those that tuples have there."""
    yield from symbols_from(view.symbols, 0)
    yield from ((records_of(name), encode(table.columns)) for name, table in view.records.items())
    large = [relation for relation in held_by(view) if n_held(relation) >= LARGE_ROWS]
    small = [relation for relation in held_by(view) if n_held(relation) < LARGE_ROWS]
    with ThreadPoolExecutor(view.threads) as pool:
        blocks = chain(map(sorted_block, small), pool.map(sorted_block, large))
        for relation, (block, places) in zip(small + large, blocks, strict=True):
            for kind in ("permanent", "repeated") if places is not None else ():
                if ids := description[kind].get(relation.name):
                    description[kind][relation.name] = places[ids].tolist()
            yield tuples_of(relation.name), block


def sorted_block(relation: MaintainedRelation) -> tuple[Block, np.ndarray | None]:
    """Return the tuples of a relation that are there, sorted, and where the one of each id stands; None if they did."""
    stored = relation.stored
    if relation.sleeps and isinstance(stored, StoredRelation) and not stored.logged():
        return stored.base.block(tuples_of(relation.name)), None
    if not n_held(relation):
        return empty_block(relation.width, relation.dtype), None
    there, rows = relation.present(), relation.partitions[0].rows[: relation.width]
    ids = there[order_of([row[there] for row in rows], len(there))]
    places = np.zeros(relation.n_ids, np.int32)
    places[ids] = np.arange(len(ids))
    sorted_rows = (row[ids] for row in (*rows, relation.later, relation.count))
    return encode_rows(sorted_rows, rows.dtype, (relation.width + 2, len(ids))), places


def n_held(relation: MaintainedRelation) -> int:
    """Return the number of tuples that a relation holds, those that have gone included."""
    return relation.n if relation.sleeps else relation.n_ids


@cache
def empty_block(width: int, dtype: np.dtype) -> Block:
    """Return the tuples of a relation without any."""
    return encode_rows(np.empty((width + 2, 0), dtype), dtype, (width + 2, 0))


def order_of(columns: Sequence[np.ndarray], n: int) -> np.ndarray:
    """Return the order of n distinct rows by their columns, the first one first."""
    order, other = np.arange(n, dtype=np.int32), np.empty(n, np.int32)
    for column in reversed(columns) if n else ():
        if sort_by(column, order, other):
            order, other = other, order
    return order


def goes_on_from(view: MaintainedProgram, base: BlockFile) -> bool:
    """Return True if any relation of a view began with what a base holds: none has after a bootstrap."""
    return any(isinstance(r.stored, StoredRelation) and r.stored.base is base for r in held_by(view))


def since(view: MaintainedProgram, base: BlockFile) -> Iterator[Named]:
    """Give the blocks of a log: what has changed since a base was written."""
    yield from symbols_from(view.symbols, base.places[LENGTHS].shape[0])
    for name, table in view.records.items():
        yield records_of(name), encode(np.ascontiguousarray(table.columns[:, base.places[records_of(name)].shape[1] :]))
    for relation in held_by(view):
        stored = relation.stored
        if not isinstance(stored, StoredRelation) or stored.base is not base:
            yield tuples_of(relation.name), encode(tuples_from(relation, 0))
        elif relation.sleeps:
            yield from stored.logged()
        elif stored.is_logged_whole:
            yield tuples_of(relation.name), encode(tuples_from(relation, 0))
        else:
            yield from changes_since(relation, base.block(tuples_of(relation.name)))


def changes_since(relation: MaintainedRelation, before: Block) -> Iterator[Named]:
    """Give the blocks of what differs from the tuples `before`, with which a relation began."""
    n = before.shape[1]
    later, count, (was, had) = relation.later[:n], relation.count[:n], np.empty((2, n), np.int32)
    decode_rows(before, [*[None] * relation.width, was, had])
    ids = np.flatnonzero((later != was) | (count != had))
    if len(ids) or relation.n_ids > n:
        yield changed_of(relation.name), encode(np.array([ids, later[ids], count[ids]], np.int32))
        yield new_of(relation.name), encode(tuples_from(relation, n))


def tuples_from(relation: MaintainedRelation, begin: int) -> Columns:
    """The tuples of a relation from an id on, with their iterations and counts."""
    every, rows = slice(begin, relation.n_ids), relation.partitions[0].rows[: relation.width]
    return np.concatenate([rows[:, every], [relation.later[every], relation.count[every]]]).astype(rows.dtype)


def symbols_from(symbols: Symbols, begin: int) -> Iterator[Named]:
    """Give the texts of symbols from an id on."""
    texts = symbols.texts(range(begin, len(symbols)))
    yield TEXTS, encode(np.frombuffer("".join(texts).encode("utf-8", "surrogatepass"), np.uint8))
    yield LENGTHS, encode(np.fromiter(map(len, texts), np.int32, len(texts)))


# ---- restoring


def restore(strata: Iterable[Stratum], description: Description, stored: StoredView) -> None:
    """Let strata go on from what was saved: their relations sleep until they are used."""
    for stratum in strata:
        if isinstance(stratum, BoundedRecursion):
            for last in description["levels"][stratum.bound.relation][len(stratum.levels) :]:
                stratum.add_level(last)
        for relation in held_in(stratum):
            relation.sleep(stored.relation(relation.name))
        if isinstance(stratum, GroupedStratum | ExtremalRecursion):
            stratum.forget_plans()
        for kept in maintained_in(stratum):
            kept.forget_plans()
            for relation in kept.relations:
                kept.permanent[relation] = np.array(description["permanent"][relation.name], np.int32)
                kept.repeated[relation] = np.array(description["repeated"][relation.name], np.int32)
