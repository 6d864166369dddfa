"""What an evaluation reads and returns: relations and records as integer columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.symbols import Symbols

Columns = np.ndarray
"""A 2-D array [arity, n] of int32 or int64: column-major, one column of a relation per row of the array."""


class EvaluationError(Exception):
    """Evaluation stopped: the data or the program asks for something that has no value. The message says what."""


@dataclass
class Database:
    """Facts. A symbol is its id in `symbols`, a float its float64 bits, a record its id in `records` (nil is 0).

    `records[name]` is [n_fields, n]: column i holds the fields of the record with id i + 1.
    """

    symbols: Symbols = field(default_factory=Symbols)
    records: Mapping[str, Columns] = field(default_factory=dict)
    relations: Mapping[str, Columns] = field(default_factory=dict)
