"""The rows of a relation in the order of their values.

Rows are ordered by their columns from the left: numbers and floats by value (NaN last), symbols and records by text.
That order depends on nothing but the rows.
"""

from __future__ import annotations

import numpy as np

from engine.database import Columns
from engine.io.values import Printer
from engine.language.program import Relation, Type


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
        if type.kind == "number" or (type.kind == "unsigned" and column.min(initial=0) >= 0):
            return column, None
        distinct, positions = np.unique(column.astype(np.int64), return_inverse=True)
        if type.kind == "symbol" or type.kind == "record":
            keys = self.printer.texts(distinct.tolist(), type)
            order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
        else:
            order = np.argsort(distinct.view(np.float64 if type.kind == "float" else np.uint64), kind="stable")
        ranks = np.empty(len(distinct), np.int64)
        ranks[order] = np.arange(len(distinct))
        return ranks[positions], distinct[order].tolist()

    def encoded(self, position: int) -> np.ndarray:
        """Return a column as it stands in the relation, in the order of the rows."""
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
