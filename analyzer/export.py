"""What other tools read: facts as files, the call graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import engine
import facts
from analyzer.callgraph import render
from analyzer.collect import Collected, Progress, collect, silent
from analyzer.config import Config
from analyzer.errors import AnalyzeError
from analyzer.machine import ThisMachine
from analyzer.program import compile_cached, evaluate_program
from analyzer.report import Problem
from analyzer.scan import default_jobs, load_config, open_tree
from analyzer.state import StateDirectory
from rules import library


def export_facts(
    path: Path, revision: str | None, output: Path, jobs: int | None, progress: Progress = silent
) -> list[Problem]:
    """Write `NAME.facts` for every relation of the schema, and return what could not be read.

    Raises AnalyzeError, A003 where `output` cannot be written.
    """
    with _collected(path, revision, jobs, progress) as (collected, _):
        try:
            facts.export(collected.mounted, output)
        except OSError as error:
            raise AnalyzeError("A003", f"cannot write {output}: {error.strerror}") from None
        return collected.problems


def call_graph(path: Path, jobs: int | None, progress: Progress = silent) -> dict[str, list[str]]:
    """Return the callees of every caller by qualified name. Raises AnalyzeError."""
    sources = [engine.Source(name, text) for name, text in library.analysis()]
    with _collected(path, None, jobs, progress) as (collected, state):
        program = compile_cached([engine.Source("facts/schema.dl", facts.schema_text()), *sources], state.path)
        result = evaluate_program(program, collected.mounted, ThisMachine(jobs or default_jobs()))
    callers, callees = (result.symbols.texts(column) for column in result.relation("call_edge"))
    return render(zip(callers, callees, strict=True))


@contextmanager
def _collected(
    path: Path, revision: str | None, jobs: int | None, progress: Progress
) -> Iterator[tuple[Collected, StateDirectory]]:
    """Give the facts of a tree, under its own configuration."""
    tree, state = open_tree(path, revision), StateDirectory()
    try:
        config: Config = load_config(tree).override(jobs=jobs)
        yield collect(tree, config, state.path, ThisMachine(config.jobs or default_jobs()), progress), state
    finally:
        tree.close()
        state.close()
