"""Kernels of immutable batches: rows sorted by the hash of their key, then by the key, then by the other columns.

A batch is CSR over its sorted rows: `runs[k]` as in `kernels.csr_runs`, the arena being the rows themselves;
`hashes[k]` is the hash of key k. `directory[b]` is the first key whose hash begins with the bits b or more: as hashes
spread evenly, a key is found in constant time, and as the order is the same in all batches, two are merged in one
pass.

Rows have a history where not all readers see the same: they are visible from version `born` until before version
`died` (0 as long as they live). An empty array stands for no history.
"""

import numpy as np

from engine.kernels import inlined, kernel
from engine.kernels.columns import compare
from engine.kernels.csr_runs import LENGTH, START

BLOCK = 64
KEY_A, ROW_A, KEY_B, ROW_B, AT, N_KEYS, OPENED, BUCKET = range(8)
"""A merge under way: the next key of each side and the next row in its run; rows and keys written, the first row
written for the key at hand, and the next entry of the directory."""


@inlined
def hash_of(rows, i, columns):
    """The 32-bit hash of row i on some columns."""
    h = np.uint64(len(columns))
    for c in columns:
        h ^= np.uint64(np.int64(rows[c, i]))
        h ^= h >> np.uint64(32)
        h *= np.uint64(0xD6E8FEB86659FD93)
        h ^= h >> np.uint64(32)
    return np.uint32(h >> np.uint64(32))


@kernel
def hash_rows(rows, n, key, hashes):
    """Write the hash of the columns `key` of the first n rows to `hashes`."""
    for i in range(n):
        hashes[i] = hash_of(rows, i, key)


@kernel
def mark_disorder(rows, n, hashes, key, rest, bad):
    """Mark in `bad` all rows of each hash under which the rows, sorted by hash, do not stand in order."""
    lo = 0
    while lo < n:
        hi, ordered = lo + 1, True
        while hi < n and hashes[hi] == hashes[lo]:
            by_key = compare(rows, hi - 1, rows, hi, key, key)
            if by_key > 0 or (by_key == 0 and compare(rows, hi - 1, rows, hi, rest, rest) > 0):
                ordered = False
            hi += 1
        bad[lo:hi] = not ordered
        lo = hi


@kernel
def drop_repeated(rows, n, columns):
    """Keep, in place, one of equal neighbours; return how many rows are left."""
    kept = min(n, 1)
    for i in range(1, n):
        if compare(rows, kept - 1, rows, i, columns, columns) != 0:
            for c in columns:
                rows[c, kept] = rows[c, i]
            kept += 1
    return kept


@inlined
def close_key(out, key, at, runs, hashes, directory, shift, state):
    """Enter the rows written since the last key as the run of a key, if there are any."""
    start, k = state[OPENED], state[N_KEYS]
    if at > start:
        h = hash_of(out, start, key)
        bucket = np.int64(h >> np.uint32(shift))
        while state[BUCKET] <= bucket:
            directory[state[BUCKET]] = k
            state[BUCKET] += 1
        hashes[k] = h
        runs[k, LENGTH] = at - start
        runs[k, START] = start
        state[N_KEYS] = k + 1
    state[OPENED] = at
    state[AT] = at


@kernel
def index_rows(rows, n, key, runs, hashes, directory, shift, state):
    """Enter the runs of n sorted rows, all at once."""
    for i in range(1, n + 1):
        if i == n or compare(rows, i - 1, rows, i, key, key) != 0:
            close_key(rows, key, i, runs, hashes, directory, shift, state)
    close_directory(directory, state)


@kernel
def close_directory(directory, state):
    for b in range(state[BUCKET], len(directory)):
        directory[b] = state[N_KEYS]


@inlined
def take_row(rows, since, born, died, i, frontier, out, out_born, out_died, at):
    """Copy row i to `out` unless no reader from version `frontier` on sees it; return the rows in `out`."""
    if len(died) and died[i] != 0 and died[i] <= frontier:
        return at
    for c in range(len(rows)):
        out[c, at] = rows[c, i]
    if len(out_born):
        out_born[at] = born[i] if len(born) else since
        out_died[at] = died[i] if len(died) else 0
    return at + 1


@kernel
def merge_step(
    key, rest,
    a, a_runs, a_hashes, a_keys, a_since, a_born, a_died,
    b, b_runs, b_hashes, b_keys, b_since, b_born, b_died,
    out, runs, hashes, directory, shift, out_born, out_died, state, frontier, fuel,
):  # fmt: skip
    """Go on with a merge of the batches a and b for about `fuel` rows; return the rows it took, 0 at the end."""
    taken = 0
    while taken < fuel and (state[KEY_A] < a_keys or state[KEY_B] < b_keys):
        k, m = state[KEY_A], state[KEY_B]
        if m == b_keys:
            order = -1
        elif k == a_keys:
            order = 1
        elif a_hashes[k] != b_hashes[m]:
            order = -1 if a_hashes[k] < b_hashes[m] else 1
        else:
            order = compare(a, a_runs[k, START], b, b_runs[m, START], key, key)
        i = end_i = j = end_j = 0
        if order <= 0:
            i, end_i = a_runs[k, START] + state[ROW_A], a_runs[k, START] + a_runs[k, LENGTH]
        if order >= 0:
            j, end_j = b_runs[m, START] + state[ROW_B], b_runs[m, START] + b_runs[m, LENGTH]
        at, begin_i, begin_j = state[AT], i, j
        while taken < fuel and (i < end_i or j < end_j):
            # Of equal rows all but the one born last are dead: it stands last.
            first = -1 if j == end_j else 1 if i == end_i else compare(a, i, b, j, rest, rest)
            if first == 0:
                first = (a_born[i] if len(a_born) else a_since) - (b_born[j] if len(b_born) else b_since)
            if first <= 0:
                at = take_row(a, a_since, a_born, a_died, i, frontier, out, out_born, out_died, at)
                i += 1
            else:
                at = take_row(b, b_since, b_born, b_died, j, frontier, out, out_born, out_died, at)
                j += 1
            taken += 1
        state[AT] = at
        state[ROW_A] += i - begin_i
        state[ROW_B] += j - begin_j
        if i == end_i and j == end_j:
            close_key(out, key, at, runs, hashes, directory, shift, state)
            if order <= 0:
                state[KEY_A] += 1
                state[ROW_A] = 0
            if order >= 0:
                state[KEY_B] += 1
                state[ROW_B] = 0
    return taken


# ---- reading


@kernel
def locate_keys(directory, shift, hashes, runs, stored, key, rows, n, take, ids):
    """Write to ids[i] the key that row i has in the columns `take`, or -1; i < n. A constant number of steps each."""
    first, own = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint32)
    for lo in range(0, n, BLOCK):
        m = min(BLOCK, n - lo)
        for i in range(m):
            own[i] = hash_of(rows, lo + i, take)
            first[i] = directory[np.int64(own[i] >> np.uint32(shift))]
        for i in range(m):
            k, ids[lo + i] = first[i], -1
            while k < len(hashes) and hashes[k] <= own[i]:
                if hashes[k] == own[i] and compare(stored, runs[k, START], rows, lo + i, key, take) == 0:
                    ids[lo + i] = k
                    break
                k += 1


@kernel
def find_last(ids, n, runs, stored, stored_rest, rows, rest, places):
    """Write to places[i] where the last row equal to row i stands, or -1; O(log m) steps each for a run of m rows."""
    for i in range(n):
        places[i] = -1
        if ids[i] >= 0:
            lo = np.int64(runs[ids[i], START])
            begin, hi = lo, lo + runs[ids[i], LENGTH]
            while lo < hi:
                middle = (lo + hi) // 2
                if compare(stored, middle, rows, i, stored_rest, rest) <= 0:
                    lo = middle + 1
                else:
                    hi = middle
            if lo > begin and compare(stored, lo - 1, rows, i, stored_rest, rest) == 0:
                places[i] = lo - 1


@inlined
def visible(born, died, i, version):
    return (len(born) == 0 or born[i] <= version) and (len(died) == 0 or died[i] == 0 or died[i] > version)


@kernel
def mark_visible(born, died, n, version, mask):
    """Set mask[i] to whether row i is visible at a version, i < n; return how many are."""
    count = 0
    for i in range(n):
        mask[i] = visible(born, died, i, version)
        count += mask[i]
    return count


@kernel
def mark_matched(ids, n, runs, born, died, version, mask):
    """Set mask[i] where key ids[i] has a visible row."""
    for i in range(n):
        if ids[i] >= 0 and not mask[i]:
            start = runs[ids[i], START]
            for p in range(start, start + runs[ids[i], LENGTH]):
                if visible(born, died, p, version):
                    mask[i] = True
                    break


@kernel
def expand_visible(ids, n, i, j, runs, born, died, version, rows, take, stored, payload, out):
    """`csr_runs.expand` for rows with a history: those that are visible at a version."""
    at, room, n_left = 0, out.shape[1], len(take)
    while i < n:
        k = ids[i]
        length = np.int64(runs[k, LENGTH]) if k >= 0 else 0
        while j < length:
            p = np.int64(runs[k, START]) + j
            if visible(born, died, p, version):
                if at == room:
                    return at, i, j
                for q in range(n_left):
                    out[q, at] = rows[take[q], i]
                for q in range(len(payload)):
                    out[n_left + q, at] = stored[payload[q], p]
                at += 1
            j += 1
        i, j = i + 1, 0
    return at, i, j


@kernel
def bury(died, places, n, version):
    """Let the rows at `places` that still live die at a version; return how many did."""
    count = 0
    for i in range(n):
        if places[i] >= 0 and died[places[i]] == 0:
            died[places[i]] = version
            count += 1
    return count
