"""Several threads plan at once: each finds the arrangements of a complete relation whole."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

import numpy as np
import pytest

from engine.evaluation.index_selection import Indexes
from engine.kernels.csr_runs import LENGTH
from engine.storage.arrangement import Arrangement
from engine.storage.relation import Relation

N_KEYS, EACH = 1000, 20
PATIENCE_S = 20


def complete():
    """A relation (k, a, b) with EACH rows for each of N_KEYS keys, in some order."""
    rows = np.array([np.repeat(np.arange(N_KEYS), EACH), np.tile(np.arange(EACH), N_KEYS), np.arange(N_KEYS * EACH)])
    rows = np.ascontiguousarray(rows[:, np.random.default_rng(1).permutation(rows.shape[1])], np.int32)
    relation = Relation("r", 3, np.dtype(np.int32))
    relation.insert(rows, 0, rows.shape[1], relation.every)
    relation.advance()
    return relation.finish()


def n_found(arrangement, keys):
    """The numbers of rows that an arrangement finds for keys of two columns."""
    chunk, key = np.ascontiguousarray(keys, np.int32), np.arange(len(arrangement.key))
    return arrangement.matches(chunk, chunk.shape[1], key, LENGTH)[1].tolist()


@pytest.fixture
def meanwhile(monkeypatch):
    """Let another thread go on as far as it can when a method of arrangements is first called; it sets the event."""

    def hold(name):
        begun, done, method = Event(), Event(), getattr(Arrangement, name)

        def held(self, *arguments):
            if not begun.is_set():
                begun.set()
                done.wait(0.1)
            method(self, *arguments)

        monkeypatch.setattr(Arrangement, name, held)
        return begun, done

    return hold


def at_once(begun, done, first, second):
    """Return what two threads return, of which the second begins when the first one is held."""

    def follow():
        assert begun.wait(PATIENCE_S)
        try:
            return second()
        finally:
            done.set()

    with ThreadPoolExecutor(2) as pool:
        return [each.result() for each in (pool.submit(first), pool.submit(follow))]


def test_an_arrangement_that_threads_ask_for_at_once_is_made_once(meanwhile):
    relation = complete()
    keys = np.arange(N_KEYS, dtype=np.int32)[None, :]

    def ask():
        arrangement = relation.arrangement((0,), payload=True, old=False)
        ids = arrangement.locate(keys, N_KEYS, np.zeros(1, np.int64))
        assert arrangement.runs[ids, LENGTH].tolist() == [EACH] * N_KEYS
        return arrangement

    first, second = at_once(*meanwhile("add"), ask, ask)
    assert first is second


def test_runs_that_threads_want_in_different_orders(meanwhile):
    relation, indexes = complete(), Indexes()
    relation.arrangement((0,), payload=True, old=False)
    keys = np.arange(N_KEYS)

    def ask(column, values):
        read = indexes.prefix_of(relation, (0, column)) or relation.arrangement((0, column), payload=True, old=False)
        return n_found(read, np.array([keys, values]))

    begun, done = meanwhile("sort")
    by_first, by_second = partial(ask, 1, keys % EACH), partial(ask, 2, keys * EACH + keys % EACH)
    assert at_once(begun, done, by_first, by_second) == [[1] * N_KEYS] * 2
