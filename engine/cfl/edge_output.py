"""Results as a list of edges, as the input is one: `source target symbol`, and the index of an indexed symbol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.atomic_file import replaced
from engine.cfl.edges import Graph
from engine.cfl.solver import Answer, Solution
from engine.io.facts_error import FactsError
from engine.io.text_file import format_columns

HEADER = {"tsv": b"", "csv": b"source,target,symbol,index\n"}
DELIMITER = {"tsv": "\t", "csv": ","}


def write_solution(solution: Solution, graph: Graph, path: Path, format: str) -> None:
    """Write all pairs, symbol by symbol, in the order of vertices. Raises FactsError where that cannot be."""
    try:
        with replaced(path) as file:
            file.write(HEADER[format])
            for answer in solution.answers:
                for chunk in lines(answer, graph, format):
                    file.write(chunk)
    except OSError as error:
        raise FactsError(path, 0, f"cannot write the results: {error.strerror}") from None


def write_edges(graph: Graph, path: Path) -> None:
    """Write a graph as `read_edges` reads it, label by label. Raises FactsError where that cannot be."""
    vertices, indices = graph.vertices.texts(), graph.indices.texts()
    try:
        with replaced(path) as file:
            for label, (source, target, *index) in sorted(graph.edges.items()):
                columns = [source, target, np.zeros_like(source), *index]
                texts = [vertices, vertices, [label], *([indices] if index else [])]
                for chunk in format_columns(np.array(columns, np.int64), texts, DELIMITER["tsv"]):
                    file.write(chunk)
    except OSError as error:
        raise FactsError(path, 0, f"cannot write the edges: {error.strerror}") from None


def lines(answer: Answer, graph: Graph, format: str) -> Iterator[bytes]:
    rows = answer.columns()
    n = rows.shape[1]
    columns = [rows[0], rows[1], np.zeros(n, np.int64)]
    vertices = quoted(graph.vertices.texts(), format)
    texts = [vertices, vertices, quoted([answer.symbol], format)]
    if len(rows) == 3:
        columns.append(rows[2])
        texts.append(quoted(graph.indices.texts(), format))
    elif format == "csv":
        columns.append(np.zeros(n, np.int64))
        texts.append([""])
    yield from format_columns(np.array(columns, np.int64), texts, DELIMITER[format])


def quoted(texts: list[str], format: str) -> list[str]:
    """Quote what a comma or a quote stands in, for CSV (RFC 4180)."""
    if format == "tsv":
        return texts
    return ['"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text for text in texts]
