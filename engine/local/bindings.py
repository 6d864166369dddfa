"""What plans are bound to."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field

from engine.local.functors import Functors
from engine.local.indexes import Indexes
from engine.plan.order import Sizes
from engine.storage.records import RecordTable
from engine.storage.relation import Relation


@dataclass
class Bindings:
    """The data and the functions of one evaluation."""

    relations: MutableMapping[str, Relation]
    records: Mapping[str, RecordTable]
    functors: Functors
    sizes: Sizes
    indexes: Indexes = field(default_factory=Indexes)
