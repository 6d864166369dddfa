"""The catalogue: relations that outlive an evaluation, with their arrangements, shared by programs.

Shared arrangements as in McSherry, Lattuada, Schwarzkopf and Roscoe (2020), §4: an index is built once, by the first
program that asks for it, and read by all others through handles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from threading import Lock
from typing import NamedTuple

import numpy as np

from engine.database import Columns, EvaluationError
from engine.storage.arrangement import Arrangement, Block
from engine.storage.relation import Relation


class Shape(NamedTuple):
    """What programs must agree on to share a relation: the kinds of its columns, and their width."""

    columns: tuple[str, ...]
    dtype: np.dtype


class Snapshot:
    """A relation as it was when it was published: read like a `Relation`, by any number of programs at once."""

    def __init__(self, relation: Relation) -> None:
        self._relation, self._lock = relation, Lock()
        self.name, self.arity, self.dtype = relation.name, relation.arity, relation.dtype
        self.bits, self.n, self.magnitude = relation.bits, relation.n, relation.magnitude
        self.arrangements: dict[tuple[int, ...], Arrangement] = relation.arrangements
        self.delta: list[Block] = []
        self.n_delta = 0

    def blocks(self) -> list[Block]:
        return self._relation.blocks()

    def columns(self) -> Columns:
        return self._relation.columns()

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        return self._relation.find(rows, n, take)

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> Arrangement:
        """Return the arrangement by the columns `key`, built by the first program that asks for it.

        Readers keep the object they were given: what another one needs beyond it is added to a copy.
        """
        key = tuple(key)
        with self._lock:
            found = self.arrangements.get(key)
            if found is None:
                found = self._relation.arrangement(key, payload=payload, old=False)
            elif payload and found.arena is None:
                found = copy(found)
                found.build_arena(self.blocks())
                self.arrangements[key] = found
        return found


class Handle:
    """A reader's hold on a relation of the catalogue. Closing the last one frees what the catalogue has let go."""

    def __init__(self, relation: Snapshot) -> None:
        self._relation: Snapshot | None = relation

    @property
    def relation(self) -> Snapshot:
        if self._relation is None:
            raise ValueError("the handle is closed")
        return self._relation

    def close(self) -> None:
        self._relation = None

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Catalogue:
    """Relations by name, each with the shape that it was published in. Safe to share between threads."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Shape, Snapshot]] = {}
        self._lock = Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._entries))

    def publish(self, shape: Shape, relation: Relation) -> None:
        """Let programs read a relation that will not change any more. Those that read an earlier one go on with it."""
        with self._lock:
            self._entries[relation.name] = shape, Snapshot(relation)

    def open(self, name: str, shape: Shape | None = None) -> Handle:
        """Return a handle on a relation. Raises EvaluationError if it was not published in the shape expected."""
        with self._lock:
            held, relation = self._entries[name]
        if shape is not None and held != shape:
            raise EvaluationError(
                f"{name}: the session holds it with the columns ({', '.join(held.columns)}) of {held.dtype}, "
                f"the program declares ({', '.join(shape.columns)}) of {shape.dtype}; drop it or rename one of them"
            )
        return Handle(relation)

    def drop(self, name: str) -> None:
        """Let go of a relation: its storage goes when the last handle on it is closed."""
        with self._lock:
            self._entries.pop(name, None)
