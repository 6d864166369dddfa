"""The bare engine on a Datalog program in a file, with facts and results in files."""

from __future__ import annotations

from pathlib import Path

from analyzer.errors import AnalyzeError, ProgramErrors
from engine import EvaluationError, FactsError, ProgramError
from engine.run import run


def run_program(path: Path, facts: Path, output: Path, threads: int | None, number_bits: int) -> list[str]:
    """Evaluate the program at `path`, write its outputs, and return the lines that it prints.

    Raises AnalyzeError: A001 for a file that cannot be read or written, F001 for facts that do not fit, R001 for
    errors in the program, V001 during evaluation.
    """
    try:
        output.mkdir(parents=True, exist_ok=True)
        return run(path, facts, output, threads=threads, number_bits=number_bits)[0]
    except ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None
    except FactsError as error:
        raise AnalyzeError("F001", error.message, file=str(error.path), line=error.line) from None
    except EvaluationError as error:
        raise AnalyzeError("V001", str(error)) from None
    except OSError as error:
        name = error.filename or path
        raise AnalyzeError("A001", f"cannot read or write {name}: {error.strerror}") from None
