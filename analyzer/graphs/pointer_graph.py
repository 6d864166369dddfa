"""C sources as a graph for CFL reachability: the edges of `rules/exports/pointer_graph.dl`, with named vertices.

A vertex is called as C would write it, by entities with the labels around them: `a.c/def%20main/p`, `(*…)->next`.
Behind `@` stands the call that its function runs for. Names hold no blanks, and no two vertices share one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from urllib.parse import quote

import numpy as np

import engine
import facts
from analyzer.errors import AnalyzeError
from analyzer.evaluation.program import compile_cached, evaluate_program
from analyzer.evaluation.rule_sources import bundled, fact_schema
from analyzer.extraction.collect_facts import Progress, gather, silent
from analyzer.extraction.discovery import discover
from analyzer.extraction.machine import ThisMachine
from analyzer.report import Problem
from analyzer.scan import load_config, open_tree
from analyzer.state_directory import StateDirectory
from engine.cfl import Graph, Names
from engine.operating_system import n_cores
from rules import library

LABELS = {"assignment": "a", "dereference": "d", "null_source": "n", "field_address": "f_i"}
"""The labels of edges, by the relations that hold them."""
SAFE = "".join(map(chr, range(33, 127))).replace("%", "").replace("@", "")


def pointer_graph(
    path: Path, labels: Collection[str], jobs: int | None, progress: Progress = silent
) -> tuple[Graph, list[Problem]]:
    """Return the edges of a tree's C files with these labels, and problems. Raises AnalyzeError."""
    tree, state = open_tree(path, None), StateDirectory(trees=[path])
    try:
        config = load_config(tree).override(jobs=jobs)
        found = discover(tree, config)
        files = [(file, language) for file, language in found.files if language == "c"]
        if not files:
            raise AnalyzeError("A001", f"{path} has no C files", help="name a directory with .c and .h files")
        machine = ThisMachine(config.jobs or n_cores())
        gathered = gather(tree, files, config, state.path, machine, progress)
        program = compile_cached([fact_schema(), bundled(library.pointer_graph())], state.path, (*LABELS,))
        result = evaluate_program(program, facts.mount(gathered.by_path()), machine, (*LABELS,))
    finally:
        tree.close()
        state.close()
    return graph_of(result, labels), found.problems + gathered.problems


def graph_of(result: engine.Result, labels: Collection[str]) -> Graph:
    """Return the graph of an evaluation of `library.pointer_graph()`, vertices and fields in alphabetical order."""
    rows = {label: result.relation(relation) for relation, label in LABELS.items()}
    ignored = {label: columns.shape[1] for label, columns in rows.items() if label not in labels}
    rows = {label: columns for label, columns in rows.items() if label in labels}
    ends = np.concatenate([np.empty(0, np.int32), *(columns[:2].ravel() for columns in rows.values())])
    vertices, number = ordered(ends, VertexNames(result))
    indices = np.concatenate([np.empty(0, np.int32), *(columns[2] for columns in rows.values() if len(columns) == 3)])
    fields, field_number = ordered(indices, lambda field: quoted(result.symbols.texts([field])[0]))
    edges = {}
    for label, columns in rows.items():
        index = [field_number[columns[2]]] if len(columns) == 3 else []
        columns = np.array([*number[columns[:2]], *index], np.int32)
        edges[label] = np.ascontiguousarray(columns[:, np.lexsort(columns[::-1])])
    return Graph(Names(vertices), Names(fields), edges, ignored)


def ordered(ids: np.ndarray, name: Callable[[int], str]) -> tuple[list[str], np.ndarray]:
    """Return the names of ids in order, and the position of each id's name, by id."""
    distinct = np.unique(ids)
    names = [name(id) for id in distinct.tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    positions = np.zeros(int(distinct.max(initial=0)) + 1, np.int32)
    positions[distinct[order]] = np.arange(len(order))
    return [names[at] for at in order], positions


def quoted(text: str) -> str:
    """The text without blanks, and never nothing: code that does not parse has names without letters."""
    return quote(text, SAFE) or "%"


class VertexNames:
    """The names of vertices by record id."""

    def __init__(self, result: engine.Result) -> None:
        self._symbols = result.symbols.texts(range(len(result.symbols)))
        self._entities = result.records["Entity"].T.tolist()
        self._vertices = result.records["Vertex"].T.tolist()
        self._chains: dict[int, str] = {}

    def __call__(self, vertex: int) -> str:
        kind, entity, symbol, of = self._vertices[vertex - 1]
        match self._symbols[kind], quoted(self._symbols[symbol]):
            case "variable", name:
                return self.chain(entity) if entity else name
            case "result", _:
                return f"{self.chain(entity)}(){self.call(of)}"
            case "address", _:
                return f"&{self(of)}"
            case "target", _:
                return f"*{self(of)}"
            case "field", name:
                return f"{self.base(of)}->{name}"
            case "place", name:
                return f"&{self.base(of)}->{name}"
        return self.chain(entity) + self.call(of)

    def base(self, vertex: int) -> str:
        """The name in front of an operator that binds more strongly than `*` and `&`."""
        name = self(vertex)
        return f"({name})" if name[0] in "*&" else name

    def call(self, vertex: int) -> str:
        return f"@{self.chain(self._vertices[vertex - 1][1])}" if vertex else ""

    def chain(self, entity: int) -> str:
        """The labels from the path of the file down to the entity."""
        if entity not in self._chains:
            scope, label, ordinal = self._entities[entity - 1]
            before = f"{self.chain(scope)}/" if scope else ""
            self._chains[entity] = before + quoted(self._symbols[label]) + (f"#{ordinal}" if ordinal else "")
        return self._chains[entity]
