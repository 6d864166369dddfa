"""Errors of the engine, met on a program in a file, as coded ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import engine.incremental
from analyzer.errors import AnalyzeError, ProgramErrors


@contextmanager
def coded_errors(path: Path) -> Iterator[None]:
    """Raise AnalyzeError for what the engine raises while it runs the program at `path`.

    The codes: R001 for errors in the program, F001 for facts that do not fit, V001 during evaluation, S003 for a state
    that cannot be used or saved, A001 for a file that cannot be read or written.
    """
    try:  # The classes are looked up, and their modules imported, only when something is raised.
        yield
    except engine.ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None
    except engine.FactsError as error:
        raise AnalyzeError("F001", error.message, file=str(error.path), line=error.line) from None
    except engine.incremental.StateError as error:
        raise AnalyzeError("S003", str(error)) from None
    except engine.EvaluationError as error:
        raise AnalyzeError("V001", str(error)) from None
    except OSError as error:
        name = error.filename or path
        raise AnalyzeError("A001", f"cannot read or write {name}: {error.strerror}") from None
