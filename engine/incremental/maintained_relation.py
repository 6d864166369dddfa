"""Relations that are kept up to date: each tuple with its iteration and the number of its supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from threading import Lock, RLock
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

import numpy as np

from engine.database import Columns
from engine.incremental.changed_rows import ChangedRows, Matched, Pairs
from engine.incremental.demanded_arrangement import DemandedArrangement
from engine.incremental.sorted_ids import SortedIds
from engine.incremental.support_sums import SupportSums
from engine.kernels.iterations import ABSENT, enter
from engine.storage.arrangement import Arrangement
from engine.storage.equivalence_union_find import Equivalence
from engine.storage.id_table import IdTable, slots_for, table_for
from engine.storage.memory import RowsReached
from engine.storage.partition import Partition
from engine.storage.relation import Relation

Arranged = tuple[str, tuple[int, ...]]
"""A relation, and the columns that it is arranged by."""
ASKED_FOR: ContextVar[set[Arranged] | None] = ContextVar("asked for", default=None)
"""Takes down the arrangements that a thread asks for while it plans."""
NONE = np.empty(0, np.int32)
FIRST_IDS = 64
GROWTH = 0.25
"""The share of what there is that arrays by id get as room when they are full."""


SMALL_ROWS = 1 << 12
"""Relations up to this size are looked up by tables and arrangements of all their tuples."""
BOOTSTRAP_GROWTH = 3.0
"""That share while a relation is made: parts of an array that are not written take no memory."""


class Moving(NamedTuple):
    """Ids of tuples whose iterations differ between two states, and their iterations there."""

    ids: np.ndarray = NONE
    earlier: np.ndarray = NONE
    later: np.ndarray = NONE

    def changes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of the tuples that have been inserted and deleted."""
        was, is_now = self.earlier != ABSENT, self.later != ABSENT
        return self.ids[is_now & ~was], self.ids[was & ~is_now]


STILL = Moving()


STORED = ("partitions", "later", "count")
"""The attributes of a relation that are made of its stored tuples."""


class StoredTuples(Protocol):
    """The tuples of a relation on the disk."""

    @property
    def n(self) -> int:
        """Their number, those that have gone included."""

    @property
    def n_sorted(self) -> int:
        """The number of those at the beginning that are sorted."""

    def read_into(self, rows: Columns, later: np.ndarray, count: np.ndarray) -> None:
        """Write them by id, with their iterations and counts, to the beginning of arrays. Raises DamagedFile."""


class MaintainedRelation(Relation):
    """Tuples that are or have been there; the last column of a row is its position, the tuple's id.

    For each id, `later` is the iteration of its first derivation, ABSENT if it has none, and `count` its supports: the
    derivations in that iteration (Zhao et al., §3.1, which keeps these two numbers). A given fact has the iteration 0.
    `width` is the arity without the id. Ids stay as they are: a tuple that goes leaves its row behind.

    While two states are compared, before and after a batch of changes or before and after an update, the tuples that
    differ are `moving`: for the i-th of them `later` is ~i. So no second array is kept for the state before.
    `pending` are the supports gained and lost that are to be decided next. One that `sleeps` is read when it is first
    used, from what is `stored`; from there its ids go on. Arrangements that are made once it is arranged `by_demand`
    hold the keys that have been asked for. `asked` are the conditions that rules ask of it.
    """

    splits = False

    def __init__(self, name: str, width: int, dtype: np.dtype) -> None:
        self.width, self.lock, self.loading = width, Lock(), RLock()
        self.asked = WeakValueDictionary[tuple[Pairs, Pairs], Matched]()
        super().__init__(name, width + 1, dtype)
        self.group = tuple(range(width))

    def clear(self) -> None:
        """Forget all tuples and arrangements."""
        super().clear()
        self.stored: StoredTuples | None = None
        self.n_sorted, self.by_demand = 0, False
        self.table = IdTable()
        self.later, self.count = np.full(FIRST_IDS, ABSENT, np.int32), np.zeros(FIRST_IDS, np.int32)
        self.pending, self.moving = SupportSums(), STILL
        self.log: list[tuple[np.ndarray, np.ndarray]] = []
        self._changed = STILL, ChangedRows(self, NONE, own=False)
        self._journal: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None

    @property
    def sleeps(self) -> bool:
        """True if what is stored has not been read."""
        return "later" not in self.__dict__

    def sleep(self, stored: StoredTuples) -> None:
        """Hold what is stored, once any of it is asked for."""
        for name in (*STORED, "table"):
            self.__dict__.pop(name, None)
        self.stored, self.n, self.n_sorted = stored, stored.n, stored.n_sorted
        self.arrangements = {}
        self.delta, self.n_delta, self.magnitude = [], 0, (self.n.bit_length() + 2) // 3

    def __getattr__(self, name: str) -> object:
        """Wake up: called for what is not there, which is what is stored, and the table that finds it."""
        if name not in STORED and name != "table":
            raise AttributeError(f"a relation has no {name}")
        with self.loading:
            if self.sleeps:
                self._wake(self.stored)
            if name == "table" and "table" not in self.__dict__:
                self.table = self._table()
        return object.__getattribute__(self, name)

    def _wake(self, stored: StoredTuples) -> None:
        """Hold what is stored."""
        n = stored.n
        capacity = n + n // 16 + FIRST_IDS
        store = Partition(self.arity, self.dtype, capacity)
        later, count = (np.empty(capacity, np.int32) for _ in range(2))
        stored.read_into(store.rows[: self.width], later, count)
        store.rows[self.width, :n] = np.arange(n)
        store.n = store.old = store.end = n
        store.most = self.most
        self.partitions, self.count, self.later = [store], count, later

    def _table(self) -> IdTable:
        """Return what finds the tuples that were read."""
        n, rows = self.n_ids, self.partitions[0].rows
        if self.n_sorted < SMALL_ROWS:
            return table_for(rows, self.width, n, n + n // 16)
        return SortedIds(self.n_sorted, rows, self.width, n)

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> Arrangement:
        """Return the arrangement by the columns `key`: of a large relation, where few are asked for, of these alone."""
        key = tuple(key)
        if (asked := ASKED_FOR.get()) is not None:
            asked.add((self.name, key))
        if key and key not in self.arrangements and self.n_by_demand >= SMALL_ROWS and not old:
            self.arrangements[key] = DemandedArrangement(key, self)
        return super().arrangement(key, payload=payload, old=old)

    @property
    def n_by_demand(self) -> int:
        """The number of tuples that are arranged by the keys asked for: those that were stored, or all."""
        return self.n_ids if self.by_demand else self.n_sorted

    def forget_arrangements(self) -> None:
        """Forget all arrangements, whoever reads them; new ones are of the keys asked for."""
        self.arrangements, self.by_demand = {}, True

    def demanded(self) -> Iterator[DemandedArrangement]:
        """Yield the arrangements of the keys asked for that could begin anew."""
        for each in self.arrangements.values():
            if isinstance(each, DemandedArrangement) and each.batch is None:
                yield each

    # ---- tuples and ids

    @property
    def n_ids(self) -> int:
        return self.partitions[0].n

    def ids_of(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of the first n rows on the columns `take`, -1 for those that have never been there."""
        return self.table.find(rows, n, take, self.partitions[0].rows)

    def intern(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of the first n rows on the columns `take`; new ones are absent for now."""
        store, ids, at = self.partitions[0], np.empty(n, np.int32), 0
        begin = store.n
        if isinstance(self.table, SortedIds) and not self.table.pays:
            self.table = self.table.grown(store.rows, self.width, store.n, store.n + store.n // 16)
        while True:
            at, store.n = self.table.give(rows, at, n, take, store.rows, store.n, ids[at:])
            if at == n:
                break
            self._make_room(GROWTH)
        store.rows[self.width, begin : store.n] = np.arange(begin, store.n)
        self.later[begin : store.n], self.count[begin : store.n] = ABSENT, 0
        return ids

    def add(self, rows: Columns) -> np.ndarray:
        """Return the ids of whole rows, [width, n]; new ones are absent for now."""
        return self.intern(np.ascontiguousarray(rows), rows.shape[1], self.every[: self.width])

    def known(self, rows: Columns) -> np.ndarray:
        """Return the ids of whole rows, [width, n], -1 for those that have never been there."""
        return self.ids_of(np.ascontiguousarray(rows), rows.shape[1], self.every[: self.width])

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return for each of the first n rows whether it is there."""
        ids = self.ids_of(rows, n, take)
        found = ids >= 0
        found[found] = self.are_there(ids[found])
        return found

    def are_there(self, ids: np.ndarray) -> np.ndarray:
        """Say of tuples whether they are there."""
        return self.states_of(ids)[1] != ABSENT

    def derive(self, rows: Columns, n: int, take: np.ndarray) -> None:
        """Count the first n rows on the columns `take` as derivations of tuples of the iteration under way.

        Those that stand in earlier ones are not counted. Safe to call from several threads: while one counts, another
        looks for these.
        """
        store, at = self.partitions[0], 0
        if not self.lock.acquire(blocking=False):
            rows = self.table.drop_old(rows, n, take, store.rows, store.end)
            n, take = rows.shape[1], self.every[: self.width]
            self.lock.acquire()
        try:
            while True:
                at, store.n = self.table.count_new(rows, at, n, take, store.rows, store.n, store.end, self.count)
                if at == n:
                    break
                self._make_room(BOOTSTRAP_GROWTH)
        finally:
            self.lock.release()

    def next_round(self, iteration: int) -> int:
        """Make what has been derived the delta, as tuples of an iteration; return how many there are."""
        lo, hi = self.partitions[0].end, self.n_ids
        self.later[lo:hi] = iteration
        self.partitions[0].rows[self.width, lo:hi] = np.arange(lo, hi)
        for update in self.advance():
            update()
        return hi - lo

    def end_rounds(self) -> None:
        """There is no delta any more: arrangements need not tell it apart."""
        self.settle()
        for arrangement in self.arrangements.values():
            arrangement.forget_old()

    def exceeds(self, n_rows: int) -> bool:
        """Return whether more tuples are there; those that have been there do not count."""
        return self.n_ids > n_rows and len(self.present()) > n_rows

    def since(self, iteration: int) -> np.ndarray:
        """Return the ids of the tuples of an iteration and later ones, which do not move."""
        iterations = self.later[: self.n_ids]
        return np.flatnonzero((iterations >= iteration) & (iterations != ABSENT))

    def _make_room(self, share: float) -> None:
        """Let there be room for a share more ids, in the table or in the arrays by id."""
        n = self.n_ids
        if n > self.most:
            raise RowsReached
        if self.table.is_full(n):
            self.table = self.table.grown(self.partitions[0].rows, self.width, n, n + int(n * min(share, 1.0)))
        else:
            self._resize(n + max(FIRST_IDS, int(n * share)))

    def _resize(self, capacity: int) -> None:
        """Let arrays by id have room for so many."""
        n, store = self.n_ids, self.partitions[0]
        rows = np.empty((self.width + 1, capacity), self.dtype)
        rows[:, :n] = store.rows[:, :n]
        store.rows = rows
        self.later, self.count = resized(self.later, n, capacity), resized(self.count, n, capacity)

    def trim(self) -> None:
        """Give back most of the room for more ids."""
        n = self.n_ids
        room = n + n // 16
        if len(self.later) > max(FIRST_IDS, n + n // 8):
            self._resize(room)
        if len(self.table.slots) > max(FIRST_IDS, 1.4 * slots_for(room)):
            self.table = table_for(self.partitions[0].rows, self.width, n, room)

    @property
    def n_bytes(self) -> int:
        """The memory that rows, numbers, table and arrangements take."""
        return self.n_bytes_of_tuples + sum(each.n_bytes for each in self.arrangements.values())

    @property
    def n_bytes_of_tuples(self) -> int:
        """The same without arrangements."""
        return self.partitions[0].n_bytes + self.table.n_bytes + self.later.nbytes + self.count.nbytes

    # ---- states

    def now(self) -> np.ndarray:
        """The iterations of all tuples."""
        return self._iterations(self.moving.later)

    def before(self) -> np.ndarray:
        """The iterations of all tuples in the state before, where two are compared."""
        return self._iterations(self.moving.earlier)

    def _iterations(self, of_moving: np.ndarray) -> np.ndarray:
        iterations = self.later[: self.n_ids]
        if len(self.moving.ids):
            iterations = iterations.copy()
            iterations[self.moving.ids] = of_moving
        return iterations

    def states_of(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The iterations of some tuples in both states."""
        found = self.later[ids]
        moves = np.flatnonzero(found < 0)
        earlier, later = found.copy(), found
        earlier[moves], later[moves] = self.moving.earlier[~found[moves]], self.moving.later[~found[moves]]
        return earlier, later

    def present(self) -> np.ndarray:
        """The ids of the tuples that are there."""
        return np.flatnonzero(self.now() != ABSENT)

    def columns(self) -> Columns:
        """The tuples that are there, [width, n]."""
        return self.generators()

    def generators(self) -> Columns:
        """The rows that are there, of which the tuples follow by what the relation is declared to be."""
        return self.rows_at(self.present())

    def facts(self, but: np.ndarray = NONE) -> Columns:
        """The facts of the state before, [width, n], but for some ids."""
        given = np.flatnonzero(self.before() == 0)
        return self.rows_at(np.setdiff1d(given, but) if len(but) else given)

    def rows_at(self, ids: np.ndarray) -> Columns:
        """The rows with some ids, [width, n]."""
        return self.partitions[0].rows[: self.width].take(ids, axis=1)

    @property
    def moves(self) -> bool:
        """True if two states are compared that differ."""
        return self.moving is not STILL

    @property
    def changed(self) -> np.ndarray:
        """The ids of the tuples whose iteration is another than in the state before, once the stratum is done."""
        return self.moving.ids

    @property
    def changed_rows(self) -> ChangedRows:
        """The tuples that have been inserted or deleted since the state before, the same for all who read them."""
        moving, changed = self._changed
        if moving is not self.moving:
            moving, changed = self._changed = self.moving, ChangedRows(self, np.concatenate(self.changes()), own=False)
        return changed

    def changes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of the tuples that have been inserted and deleted since the state before."""
        return self.moving.changes()

    def open_batch(self, ids: np.ndarray, earlier: np.ndarray, later: np.ndarray) -> None:
        """Let some tuples, none twice, be in other iterations from now on than they were in."""
        if len(ids):
            self.log.append((ids, earlier))
            self.moving = Moving(ids, earlier, later)
            self.later[ids] = np.arange(-1, -1 - len(ids), -1, np.int32)

    def _open_where_different(self, ids: np.ndarray, earlier: np.ndarray) -> None:
        later = self.later[ids]
        differs = earlier != later
        self.open_batch(ids[differs], earlier[differs], later[differs])

    def arrive_again(self, iteration: int) -> np.ndarray:
        """Begin a batch in which the tuples of the last iteration arrive, though they are there; return their ids."""
        self.close_batch()
        ids = self.since(iteration)
        self.note(ids)
        self.open_batch(ids, np.full(len(ids), ABSENT, np.int32), np.full(len(ids), iteration, np.int32))
        return ids

    def close_batch(self) -> None:
        """The consequences of a batch are drawn: what has been `later` is what comes next is compared with."""
        if self.moving is not STILL:
            self.later[self.moving.ids] = self.moving.later
            self.moving = STILL

    def close_stratum(self) -> None:
        """Compare with the state before all batches from now on."""
        if not self.log:
            return
        self.close_batch()
        ids, earlier = self.log[0]
        if len(self.log) > 1:
            ids, first = np.unique(np.concatenate([ids for ids, _ in self.log]), return_index=True)
            earlier = np.concatenate([was for _, was in self.log])[first]
        self._open_where_different(ids, earlier)
        self.log = []

    def reopen_stratum(self) -> None:
        """Compare with the present state from now on, until the stratum is closed again."""
        ids, earlier = self.moving.ids, self.moving.earlier
        self.close_batch()
        self.log = [(ids, earlier)] if len(ids) else []

    def begin(self) -> None:
        """Let the new state be what later ones are compared with: nothing was there before."""
        self.close_batch()
        self.log = []

    def adopt(self, other: MaintainedRelation) -> None:
        """Take over the tuples of another relation, with their numbers; there are none so far."""
        there = other.present()
        ids = self.add(other.rows_at(there))
        self.later[ids], self.count[ids] = other.later[there], other.count[there]
        self.arrange()
        self.begin()

    def enter(self, ids: np.ndarray, iteration: int) -> np.ndarray:
        """Let tuples be facts, of iteration 0, or (ABSENT) not be there; return those that were not."""
        self.note(ids[ids >= 0])
        changed = np.empty(len(ids), np.int32)
        return changed[: enter(ids, iteration, self.later, self.count, changed)]

    def set_facts(self, gone: np.ndarray, come: np.ndarray) -> None:
        """Begin a batch: some tuples, which were facts, are facts no more, some are."""
        ids = np.union1d(gone, come)
        earlier = self.later[ids]
        self.enter(gone, ABSENT)
        self.enter(come, 0)
        self._open_where_different(ids, earlier)

    def arrange(self) -> None:
        """Add what is new to the arrangements."""
        if self.partitions[0].n > self.partitions[0].end:
            for update in self.advance():
                update()

    def open_update(self) -> None:
        """Take down from now on how tuples were, so that an update can be undone."""
        self._journal = []

    def note(self, ids: np.ndarray) -> None:
        """Take down the iterations and counts of some tuples, which are about to change, if an update is open."""
        if self._journal is not None:
            self._journal.append((ids, self.later[ids], self.count[ids]))

    def close_update(self) -> None:
        """Make the new state the old one."""
        self.close_batch()
        self._journal = None

    def undo_update(self) -> None:
        """Let tuples be as they were when the update was opened; those that it has made are not there."""
        journal, self._journal = self._journal or [], None
        for ids, later, count in reversed(journal):
            self.later[ids], self.count[ids] = later, count
        self.pending, self.moving, self.log = SupportSums(), STILL, []
        if not self.sleeps:
            self.arrange()

    def rows_of(self, ids: np.ndarray, *more: Sequence[int]) -> Columns:
        """Return rows with their ids, and some more columns behind them."""
        rows = self.partitions[0].rows[:, ids]
        return np.ascontiguousarray(np.concatenate([rows, np.array(more, self.dtype).reshape(len(more), -1)]))


class MaintainedEquivalence(MaintainedRelation):
    """The classes of an equivalence: a tuple is an element with the least element of its class.

    The pairs are written out only when asked for.
    """

    def columns(self) -> Columns:
        """All pairs that share a class, [2, n]."""
        equivalence = Equivalence(self.name, self.dtype)
        rows = self.generators()
        equivalence.insert(rows, 0, rows.shape[1], np.arange(2))
        equivalence.advance()
        return equivalence.columns()


def resized(held: np.ndarray, n: int, capacity: int) -> np.ndarray:
    """An array with room for more entries, of which the first n are kept."""
    bigger = np.empty(capacity, held.dtype)
    bigger[:n] = held[:n]
    return bigger
