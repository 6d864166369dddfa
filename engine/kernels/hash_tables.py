"""Kernels that hash rows: sets of packed pairs, tables from rows to ids, partitioning.

Slots are gathered in blocks: all slots of a block are loaded before any is compared, so that cache misses overlap.
A table has a power of two of slots; open addressing, linear probing.
"""

import numpy as np

from engine.kernels import inlined, kernel, variant
from engine.kernels.atomic import compare_and_swap

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW = np.uint64(0xFFFFFFFF)
B32 = np.uint64(32)
BLOCK = 64
GATHERED = 1024


@inlined
def mix(x):
    """A bijection of 64-bit words that spreads every bit."""
    x ^= x >> B32
    x *= np.uint64(0xD6E8FEB86659FD93)
    return x ^ (x >> B32)


# ---- sets of pairs: rows of one or two int32 columns, packed into one word


@inlined
def claim(table, mask, key, slot, seen):
    """Add a key to a table that had `seen` in the key's slot a moment ago; return whether it was not there."""
    if key == EMPTY:
        fresh = table[mask + 1] == EMPTY
        table[mask + 1] = np.uint64(0)
        return fresh
    if seen == key:
        return False
    while table[slot] != EMPTY and table[slot] != key:
        slot = (slot + 1) & mask
    if table[slot] == key:
        return False
    table[slot] = key
    return True


@inlined
def claim_beside(table, mask, key, slot, seen):
    """Do as `claim` while other threads do: of those that add the same key, one is told that it was not there."""
    if key == EMPTY:
        return compare_and_swap(table, mask + 1, EMPTY, np.uint64(0)) == EMPTY
    if seen == key:
        return False
    while True:
        while table[slot] != EMPTY and table[slot] != key:
            slot = (slot + 1) & mask
        if table[slot] == key:
            return False
        if compare_and_swap(table, slot, EMPTY, key) == EMPTY:
            return True


@kernel
def insert_pairs(table, limit, rows, lo, hi, take, out, at):
    """Append the rows `rows[take, lo:hi]` that `table` does not hold to `out` from column `at` on; add them to it.

    `take` names one or two int32 columns. The last slot of `table`, beyond the power of two, stands for the row that
    packs to EMPTY. Returns (next, at): rows before `next` are done; it is below `hi` when `at` has reached `limit`.
    """
    mask = len(table) - 2
    first, second = rows[take[0]], rows[take[-1]]
    low = LOW if len(take) == 2 else np.uint64(0)
    keys, slots, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    while lo < hi and at < limit:
        m = min(BLOCK, hi - lo, limit - at)
        for i in range(m):
            key = (np.uint64(np.uint32(first[lo + i])) << B32) | (np.uint64(np.uint32(second[lo + i])) & low)
            keys[i] = key
            slots[i] = np.int64(mix(key) & np.uint64(mask))
        for i in range(m):
            seen[i] = table[slots[i]]
        for i in range(m):
            if not claim(table, mask, keys[i], slots[i], seen[i]):
                continue
            out[0, at] = first[lo + i]
            if len(take) == 2:
                out[1, at] = second[lo + i]
            at += 1
        lo += m
    return lo, at


@kernel
def join_pairs(starts, lengths, n, i, j, chunk, arena, sides, table, limit, out, at):
    """Join as `csr_runs.expand` does; add the pairs that `table` does not hold to it and to `out`, as `insert_pairs`.

    Row i of the chunk meets `lengths[i]` rows of the arena from `starts[i]` on. sides[c] says where column c of a pair
    comes from: (0, a register of the chunk) or (1, a column of the arena); all are int32. Starts at match j of row i;
    returns (next i, next j, at, pairs made), with i = n at the end and before that when fewer than BLOCK places are
    left below `limit`.
    """
    mask, made, last = len(table) - 2, 0, len(sides) - 1
    first = arena[sides[0, 1]] if sides[0, 0] else chunk[sides[0, 1]]
    second = arena[sides[last, 1]] if sides[last, 0] else chunk[sides[last, 1]]
    low = LOW if last else np.uint64(0)
    keys, slots, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    ahead, touched = i, np.empty(BLOCK, np.int32)
    while i < n and limit - at >= BLOCK:
        if i >= ahead:
            # The first row of each run, for a block of runs: cache misses overlap.
            ahead = min(i + BLOCK, n)
            for b in range(i, ahead):
                touched[b - i] = arena[0, starts[b]]
        m = 0
        while m < BLOCK and i < n:
            step, begin = min(lengths[i] - j, BLOCK - m), starts[i] + j
            for p in range(step):
                left = first[begin + p] if sides[0, 0] else first[i]
                right = second[begin + p] if sides[last, 0] else second[i]
                keys[m + p] = (np.uint64(np.uint32(left)) << B32) | (np.uint64(np.uint32(right)) & low)
            m += step
            j += step
            if j < lengths[i]:
                break
            i, j = i + 1, 0
        for p in range(m):
            slots[p] = np.int64(mix(keys[p]) & np.uint64(mask))
        for p in range(m):
            seen[p] = table[slots[p]]
        for p in range(m):
            if not claim(table, mask, keys[p], slots[p], seen[p]):
                continue
            out[0, at] = np.int32(np.uint32(keys[p] >> B32))
            if last:
                out[1, at] = np.int32(np.uint32(keys[p] & LOW))
            at += 1
        made += m
    return i, j, at, made


insert_pairs_beside = variant(insert_pairs, "insert_pairs_beside", claim=claim_beside)
join_pairs_beside = variant(join_pairs, "join_pairs_beside", claim=claim_beside)


@kernel
def find_pairs(table, rows, n, take, found):
    """Set found[i] to whether `table` holds the pair of row i, for the first n rows."""
    mask = len(table) - 2
    first, second = rows[take[0]], rows[take[-1]]
    low = LOW if len(take) == 2 else np.uint64(0)
    keys, slots, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    for lo in range(0, n, BLOCK):
        m = min(BLOCK, n - lo)
        for i in range(m):
            keys[i] = (np.uint64(np.uint32(first[lo + i])) << B32) | (np.uint64(np.uint32(second[lo + i])) & low)
            slots[i] = np.int64(mix(keys[i]) & np.uint64(mask))
        for i in range(m):
            seen[i] = table[slots[i]]
        for i in range(m):
            if keys[i] == EMPTY:
                found[lo + i] = table[mask + 1] != EMPTY
                continue
            slot, held = slots[i], seen[i]
            while held != EMPTY and held != keys[i]:
                slot = (slot + 1) & mask
                held = table[slot]
            found[lo + i] = held == keys[i]


@kernel
def rehash_pairs(old, new):
    """Move all pairs to the larger, empty table `new`. Both are walked in order, so this is nearly sequential.

    Pairs are gathered without branches first: half of the slots are empty, in no order a processor could predict.
    """
    mask, n_slots = len(new) - 2, len(old) - 1
    new[mask + 1] = old[n_slots]
    keys = np.empty(GATHERED, np.uint64)
    for lo in range(0, n_slots, GATHERED):
        n = 0
        for i in range(lo, min(lo + GATHERED, n_slots)):
            keys[n] = old[i]
            n += old[i] != EMPTY
        for i in range(n):
            slot = np.int64(mix(keys[i]) & np.uint64(mask))
            while new[slot] != EMPTY:
                slot = (slot + 1) & mask
            new[slot] = keys[i]


# ---- tables of rows: any columns, to the row's position; a slot is (32 bits of hash | position)


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
def find_slot(table, mask, tag, slot, rows, row, take, stored):
    """Return the slot, from `slot` on, that holds the row or is empty. Columns are compared only when tags agree."""
    while table[slot] != EMPTY:
        if table[slot] >> B32 == tag:
            position, c = np.int64(table[slot] & LOW), 0
            while c < len(take) and stored[c, position] == rows[take[c], row]:
                c += 1
            if c == len(take):
                return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def intern_rows(table, limit, rows, lo, hi, take, out, at, ids):
    """Write to ids[i - lo] the position of row i in `out`, appending rows on `take` it lacks from column `at` on.

    Returns (next, at): rows before `next` are done; it is below `hi` when `at` has reached `limit`.
    """
    mask, begin = len(table) - 1, lo
    hashes, slots, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    while lo < hi and at < limit:
        m = min(BLOCK, hi - lo, limit - at)
        hash_block(rows, lo, m, take, hashes)
        for i in range(m):
            slots[i] = np.int64(hashes[i] & np.uint64(mask))
        for i in range(m):
            seen[i] = table[slots[i]]
        for i in range(m):
            tag = hashes[i] & LOW
            slot = find_slot(table, mask, tag, slots[i], rows, lo + i, take, out)
            if table[slot] == EMPTY:
                table[slot] = (tag << B32) | np.uint64(at)
                for c in range(len(take)):
                    out[c, at] = rows[take[c], lo + i]
                at += 1
            ids[lo + i - begin] = np.int64(table[slot] & LOW)
        lo += m
    return lo, at


@kernel
def find_rows(table, rows, n, take, stored, ids):
    """Write to ids[i] the position in `stored` of row i on the columns `take`, -1 if it is absent; i < n."""
    mask = len(table) - 1
    hashes, slots, seen = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    for lo in range(0, n, BLOCK):
        m = min(BLOCK, n - lo)
        hash_block(rows, lo, m, take, hashes)
        for i in range(m):
            slots[i] = np.int64(hashes[i] & np.uint64(mask))
        for i in range(m):
            seen[i] = table[slots[i]]
        for i in range(m):
            if seen[i] == EMPTY:
                ids[lo + i] = -1
                continue
            slot = find_slot(table, mask, hashes[i] & LOW, slots[i], rows, lo + i, take, stored)
            ids[lo + i] = -1 if table[slot] == EMPTY else np.int64(table[slot] & LOW)


@kernel
def rehash_rows(old, new):
    """Move all entries to the larger, empty table `new`, as `rehash_pairs` does."""
    mask = len(new) - 1
    entries = np.empty(GATHERED, np.uint64)
    for lo in range(0, len(old), GATHERED):
        n = 0
        for i in range(lo, min(lo + GATHERED, len(old))):
            entries[n] = old[i]
            n += old[i] != EMPTY
        for i in range(n):
            slot = np.int64((entries[i] >> B32) & np.uint64(mask))
            while new[slot] != EMPTY:
                slot = (slot + 1) & mask
            new[slot] = entries[i]


# ---- partitioning: by the high bits of a hash, which tables of rows do not use


@kernel
def partition_of(rows, lo, hi, take, bits, parts):
    """Write to parts[i - lo] the partition, of 2**bits, of row i by its columns `take`."""
    hashes, begin = np.empty(BLOCK, np.uint64), lo
    while lo < hi:
        m = min(BLOCK, hi - lo)
        hash_block(rows, lo, m, take, hashes)
        for i in range(m):
            parts[lo + i - begin] = np.int64(hashes[i] >> np.uint64(64 - bits)) if bits else 0
        lo += m


@kernel
def scatter(rows, lo, hi, take, parts, begin, inbox, counts):
    """Append row i on the columns `take` to `inbox[parts[i - begin]]`, [partition, column, room], counted in `counts`.

    Returns the first row that was not moved, because its partition's room is full, or `hi`.
    """
    room = inbox.shape[2]
    for i in range(lo, hi):
        p = parts[i - begin]
        at = counts[p]
        if at == room:
            return i
        for c in range(len(take)):
            inbox[p, c, at] = rows[take[c], i]
        counts[p] = at + 1
    return hi
