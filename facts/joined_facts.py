"""Puts the facts of the parts of one file together: a page's template, and the scripts that stand in it."""

import numpy as np

from facts import schema
from facts.file_facts import Columns, FileFacts
from facts.row_builder import Symbols


def joined(first: FileFacts, second: FileFacts) -> FileFacts:
    """Return the facts of a file that has the modules of both: those of `second` come after those of `first`."""
    symbols = Symbols({text: number for number, text in enumerate(first.symbols)})
    numbers = symbols.numbers(second.symbols)
    offset = first.entities.shape[1]
    scopes, labels, ordinals = second.entities
    ordinals = ordinals + np.where(scopes < 0, np.count_nonzero(first.entities[0] < 0), 0)
    entities = np.stack([_behind(scopes, offset), numbers[labels], ordinals]).astype(np.int32)
    relations = dict(first.relations)
    for name, rows in second.relations.items():
        rows = _moved(name, rows, offset, numbers)
        relations[name] = np.concatenate((relations[name], rows), axis=1) if name in relations else rows
        if schema.ENTITY not in schema.local_relations()[name].kinds:
            relations[name] = np.unique(relations[name], axis=1)
    return FileFacts(
        first.language, first.lines, list(symbols), np.concatenate((first.entities, entities), axis=1), relations
    )


def _moved(name: str, rows: Columns, offset: int, numbers: np.ndarray) -> Columns:
    columns = (
        _behind(column, offset) if kind == schema.ENTITY else numbers[column] if kind == schema.SYMBOL else column
        for kind, column in zip(schema.local_relations()[name].kinds, rows, strict=True)
    )
    return np.stack(list(columns)).astype(np.int32)


def _behind(column: np.ndarray, offset: int) -> np.ndarray:
    """Return local entities as they are behind `offset` others; NIL stays NIL."""
    return np.where(column < 0, column, column + offset)
