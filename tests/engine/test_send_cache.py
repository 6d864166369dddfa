"""What a worker sends of what it derives: boxes hold what the receiver needs, against plain dictionaries."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation import send_cache
from engine.evaluation.send_buffer import SendBuffer
from engine.storage.accumulator import AggregatedColumn
from engine.storage.aggregate_partition import Shape
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.relation import Relation

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
ENDS = [-(2**31), 2**31 - 1]
small = st.one_of(st.integers(-2, 6), st.sampled_from(ENDS))


def relation_with(kind, of="number", dtype=INT32, n_group=1, n_keys=0):
    bits = 64 if dtype == INT64 else 32
    keys = tuple(range(n_group + 1, n_group + 1 + n_keys))
    column = AggregatedColumn("best", n_group, kind, of, dtype, bits, keys)
    return AggregateRelation("best", Shape(n_group + 1, dtype, np.arange(n_group), (column,), n_keys))


def delivered(relation, chunks, room=3, bits=2):
    """The rows that leave an outbox, fragment by fragment, in order."""
    left = []
    width = len(relation.every)
    channel = SimpleNamespace(relation=relation, width=width, key=np.array([0]))
    outbox = SendBuffer(
        7, channel, bits, room, lambda number, fragment, rows: left.append((number, fragment, rows.copy()))
    )
    for chunk in chunks:
        outbox.offer(chunk, chunk.shape[1], np.arange(width))
    outbox.flush()
    return left


def chunks_of(rows, width, dtype):
    columns = np.array(rows, dtype).reshape(-1, width).T
    return [np.ascontiguousarray(part) for part in np.array_split(columns, 3, axis=1)]


@given(st.lists(st.tuples(small, small, small), max_size=60), st.sampled_from([1, 2, 3]))
def test_plain_rows_all_arrive_at_one_fragment_each(rows, width):
    rows = [row[:width] for row in rows]
    found = delivered(Relation("r", width, INT32), chunks_of(rows, width, INT32))
    arrived = {}
    for number, fragment, block in found:
        assert number == 7
        for row in block.T.tolist():
            assert arrived.setdefault(row[0], fragment) == fragment
    assert {tuple(row) for _, _, block in found for row in block.T.tolist()} == set(rows)


@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("n_group, n_keys", [(1, 0), (2, 0), (1, 1)])
@given(rows=st.lists(st.tuples(small, small, small), max_size=60))
def test_the_best_of_each_group_arrives(kind, n_group, n_keys, rows):
    width = n_group + 1 + n_keys
    rows = [row[:width] for row in rows]
    relation = relation_with(kind, n_group=n_group, n_keys=n_keys)
    found = delivered(relation, chunks_of(rows, width, INT32))
    better = min if kind == "min" else max

    def best(every):
        groups = {}
        for row in every:
            key = (*row[:n_group], *row[n_group + 1 :])
            groups[key] = better(groups.get(key, row[n_group]), row[n_group])
        return groups

    sent = [tuple(row) for _, _, block in found for row in block.T.tolist()]
    assert best(sent) == best(rows) and set(sent) <= set(rows)


@pytest.mark.parametrize("of, dtype, least", [("unsigned", np.uint64, 5), ("float", np.float64, -1.5)])
def test_values_compare_as_what_they_are(of, dtype, least):
    values = np.array([2**63 + 1, 5, 7] if of == "unsigned" else [np.nan, 2.5, -1.5, np.nan], dtype)
    chunk = np.stack([np.full(len(values), 3), values.view(np.int64)])
    ((_, _, rows),) = delivered(relation_with("min", of, INT64), [chunk], room=8)
    assert rows[0].tolist() == [3] and rows[1].view(dtype).tolist() == [least]


def test_a_better_value_takes_the_place_of_one_that_waits():
    chunk = np.array([[1, 1, 1, 2], [9, 9, 9, 9], [5, 3, 4, 8]], np.int32)
    (_, _, rows), *more = delivered(relation_with("min", n_group=2), [chunk], bits=0, room=8)
    assert rows.T.tolist() == [[1, 9, 3], [2, 9, 8]] and not more


def test_sums_send_the_last_value_of_each_contributor():
    # Group, value, contributor.
    chunk = np.array([[1, 1, 1, 1], [2, 3, 5, 4], [7, 8, 7, 8]], np.int32)
    ((_, _, rows),) = delivered(relation_with("sum", n_keys=1), [chunk], bits=0, room=8)
    assert rows.T.tolist() == [[1, 5, 7], [1, 4, 8]]


def test_rows_sent_before_are_not_sent_again():
    chunk = np.array([[0, 1, 0, 1], [0, 1, 0, 1]], np.int32)
    found = delivered(Relation("r", 2, INT32), [chunk, chunk], bits=0, room=1)
    assert [rows.T.tolist() for _, _, rows in found] == [[[0, 0]], [[1, 1]]]


@pytest.mark.parametrize("step, pays", [(0, True), (1, False)])
def test_a_cache_knows_whether_it_pays(step, pays):
    cache, n = send_cache.KnownRows(2, INT32), 0
    boxes = send_cache.Boxes(np.empty((1, 2, 1000), np.int32), np.zeros(1, np.int64), np.ones(1, np.int32))
    for _ in range(1 + send_cache.WATCHED_ROWS // 1000):
        values = np.arange(n, n + 1000, dtype=np.int32)
        rows = np.stack([values, values])
        assert cache.send(rows, 0, 1000, np.arange(2), np.zeros(1000, np.int32), boxes) == 1000
        boxes.counts[0] = 0
        n += 1000 * step
    assert cache.pays == pays
