"""The rows of a relation in the order of their values.

Rows are ordered by their columns from the left: numbers and floats by value (NaN last), symbols and records by text.
That order depends on nothing but the rows.

Where memory is short a relation is ordered in portions: rows are moved to a file by ranges of their first column, and
of the next one where many rows agree in it, and each range is sorted when its turn comes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.database import Columns
from engine.io.value_text import Printer
from engine.language.checked_program import Relation, Type
from engine.storage.memory import LEDGER, for_result

WORK_BYTES = 64
"""The memory that ordering and writing take for each value, about."""
N_SAMPLED = 1 << 16
N_AT_ONCE = 1 << 18


class OrderedRelation:
    """A relation to be written: its rows in order, in portions that fit in memory. There is one at least."""

    def __init__(self, relation: Relation, columns: Columns, printer: Printer) -> None:
        self.relation, self.printer, self.columns = relation, printer, columns
        self.types = [column.type for column in relation.columns]

    def __iter__(self) -> Iterator[OrderedRows]:
        for columns in self.portions(self.columns, 0):
            yield OrderedRows(self.relation, columns, self.printer)

    def portions(self, columns: Columns, position: int) -> Iterator[Columns]:
        """Yield the rows, which agree in the columns before a position, in portions that follow each other."""
        n_bytes = columns.size * WORK_BYTES
        if position == len(columns) or not LEDGER.is_large(n_bytes) or LEDGER.has_room(2 * n_bytes):
            yield columns
            return
        places = Places(columns[position], self.types[position], self.printer)
        n_parts = 1 + LEDGER.portions_of(n_bytes)
        step = -(-columns.shape[1] // N_SAMPLED)
        sampled = np.sort(np.concatenate([places.of(column[::step]) for column in chunks(columns[position])]))
        starts, often = np.unique(sampled[np.arange(1, n_parts) * len(sampled) // n_parts], return_counts=True)
        grouped, ends = group(columns, position, places, np.union1d(starts, starts[often > 1] + 1))
        at = 0
        for end in ends:
            part = grouped[:, at:end]
            if part.shape[1]:
                agree = (part[position] == part[position, 0]).all()
                yield from self.portions(part, position + 1) if agree else [part]
            at = end

    def distinct(self, position: int) -> list[int]:
        """Return the values of a column."""
        return distinct(self.columns[position]).tolist()


class Places:
    """The places of the values of a column in their order."""

    def __init__(self, column: np.ndarray, type: Type, printer: Printer) -> None:
        self.known, self.ranks = None, np.empty(0, np.int64)
        if not is_by_value(column, type):
            self.known = distinct(column)
            self.ranks = ranks_of(self.known, type, printer)

    def of(self, values: np.ndarray) -> np.ndarray:
        values = values.astype(np.int64)
        return values if self.known is None else self.ranks[np.searchsorted(self.known, values)]


def group(columns: Columns, position: int, places: Places, starts: np.ndarray) -> tuple[Columns, list[int]]:
    """Return the rows by the ranges that begin at `starts` of the places of a column, and where each range ends."""

    def parts(rows: Columns) -> np.ndarray:
        return np.searchsorted(starts, places.of(rows[position]), side="right")

    counts = np.zeros(len(starts) + 1, np.int64)
    for rows in chunks(columns):
        counts += np.bincount(parts(rows), minlength=len(starts) + 1)
    ends = np.cumsum(counts)
    free = ends - counts
    grouped = for_result(columns.shape, columns.dtype, [columns])
    for rows in chunks(columns):
        found = parts(rows)
        order = np.argsort(found, kind="stable")
        here = np.bincount(found, minlength=len(counts))
        first = np.cumsum(here) - here
        sorted_parts = found[order]
        targets = free[sorted_parts] + np.arange(len(order)) - first[sorted_parts]
        grouped[:, targets] = rows[:, order]
        free += here
    return grouped, ends.tolist()


def distinct(column: np.ndarray) -> np.ndarray:
    """Return the values of a column, in the order of what they are encoded as."""
    found = np.empty(0, np.int64)
    for part in chunks(column):
        found = np.union1d(found, part.astype(np.int64))
    return found


def chunks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield rows so many at a time. Those that stand in a file are in memory only meanwhile."""
    for at in range(0, rows.shape[-1], N_AT_ONCE):
        yield rows[..., at : at + N_AT_ONCE]
        LEDGER.files.release()


def is_by_value(column: np.ndarray, type: Type) -> bool:
    """Return True if values are in the order of what they are encoded as."""
    return type.kind == "number" or (type.kind == "unsigned" and all((part >= 0).all() for part in chunks(column)))


def ranks_of(values: np.ndarray, type: Type, printer: Printer) -> np.ndarray:
    """Return the place of each of some distinct values in their order."""
    if type.kind == "symbol" or type.kind == "record":
        keys = printer.texts(values.tolist(), type)
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    else:
        order = np.argsort(values.view(np.float64 if type.kind == "float" else np.uint64), kind="stable")
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values))
    return ranks


class OrderedRows:
    """Rows as ranks [arity, n]: a value's position in `values` of its column, or the value where that is None."""

    def __init__(self, relation: Relation, columns: Columns, printer: Printer) -> None:
        self.relation, self.printer, self.n = relation, printer, columns.shape[1]
        self.types = [column.type for column in relation.columns]
        ranked = [self._rank(column, type) for column, type in zip(columns, self.types, strict=True)]
        self.values = [values for _, values in ranked]
        ranks = np.array([ranks for ranks, _ in ranked], np.int64).reshape(columns.shape)
        self.ranks = sort_rows(ranks)

    def _rank(self, column: np.ndarray, type: Type) -> tuple[np.ndarray, list[int] | None]:
        if is_by_value(column, type):
            return column, None
        values, positions = np.unique(column.astype(np.int64), return_inverse=True)
        ranks = ranks_of(values, type, self.printer)
        return ranks[positions], values[np.argsort(ranks)].tolist()

    def encoded(self, position: int) -> np.ndarray:
        """Return a column of the relation, in the order of the rows."""
        values = self.values[position]
        return self.ranks[position] if values is None else np.array(values, np.int64)[self.ranks[position]]

    def with_values(self, position: int) -> tuple[np.ndarray, list[int]]:
        """Return a column as ranks, and the values they stand for."""
        values = self.values[position]
        if values is not None:
            return self.ranks[position], values
        distinct, ranks = np.unique(self.ranks[position], return_inverse=True)
        return ranks, distinct.tolist()


def sort_rows(rows: np.ndarray) -> np.ndarray:
    """Return distinct rows [arity, n] in lexicographic order.

    Where the columns' ranges fit in 63 bits together, rows are packed in one integer and sorted as such.
    """
    if rows.shape[1] < 2:
        return rows
    low = rows.min(axis=1)
    widths = [
        int(high - lowest).bit_length() for lowest, high in zip(low.tolist(), rows.max(axis=1).tolist(), strict=True)
    ]
    if sum(widths) > 63:
        return rows[:, np.lexsort(rows[::-1])]
    packed = np.zeros(rows.shape[1], np.int64)
    for column, lowest, width in zip(rows, low, widths, strict=True):
        packed <<= width
        packed |= column - lowest
    packed.sort()
    result = np.empty_like(rows)
    for position in reversed(range(len(rows))):
        result[position] = (packed & ((1 << widths[position]) - 1)) + low[position]
        packed >>= widths[position]
    return result
