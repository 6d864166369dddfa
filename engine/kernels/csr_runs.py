"""Kernels of arrangements in dynamic CSR: per key a run of rows in one arena, moved and doubled when it is full.

Places that runs have left are lost until all runs move to a larger arena, which has none.

`runs[k]` describes the run of key k, in one cache line: its LENGTH, where it STARTs in the arena, its OLD length before
the last batch, whose rows stand behind it, and how much ROOM it has. Runs that will not grow have the first two only,
arrangements without an arena no room. Rows arrive as (key id, payload) and keep the order of arrival within a run.
"""

import numpy as np

from engine.kernels import inlined, kernel
from engine.kernels.columns import compare

LENGTH, START, OLD, ROOM = 0, 1, 2, 3
BLOCK = 64


@kernel
def count_keys(runs, ids, n):
    """Add to the length of each key the number of times it occurs in ids[:n]."""
    for i in range(n):
        runs[ids[i], LENGTH] += 1


@kernel
def lay_out(counted, runs):
    """Let `runs` describe empty runs, one behind the other, with room for the rows `counted`; return their number."""
    top, grows = np.int64(0), runs.shape[1] > ROOM
    for k in range(len(counted)):
        runs[k, LENGTH], runs[k, START] = 0, top
        if grows:
            runs[k, OLD], runs[k, ROOM] = counted[k, OLD], counted[k, LENGTH]
        top += counted[k, LENGTH]
    return top


@kernel
def fill(arena, runs, ids, rows, lo, n, payload):
    """Write the columns `payload` of rows lo … lo + n - 1 behind those in the runs of ids[:n], which have room."""
    for i in range(n):
        k = ids[i]
        at = runs[k, START] + runs[k, LENGTH]
        runs[k, LENGTH] += 1
        for c in range(len(payload)):
            arena[c, at] = rows[payload[c], lo + i]


@kernel
def settle(runs, ids, n):
    """Make the keys ids[:n] of the last batch old."""
    for i in range(n):
        runs[ids[i], OLD] = runs[ids[i], LENGTH]


@kernel
def reserve(runs, top, ids, n, places):
    """Give each of the rows with keys ids[:n] its place in its run; return the size of arena needed.

    A run that has no room for them is marked to be moved: its room becomes −(new size) − 1.
    """
    for i in range(n):
        k = ids[i]
        length, room = runs[k, LENGTH], np.int64(runs[k, ROOM])
        places[i] = length
        runs[k, LENGTH] = length + 1
        if room >= 0:
            if length >= room:
                size = max(4, 2 * room)
                runs[k, ROOM] = -size - 1
                top += size
        elif length >= -room - 1:
            runs[k, ROOM] = 2 * room + 1
            top += -room - 1
    return top


@kernel
def total_room(runs):
    """Return the room of all runs together, of marked ones that to come."""
    total = np.int64(0)
    for k in range(len(runs)):
        room = np.int64(runs[k, ROOM])
        total += room if room >= 0 else -room - 1
    return total


@kernel
def move_runs(arena, runs, moved):
    """Move all runs to the arena `moved`, one behind the other; marked ones get their new room. Return its size in use.

    Of rows that `reserve` has given places, and `append` has yet to write, what stands there is moved. Rows are moved
    in steps of four: both arenas have so many to spare.
    """
    top, end = np.int64(0), np.int64(arena.shape[1]) - 4
    for k in range(len(runs)):
        room, start = np.int64(runs[k, ROOM]), np.int64(runs[k, START])
        length = min(np.int64(runs[k, LENGTH]), end - start)
        for c in range(len(arena)):
            for i in range(0, length, 4):
                at = start + i
                x, y, z, w = arena[c, at], arena[c, at + 1], arena[c, at + 2], arena[c, at + 3]
                at = top + i
                moved[c, at], moved[c, at + 1], moved[c, at + 2], moved[c, at + 3] = x, y, z, w
        runs[k, START] = top
        runs[k, ROOM] = room if room >= 0 else -room - 1
        top += runs[k, ROOM]
    return top


@kernel
def append(arena, runs, top, ids, places, rows, lo, n, payload):
    """Write the columns `payload` of rows lo … lo + n - 1 to their places in the runs of ids[:n].

    Runs that `reserve` has marked are moved to `top` first. Returns the size of the arena in use.
    """
    for i in range(n):
        k, place = ids[i], places[i]
        room = np.int64(runs[k, ROOM])
        if room < 0:
            start = runs[k, START]
            for c in range(len(payload)):
                for j in range(place):
                    arena[c, top + j] = arena[c, start + j]
            runs[k, START] = top
            runs[k, ROOM] = -room - 1
            top += -room - 1
        at = runs[k, START] + place
        for c in range(len(payload)):
            arena[c, at] = rows[payload[c], lo + i]
    return top


@kernel
def locate_dense(rows, column, n, n_keys, ids):
    """Write to ids[i] the key of row i, which is its value in `column`, or -1 where that is no key; i < n."""
    values = rows[column]
    for i in range(n):
        value = values[i]
        ids[i] = value if 0 <= value < n_keys else -1


@inlined
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
def bounds(ids, n, runs, upto, starts, lengths):
    """Write where the runs of ids[:n] start, and how long they are, to `starts` and `lengths`."""
    for i in range(n):
        k = ids[i]
        starts[i] = runs[k, START] if k >= 0 else 0
        lengths[i] = runs[k, upto] if k >= 0 else 0


@kernel
def expand(ids, n, i, j, runs, upto, rows, take, arena, payload, out):
    """Join: for each row i < n and each row in the run of ids[i], write the columns `take` of the one and `payload`
    of the other to `out`, until that is full. `upto` is LENGTH for all rows, OLD for those before the last batch.

    Starts at match j of row i; returns (rows written, next i, next j), with i = n at the end. The runs of a block of
    rows are all loaded before any is written, and the first row of each, so that cache misses overlap.
    """
    at, room = 0, out.shape[1]
    starts, lengths = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    first, column = np.empty(BLOCK, arena.dtype), arena[payload[0]] if len(payload) else arena[0]
    while i < n:
        m = min(BLOCK, n - i)
        for b in range(m):
            k = ids[i + b]
            starts[b] = runs[k, START] if k >= 0 else 0
            lengths[b] = runs[k, upto] if k >= 0 else 0
        for b in range(m):
            first[b] = column[starts[b]]
        for b in range(m):
            rest = lengths[b] - j
            step = min(rest, room - at)
            if step > 0:
                write_matches(i + b, starts[b] + j, step, rows, take, arena, payload, out, at)
                at += step
            if step < rest:
                return at, i + b, j + step
            j = 0
        i += m
    return at, i, j


@kernel
def keep_matches(ids, n, runs, upto, wanted, chunk, live):
    """Keep, in place, the rows whose key has rows (or has none, if not `wanted`); return how many."""
    kept = 0
    for i in range(n):
        if (ids[i] >= 0 and runs[ids[i], upto] > 0) == wanted:
            if kept < i:
                for c in live:
                    chunk[c, kept] = chunk[c, i]
            kept += 1
    return kept


@kernel
def count_matches(ids, n, runs, upto, counts):
    """Write to counts[i] the number of rows that `expand` would write for ids[i], i < n."""
    for i in range(n):
        counts[i] = runs[ids[i], upto] if ids[i] >= 0 else 0


@kernel
def sort_runs(runs, n_keys, arena, columns):
    """Put the rows of each run in the order of some columns of the arena, the first first. The sort is stable."""
    longest = 0
    for k in range(n_keys):
        longest = max(longest, np.int64(runs[k, LENGTH]))
    order, merged = np.empty(longest, np.int64), np.empty(longest, np.int64)
    moved = np.empty(longest, arena.dtype)
    for k in range(n_keys):
        length, start = np.int64(runs[k, LENGTH]), np.int64(runs[k, START])
        for i in range(length):
            order[i] = start + i
        width = 1
        while width < length:  # Merge neighbours of that width, from `order` to `merged`.
            for lo in range(0, length, 2 * width):
                middle, end = min(lo + width, length), min(lo + 2 * width, length)
                left, right = lo, middle
                for i in range(lo, end):
                    if (
                        right == end
                        or left < middle
                        and compare(arena, order[left], arena, order[right], columns, columns) <= 0
                    ):
                        merged[i] = order[left]
                        left += 1
                    else:
                        merged[i] = order[right]
                        right += 1
            order, merged = merged, order
            width *= 2
        for c in range(len(arena)):
            for i in range(length):
                moved[i] = arena[c, order[i]]
            for i in range(length):
                arena[c, start + i] = moved[i]


@inlined
def first_from(column, lo, hi, value, beyond):
    """The first of lo … hi - 1 where a column in order is at least `value`, or greater if `beyond`; hi if none is."""
    while lo < hi:
        middle = (lo + hi) // 2
        if column[middle] < value or (beyond and column[middle] == value):
            lo = middle + 1
        else:
            hi = middle
    return lo


@kernel
def narrow(ids, n, runs, upto, rows, registers, arena, columns, found):
    """Write to found[i] the part of the run of ids[i] whose `columns` have the values of row i in `registers`; i < n.

    The runs are in the order of these columns.
    """
    for i in range(n):
        if ids[i] < 0:
            continue
        lo = np.int64(runs[ids[i], START])
        hi = lo + runs[ids[i], upto]
        for q in range(len(registers)):
            value, column = rows[registers[q], i], arena[columns[q]]
            lo = first_from(column, lo, hi, value, False)
            hi = first_from(column, lo, hi, value, True)
        found[i, START] = lo
        found[i, upto] = hi - lo


@kernel
def narrow_between(ids, n, runs, upto, rows, lows, highs, column, found):
    """Write to found[i] the part of the run of ids[i] whose values in `column` lie between bounds of row i; i < n.

    A bound is (register, beyond): the part begins, or ends, with the first value that is at least that of the register,
    or greater if `beyond`. The runs are in the order of the column of the arena.
    """
    for i in range(n):
        if ids[i] < 0:
            continue
        lo = np.int64(runs[ids[i], START])
        hi = lo + runs[ids[i], upto]
        for q in range(len(lows)):
            lo = first_from(column, lo, hi, rows[lows[q, 0], i], lows[q, 1] != 0)
        for q in range(len(highs)):
            hi = first_from(column, lo, hi, rows[highs[q, 0], i], highs[q, 1] != 0)
        found[i, START] = lo
        found[i, upto] = hi - lo


@kernel
def total_matches(ids, n, runs, upto):
    """The number of rows that `expand` would write for ids[:n]."""
    total = 0
    for i in range(n):
        if ids[i] >= 0:
            total += runs[ids[i], upto]
    return total
