"""Edge lists, as Graspan and POCR write them: `source target label`, behind which POCR has the index of the label.

Vertices are integers or any other words; they are numbered anew, densely, in order. So are indices. Edges whose labels
a grammar does not mention are left out, as their vertices are, and counted.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.cfl.grammar import Grammar
from engine.cfl.split_lines import Lines, Words, split
from engine.database import Columns
from engine.io.facts_error import FactsError

GZIP = b"\x1f\x8b"
SOURCE, TARGET, LABEL, INDEX = range(4)


@dataclass(frozen=True)
class Names:
    """The names of dense numbers: integers or texts, in order."""

    values: np.ndarray | list[str]

    def __len__(self) -> int:
        return len(self.values)

    def texts(self) -> list[str]:
        return self.values if isinstance(self.values, list) else [str(value) for value in self.values.tolist()]


@dataclass(frozen=True)
class Graph:
    """Edges as columns [2 or 3, n] by label, distinct: source, target, index; and how many others were left out."""

    vertices: Names
    indices: Names
    edges: dict[str, Columns]
    ignored: dict[str, int]

    @property
    def n_edges(self) -> int:
        return sum(columns.shape[1] for columns in self.edges.values())


def read_edges(path: Path, grammar: Grammar) -> Graph:
    """Return the edges of a file, plain or gzip. Raises FactsError with the first line that is wrong."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data.startswith(GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        raise FactsError(path, 0, f"cannot read the edges: {getattr(error, 'strerror', None) or error}") from None
    lines = split(data, path)
    check_width(lines, path)
    labels, by_line = lines.column(LABEL).distinct()
    counts = dict(zip(labels, np.bincount(by_line, minlength=len(labels)).tolist(), strict=True))
    is_indexed = np.array([label in grammar.indexed for label in labels], bool)[by_line]
    used = np.array([label in grammar.labels for label in labels], bool)[by_line]
    check_indices(lines, is_indexed, used, path)
    vertices, ends = numbered(Words(*both_ends(lines, used)))
    indices, index = numbered(lines.column(INDEX, is_indexed & used))
    source, target = ends.reshape(2, -1)
    indexed, by_line = is_indexed[used], by_line[used]
    at = np.zeros(len(by_line), np.int64)
    at[indexed] = index
    edges = {}
    for position, label in enumerate(labels):
        if label in grammar.labels:
            chosen = by_line == position
            columns = [source[chosen], target[chosen], at[chosen]][: 3 if label in grammar.indexed else 2]
            edges[label] = distinct(np.array(columns, np.int64), len(vertices), len(indices))
    return Graph(vertices, indices, edges, {label: n for label, n in counts.items() if label not in grammar.labels})


def check_width(lines: Lines, path: Path) -> None:
    wrong = np.flatnonzero((lines.n_words < 3) | (lines.n_words > 4))
    if len(wrong):
        at = int(wrong[0])
        n = int(lines.n_words[at])
        message = f"an edge is 'source target label', or 'source target label index', and this line has {n} word(s)"
        raise FactsError(path, int(lines.numbers[at]), message)


def check_indices(lines: Lines, is_indexed: np.ndarray, used: np.ndarray, path: Path) -> None:
    """Report the first line that lacks the index of its label, or has one although its label takes none."""
    wrong = np.flatnonzero(used & (is_indexed != (lines.n_words == 4)))
    if len(wrong):
        at = int(wrong[0])
        label = lines.column(LABEL).word(at)
        what = "is indexed, and this line has no fourth word" if is_indexed[at] else "has no index in the grammar"
        raise FactsError(path, int(lines.numbers[at]), f"the label '{label}' {what}")


def both_ends(lines: Lines, used: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    source, target = lines.column(SOURCE, used), lines.column(TARGET, used)
    return (
        lines.words.text,
        np.concatenate([source.starts, target.starts]),
        np.concatenate([source.lengths, target.lengths]),
    )


def numbered(words: Words) -> tuple[Names, np.ndarray]:
    """Return what distinct words there are, in order, and for each word its number."""
    values = words.numbers()
    if values is None:
        texts, positions = words.distinct()
        return Names(texts), positions
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low <= 8 * len(values):
        present = np.zeros(high - low + 1, bool)
        present[values - low] = True
        return Names(np.flatnonzero(present) + low), (np.cumsum(present) - 1)[values - low]
    distinct, positions = np.unique(values, return_inverse=True)
    return Names(distinct), positions


def distinct(columns: Columns, n_vertices: int, n_indices: int) -> Columns:
    """Return distinct edges as int32 columns."""
    packed = columns[0] * n_vertices + columns[1]
    if len(columns) == 3:
        packed = packed * n_indices + columns[2]
    _, first = np.unique(packed, return_index=True)
    return np.ascontiguousarray(columns[:, first], np.int32)
