"""Kernels of sets of pairs as bit matrices: a row of bits for each value of one column, a bit for each of the other.

A matrix is `words` [rows, words per row], `place` from the values of the row column to a row of `words` (-1: none yet)
and `meta`. Kernels that add pairs stop at one that the matrix has no place for; meta[WANTED_ROW] and meta[WANTED_BIT]
then hold its values. Otherwise the column store is full.
"""

import numpy as np

from engine.kernels import inlined, kernel

AXIS, ROW_LOW, BIT_LOW, N_ROWS, WANTED, WANTED_ROW, WANTED_BIT = 0, 1, 2, 3, 4, 5, 6
"""`meta`: which column names rows, the least value of either column, rows in use, and what was wanted in vain."""
SIX, LOW_SIX, ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@inlined
def row_of(value, bit, words, place, meta):
    """Return the row of a value, taking a new one if need be; -1, with what is wanted noted, if there is no place."""
    at = value - meta[ROW_LOW]
    if 0 <= at < len(place):
        row = np.int64(place[at])
        if row >= 0:
            return row
        if meta[N_ROWS] < words.shape[0]:
            row = meta[N_ROWS]
            place[at] = row
            meta[N_ROWS] = row + 1
            return row
    meta[WANTED], meta[WANTED_ROW], meta[WANTED_BIT] = 1, value, bit
    return np.int64(-1)


@inlined
def add_bit(words, base, bit):
    """Set a bit, counted from the word `base`; return whether it was not set. A word is written when it changes."""
    word, mask = base + (bit >> SIX), ONE << (bit & LOW_SIX)
    old = words[word]
    if old & mask:
        return False
    words[word] = old | mask
    return True


@kernel
def insert_bits(words, place, meta, rows, lo, hi, take, out, at):
    """Append the pairs `rows[take, lo:hi]` that the matrix does not hold to `out` from column `at` on; set their bits.

    Returns (next, at): rows before `next` are done.
    """
    axis, room, width = meta[AXIS], out.shape[1], np.uint64(words.shape[1] * 64)
    named, other, flat = rows[take[axis]], rows[take[1 - axis]], words.reshape(-1)
    while lo < hi and at < room:
        x, y = np.int64(named[lo]), np.int64(other[lo])
        bit = np.uint64(y - meta[BIT_LOW])
        if bit >= width:
            meta[WANTED], meta[WANTED_ROW], meta[WANTED_BIT] = 1, x, y
            break
        row = row_of(x, y, words, place, meta)
        if row < 0:
            break
        if add_bit(flat, np.uint64(row * words.shape[1]), bit):
            out[axis, at] = x
            out[1 - axis, at] = y
            at += 1
        lo += 1
    return lo, at


@kernel
def join_bits(starts, lengths, n, i, j, chunk, arena, sides, words, place, meta, out, at):
    """Join as `hash_tables.join_pairs` does, and add the pairs as `insert_bits` does.

    Starts at match j of row i; returns (next i, next j, at, pairs made), with i = n at the end.
    """
    axis, room, width, low, made = meta[AXIS], out.shape[1], np.uint64(words.shape[1] * 64), meta[BIT_LOW], 0
    named_side, other_side = sides[axis], sides[1 - axis]
    named = arena[named_side[1]] if named_side[0] else chunk[named_side[1]]
    other = arena[other_side[1]] if other_side[0] else chunk[other_side[1]]
    named_out, other_out, flat = out[axis], out[1 - axis], words.reshape(-1)
    while i < n:
        rest, begin, done, row = lengths[i] - j, starts[i] + j, 0, np.int64(0)
        m = min(rest, room - at)
        if named_side[0] == 0 and other_side[0] and m > 0:
            # The usual case: one row of bits for the whole run.
            x = named[i]
            row = row_of(np.int64(x), np.int64(other[begin]), words, place, meta)
            base = np.uint64(row * words.shape[1])
            while row >= 0 and done < m:
                y = other[begin + done]
                bit = np.uint64(np.int64(y) - low)
                if bit >= width:
                    meta[WANTED], meta[WANTED_ROW], meta[WANTED_BIT] = 1, x, y
                    break
                if add_bit(flat, base, bit):
                    named_out[at] = x
                    other_out[at] = y
                    at += 1
                done += 1
        else:
            while done < m:
                x = named[begin + done] if named_side[0] else named[i]
                y = other[begin + done] if other_side[0] else other[i]
                bit = np.uint64(np.int64(y) - low)
                row = row_of(np.int64(x), np.int64(y), words, place, meta)
                if row < 0:
                    break
                if bit >= width:
                    meta[WANTED], meta[WANTED_ROW], meta[WANTED_BIT] = 1, x, y
                    break
                if add_bit(flat, np.uint64(row * words.shape[1]), bit):
                    named_out[at] = x
                    other_out[at] = y
                    at += 1
                done += 1
        made += done
        if done < rest:
            return i, j + done, at, made
        i, j = i + 1, 0
    return i, j, at, made


@kernel
def find_bits(words, place, meta, rows, n, take, found):
    """Set found[i] to whether the matrix holds the pair of row i, for the first n rows."""
    axis, width = meta[AXIS], np.uint64(words.shape[1] * 64)
    named, other = rows[take[axis]], rows[take[1 - axis]]
    for i in range(n):
        at, bit = np.int64(named[i]) - meta[ROW_LOW], np.uint64(np.int64(other[i]) - meta[BIT_LOW])
        found[i] = False
        if 0 <= at < len(place) and bit < width:
            row = np.int64(place[at])
            found[i] = row >= 0 and words[row, bit >> SIX] & (ONE << (bit & LOW_SIX)) != np.uint64(0)
