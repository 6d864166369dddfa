"""Kernels of columns as they are stored: differences of neighbours, as planes of bytes.

Of a sorted column most differences are small, so most of their upper bytes are zero: planes of these are left out, or
compress to nothing.
"""

import numpy as np

from engine.kernels import kernel


@kernel
def encode_column(column, planes):
    """Write the differences of a column, signs last, to planes[k, i], byte k of the i-th; return how many are needed.

    Planes behind those are zero.
    """
    before, seen = np.int64(0), np.uint64(0)
    for i in range(len(column)):
        step = np.int64(column[i]) - before
        before = np.int64(column[i])
        code = np.uint64((step << 1) ^ (step >> 63))
        seen |= code
        for k in range(len(planes)):
            planes[k, i] = np.uint8(code >> np.uint64(8 * k))
    needed = 0
    while seen >> np.uint64(8 * needed) and needed < len(planes):
        needed += 1
    return needed


@kernel
def decode_column(planes, column):
    """Write what `encode_column` has encoded to a column."""
    before = np.int64(0)
    if len(planes) == 0:
        column[:] = 0
    elif len(planes) == 1:
        for i in range(len(column)):
            code = np.int64(planes[0, i])
            before += (code >> 1) ^ -(code & 1)
            column[i] = before
    elif len(planes) == 2:
        for i in range(len(column)):
            code = np.int64(planes[0, i]) | np.int64(planes[1, i]) << 8
            before += (code >> 1) ^ -(code & 1)
            column[i] = before
    else:
        for i in range(len(column)):
            wide = np.uint64(0)
            for k in range(len(planes)):
                wide |= np.uint64(planes[k, i]) << np.uint64(8 * k)
            before += np.int64(wide >> np.uint64(1)) ^ -np.int64(wide & np.uint64(1))
            column[i] = before


@kernel
def sort_by(column, order, out):
    """Sort positions by their values in a column, stably: those in `order`, to `out`. Radix sort, 11 bits a pass.

    Returns True if the result stands in `out`, False if in `order`.
    """
    n = len(order)
    least, greatest = column[0], column[0]
    for value in column:
        least, greatest = min(least, value), max(greatest, value)
    width, shift, swapped = np.uint64(np.int64(greatest)) - np.uint64(np.int64(least)), np.uint64(0), False
    while shift < np.uint64(64) and width >> shift:
        counts = np.zeros(1 << 11, np.int64)
        for i in range(n):
            key = np.uint64(np.int64(column[i])) - np.uint64(np.int64(least))
            counts[(key >> shift) & np.uint64(0x7FF)] += 1
        at = 0
        for digit in range(len(counts)):
            counts[digit], at = at, at + counts[digit]
        for position in order:
            key = np.uint64(np.int64(column[position])) - np.uint64(np.int64(least))
            digit = (key >> shift) & np.uint64(0x7FF)
            out[counts[digit]] = position
            counts[digit] += 1
        order, out, swapped = out, order, not swapped
        shift += np.uint64(11)
    return swapped
