"""Exports for other tools: facts as files, the call graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path

import engine
import facts
from analyzer.configuration.config import Config
from analyzer.errors import AnalyzeError, suggest
from analyzer.evaluation.contexts.evaluate import InContexts
from analyzer.evaluation.program import compile_cached
from analyzer.evaluation.rule_sources import bundled, fact_schema
from analyzer.extraction.collect_facts import Collected, Progress, collect, silent
from analyzer.extraction.machine import ThisMachine
from analyzer.findings.entities import Entities
from analyzer.findings.incompleteness import READ, UNPARSED, incompleteness
from analyzer.graphs.callgraph import REASONS, CallGraph, Node
from analyzer.report import Problem
from analyzer.scan import load_config, open_tree
from analyzer.state_directory import StateDirectory
from engine.atomic_file import replaced
from engine.operating_system import n_cores
from facts import schema
from rules import library

ENTRY_POINTS = "entry-points"

FORMATS = {"tsv": (".facts", "escapes=true"), "parquet": (".parquet", "IO=parquet")}
"""The suffix of the files that facts are written to, and the parameters of a directive that reads or writes them."""
PROGRAM = "facts.dl"

GRAPH_READ = ("call_edge", "graph.entry_point", "graph.graph_node", "graph.may_run", *READ)
"""The relations that the call graph reads."""


def export_facts(
    path: Path, revision: str | None, output: Path, format: str, jobs: int | None, progress: Progress = silent
) -> list[Problem]:
    """Write the facts of a tree, one file a relation of the schema, and `facts.dl`; return what could not be read.

    `format` is a key of `FORMATS`. A program that includes `facts.dl` reads these relations as they are written.
    Raises AnalyzeError, A003 where `output` cannot be written, F001 where a module for the format is missing.
    """
    with collected_facts(path, revision, jobs, progress) as (collected, _, _):
        try:
            _write_facts(collected.mounted, output, *FORMATS[format])
        except OSError as error:
            raise AnalyzeError("A003", f"cannot write {output}: {error.strerror}") from None
        except engine.FactsError as error:
            raise AnalyzeError("F001", error.message, file=str(error.path)) from None
        return collected.problems


def _write_facts(mounted: facts.Mounted, output: Path, suffix: str, parameters: str) -> None:
    def program(directive: str) -> str:
        lines = [f'.{directive} {name}(filename="{name}{suffix}", {parameters})\n' for name in schema.relations()]
        return facts.schema_text() + "\n" + "".join(lines)

    output.mkdir(parents=True, exist_ok=True)
    with replaced(output / PROGRAM) as file:
        file.write(program("input").encode())
    result = engine.Result(engine.Symbols(mounted.symbols), {"Entity": mounted.entities}, mounted.relations)
    engine.store(engine.compile([program("output")]), result, output)


def call_graph(
    path: Path,
    entries: Sequence[str],
    jobs: int | None,
    progress: Progress = silent,
    context: str | None = None,
) -> tuple[CallGraph, list[Problem]]:
    """Return the call graph of a tree, where programs begin for the reasons in `entries`, and what it lacks.

    `context` overrides the context policy of the tree's configuration. Raises AnalyzeError.
    """
    analysis = [fact_schema(), *map(bundled, library.analysis())]
    sources = [fact_schema(), *map(bundled, library.call_graph())]
    with collected_facts(path, None, jobs, progress, context) as (collected, state, config):
        machine = ThisMachine(config.jobs or n_cores())
        program = compile_cached(sources, state.path, GRAPH_READ)
        evaluation = InContexts(program, sources, analysis, GRAPH_READ, collected.mounted, machine, state.path)
        result = evaluation.evaluate(config.context)
    return replace(graph_of(result), entries=tuple(entries)), list(
        incompleteness(collected.problems, collected.mounted.relations[UNPARSED], result)
    )


def graph_of(result: engine.Result) -> CallGraph:
    """Return the call graph that an evaluation of `library.call_graph()` has found."""
    entities, texts = Entities(result), result.symbols.texts
    bodies, names, kinds = result.relation("graph.graph_node")
    name_of = dict(zip(bodies.tolist(), texts(names), strict=True))
    reasons: dict[str, set[str]] = {}
    for body, reason in zip(*result.relation("graph.entry_point").tolist(), strict=True):
        if body in name_of:
            reasons.setdefault(name_of[body], set()).add(entities.text(reason))
    nodes: dict[str, Node] = {}
    for (body, name), kind in sorted(zip(name_of.items(), texts(kinds), strict=True), key=lambda row: row[0][1]):
        why = tuple(reason for reason in REASONS if reason in reasons.get(name, ()))
        node = Node(name, kind, entities.place(body) if kind != "module" else None, why)
        nodes[name] = min((nodes.get(name, node), node), key=lambda n: (n.place is None, n.place and astuple(n.place)))
    calls = frozenset(zip(*(texts(column) for column in result.relation("call_edge")), strict=True))
    may_run = frozenset(
        (name_of[body], name_of[other])
        for body, other in zip(*result.relation("graph.may_run").tolist(), strict=True)
        if body in name_of and other in name_of
    )
    outside = {name for edge in calls for name in edge} - nodes.keys()
    return CallGraph(nodes | {name: Node(name, "library") for name in outside}, calls, may_run)


def reachable_part(graph: CallGraph, names: Sequence[str]) -> CallGraph:
    """Return the part of a graph that is reachable from names, of which `entry-points` means all of these.

    Raises AnalyzeError A006 for a name that is not in the graph.
    """
    starts: set[str] = set()
    for name in names:
        if name != ENTRY_POINTS and name not in graph.nodes:
            raise AnalyzeError("A006", f"the call graph has no {name}", help=suggest(name, sorted(graph.nodes)))
        starts |= set(graph.entry_points()) if name == ENTRY_POINTS else {name}
    return graph.restricted(graph.reachable(starts))


@contextmanager
def collected_facts(
    path: Path, revision: str | None, jobs: int | None, progress: Progress, context: str | None = None
) -> Iterator[tuple[Collected, StateDirectory, Config]]:
    """Give the facts of a tree, under its own configuration."""
    tree, state = open_tree(path, revision), StateDirectory(trees=[path])
    try:
        config = load_config(tree).override(jobs=jobs, context=context)
        yield collect(tree, config, state.path, ThisMachine(config.jobs or n_cores()), progress), state, config
    finally:
        tree.close()
        state.close()
