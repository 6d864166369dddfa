"""Solve CFL reachability: the pairs of vertices that each symbol of a grammar joins."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Unpack

import numpy as np

from engine.cfl.edges import Graph
from engine.cfl.grammar import Grammar, with_inverses
from engine.cfl.normalise import normalise
from engine.cfl.to_datalog import Rules, rules_of
from engine.database import Columns, Database
from engine.evaluation.evaluator import EvaluateOptions, evaluate
from engine.language.compiler import compile
from engine.language.source import Source


@dataclass(frozen=True)
class Answer:
    """The paths of a symbol: [2 or 3, n], sources, targets, indices; if `empty`, also each vertex and itself."""

    symbol: str
    paths: Columns
    empty: bool
    n_vertices: int

    @cached_property
    def n_loops(self) -> int:
        """The number of pairs of a vertex and itself."""
        return self.n_vertices if self.empty else len(np.unique(self.paths[0][self._is_loop]))

    @cached_property
    def n_pairs(self) -> int:
        """The number of distinct pairs of vertices, whatever the index."""
        pairs = self.paths[:2, ~self._is_loop]
        if len(self.paths) == 3:
            pairs = np.unique(pairs[0].astype(np.int64) * self.n_vertices + pairs[1])
        return pairs.shape[-1] + self.n_loops

    @property
    def _is_loop(self) -> np.ndarray:
        return self.paths[0] == self.paths[1]

    def columns(self) -> Columns:
        """Return all pairs, in order."""
        paths = self.paths
        if self.empty:
            every = np.arange(self.n_vertices, dtype=paths.dtype)
            paths = np.concatenate([paths[:, ~self._is_loop], np.array([every, every])], axis=1)
        return paths[:, np.lexsort(paths[::-1])]


@dataclass(frozen=True)
class Solution:
    """The answers in the order wanted; `inverses` were followed backwards, `absent` labels have no edges."""

    answers: tuple[Answer, ...]
    inverses: tuple[str, ...]
    absent: tuple[str, ...]
    elapsed_s: float


def wanted_symbols(grammar: Grammar, chosen: Collection[str] = ()) -> tuple[str, ...]:
    """Return the symbols to be solved for: the chosen ones, those that the grammar counts, or all with productions."""
    return tuple(dict.fromkeys(chosen or grammar.counted or grammar.heads))


def program_for(
    grammar: Grammar, graph: Graph, wanted: Collection[str], inputs: bool = False
) -> tuple[Rules, frozenset[str], dict[str, str]]:
    """Return the Datalog program, the symbols that ε belongs to, and the labels of the edges it reads, by symbol."""
    given = [label for label, columns in graph.edges.items() if columns.shape[1]]
    normal = normalise(with_inverses(grammar, given), given, wanted)
    return rules_of(normal, wanted, inputs), normal.empty, normal.edges


def solve(grammar: Grammar, graph: Graph, wanted: Collection[str], **options: Unpack[EvaluateOptions]) -> Solution:
    """Return what the wanted symbols join; `options` are those of `evaluate`. Raises EvaluationError."""
    begin = perf_counter()
    rules, empty, edges = program_for(grammar, graph, wanted)
    facts = {rules.edges[symbol]: graph.edges[label] for symbol, label in edges.items()}
    program = compile([Source("<grammar>", rules.text)])
    result = evaluate(program, Database(relations=facts), **options)
    answers = tuple(
        Answer(symbol, result.relation(rules.relations[symbol]), symbol in empty, len(graph.vertices))
        for symbol in wanted
    )
    return Solution(answers, *unusual(grammar, graph), perf_counter() - begin)


def unusual(grammar: Grammar, graph: Graph) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return labels that are followed backwards, as inverses of others, and labels that have no edges at all."""
    given = [label for label, columns in graph.edges.items() if columns.shape[1]]
    resolved = set(with_inverses(grammar, given).symbols)
    labels = [symbol for symbol in grammar.symbols if symbol not in grammar.heads and symbol not in given]
    return (
        tuple(label for label in labels if label not in resolved),
        tuple(label for label in labels if label in resolved),
    )
