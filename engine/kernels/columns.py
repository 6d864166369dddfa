"""Kernels on columns: compare rows, scan, filter, aggregate, see whether they are in order."""

import numpy as np

from engine.kernels import inlined, kernel


@inlined
def compare(left, i, right, j, left_columns, right_columns):
    """-1, 0 or 1 as row i of `left` comes before, equals or comes after row j of `right`, on their columns in turn."""
    for q in range(len(left_columns)):
        a, b = left[left_columns[q], i], right[right_columns[q], j]
        if a != b:
            return -1 if a < b else 1
    return 0


@kernel
def scan(rows, lo, hi, columns, values, left, right, take, out):
    """Copy the columns `take` of the rows lo … hi - 1 that satisfy the equalities to `out`; return how many.

    The equalities are: column `columns[k]` equals `values[k]`, and column `left[k]` equals column `right[k]`.
    """
    n = 0
    if len(columns) == 0 and len(left) == 0:
        for c in range(len(take)):
            source, target = rows[take[c]], out[c]
            for i in range(lo, hi):  # A slice would say the same, and take two seconds to compile.
                target[i - lo] = source[i]
        return hi - lo
    for i in range(lo, hi):
        kept = True
        for k in range(len(columns)):
            kept &= rows[columns[k], i] == values[k]
        for k in range(len(left)):
            kept &= rows[left[k], i] == rows[right[k], i]
        if kept:
            for c in range(len(take)):
                out[c, n] = rows[take[c], i]
            n += 1
    return n


@kernel
def compress(mask, n, chunk, live):
    """Keep, in place, the rows i < n where mask[i], on the columns `live`; return how many."""
    kept = 0
    for i in range(n):
        if mask[i]:
            if kept < i:
                for c in live:
                    chunk[c, kept] = chunk[c, i]
            kept += 1
    return kept


COUNT, SUM, MIN, MAX = 0, 1, 2, 3


@kernel
def accumulate(kind, groups, values, n, total):
    """Fold values[i] into total[groups[i]] for i < n; `kind` is COUNT, SUM, MIN or MAX."""
    for i in range(n):
        g = groups[i]
        if kind == COUNT:
            total[g] += 1
        elif kind == SUM:
            total[g] += values[i]
        elif kind == MIN:
            total[g] = min(total[g], values[i])
        else:
            total[g] = max(total[g], values[i])


@kernel
def gather(values, at):
    """Return values[at], without the GIL."""
    out = np.empty(len(at), values.dtype)
    for i in range(len(at)):
        out[i] = values[at[i]]
    return out


@kernel
def canonical_floats(values):
    """Return floats with one NaN and no negative zero."""
    out = np.empty(len(values), np.float64)
    for i in range(len(values)):
        value = values[i] + 0.0
        out[i] = value if value == value else np.nan
    return out


@kernel
def increases(rows, backwards):
    """Return True if every row is greater than the one before: in the first column that differs, or in the last."""
    last = len(rows) - 1
    for i in range(1, rows.shape[1]):
        for c in range(len(rows)):
            column = rows[last - c] if backwards else rows[c]
            if column[i - 1] != column[i]:
                break
        else:
            return False
        if column[i - 1] > column[i]:
            return False
    return True
