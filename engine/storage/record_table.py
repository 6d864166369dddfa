"""Record tables: the fields of each record, and the record with given fields."""

from __future__ import annotations

from threading import Lock

import numpy as np

from engine.database import Columns
from engine.storage.key_tables import HashedKeys


class RecordTable:
    """The records of one type. The record with id i + 1 has the fields `columns[:, i]`; nil is 0.

    Equal fields have equal ids. The hash table is built when a record is first constructed: programs that only take
    records apart read the columns as they were given. Safe to share between threads.
    """

    def __init__(self, n_fields: int, dtype: np.dtype, columns: Columns | None = None) -> None:
        self.dtype = np.dtype(dtype)
        if columns is None:
            columns = np.empty((n_fields, 0), self.dtype)
        self._given = np.ascontiguousarray(columns, self.dtype)
        self._keys: HashedKeys | None = None
        self._lock = Lock()

    @property
    def columns(self) -> Columns:
        """The fields of all records, [n_fields, n]."""
        keys = self._keys
        return self._given if keys is None else keys.columns[:, : keys.n]

    @property
    def keys(self) -> HashedKeys:
        """The records as a hash table, which is built now if there is none."""
        if self._keys is None:
            self._keys = HashedKeys(len(self._given), self.dtype, self._given)
        return self._keys

    @keys.setter
    def keys(self, keys: HashedKeys) -> None:
        self._keys = keys

    def construct(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of the records with the fields `rows[take, i]`, i < n; new ones are added."""
        with self._lock:
            return self.keys.intern(rows, 0, n, take) + 1

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of the records with the fields `rows[take, i]`, i < n; 0 for those that are not there."""
        with self._lock:
            return self.keys.find(rows, n, take) + 1

    def field(self, position: int, ids: np.ndarray) -> np.ndarray:
        """Return one field of each of the records `ids`, none of which is nil."""
        return self.columns[position].take(ids - 1)
