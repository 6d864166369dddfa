"""Kernels of arrangements in dynamic CSR: per key a run of rows in one arena, moved and doubled when it is full.

`start[k]`, `length[k]` and `room[k]` describe the run of key k; `old[k]` is its length before the last batch, whose
rows stand behind it. Rows arrive as (key id, payload) and keep the order of arrival within a run.
"""

import numpy as np
from numba import njit

from engine.kernels import kernel


@kernel
def count_keys(length, ids, n):
    """Add to `length` the number of times each key occurs in ids[:n]."""
    for i in range(n):
        length[ids[i]] += 1


@kernel
def settle(old, length, ids, n):
    """Make the keys ids[:n] of the last batch old."""
    for i in range(n):
        old[ids[i]] = length[ids[i]]


@kernel
def reserve(length, room, top, ids, n):
    """Mark the keys among ids[:n] that outgrew their run: room becomes −(size + 1). Return the arena size needed."""
    for i in range(n):
        k = ids[i]
        if room[k] >= 0 and length[k] > room[k]:
            size = 4
            while size < length[k]:
                size *= 2
            room[k] = -size - 1
            top += size
    return top


@kernel
def append(arena, start, length, room, top, ids, rows, lo, n, payload):
    """Append the columns `payload` of rows lo … lo + n - 1 to the runs of ids[:n]; runs marked by `reserve` move first.

    On entry `length` counts the new rows already. Returns the arena size in use.
    """
    for i in range(n):
        length[ids[i]] -= 1
    for i in range(n):
        k = ids[i]
        if room[k] < 0:
            room[k] = -room[k] - 1
            for c in range(len(payload)):
                for j in range(length[k]):
                    arena[c, top + j] = arena[c, start[k] + j]
            start[k] = top
            top += room[k]
        at = start[k] + length[k]
        for c in range(len(payload)):
            arena[c, at] = rows[payload[c], lo + i]
        length[k] += 1
    return top


@kernel
def locate_dense(rows, column, n, n_keys, ids):
    """Write to ids[i] the key of row i, which is its value in `column`, or -1 where that is no key; i < n."""
    values = rows[column]
    for i in range(n):
        value = values[i]
        ids[i] = value if 0 <= value < n_keys else -1


@kernel
def total_matches(ids, n, length):
    """The number of rows that `expand` would write for ids[:n]."""
    total = 0
    for i in range(n):
        if ids[i] >= 0:
            total += length[ids[i]]
    return total


@njit(inline="always")
def write_matches(row, first, m, rows, take, arena, payload, out, at):
    """Write row `row` paired with the m rows of the arena from `first` on to `out` from column `at` on.

    In steps of four where there is room to write beyond the end: short runs then take no unforeseen branch.
    """
    n_left = len(take)
    if at + m + 4 <= out.shape[1] and first + m + 4 <= arena.shape[1]:
        for q in range(n_left):
            value = rows[take[q], row]
            for p in range(at, at + m, 4):
                out[q, p] = value
                out[q, p + 1] = value
                out[q, p + 2] = value
                out[q, p + 3] = value
        for q in range(len(payload)):
            c = payload[q]
            for p in range(0, m, 4):
                a, b, d, e = (
                    arena[c, first + p],
                    arena[c, first + p + 1],
                    arena[c, first + p + 2],
                    arena[c, first + p + 3],
                )
                out[n_left + q, at + p] = a
                out[n_left + q, at + p + 1] = b
                out[n_left + q, at + p + 2] = d
                out[n_left + q, at + p + 3] = e
        return
    for q in range(n_left):
        for p in range(at, at + m):
            out[q, p] = rows[take[q], row]
    for q in range(len(payload)):
        for p in range(m):
            out[n_left + q, at + p] = arena[payload[q], first + p]


@kernel
def expand(ids, n, i, j, start, length, rows, take, arena, payload, out):
    """Join: for each row i < n and each row in the run of ids[i], write the columns `take` of the one and `payload`
    of the other to `out`, until that is full.

    Starts at match j of row i; returns (rows written, next i, next j), with i = n at the end.
    """
    at, room = 0, out.shape[1]
    while i < n:
        k = ids[i]
        if k >= 0:
            rest = np.int64(length[k]) - j
            m = min(rest, room - at)
            write_matches(i, start[k] + j, m, rows, take, arena, payload, out, at)
            at += m
            if m < rest:
                return at, i, j + m
        i, j = i + 1, 0
    return at, i, j


@kernel
def keep_matches(ids, n, length, wanted, chunk, live):
    """Keep, in place, the rows whose key has a non-empty run (or has none, if not `wanted`). Return how many."""
    kept = 0
    for i in range(n):
        if (ids[i] >= 0 and length[ids[i]] > 0) == wanted:
            if kept < i:
                for c in live:
                    chunk[c, kept] = chunk[c, i]
            kept += 1
    return kept
