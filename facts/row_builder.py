"""Collects the entities and rows of one file and turns them into integer columns."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from facts import schema
from facts.file_facts import NIL, FileFacts
from facts.source_text import SourceText

LABEL_LENGTH = 48
# Rows of these relations may be stated more than once.
_REPEATED = ("read", "returns", "returns_at", "yields", "unparsed", "edge", "exception_edge", "merge", "exports")


def head(text: str) -> str:
    """Return `text`, shortened to a label by its beginning."""
    return text if len(text) <= LABEL_LENGTH else text[:LABEL_LENGTH] + "…"


def tail(text: str) -> str:
    """Return `text`, shortened to a label by its end."""
    return text if len(text) <= LABEL_LENGTH else "…" + text[-LABEL_LENGTH:]


class Symbols(dict):
    """Numbers texts in the order in which they are first looked up."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number

    def numbers(self, texts: Iterable[str]) -> np.ndarray:
        """Return the numbers of an iterable of texts."""
        return np.fromiter(map(self.__getitem__, texts), np.int32)


class Builder:
    """The facts of a file while they are collected. Language-neutral.

    An entity is known by its index; index 0 is the module. Rows hold entities by index (NIL for none), symbols as
    texts and numbers as they are. `replace` lets an entity stand for another one that is given up: the numbering and
    all rows follow when the facts are finished.
    """

    def __init__(self, text: SourceText, language: str) -> None:
        self.text = text
        self.language = language
        self.scopes: list[int] = []
        self.labels: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._rows: dict[str, list[tuple]] = defaultdict(list)
        self._replaced: dict[int, int] = {}
        self.entity(NIL, "", 0, len(text.utf8))
        self.emit("language", 0, language)

    def entity(self, scope: int, label: str, start: int = -1, end: int = -1) -> int:
        """Return a new entity in `scope`; `start` and `end` are the bytes it stands at, if it has a place."""
        self.scopes.append(scope)
        self.labels.append(label)
        self._starts.append(start)
        self._ends.append(end)
        return len(self.labels) - 1

    def emit(self, relation: str, *row: int | str) -> None:
        """Add a row to a relation."""
        self._rows[relation].append(row)

    def place(self, entity: int, start: int, end: int) -> None:
        """Give an entity its place in the text, if it has none yet."""
        if self._starts[entity] < 0:
            self._starts[entity], self._ends[entity] = start, end

    def replace(self, entity: int, by: int) -> None:
        """Give up an entity: rows that name it name `by` (an entity, possibly given up later itself)."""
        self._replaced[entity] = by

    def unparsed(self, start: int, end: int) -> None:
        """State that the lines from byte `start` up to byte `end` give no facts."""
        for line in range(self.text.line_of(start), self.text.line_of(max(start, end - 1)) + 1):
            self.emit("unparsed", line)

    def finish(self) -> FileFacts:
        """Return the collected facts as columns."""
        for line in self.text.null_lines:
            self.emit("unparsed", line)
        final, kept = self._numbering()
        symbols = Symbols()
        labels = symbols.numbers(self.labels)[kept]
        scopes = _through(final, np.array(self.scopes, np.int32))[kept]
        entities = np.stack([scopes, labels, _ordinals(scopes, labels)])
        declared = schema.local_relations()
        relations = {
            name: _columns(declared[name], self._rows[name], final, symbols) for name in declared if name in self._rows
        }
        relations["location"] = self._locations(kept)
        return FileFacts(self.language, self.text.n_lines, list(symbols), entities, relations)

    def _numbering(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the final id of every entity, and the entities that are kept."""
        count = len(self.labels)
        target = np.arange(count, dtype=np.int32)
        for entity, by in self._replaced.items():
            while by in self._replaced:
                by = self._replaced[by]
            target[entity] = by
        kept = np.flatnonzero(target == np.arange(count))
        renumbered = np.full(count, NIL, np.int32)
        renumbered[kept] = np.arange(len(kept), dtype=np.int32)
        return renumbered[target], kept

    def _locations(self, kept: np.ndarray) -> np.ndarray:
        starts, ends = np.array(self._starts, np.int64)[kept], np.array(self._ends, np.int64)[kept]
        placed = np.flatnonzero(starts >= 0)
        line, column = self.text.positions(starts[placed])
        end_line, end_column = self.text.positions(ends[placed])
        return np.stack([placed, line, column, end_line, end_column]).astype(np.int32)


def _through(final: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return a column of entities in their final numbers; NIL stays NIL."""
    return np.where(column < 0, NIL, final[column])


def _columns(relation: schema.Relation, rows: list[tuple], final: np.ndarray, symbols: Symbols) -> np.ndarray:
    """Return rows as int32 columns: entities renumbered, symbols numbered; each row once, in order."""
    result = np.empty((relation.arity, len(rows)), np.int32)
    for index, (kind, column) in enumerate(zip(relation.kinds, zip(*rows, strict=True), strict=True)):
        if kind == schema.SYMBOL:
            result[index] = symbols.numbers(column)
        else:
            result[index] = column if kind == schema.NUMBER else _through(final, np.array(column, np.int32))
    return np.unique(result, axis=1) if relation.name in _REPEATED else result


def _ordinals(scopes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return each entity's position among those with the same scope and label."""
    order = np.lexsort((labels, scopes))
    scope, label = scopes[order], labels[order]
    fresh = np.concatenate(([True], (scope[1:] != scope[:-1]) | (label[1:] != label[:-1])))
    index = np.arange(len(order))
    ordinals = np.empty(len(order), np.int32)
    ordinals[order] = index - np.maximum.accumulate(np.where(fresh, index, 0))
    return ordinals
