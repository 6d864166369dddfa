"""Arrangements find the rows of a key, however its values are spread, against a dictionary."""

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.kernels.csr_runs import LENGTH, OLD
from engine.storage import arrangement
from engine.storage.arrangement import FEW_VALUES, Arrangement, Block
from engine.storage.key_tables import HashedKeys, ValueKeys

SPREADS = [
    (0, 50),
    (0, 20_000),
    (0, 50_000),
    (0, FEW_VALUES),
    (FEW_VALUES - 100, FEW_VALUES + 100),
    (-30, 3000),
    (0, 2**31 - 1),
]


def batches(seed, spreads):
    """Distinct rows: 300 to a batch, keys in the range that is named for it, each row with its number."""
    rng = np.random.default_rng(seed)
    for number, (low, high) in enumerate(spreads):
        keys = rng.choice(rng.integers(low, high, 100), 300)
        yield np.stack([keys, np.arange(300) + 300 * number]).astype(np.int32)


def found(by, chunk, upto):
    starts, lengths = by.matches(chunk, chunk.shape[1], np.array([0]), upto)
    return [by.arena[0, s : s + n].tolist() for s, n in zip(starts.tolist(), lengths.tolist(), strict=True)]


@given(st.integers(0, 1000), st.lists(st.sampled_from(SPREADS), min_size=1, max_size=6))
def test_the_matches_of_a_key_are_those_of_a_dictionary(seed, spreads):
    by, known, before = Arrangement((0,), 2, np.dtype(np.int32)), defaultdict(list), defaultdict(list)
    by.build_arena([])
    by.track_old([])
    for rows in batches(seed, spreads):
        before = {key: list(held) for key, held in known.items()}
        by.add([Block(rows, 0, rows.shape[1])])
        for key, value in rows.T.tolist():
            known[key].append(value)
        asked = np.concatenate([rows[:1], rows[:1] + 1, [[-1, 0, 2**31 - 1]]], axis=1).astype(np.int32)
        assert found(by, asked, LENGTH) == [known.get(key, []) for key in asked[0].tolist()]
        assert found(by, asked, OLD) == [before.get(key, []) for key in asked[0].tolist()]


def test_runs_that_have_moved_leave_few_places_unused():
    by, rng, n = Arrangement((0,), 2, np.dtype(np.int32)), np.random.default_rng(1), 100_000
    by.build_arena([])
    for number in range(50):
        # Keys begin to grow one after the other: each leaves a place behind with every doubling.
        rows = np.stack([rng.integers(0, 40 * (number + 1), n // 50), np.arange(n // 50)]).astype(np.int32)
        by.add([Block(rows, 0, n // 50)])
    assert by.n_rows == n and by.arena.shape[1] <= 2.5 * n


@given(st.integers(0, 1000), st.lists(st.sampled_from(SPREADS), min_size=1, max_size=3))
def test_one_that_does_not_grow_has_no_room_to_spare(seed, spreads):
    pieces = list(batches(seed, spreads))
    blocks, known = [Block(rows, 0, rows.shape[1]) for rows in pieces], defaultdict(list)
    for key, value in np.concatenate(pieces, axis=1).T.tolist():
        known[key].append(value)
    by = Arrangement((0,), 2, np.dtype(np.int32), grows=False)
    by.add(blocks)
    by.build_arena(blocks)
    asked = np.concatenate([pieces[-1][:1], pieces[0][:1] + 1, [[-1, 0, 2**31 - 1]]], axis=1).astype(np.int32)
    assert found(by, asked, LENGTH) == [known.get(key, []) for key in asked[0].tolist()]
    assert by.runs.shape[1] == 2 and by.top == sum(map(len, known.values()))


def test_keys_are_found_by_value_where_that_takes_little_memory_a_row():
    by, kinds = Arrangement((0,), 2, np.dtype(np.int32)), []
    for greatest, n in ((5, 1), (5000, 9), (5000, 300), (2**30, 1)):
        rows = np.stack([np.linspace(greatest // 2, greatest, n), np.arange(n)]).astype(np.int32)
        by.add([Block(rows, 0, n)])
        kinds.append(None if by.dense else type(by.keys))
    assert kinds == [None, HashedKeys, ValueKeys, HashedKeys]


def test_an_index_of_few_rows_is_small_however_large_their_values_are():
    by = Arrangement((0,), 2, np.dtype(np.int32), grows=False)
    rows = np.array([[0, FEW_VALUES - 1], [0, 0]], np.int32)
    by.add([Block(rows, 0, 2)])
    assert by.n_bytes < 1 << 14


def test_lengths_can_be_read_while_the_rows_are_laid_out(monkeypatch):
    """Another thread may ask which keys there are, without their rows."""
    (rows,) = batches(7, [(0, 50)])
    by, block = Arrangement((0,), 2, np.dtype(np.int32)), Block(rows, 0, 300)
    by.add([block])
    lengths, seen, fill = by.runs[:, LENGTH].copy(), [], arrangement.fill

    def watched(*given):
        seen.append(by.runs[:, LENGTH].tolist())
        fill(*given)

    monkeypatch.setattr(arrangement, "fill", watched)
    by.build_arena([block])
    assert seen == [lengths.tolist()]
    assert by.runs[:, LENGTH].tolist() == lengths.tolist()
