"""CFL reachability on a grammar and a list of edges in files, or the bundled grammars on C sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

import engine
from analyzer.engine_errors import coded_errors
from analyzer.errors import AnalyzeError, suggest
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.graphs.pointer_graph import pointer_graph
from analyzer.report import Problem as ReadProblem
from engine.atomic_file import replaced
from engine.cfl import (
    FORMATS,
    Grammar,
    Graph,
    Solution,
    parse_grammar,
    program_for,
    read_edges,
    solve,
    wanted_symbols,
    write_edges,
    write_solution,
)
from rules import library

__all__ = ["FORMATS", "Problem", "Solution", "export_program", "read_problem", "solve_problem", "write_graph"]


@dataclass(frozen=True)
class Problem:
    """A grammar, edges, the symbols that it is to be solved for, and what of the sources could not be read."""

    grammar: Grammar
    graph: Graph
    wanted: tuple[str, ...]
    elapsed_s: float
    unread: tuple[ReadProblem, ...] = ()


def read_problem(
    grammar: Path,
    edges: Path,
    dialect: str | None,
    symbols: Sequence[str],
    jobs: int | None,
    progress: Progress = silent,
) -> Problem:
    """Read a grammar, or take a bundled one by its name, and edges: from a file, or of the C sources in a directory.

    Raises AnalyzeError: A001 for a file that cannot be read, A005 for a symbol that the grammar does not have, F001 for
    a line that is no edge, R001 for errors in the grammar.
    """
    begin = perf_counter()
    bundled = library.grammars().get(str(grammar))
    if bundled and not grammar.exists():
        grammar, dialect = bundled, "pocr"
    with coded_errors(grammar):
        text = grammar.read_text(encoding="utf-8", errors="surrogateescape")
        parsed = parse_grammar(str(grammar), text, dialect)
        for symbol in symbols:
            if symbol not in parsed.symbols:
                raise AnalyzeError("A005", f"{grammar} has no symbol {symbol}", help=suggest(symbol, [*parsed.symbols]))
        if edges.is_dir():
            graph, unread = pointer_graph(edges, parsed.labels, jobs, progress)
        else:
            graph, unread = read_edges(edges, parsed), []
    wanted = wanted_symbols(parsed, symbols)
    return Problem(parsed, graph, wanted, perf_counter() - begin, tuple(unread))


def write_graph(problem: Problem, path: Path) -> None:
    """Write the edges as a file that can be read again. Raises AnalyzeError F001."""
    with coded_errors(path):
        write_edges(problem.graph, path)


def solve_problem(
    problem: Problem, output: Path | None, format: str, threads: int | None, memory_limit: int | None
) -> Solution:
    """Solve it, and write all pairs to `output`, tsv or csv, if given.

    Raises AnalyzeError: V001 where there is not enough memory, F001 where results cannot be written.
    """
    with coded_errors(output or Path()), engine.memory_limited(memory_limit):
        solution = solve(problem.grammar, problem.graph, problem.wanted, threads=threads)
        if output is not None:
            write_solution(solution, problem.graph, output, format)
    return solution


def export_program(problem: Problem, directory: Path) -> None:
    """Write the Datalog program, `cfl.dl`, and `NAME.facts` with its edges; vertices are numbered from 0, in order.

    Raises AnalyzeError A003 where that cannot be written.
    """
    rules, _, edges = program_for(problem.grammar, problem.graph, problem.wanted, inputs=True)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with replaced(directory / "cfl.dl") as file:
            file.write(rules.text.encode())
        for symbol, label in edges.items():
            rows = problem.graph.edges[label].T
            with replaced(directory / f"{rules.edges[symbol]}.facts") as file:
                np.savetxt(file, rows, fmt="%d", delimiter="\t")
    except OSError as error:
        raise AnalyzeError("A003", f"cannot write {directory}: {error.strerror}") from None
