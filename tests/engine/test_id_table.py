"""The table that gives rows their ids, against a dictionary."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.storage.id_table import IdTable, table_for

# Few values, so that rows come again; some that differ in their high bits only, and negative ones.
VALUES = st.sampled_from([0, 1, 2, 3, -1, 1 << 16, 1 << 20, 1 << 30, -(1 << 31)])


@st.composite
def batches(draw):
    """Batches of rows of one width, and the order in which their columns are taken."""
    width = draw(st.integers(1, 3))
    rows = st.lists(st.tuples(*[VALUES] * width), max_size=80)
    return draw(st.lists(rows, max_size=6)), np.array(draw(st.permutations(range(width))), np.int64)


def columns(rows, width):
    return np.array(rows, np.int32).reshape(len(rows), width).T.copy()


class Store:
    """A table with what it knows; it grows as its users let it grow."""

    def __init__(self, width):
        self.table, self.rows, self.n, self.width = IdTable(), np.empty((width, 4), np.int32), 0, width

    def give(self, rows, take):
        ids, at, n = np.empty(rows.shape[1], np.int32), 0, rows.shape[1]
        while True:
            at, self.n = self.table.give(rows, at, n, take, self.rows, self.n, ids[at:])
            if at == n:
                return ids
            if self.table.is_full(self.n):
                self.table = table_for(self.rows, self.width, self.n, 2 * self.n)
            else:
                self.rows = np.concatenate([self.rows, np.empty_like(self.rows)], axis=1)


@settings(max_examples=4 * settings.default.max_examples)
@given(batches())
def test_rows_keep_the_ids_that_they_are_given(given):
    found, take = given
    store, expected = Store(len(take)), {}
    for batch in found:
        taken = [tuple(row[column] for column in take) for row in batch]
        ids = store.give(columns(batch, len(take)), take)
        assert ids.tolist() == [expected.setdefault(row, len(expected)) for row in taken]
    assert store.rows[:, : store.n].T.tolist() == [list(row) for row in expected]
    asked = columns([(value,) * len(take) for value in (0, 1, 3, 1 << 20, 77)], len(take))
    ids = store.table.find(asked, asked.shape[1], take, store.rows).tolist()
    assert ids == [expected.get(tuple(row), -1) for row in asked.T.tolist()]


@settings(max_examples=4 * settings.default.max_examples)
@given(batches(), st.data())
def test_old_rows_are_dropped_and_new_ones_counted(given, data):
    found, take = given
    store, expected = Store(len(take)), {}
    for batch in found[:-1]:
        for row, number in zip(batch, store.give(columns(batch, len(take)), take).tolist(), strict=True):
            expected[tuple(row[column] for column in take)] = number
    begin = data.draw(st.integers(0, store.n))
    last = found[-1] if found else []
    rows = columns(last, len(take))
    fresh = [tuple(row[c] for c in take) for row in last]
    fresh = [row for row in fresh if expected.get(row, begin) >= begin]
    assert store.table.drop_old(rows, len(last), take, store.rows, begin).T.tolist() == [list(row) for row in fresh]

    room = store.n + len(last)
    stored = np.concatenate([store.rows, np.empty((len(take), len(last)), np.int32)], axis=1)
    table, counts = table_for(stored, len(take), store.n, 2 * room), np.zeros(stored.shape[1], np.int32)
    at, n = table.count_new(rows, 0, len(last), take, stored, store.n, begin, counts)
    for row in fresh:
        expected.setdefault(row, len(expected))
    assert (at, n) == (len(last), len(expected))
    assert counts[:n].tolist() == [fresh.count(row) if number >= begin else 0 for row, number in expected.items()]
