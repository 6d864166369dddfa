"""Versions of a relation: random edits against Python sets, readers that hold versions, the work of merging."""

from math import log2

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from engine.storage.relation import Relation
from engine.storage.spine import DEFAULT, EAGER, LAZY
from engine.storage.trace import Trace

EFFORTS = {"lazy": LAZY, "default": DEFAULT, "eager": EAGER}


def trace_of(rows, arity=2, effort=DEFAULT, dtype=np.int32):
    relation = Relation("r", arity, np.dtype(dtype))
    columns = columns_of(rows, arity, dtype)
    relation.insert(columns, 0, columns.shape[1], relation.every)
    relation.advance()
    relation.finish()
    return Trace(relation, effort)


def columns_of(rows, arity=2, dtype=np.int32):
    return np.array(sorted(rows), dtype).reshape(len(rows), arity).T.copy()


def tuples_of(columns):
    found = [tuple(row) for row in columns.T.tolist()]
    assert len(found) == len(set(found)), "rows are distinct"
    return set(found)


def join(arrangement, keys, column):
    """The rows that an arrangement by one column pairs with some keys, through the operators' interface."""
    chunk, out = np.array([sorted(keys)], arrangement.dtype), np.empty((3, 4), arrangement.dtype)
    zero, place = np.zeros(1, np.int64), {c: i for i, c in enumerate(arrangement.payload.tolist())}
    payload = np.array([place[1 - column]], np.int64)
    found = []
    for n in arrangement.pairs(chunk, chunk.shape[1], zero, 0, zero, payload, out):
        found += zip(out[0, :n].tolist(), out[1, :n].tolist(), strict=True)
    return sorted(found)


ROWS = st.sets(st.tuples(st.integers(-3, 12), st.sampled_from([0, 1, 2, 2**31 - 1, -(2**31)])), max_size=12)
EDITS = st.lists(
    st.tuples(st.sampled_from(["insert", "insert", "remove", "open", "close", "compact"]), ROWS), max_size=25
)


@settings(max_examples=4 * settings.default.max_examples)
@given(ROWS, EDITS, st.sampled_from([*EFFORTS]))
def test_every_reader_sees_the_version_that_it_opened(first, edits, effort):
    trace, now, readers = trace_of(first, effort=EFFORTS[effort]), set(first), []
    for edit, rows in edits:
        if edit == "insert":
            assert trace.insert(columns_of(rows)) == len(rows - now)
            now |= rows
        elif edit == "remove":
            assert trace.remove(columns_of(rows)) == len(rows & now)
            now -= rows
        elif edit == "open":
            readers.append((trace.open(), set(now)))
        elif edit == "close" and readers:
            readers.pop(len(rows) % len(readers))[0].close()
        elif edit == "compact":
            trace.compact()
        for handle, expected in [*readers, (trace.open(), now)]:
            check(handle.relation, expected)
    for handle, _ in readers:
        handle.close()


def check(relation, expected):
    assert relation.n == len(expected)
    assert tuples_of(relation.columns()) == expected
    for column in (0, 1):
        by = relation.arrangement((column,), payload=True, old=False)
        keys = range(-3, 13) if column == 0 else [0, 1, 2, 2**31 - 1, -(2**31)]
        found = join(by, keys, column)
        assert found == sorted((row[column], row[1 - column]) for row in expected)
        chunk = np.array([sorted(keys)], np.int32)
        live = np.zeros(1, np.int64)
        n = by.keep(chunk, chunk.shape[1], live, 0, True, live)
        assert set(chunk[0, :n].tolist()) == {row[column] for row in expected}


def stored_rows(trace):
    return {key: sum(batch.n for batch in spine.all()) for key, spine in trace.spines.items()}


def test_old_versions_are_compacted_below_the_oldest_handle():
    trace = trace_of({(i, 0) for i in range(100)})
    handle = trace.open()
    trace.insert(columns_of({(i, 1) for i in range(100)}))
    middle = trace.open()
    trace.remove(columns_of({(i, 0) for i in range(100)}))
    assert trace.frontier == 0
    handle.close()
    assert trace.frontier == middle.version == 1
    trace.compact()
    assert set(stored_rows(trace).values()) == {200}, "the reader of version 1 sees rows that died later"
    assert middle.relation.columns().shape[1] == 200
    middle.close()
    trace.compact()
    assert set(stored_rows(trace).values()) == {100}


def test_rows_that_nobody_can_see_go_with_later_merges():
    trace = trace_of(set())
    for i in range(200):
        trace.insert(columns_of({(i, j) for j in range(10)}))
        trace.remove(columns_of({(i - 1, j) for j in range(10)}))
    assert trace.n == 10
    assert max(stored_rows(trace).values()) <= 200


@pytest.mark.parametrize("effort", EFFORTS)
def test_the_work_of_merging_is_proportional_to_what_arrives(effort):
    """All batches together move each row O(log n) times; unless eager, one batch moves O(log n) times its rows."""
    rng, step = np.random.default_rng(0), 64
    trace = trace_of({(-1, -1)}, effort=EFFORTS[effort])
    trace.insert(columns_of({(-2, -2)}))
    for _ in range(400):
        trace.insert(rng.integers(0, 2**31 - 1, (2, step)).astype(np.int32))
        spine = next(iter(trace.spines.values()))
        assert len(spine.all()) <= 2 + 2 * log2(trace.n)
    assert spine.moved_rows <= trace.n * log2(trace.n)
    if EFFORTS[effort] is not None:
        assert spine.most_moved <= EFFORTS[effort] * step * log2(trace.n)
    else:
        assert spine.most_moved > trace.n / 4
