"""The files that directives read and write: their kind and path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from engine.io.facts_error import FactsError
from engine.io.value_text import Interner, check_range
from engine.language.checked_program import Relation, Type
from engine.language.syntax import Directive

SUFFIXES = {"jsonfile": ".json", "sqlite": ".sqlite", "parquet": ".parquet"}

STDIN = Path("standard input")
"""Stands for the path of what is not in a file."""


def device(directive: Directive) -> str:
    """Return the value of `IO`; a file whose name ends in .parquet needs none."""
    parameters = dict(directive.parameters)
    is_parquet = parameters.get("filename", "").endswith(".parquet")
    return parameters.get("IO", "parquet" if is_parquet else "file")


def file_name(directive: Directive) -> str:
    """Return the name of the file that a directive reads or writes, as given or by the name of its relation."""
    parameters = dict(directive.parameters)
    kind = device(directive)
    if kind == "sqlite" and "dbname" in parameters:
        return parameters["dbname"]
    if directive.kind == "input":
        default = ".facts"
    else:
        default = ".csv.gz" if "compress" in parameters else ".csv"
    return parameters.get("filename", directive.relation + SUFFIXES.get(kind, default))


class FactSource(ABC):
    """A source of facts of a relation: checks values, and encodes them."""

    relation: Relation
    interner: Interner

    @abstractmethod
    def fail(self, row: int, message: str) -> NoReturn:
        """Raise an error for a row, counted from 1; 0 is the whole source."""

    def integers(self, column: np.ndarray, type: Type) -> np.ndarray:
        """Return integers of a number type, which are in range, as column values."""
        row = check_range(column, type.kind, self.interner.bits) if len(column) else None
        if row is not None:
            self.fail(row + 1, f"'{column[row]}' is out of the range of {type.kind} (type {type.name})")
        return column.astype(np.uint64).view(np.int64) if column.dtype == np.uint64 else column.astype(np.int64)

    def texts(self, texts: list[str], type: Type, rows: np.ndarray | None = None) -> np.ndarray:
        """Return texts as they stand in a column; texts[i] comes from the row rows[i], or i, from 0 on."""
        if type.kind == "symbol":
            return self.interner.symbols.intern(texts).astype(np.int64)
        found = np.empty(len(texts), np.int64)
        for i, text in enumerate(texts):
            try:
                found[i] = self.interner.value(text, type)
            except ValueError as error:
                self.fail(1 + (i if rows is None else int(rows[i])), f"{error} (type {type.name})")
        return found


@dataclass
class Input(FactSource):
    """A relation to be read from a file."""

    relation: Relation
    path: Path
    parameters: dict[str, str]
    interner: Interner

    def fail(self, row: int, message: str) -> NoReturn:
        """Raise FactsError for a row, or a line, counted from 1; 0 is the whole file."""
        raise FactsError(self.path, row, message)
