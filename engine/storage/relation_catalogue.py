"""The catalogue: relations that outlive an evaluation, with their arrangements, shared by programs.

Shared arrangements as in McSherry, Lattuada, Schwarzkopf and Roscoe (2020), §4: an index is built once, by the first
program that asks for it, and read by all others through handles.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np

from engine.database import EvaluationError
from engine.storage.relation import Relation
from engine.storage.spine import DEFAULT
from engine.storage.trace import Trace


class Shape(NamedTuple):
    """The shape that programs must agree on to share a relation: the kinds of its columns, and their width."""

    columns: tuple[str, ...]
    dtype: np.dtype


class Catalogue:
    """Traces of relations by name, each with the shape that it was published in. Safe to share between threads.

    `effort` is that of their spines.
    """

    def __init__(self, effort: int | None = DEFAULT) -> None:
        self.effort = effort
        self._entries: dict[str, tuple[Shape, Trace]] = {}
        self._lock = Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def publish(self, shape: Shape, relation: Relation) -> None:
        """Let programs read a relation that an evaluation has made; readers of an earlier one go on with that."""
        with self._lock:
            self._entries[relation.name] = shape, Trace(relation, self.effort)

    def find(self, name: str, shape: Shape | None = None) -> Trace | None:
        """Return a relation, if it is held. Raises EvaluationError if it was not published in the shape expected."""
        with self._lock:
            held, trace = self._entries.get(name, (shape, None))
        if shape is not None and held != shape:
            raise EvaluationError(
                f"{name}: the session holds it with the columns ({', '.join(held.columns)}) of {held.dtype}, "
                f"the program declares ({', '.join(shape.columns)}) of {shape.dtype}; drop it or rename one of them"
            )
        return trace

    def drop(self, name: str) -> None:
        """Let go of a relation: its storage goes when the last handle on it is closed."""
        with self._lock:
            self._entries.pop(name, None)
