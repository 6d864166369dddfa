"""`analyze cfl`: CFL reachability from a grammar and a list of edges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import JOBS, Size
from cli.terminal import say

if TYPE_CHECKING:
    from analyzer.graphs.cfl import Problem, Solution


@click.command()
@click.argument("grammar", type=click.Path(path_type=Path))
@click.argument("edges", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write all pairs to FILE.")
@click.option("--format", type=click.Choice(["tsv", "csv"]), help="Format of FILE (default: by its suffix, or tsv).")
@click.option("--symbols", multiple=True, metavar="NAMES", help="Symbols to solve for; repeat or use commas.")
@click.option("--dialect", type=click.Choice(["graspan", "pocr"]), help="Syntax of GRAMMAR (default: detected).")
@click.option("--export", type=click.Path(path_type=Path), metavar="DIRECTORY", help="Write a Datalog program instead.")
@click.option("--write-edges", type=click.Path(path_type=Path), metavar="FILE", help="Write the edges to FILE instead.")
@click.option("--memory-limit", type=Size(), metavar="SIZE", help="Memory of the process, such as 2G.")
@JOBS
def cfl(
    grammar: Path,
    edges: Path,
    output: Path | None,
    format: str | None,
    symbols: tuple[str, ...],
    dialect: str | None,
    export: Path | None,
    write_edges: Path | None,
    memory_limit: int | None,
    jobs: int | None,
) -> None:
    """Find the pairs of vertices joined by paths whose labels form a word derived from a symbol of GRAMMAR.

    GRAMMAR has one production per line, as Graspan's and POCR's; "pointer" and "dataflow" are bundled. EDGES has one
    edge per line: source, target, label, and the index of an indexed label; or it is a directory of C files. By
    default, the symbols that the grammar counts are solved for, or else all that have productions.
    """
    from analyzer.graphs.cfl import export_program, read_problem, solve_problem, write_graph
    from cli.progress import Bars

    chosen = [name for names in symbols for name in names.split(",") if name]
    with Bars() as bars:
        problem = read_problem(grammar, edges, dialect, chosen, jobs, bars)
    for unread in problem.unread:
        say(f"{unread.level}: {unread.file}: {unread.message}", err=True)
    if export is not None or write_edges is not None:
        if export is not None:
            export_program(problem, export)
        if write_edges is not None:
            write_graph(problem, write_edges)
        raise SystemExit(3 if problem.unread else 0)
    format = format or ("csv" if output is not None and output.suffix == ".csv" else "tsv")
    solution = solve_problem(problem, output, format, jobs, memory_limit)
    for line in summary(problem, solution):
        say(line)
    raise SystemExit(3 if problem.unread else 0)


def summary(problem: Problem, solution: Solution) -> Iterator[str]:
    """Yield the lines of the summary: the graph, notes on its labels, numbers of pairs, durations."""
    graph = problem.graph
    yield f"{graph.n_edges:,} edges, {len(graph.vertices):,} vertices"
    for label in solution.inverses:
        yield f"{label}: no edges, so those of its inverse are followed backwards"
    for label in solution.absent:
        yield f"{label}: no edges"
    for label, n in sorted(graph.ignored.items()):
        yield f"{label}: not in the grammar, {n:,} edges left out"
    width = max(len(answer.symbol) for answer in solution.answers)
    yield f"{'symbol':{max(width, 6)}}  {'pairs':>15}  {'of two vertices':>15}"
    for answer in solution.answers:
        yield f"{answer.symbol:{max(width, 6)}}  {answer.n_pairs:>15,}  {answer.n_pairs - answer.n_loops:>15,}"
    yield f"read in {problem.elapsed_s:.2f} s, solved in {solution.elapsed_s:.2f} s"
