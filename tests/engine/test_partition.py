"""Partitions keep rows distinct, whatever table they do it with; joins insert what they make."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from engine.kernels.csr_runs import LENGTH
from engine.storage.arrangement import Arrangement, Block
from engine.storage.bit_matrix import PairMatrix
from engine.storage.hash_tables import Joined, PairTable
from engine.storage.partition import Partition

BOTH = np.arange(2)
BATCHES = {
    "dense": lambda rng, i: rng.integers(0, 120, (2, 9000)),
    "dense and negative": lambda rng, i: rng.integers(-60, 60, (2, 9000)),
    "wider and wider": lambda rng, i: rng.integers(-20 * (i + 1), 40 * (i + 1), (2, 9000)),
    "one wide column": lambda rng, i: np.stack([rng.integers(0, 5, 9000) * 10**6, rng.integers(0, 3000, 9000)]),
    "dense, then scattered": lambda rng, i: rng.integers(0, 120 if i < 3 else 2**31, (2, 9000)),
    "scattered": lambda rng, i: rng.integers(-(2**31), 2**31, (2, 9000)),
    "extremes": lambda rng, i: rng.choice([-(2**31), -1, 0, 2**31 - 1], (2, 9000)),
}


def rows_of(partition):
    rows = list(map(tuple, partition.rows[:, : partition.n].T.tolist()))
    assert len(rows) == len(set(rows))
    return set(rows)


@pytest.mark.parametrize("name", BATCHES)
def test_a_partition_holds_each_pair_once(name):
    rng, partition, known = np.random.default_rng(1), Partition(2, np.int32), set()
    for i in range(6):
        batch = BATCHES[name](rng, i).astype(np.int32)
        pairs = set(map(tuple, batch.T.tolist()))
        assert partition.insert(batch, 0, batch.shape[1], BOTH) == len(pairs - known)
        known |= pairs
        assert rows_of(partition) == known
        asked = np.concatenate([batch[:, :50], BATCHES[name](rng, i + 1).astype(np.int32)[:, :50]], axis=1)
        expected = [pair in known for pair in map(tuple, asked.T.tolist())]
        assert partition.find(asked, 100, BOTH).tolist() == expected


def beside(calls):
    """Make calls on as many threads; return what they return."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result() for each in [pool.submit(call) for call in calls]]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("name", BATCHES)
def test_threads_that_insert_at_the_same_time_find_each_row_new_once(name, width):
    rng, partition, known, added = np.random.default_rng(4), Partition(width, np.int32), set(), 0
    for i in range(3):
        # The threads have many rows in common, and those of which all bits are set.
        batch = np.concatenate([BATCHES[name](rng, i), [[-1], [-1]]], axis=1)[:width].astype(np.int32)
        every, shuffled = np.arange(width), np.ascontiguousarray(batch[:, rng.permutation(batch.shape[1])])
        calls = [partial(partition.insert_beside, rows, 0, rows.shape[1], every) for rows in (*3 * [batch], shuffled)]
        added += sum(beside(calls))
        known |= set(map(tuple, batch.T.tolist()))
        assert rows_of(partition) == known
        assert added == partition.n


def test_threads_that_join_at_the_same_time_find_each_pair_new_once():
    rng, n = np.random.default_rng(5), 200_000
    right = np.unique(rng.integers(0, 3000, (2, n)), axis=1).astype(np.int32)
    by = Arrangement((0,), 2, np.dtype(np.int32))
    by.add([Block(right, 0, right.shape[1])])
    by.build_arena([Block(right, 0, right.shape[1])])
    # One chunk of (x, z) in many orders; x is scattered, so that no matrix holds the pairs.
    chunk = np.stack([rng.integers(0, 2**31, 3000), np.arange(3000)]).astype(np.int32)
    sides, firsts, joined = np.array([(0, 0), (1, 0)]), {z: x for x, z in chunk.T.tolist()}, []
    for order in 3 * [np.arange(3000)] + [rng.permutation(3000)]:
        rows = np.ascontiguousarray(chunk[:, order])
        joined.append(Joined(*by.matches(rows, 3000, np.array([1]), LENGTH), 3000, rows, by.arena, sides))
    for _ in range(10):
        partition = Partition(2, np.int32)
        made, added = zip(*beside([partial(partition.insert_joined_beside, each) for each in joined]), strict=True)
        assert rows_of(partition) == {(firsts[z], y) for z, y in right.T.tolist()}
        assert set(made) == {right.shape[1]} and sum(added) == partition.n


def test_dense_pairs_become_bits_and_scattered_ones_hashes_again():
    rng, partition = np.random.default_rng(2), Partition(2, np.int32)
    dense = rng.integers(0, 120, (2, 20_000), dtype=np.int32)
    partition.insert(dense, 0, 20_000, BOTH)
    assert isinstance(partition.table, PairMatrix)
    scattered = rng.integers(-(2**31), 2**31, (2, 20_000)).astype(np.int32)
    partition.insert(scattered, 0, 20_000, BOTH)
    assert isinstance(partition.table, PairTable)
    assert rows_of(partition) == set(map(tuple, np.concatenate([dense, scattered], axis=1).T.tolist()))


SIDES = {"left, right": (0, 1), "right, left": (1, 0), "right, right": (1, 1), "left, left": (0, 0)}


@pytest.mark.parametrize("most", [40, 300, 10**6])
@pytest.mark.parametrize("sides", SIDES)
def test_a_join_inserts_the_pairs_it_makes(sides, most):
    """Joins of random rows by column 1 of the left and 0 of the right, against pairs made one by one."""
    rng, partition, known = np.random.default_rng(3), Partition(2, np.int32), set()
    by = Arrangement((0,), 3, np.dtype(np.int32))
    right = np.unique(np.concatenate([rng.integers(0, 60, (1, 900)), rng.integers(0, most, (2, 900))]), axis=1)
    right = right.astype(np.int32)
    by.add([Block(right, 0, right.shape[1])])
    by.build_arena([Block(right, 0, right.shape[1])])
    matches = {k: right[1:, right[0] == k].T.tolist() for k in range(80)}
    for _ in range(5):
        chunk = rng.integers(0, most, (2, 2000)).astype(np.int32)
        chunk[1] %= 80
        columns = np.array([(side, c if side else 0) for c, side in enumerate(SIDES[sides])])
        found = by.matches(chunk, 2000, np.array([1]), LENGTH)
        joined = Joined(*found, 2000, chunk, by.arena, columns)
        made = [
            tuple(match[c] if side else x for c, side in enumerate(SIDES[sides]))
            for x, k in chunk.T.tolist()
            for match in matches[k]
        ]
        assert partition.insert_joined(joined) == (len(made), len(set(made) - known))
        known |= set(made)
        assert rows_of(partition) == known


@pytest.mark.parametrize("old", [0, 3, 10])
def test_rows_that_no_rule_has_seen_stay_so_when_a_partition_is_divided(old):
    rows, every = np.array([np.arange(10), np.arange(10) % 4], np.int32), np.arange(2)
    part = Partition(2, np.dtype(np.int32))
    part.insert(rows, 0, 10, every)
    part.old = old
    targets = part.divide(every, 4, 16)
    seen = {row for t in targets for row in zip(*t.rows[:, : t.old].tolist(), strict=True)}
    assert seen == {(x, x % 4) for x in range(old)}
    assert sum(t.n for t in targets) == 10
