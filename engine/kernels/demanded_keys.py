"""Kernels that find the rows of a few keys in a store without an index: by their place where rows are sorted by the
key, else in one pass, in which a filter of hashed bits lets few others through.
"""

import numpy as np

from engine.kernels import kernel
from engine.kernels.columns import compare
from engine.kernels.id_tables import BLOCK, hash_block


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
