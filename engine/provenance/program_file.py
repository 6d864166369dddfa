"""Explanations on a program file and a directory of facts."""

from __future__ import annotations

from pathlib import Path

from engine.incremental.maintained_program import MaintainedProgram
from engine.io import load
from engine.provenance.explainer import Explainer
from engine.run_program import compile_file


def explainer_of_file(
    program: Path | str, facts: Path | str, *, number_bits: int = 32, threads: int | None = None
) -> Explainer:
    """Evaluate a program file on a directory of facts, for its tuples to be explained; all relations are kept.

    Raises as `engine.run` does.
    """
    checked = compile_file(Path(program), number_bits)
    database = load(checked, facts)
    view = MaintainedProgram(checked, database, threads=threads)
    try:
        view.bootstrap(database.relations)
    finally:
        view.close()
    return Explainer(view)
