"""The input and output of an evaluation: relations and records as integer columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.symbols import Symbols

Columns = np.ndarray
"""A 2-D array [arity, n] of int32 or int64: column-major, one column of a relation per row of the array."""


class EvaluationError(Exception):
    """Evaluation failed: the data or the program needs something that has no value, named in the message."""


class OutOfMemory(EvaluationError):
    """An evaluation exceeds its memory limit."""


@dataclass(frozen=True)
class Always:
    """Chooses the same facts, [arity, n], whatever has been derived."""

    facts: Columns

    def __call__(self, rows: Columns) -> Columns:
        return self.facts


@dataclass(frozen=True)
class Widening:
    """A bound on a recursion: a stratum in which `relation` outgrows its limit restarts with more facts.

    `max_rows` has a limit for each evaluation of the stratum, the first one and those after restarts; one more has
    none. `choose` is given the rows of `relation` at the end of the iteration that passed the limit, [arity, n], and
    returns facts to add to `into`, a relation of an earlier stratum that the recursion negates. Iterations end at a
    barrier: the rows, and with them the result, are the same for any number of threads, and they are the fixpoint of
    the program on the database with all facts of `into`. Where `choose` is `Always`, iterations do not matter. The
    limit is on the rows of `relation` together with those of the relations `counted` of its stratum. If there is a
    `width`, those rows of `relation` count whose first column, an id, is in more than so many.
    """

    relation: str
    max_rows: Sequence[int]
    into: str
    choose: Callable[[Columns], Columns]
    counted: Collection[str] = ()
    width: int = 0


@dataclass
class Database:
    """Facts. A symbol is its id in `symbols`, a float its float64 bits, a record its id in `records` (nil is 0).

    `records[name]` is [n_fields, n]: column i holds the fields of the record with id i + 1.
    """

    symbols: Symbols = field(default_factory=Symbols)
    records: Mapping[str, Columns] = field(default_factory=dict)
    relations: Mapping[str, Columns] = field(default_factory=dict)
