"""Ids of symbols and entities that are stable across commits.

Mounting numbers symbols and entities anew for each set of files. They are identified by content: a symbol by its text,
an entity by its scope, label and ordinal. So they are interned in append-only tables.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import engine
import facts
from engine import RecordTable
from facts import schema
from facts.mount import NIL

Columns = np.ndarray


class Numbering:
    """The ids of a view's symbols and entities."""

    def __init__(self, symbols: engine.Symbols, entities: RecordTable) -> None:
        self.symbols, self.entities = symbols, entities

    def translated(self, mounted: facts.Mounted, names: Iterable[str]) -> dict[str, Columns]:
        """Return relations of a mount in these ids; new symbols and entities get ids."""
        symbols = self.symbols.intern(mounted.symbols)
        tables = {schema.SYMBOL: symbols, schema.ENTITY: self.entity_ids(mounted.entities, symbols)}
        declared = schema.relations()
        return {name: _mapped(mounted.relations[name], declared[name].kinds, tables) for name in names}

    def entity_ids(self, entities: Columns, symbols: Columns) -> Columns:
        """Return the ids of entities, indexed by their mounted ids; scopes are numbered before their contents."""
        scopes, labels, ordinals = entities
        ids = np.full(len(scopes) + 1, -1, np.int32)
        ids[NIL] = NIL
        pending = np.arange(len(scopes))
        while pending.size:
            is_next = ids[scopes[pending]] >= 0
            chosen, pending = pending[is_next], pending[~is_next]
            rows = np.stack([ids[scopes[chosen]], symbols[labels[chosen]], ordinals[chosen]]).astype(
                self.entities.dtype
            )
            ids[chosen + 1] = self.entities.construct(rows, len(chosen), np.arange(3))
        return ids


def _mapped(columns: Columns, kinds: Iterable[str], tables: dict[str, Columns]) -> Columns:
    mapped = [tables[kind][column] if kind in tables else column for kind, column in zip(kinds, columns, strict=True)]
    return np.stack(mapped) if mapped else columns


def difference(rows: Columns, others: Columns) -> Columns:
    """Return the rows, [arity, n], that are not among the others, each once."""
    keys, others_keys = _keys(rows), _keys(others)
    return np.ascontiguousarray(np.setdiff1d(keys, others_keys).view(np.int32).reshape(-1, len(rows)).T)


def _keys(rows: Columns) -> np.ndarray:
    """Return each row as one value."""
    packed = np.ascontiguousarray(rows.T, np.int32)
    return packed.view([("", np.int32)] * len(rows)).ravel()
