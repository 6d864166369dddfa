"""Kernels of distribution: derived rows go to boxes, one for each partition, but not if known to be of no use.

What a worker has derived of late is held in a cache: a power of two of slots, each with the row that came to it last.
`parts[i - begin]` is the partition of row i. Boxes are [partition, column, room], `counts` the rows in each; where one
is full, a kernel returns the row that finds no room.
"""

import numpy as np

from engine.kernels import inlined, kernel

BLOCK = 64


@inlined
def slot_of(rows, i, columns, mask):
    """The slot of row i by some of its columns; that of a row of zeros is 0."""
    h = np.uint64(0)
    for c in columns:
        h = (h ^ np.uint64(np.int64(rows[c, i]))) * np.uint64(0xD6E8FEB86659FD93)
        h ^= h >> np.uint64(32)
    return np.int64(h & np.uint64(mask))


@inlined
def holds(held, slot, rows, i, columns):
    for k in range(len(columns)):
        if held[slot, k] != rows[columns[k], i]:
            return False
    return True


@inlined
def append(rows, i, take, boxes, p, at):
    for c in range(len(take)):
        boxes[p, c, at] = rows[take[c], i]


@inlined
def improves(value, best, least):
    return value < best if least else value > best


@kernel
def send_new(rows, lo, hi, take, parts, begin, boxes, counts, held):
    """Append row i, on the columns `take`, to its box unless `held` has it; hold it. Return the next row, or hi.

    At first `held` is zero but for its first slot, which is not: so no slot seems to have a row that never came to it.
    """
    mask, room = len(held) - 1, boxes.shape[2]
    for i in range(lo, hi):
        slot = slot_of(rows, i, take, mask)
        if holds(held, slot, rows, i, take):
            continue
        p = parts[i - begin]
        at = counts[p]
        if at == room:
            return i
        append(rows, i, take, boxes, p, at)
        counts[p] = at + 1
        for k in range(len(take)):
            held[slot, k] = rows[take[k], i]
    return hi


@kernel
def send_better(rows, values, lo, hi, take, key, least, parts, begin, boxes, waiting, counts, deliveries, held, best):
    """Append row i to its box unless a row with the same `key` and as good a value is held; hold it. Return the next.

    The value of row i is values[i], that of a row in a box stands in `waiting`; the less is the better if `least`,
    else the greater, and NaN is no value. A slot of `held` is a key, the place of its row in the box, and what
    deliveries[p], from 1 on, was when the row came there; 0 marks a slot as unused. While the row waits, a better value
    takes the place of its own.
    """
    mask, room, width = len(held) - 1, boxes.shape[2], len(key)
    for i in range(lo, hi):
        slot, value = slot_of(rows, i, key, mask), values[i]
        known = held[slot, width + 1] > 0 and holds(held, slot, rows, i, key)
        if value != value or (known and not improves(value, best[slot], least)):
            continue
        p = parts[i - begin]
        if known and held[slot, width + 1] == deliveries[p]:
            waiting[p, held[slot, width]] = value
        else:
            at = counts[p]
            if at == room:
                return i
            append(rows, i, take, boxes, p, at)
            counts[p] = at + 1
            for k in range(width):
                held[slot, k] = rows[key[k], i]
            held[slot, width] = at
            held[slot, width + 1] = deliveries[p]
        best[slot] = value
    return hi


@kernel
def send_best(keys, values, rows, lo, hi, take, least, worst, parts, begin, boxes, counts, best):
    """Append row i to its box if values[i] is better than best[keys[i]], or the worst there is; let it be the best.

    Returns the next row, or hi. Most rows are of no use: those that may be are found first, a block at a time without
    branches: then loads overlap.
    """
    room, left = boxes.shape[2], np.empty(BLOCK, np.int64)
    for block in range(lo, hi, BLOCK):
        n = 0
        for i in range(block, min(block + BLOCK, hi)):
            left[n] = i
            n += improves(values[i], best[keys[i]], least) | (values[i] == worst)
        for i in left[:n]:
            if improves(values[i], best[keys[i]], least) or values[i] == worst:
                p = parts[i - begin]
                at = counts[p]
                if at == room:
                    return i
                append(rows, i, take, boxes, p, at)
                counts[p] = at + 1
                best[keys[i]] = values[i]
    return hi
