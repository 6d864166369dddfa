"""Kernels that find the rows of a few keys in a store: by their place where rows are sorted by the key, in one pass, in
which a filter of hashed bits lets few others through, or in buckets: the positions of rows by the hash of their key.
"""

import numpy as np

from engine.kernels import kernel
from engine.kernels.columns import compare
from engine.kernels.id_tables import BLOCK, hash_block, home


@kernel
def find_sorted(stored, n_sorted, wanted, n, columns, lows, highs):
    """Write where the stored rows that agree with row i of `wanted` on some columns stand: lows[i] … highs[i] - 1.

    The first `n_sorted` rows of the store are sorted by these columns; i < n.
    """
    for i in range(n):
        for behind in range(2):
            lo, hi = np.int64(0), np.int64(n_sorted)
            while lo < hi:
                middle = (lo + hi) >> 1
                if compare(stored, middle, wanted, i, columns, columns) < behind:
                    lo = middle + 1
                else:
                    hi = middle
            if behind:
                highs[i] = lo
            else:
                lows[i] = lo


@kernel
def mark_keys(rows, n, take, bits):
    """Set the bits of the first n rows on the columns `take`; there are a power of two of them."""
    hashes, last = np.empty(BLOCK, np.uint64), np.uint64(len(bits) - 1)
    for lo in range(0, n, BLOCK):
        m = min(BLOCK, n - lo)
        hash_block(rows, lo, m, take, hashes)
        for i in range(m):
            bits[hashes[i] & last] = 1


@kernel
def marked_rows(rows, lo, hi, take, bits, out):
    """Write the positions of those of the rows lo … hi - 1 whose bit is set to `out`; return how many there are."""
    hashes, last, found = np.empty(BLOCK, np.uint64), np.uint64(len(bits) - 1), 0
    for begin in range(lo, hi, BLOCK):
        m = min(BLOCK, hi - begin)
        hash_block(rows, begin, m, take, hashes)
        for i in range(m):
            out[found] = begin + i
            found += bits[hashes[i] & last]
    return found


@kernel
def fill_buckets(rows, n, take, begins, positions):
    """Put the positions 0 … n - 1 into buckets by the hash of their rows on the columns `take`, each in order.

    Bucket b becomes positions[begins[b]] … positions[begins[b + 1] - 1]; `begins`, one longer than there are buckets,
    is zero so far.
    """
    hashes, buckets = np.empty(BLOCK, np.uint64), begins[:-1]
    for lo in range(0, n, BLOCK):
        m = min(BLOCK, n - lo)
        hash_block(rows, lo, m, take, hashes)
        for i in range(m):
            buckets[home(hashes[i], buckets)] += 1
    for b in range(1, len(begins)):
        begins[b] += begins[b - 1]
    for lo in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK):
        m = min(BLOCK, n - lo)
        hash_block(rows, lo, m, take, hashes)
        for i in range(m - 1, -1, -1):
            b = home(hashes[i], buckets)
            begins[b] -= 1
            positions[begins[b]] = lo + i


@kernel
def size_of_buckets(wanted, begins):
    """Return how many positions the buckets of some keys hold, those of each key counted."""
    hashes, buckets, total = np.empty(BLOCK, np.uint64), begins[:-1], np.int64(0)
    for lo in range(0, wanted.shape[1], BLOCK):
        m = min(BLOCK, wanted.shape[1] - lo)
        hash_block(wanted, lo, m, np.arange(len(wanted)), hashes)
        for i in range(m):
            b = home(hashes[i], buckets)
            total += begins[b + 1] - begins[b]
    return total


@kernel
def find_in_buckets(rows, take, wanted, begins, positions, out):
    """Write the positions of the rows whose columns `take` are in `wanted`, key by key; return their number."""
    hashes, buckets, every, found = np.empty(BLOCK, np.uint64), begins[:-1], np.arange(len(wanted)), 0
    for lo in range(0, wanted.shape[1], BLOCK):
        m = min(BLOCK, wanted.shape[1] - lo)
        hash_block(wanted, lo, m, every, hashes)
        for i in range(m):
            b = home(hashes[i], buckets)
            for at in range(begins[b], begins[b + 1]):
                out[found] = positions[at]
                found += compare(rows, positions[at], wanted, lo + i, take, every) == 0
    return found
