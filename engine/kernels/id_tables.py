"""Kernels of the tables that give rows their ids, which are their positions in a column store; four bytes a slot.

The low `bits` of a slot are a position, the others a tag from the hash of its row: columns are compared only where tags
agree. Slots follow each other in the order of hashes, so that a table of any size will do; linear probing. Loads are
made a block at a time: first all slots, then the first column of the rows that they name, so that cache misses overlap.
"""

import numpy as np

from engine.kernels import inlined, kernel

FREE = np.uint32(0xFFFFFFFF)
B32 = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
BLOCK = 64


@inlined
def mix(x):
    """A bijection of 64-bit words that spreads every bit."""
    x ^= x >> B32
    x *= np.uint64(0xD6E8FEB86659FD93)
    x ^= x >> B32
    x *= np.uint64(0xD6E8FEB86659FD93)
    return x ^ (x >> B32)


@inlined
def hash_block(rows, lo, m, take, hashes):
    """Write the hashes of rows lo … lo + m - 1 on the columns `take` to `hashes`."""
    for i in range(m):
        hashes[i] = np.uint64(len(take))
    for c in take:
        column = rows[c]
        for i in range(m):
            hashes[i] = mix(hashes[i] ^ np.uint64(np.int64(column[lo + i])))


@inlined
def home(hashed, slots):
    """The slot to look for a row first."""
    return np.int64(((hashed >> B32) * np.uint64(len(slots))) >> B32)


@inlined
def tag_of(hashed, bits):
    """The part of a slot above its position."""
    return np.uint32((hashed & LOW) >> np.uint64(bits))


@inlined
def seek(slots, bits, tag, at, rows, row, take, stored):
    """Return the slot, from `at` on, that holds a row or is free."""
    shift = np.uint32(bits)
    low = np.uint32((1 << bits) - 1)
    while slots[at] != FREE:
        if slots[at] >> shift == tag:
            position, c = np.int64(slots[at] & low), 0
            while c < len(take) and stored[c, position] == rows[take[c], row]:
                c += 1
            if c == len(take):
                return at
        at += 1
        if at == len(slots):
            at = 0
    return at


@inlined
def look_ahead(slots, bits, m, hashes, places, seen, stored, upto):
    """Load the first slots of m rows, and the rows that they name, of those before the position `upto`."""
    low = np.uint32((1 << bits) - 1)
    for i in range(m):
        places[i] = home(hashes[i], slots)
    for i in range(m):
        seen[i] = slots[places[i]]
    if len(stored):
        for i in range(m):
            position = np.int64(seen[i] & low)
            if position < upto:
                seen[i] = np.uint32(stored[0, position])


@kernel
def give_ids(slots, bits, limit, rows, lo, hi, take, out, at, ids):
    """Write to ids[i - lo] the position of row i in `out`, appending rows on `take` it lacks from column `at` on.

    Returns (next, at): rows before `next` are done; it is below `hi` when `at` has reached `limit`.
    """
    begin = lo
    hashes, places, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint32)
    low = np.uint32((1 << bits) - 1)
    while lo < hi and at < limit:
        m = min(BLOCK, hi - lo, limit - at)
        hash_block(rows, lo, m, take, hashes)
        look_ahead(slots, bits, m, hashes, places, seen, out, at)
        for i in range(m):
            tag = tag_of(hashes[i], bits)
            slot = seek(slots, bits, tag, places[i], rows, lo + i, take, out)
            if slots[slot] == FREE:
                slots[slot] = (tag << np.uint32(bits)) | np.uint32(at)
                for c in range(len(take)):
                    out[c, at] = rows[take[c], lo + i]
                at += 1
            ids[lo + i - begin] = np.int64(slots[slot] & low)
        lo += m
    return lo, at


@kernel
def find_ids(slots, bits, rows, n, take, stored, ids):
    """Write to ids[i] the position in `stored` of row i on the columns `take`, -1 if it is absent; i < n."""
    hashes, places, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint32)
    low = np.uint32((1 << bits) - 1)
    for lo in range(0, n, BLOCK):
        m = min(BLOCK, n - lo)
        hash_block(rows, lo, m, take, hashes)
        look_ahead(slots, bits, m, hashes, places, seen, stored, stored.shape[1])
        for i in range(m):
            slot = seek(slots, bits, tag_of(hashes[i], bits), places[i], rows, lo + i, take, stored)
            ids[lo + i] = -1 if slots[slot] == FREE else np.int64(slots[slot] & low)


@kernel
def enter_ids(slots, bits, stored, width, lo, hi):
    """Add the rows lo … hi - 1 of a store, on its first `width` columns, which are distinct and not held so far."""
    hashes, places, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint32)
    every = np.arange(width)
    while lo < hi:
        m = min(BLOCK, hi - lo)
        hash_block(stored, lo, m, every, hashes)
        for i in range(m):
            places[i] = home(hashes[i], slots)
        for i in range(m):
            seen[i] = slots[places[i]]
        for i in range(m):
            at = places[i]
            while slots[at] != FREE:
                at += 1
                if at == len(slots):
                    at = 0
            slots[at] = (tag_of(hashes[i], bits) << np.uint32(bits)) | np.uint32(lo + i)
        lo += m


# ---- heads that are derived in an iteration: those from position `begin` on


@kernel
def drop_old(slots, bits, stored, begin, rows, n, take, out):
    """Copy the first n rows on the columns `take` to `out`, but those that stand before `begin`; return how many.

    Others may be appended to the store and to the table meanwhile: it takes none of them for an old one.
    """
    hashes, places, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint32)
    shift, low, kept = np.uint32(bits), np.uint32((1 << bits) - 1), 0
    for lo in range(0, n, BLOCK):
        m = min(BLOCK, n - lo)
        hash_block(rows, lo, m, take, hashes)
        look_ahead(slots, bits, m, hashes, places, seen, stored, begin)
        for i in range(m):
            tag, at, row, is_old = tag_of(hashes[i], bits), places[i], lo + i, False
            while slots[at] != FREE and not is_old:
                position = np.int64(slots[at] & low)
                if slots[at] >> shift == tag and position < begin:
                    c = 0
                    while c < len(take) and stored[c, position] == rows[take[c], row]:
                        c += 1
                    is_old = c == len(take)
                at += 1
                if at == len(slots):
                    at = 0
            for c in range(len(take)):
                out[c, kept] = rows[take[c], row]
            kept += not is_old
    return kept


@kernel
def count_new(slots, bits, limit, begin, rows, lo, hi, take, out, at, counts):
    """Do as `give_ids`, and let counts[p] be how often the row at p has been met, for those from `begin` on."""
    hashes, places, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint32)
    low = np.uint32((1 << bits) - 1)
    while lo < hi and at < limit:
        m = min(BLOCK, hi - lo, limit - at)
        hash_block(rows, lo, m, take, hashes)
        look_ahead(slots, bits, m, hashes, places, seen, out, at)
        for i in range(m):
            tag = tag_of(hashes[i], bits)
            slot = seek(slots, bits, tag, places[i], rows, lo + i, take, out)
            if slots[slot] == FREE:
                slots[slot] = (tag << np.uint32(bits)) | np.uint32(at)
                for c in range(len(take)):
                    out[c, at] = rows[take[c], lo + i]
                counts[at] = 1
                at += 1
                continue
            position = np.int64(slots[slot] & low)
            if position >= begin:
                counts[position] += 1
        lo += m
    return lo, at
