"""The function of each entity: the innermost one around it, by scopes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import facts

NONE = 0
"""No function: code of a module, or of a class that stands in no function."""


@dataclass
class Bodies:
    """The functions of mounted facts, as arrays by record id; a function belongs to itself.

    `owner[e]` is the function of the entity e, `parent[f]` the function that f is defined in, `depth[f]` how many
    functions stand around f, itself included.
    """

    mounted: facts.Mounted
    owner: np.ndarray
    parent: np.ndarray
    depth: np.ndarray

    @classmethod
    def of(cls, mounted: facts.Mounted) -> Bodies:
        scope = np.concatenate([[0], mounted.entities[0]]).astype(np.int64)
        functions = np.unique(mounted.relations["function"][0]).astype(np.int64)
        is_function = np.zeros(len(scope), bool)
        is_function[functions] = True
        owner = nearest(np.arange(len(scope)), scope, is_function)
        parent = np.zeros(len(scope), np.int64)
        parent[functions] = owner[scope[functions]]
        depth, above = np.zeros(len(scope), np.int64), functions
        while (above != NONE).any():
            depth[functions] += above != NONE
            above = parent[above]
        return cls(mounted, owner, parent, depth)

    @property
    def n(self) -> int:
        """The number of entities; their ids are 1 to n."""
        return len(self.owner) - 1

    @cached_property
    def functions(self) -> np.ndarray:
        """All functions, each behind the one that it is defined in."""
        found = np.flatnonzero(self.depth)
        return found[np.argsort(self.depth[found], kind="stable")]

    @cached_property
    def size(self) -> np.ndarray:
        """The number of entities of each function."""
        return np.bincount(self.owner, minlength=len(self.owner))

    @cached_property
    def rank(self) -> np.ndarray:
        """The place of each entity among those of its function."""
        order = np.argsort(self.owner, kind="stable")
        first = np.cumsum(self.size) - self.size
        rank = np.empty(len(self.owner), np.int64)
        rank[order] = np.arange(len(order)) - first[self.owner[order]]
        return rank

    @cached_property
    def type_of(self) -> np.ndarray:
        """The class whose code an entity stands in, or else the module."""
        scope = np.concatenate([[0], self.mounted.entities[0]]).astype(np.int64)
        is_type = scope == 0
        is_type[self.mounted.relations["class"][0]] = True
        is_type[0] = False
        return nearest(np.arange(len(scope)), scope, is_type)


def nearest(entities: np.ndarray, scope: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return for each entity the first that is wanted of itself and the scopes around it, 0 where none is."""
    found = entities.copy()
    while (further := (found != 0) & ~wanted[found]).any():
        found[further] = scope[found[further]]
    return found
