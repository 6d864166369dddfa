"""The bare engine on a Datalog program in a file, with facts and results in files."""

from __future__ import annotations

from pathlib import Path

import engine
from analyzer.errors import AnalyzeError, ProgramErrors


def run_program(path: Path, facts: Path, output: Path, threads: int | None) -> list[str]:
    """Evaluate the program at `path`, write its outputs, and return the lines that it prints.

    Raises AnalyzeError: F001 for a file of facts, R001 for errors in the program, V001 during evaluation.
    """
    try:
        program = engine.compile([_read(path)], resolve=_resolve)
        database = engine.load(program, facts)
        result = engine.evaluate(program, database, threads=threads)
        output.mkdir(parents=True, exist_ok=True)
        return engine.store(program, result, output)
    except engine.ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None
    except engine.FactsError as error:
        raise AnalyzeError("F001", error.message, file=str(error.path), line=error.line) from None
    except engine.EvaluationError as error:
        raise AnalyzeError("V001", str(error)) from None
    except OSError as error:
        raise AnalyzeError("A003", f"cannot write {output}: {error.strerror}") from None


def _read(path: Path) -> engine.Source:
    try:
        return engine.Source(str(path), path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise AnalyzeError("A001", f"cannot read {path}: {error.strerror}") from None


def _resolve(name: str, including: engine.Source) -> engine.Source | None:
    """Return the source of an `.include`, relative to the file that includes it."""
    path = Path(including.name).parent / name
    return _read(path) if path.is_file() else None
