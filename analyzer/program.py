"""The engine as the pipeline uses it: sources in, a checked program and its evaluation out, errors as AnalyzeError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import engine
from analyzer.errors import AnalyzeError, ProgramErrors

if TYPE_CHECKING:
    import numpy as np


def compile_program(sources: Sequence[engine.Source]) -> engine.CheckedProgram:
    """Return the checked program of all sources together. Raises ProgramErrors."""
    try:
        return engine.compile(sources)
    except engine.ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None


def evaluate_program(
    program: engine.CheckedProgram,
    symbols: Sequence[str],
    records: Mapping[str, np.ndarray],
    relations: Mapping[str, np.ndarray],
    threads: int,
) -> engine.Result:
    """Evaluate a program on facts. Raises AnalyzeError E001 where the engine cannot go on."""
    database = engine.Database(engine.Symbols(symbols), records, relations)
    try:
        return engine.evaluate(program, database, threads=threads)
    except engine.EvaluationError as error:
        raise AnalyzeError("E001", f"the rules cannot be evaluated: {error}") from None
    except MemoryError:
        raise AnalyzeError("E002", "not enough memory", help="scan a part of the repository, or fewer rules") from None


def evaluate_text(text: str, relation: str) -> list[list[Any]]:
    """Return the tuples of `relation`, of numbers, that a self-contained program derives."""
    program = compile_program([engine.Source("<text>", text)])
    return evaluate_program(program, [], {}, {}, 1).relation(relation).T.tolist()
