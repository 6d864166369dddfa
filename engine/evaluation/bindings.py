"""The data and functors that plans are bound to."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import numpy as np

from engine.evaluation.index_selection import Indexes
from engine.evaluation.vectorized_functors import Functors
from engine.plan.auxiliary_relations import Auxiliary
from engine.plan.join_order import Sizes
from engine.storage.record_table import RecordTable
from engine.storage.relation import Relation


@dataclass
class Bindings:
    """The data and the functions of one evaluation.

    Strata may be planned side by side. Who plans an update meanwhile holds the `lock`, which makes what others share.
    """

    relations: MutableMapping[str, Relation]
    records: Mapping[str, RecordTable]
    functors: Functors
    sizes: Sizes
    indexes: Indexes = field(default_factory=Indexes)
    lock: AbstractContextManager[Any, Any] = field(default_factory=RLock)

    def make(self, made: Auxiliary) -> Relation:
        """Add an auxiliary relation, empty."""
        relation = Relation(made.name, made.arity, np.dtype(np.int64 if made.wide else np.int32))
        self.relations[made.name] = relation
        return relation
