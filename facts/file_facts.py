"""The facts extracted from one file: entities, rows and symbols as integer columns, without a path."""

from dataclasses import dataclass, field

import numpy as np

NIL = -1
"""The local id that stands for no entity."""

Columns = np.ndarray


@dataclass
class FileFacts:
    """The facts of one file; a function of its bytes and of the extractor alone.

    `entities` is int32, 3 × n: the local id of the enclosing entity (NIL for the module, which is entity 0), the label
    (an index into `symbols`) and the ordinal. `relations` holds, for every relation with rows, an int32 array of
    arity × rows in the columns of `schema.local_relations()`; entities are local ids or NIL, symbols indices.
    `lines` is the number of lines of the file.
    """

    language: str
    lines: int = 0
    symbols: list[str] = field(default_factory=list)
    entities: Columns = field(default_factory=lambda: np.empty((3, 0), np.int32))
    relations: dict[str, Columns] = field(default_factory=dict)

    @property
    def unparsed_lines(self) -> list[int]:
        """The lines that syntax errors left without facts, in order."""
        rows = self.relations.get("unparsed")
        return [] if rows is None else sorted(set(rows[0].tolist()))
