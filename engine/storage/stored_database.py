"""Facts as views hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.database import Columns
from engine.storage.record_table import RecordTable
from engine.storage.relation_snapshot import Snapshot
from engine.symbols import Symbols


@dataclass
class StoredDatabase:
    """The content of a Database as it is stored: record tables, and columns or snapshots of relations."""

    symbols: Symbols
    records: Mapping[str, RecordTable]
    relations: Mapping[str, Columns | Snapshot] = field(default_factory=dict)
