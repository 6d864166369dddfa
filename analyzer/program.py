"""The engine as the pipeline uses it: sources in, a checked program and its evaluation out, errors as AnalyzeError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import engine
from analyzer.errors import AnalyzeError, ProgramErrors
from analyzer.report import Problem
from analyzer.rulebook import Rulebook

if TYPE_CHECKING:
    import numpy as np


def compile_program(sources: Sequence[engine.Source]) -> engine.CheckedProgram:
    """Return the checked program of all sources together. Raises ProgramErrors."""
    try:
        return engine.compile(sources)
    except engine.ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None


def compile_rulebook(book: Rulebook) -> engine.CheckedProgram:
    """Return the program of a rulebook, without the user's sources that are wrong: those become problems of the book.

    Raises ProgramErrors where the bundled sources are wrong by themselves.
    """
    while True:
        try:
            return engine.compile(book.sources)
        except engine.ProgramError as error:
            if not _drop_wrong_sources(book, error):
                raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None


def _drop_wrong_sources(book: Rulebook, error: engine.ProgramError) -> bool:
    """Take the user's sources that have errors out of the book; where none is to blame by itself, all of them."""
    wrong = {diagnostic.span.source for diagnostic in error.diagnostics} & book.user
    for diagnostic in error.diagnostics:
        if diagnostic.span.source in wrong or not wrong:
            text = f"left out: error[{diagnostic.code}]: {diagnostic.message}"
            book.problems.append(Problem(text, diagnostic.span.source, diagnostic.span.line))
    wrong = wrong or set(book.user)
    book.sources = [source for source in book.sources if source.name not in wrong]
    book.user -= wrong
    return bool(wrong)


def evaluate_program(
    program: engine.CheckedProgram,
    symbols: Sequence[str],
    records: Mapping[str, np.ndarray],
    relations: Mapping[str, np.ndarray],
    threads: int,
) -> engine.Result:
    """Evaluate a program on facts. Raises AnalyzeError V001 where the engine cannot go on, V002 out of memory."""
    database = engine.Database(engine.Symbols(symbols), records, relations)
    try:
        return engine.evaluate(program, database, threads=threads)
    except engine.EvaluationError as error:
        raise AnalyzeError("V001", f"the rules cannot be evaluated: {error}") from None
    except MemoryError:
        raise AnalyzeError("V002", "not enough memory", help="scan a part of the repository, or fewer rules") from None


def evaluate_text(text: str, relation: str) -> list[list[Any]]:
    """Return the tuples of `relation`, of numbers, that a self-contained program derives."""
    program = compile_program([engine.Source("<text>", text)])
    return evaluate_program(program, [], {}, {}, 1).relation(relation).T.tolist()
