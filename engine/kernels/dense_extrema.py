"""Kernels of aggregate relations of least or greatest values whose groups are dense: groups are found by an array.

A group is one value or two. Its cell is the sum over both of (value − lows[c]) · strides[c], where 0 ≤ value − lows[c]
< sizes[c]; of groups of one value the first of the two is always 0. index[cell] is the number of the group, plus one,
or zero. Groups whose value changes are listed as in `aggregates`.
"""

import numpy as np

from engine.kernels import inlined, kernel

CHUNK, ARENA, PRESENT, CONSTANT = 0, 1, 2, 3
"""Where an operand of a joined row comes from: `present` is looked up by a column of the arena."""
COPY, ADD, MULTIPLY, LEAST, GREATEST = 0, 1, 2, 3, 4
"""What is done with two operands to get the value that a joined row contributes; COPY takes the first."""
OUTSIDE = -1
BLOCK = 64


@inlined
def combined(operation, left, right):
    """The value of the operation on two operands, before it wraps around."""
    if operation == ADD:
        return left + right
    if operation == MULTIPLY:
        return left * right
    return min(left, right) if operation == LEAST else max(left, right)


@kernel
def improve_joined(joined, i, j, present, operation, places, columns, best, least, dirty, changed, known):
    """Join as `csr_runs.expand` does, and let the rows contribute to their groups; new groups are numbered.

    `joined` is as for `hash_tables.join_pairs`, all of int32; its `sides` say where the two values of the group and
    the two operands come from. `places` is (index, lows, sizes, strides), `known` the numbers of groups and of changes
    listed. Keeps the least values, or the greatest if not `least`; they wrap around. Starts at match j of row i;
    returns (next i, next j, groups, changes, rows made): with i = n at the end, before that when there is no room for a
    new group, and with j = OUTSIDE at a row, all before which are done, that makes a group without a cell.
    """
    starts, lengths, n, chunk, arena, sides = joined
    index, (x_low, y_low), (width, height), (x_stride, y_stride) = places
    (at, m), made, last = known, 0, len(columns) - 1
    room = min(columns.shape[1], len(best), len(dirty))
    # No function takes an array from here on: the inner loop would count references.
    x_varies, y_varies = sides[0, 0] % 3 != 0, sides[1, 0] % 3 != 0
    left_varies, right_varies = sides[2, 0] % 3 != 0, sides[3, 0] % 3 != 0
    x_column, y_column = arena[sides[0, 1] if x_varies else 0], arena[sides[1, 1] if y_varies else 0]
    left_column, right_column = arena[sides[2, 1] if left_varies else 0], arena[sides[3, 1] if right_varies else 0]
    left_present, right_present = sides[2, 0] == PRESENT, sides[3, 0] == PRESENT
    fixed = np.empty(4, np.int64)
    ahead, touched = i, np.empty(BLOCK, arena.dtype)
    while i < n:
        if i >= ahead:
            # The first row of each run, for a block of runs: cache misses overlap.
            ahead = min(i + BLOCK, n)
            for p in range(i, ahead):
                touched[p - i] = y_column[starts[p]]
        for s in range(4):
            fixed[s] = chunk[sides[s, 1], i] if sides[s, 0] == CHUNK else sides[s, 1]
        x, y, a, b = fixed[0], fixed[1], fixed[2], fixed[3]
        start = starts[i]
        for q in range(start + j, start + lengths[i]):
            if x_varies:
                x = np.int64(x_column[q])
            if y_varies:
                y = np.int64(y_column[q])
            if not (0 <= x - x_low < width and 0 <= y - y_low < height):
                return i, OUTSIDE, at, m, made
            cell = (x - x_low) * x_stride + (y - y_low) * y_stride
            if left_varies:
                a = np.int64(left_column[q])
                if left_present:
                    a = np.int64(present[a])
            value = np.int32(a)
            if operation != COPY:
                if right_varies:
                    b = np.int64(right_column[q])
                    if right_present:
                        b = np.int64(present[b])
                value = np.int32(combined(operation, a, b))
            g = np.int64(index[cell]) - 1
            if g < 0:
                if at == room:
                    return i, q - start, at, m, made + q - start - j
                columns[0, at] = x if last else y
                columns[last, at] = y
                g, at = at, at + 1
                index[cell] = at
            elif not (value < best[g] if least else value > best[g]):
                continue
            best[g] = value
            if not dirty[g]:
                dirty[g] = True
                changed[m] = g
                m += 1
        made += lengths[i] - j
        i, j = i + 1, 0
    return i, j, at, m, made


@kernel
def intern_pairs(index, lows, sizes, strides, rows, lo, hi, take, columns, at, ids):
    """Write the numbers of the groups `rows[take, lo:hi]` to `ids`; new ones are appended to `columns` from `at` on.

    All have a cell, and there is room for them. Returns the number of groups.
    """
    first, second = rows[take[0]], rows[take[1]]
    for i in range(lo, hi):
        cell = (np.int64(first[i]) - lows[0]) * strides[0] + (np.int64(second[i]) - lows[1]) * strides[1]
        position = index[cell]
        if position == 0:
            columns[0, at] = first[i]
            columns[1, at] = second[i]
            at += 1
            index[cell] = position = at
        ids[i - lo] = position - 1
    return at
