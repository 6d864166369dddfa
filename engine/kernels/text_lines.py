"""Kernels between columns and the text of files."""

import numpy as np

from engine.kernels import kernel

NEWLINE, RETURN, MINUS, ZERO = 10, 13, 45, 48
TEN = np.uint64(10)


@kernel
def parse_integers(text, delimiter, columns):
    """Read lines of decimal integers into `columns` [arity, n]; return the rows read and the first wrong line, or 0.

    Fields are separated by the byte `delimiter`. An integer has at most 18 digits. Lines end in \\n or \\r\\n.
    """
    at, row, size = 0, 0, len(text)
    arity = columns.shape[0]
    while at < size:
        for column in range(arity):
            negative = at < size and text[at] == MINUS
            at += negative
            start, value = at, 0
            while at < size and ZERO <= text[at] <= ZERO + 9:
                value = value * 10 + (text[at] - ZERO)
                at += 1
            if at == start or at - start > 18:
                return row, row + 1
            columns[column, row] = -value if negative else value
            if column < arity - 1:
                if at == size or text[at] != delimiter:
                    return row, row + 1
                at += 1
        if at < size and text[at] == RETURN:
            at += 1
        if at < size:
            if text[at] != NEWLINE:
                return row, row + 1
            at += 1
        row += 1
    return row, 0


@kernel
def format_rows(columns, lo, hi, first, starts, blob, delimiter, out):
    """Write the rows lo … hi - 1 as lines to `out`; return how many bytes.

    A value v of column c is written in decimal where first[c] is -1, otherwise as the text number first[c] + v: the
    bytes starts[i] … starts[i + 1] - 1 of `blob`. `out` must have room for all.
    """
    n = 0
    for row in range(lo, hi):
        for c in range(columns.shape[0]):
            if c:
                for i in range(len(delimiter)):
                    out[n] = delimiter[i]
                    n += 1
            value = columns[c, row]
            if first[c] >= 0:
                text = first[c] + value
                for i in range(starts[text], starts[text + 1]):
                    out[n] = blob[i]
                    n += 1
                continue
            if value < 0:
                out[n] = MINUS
                n += 1
            # Unsigned, as the least int64 has no positive counterpart.
            rest = np.uint64(value) if value >= 0 else np.uint64(-(value + 1)) + np.uint64(1)
            digits, shifted = 1, rest
            while shifted >= TEN:
                shifted //= TEN
                digits += 1
            for i in range(digits):
                quotient = rest // TEN
                out[n + digits - 1 - i] = ZERO + np.uint8(rest - quotient * TEN)
                rest = quotient
            n += digits
        out[n] = NEWLINE
        n += 1
    return n
