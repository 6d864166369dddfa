"""The bare engine on a Datalog program whose facts change: a state that is kept from one run to the next."""

from __future__ import annotations

from pathlib import Path

from analyzer.errors import AnalyzeError
from analyzer.run import told_as_analyze_errors
from engine.incremental.run import Upkeep, keep_up
from engine.incremental.state import StateError

__all__ = ["Upkeep", "update_program"]


def update_program(path: Path, state: Path, output: Path, **options: object) -> Upkeep:
    """Apply a delta to the state of the program at `path`, and write the outputs; `options` are those of `keep_up`.

    Raises AnalyzeError: S003 for a state that cannot be used or saved, and what `analyzer.run.run_program` raises.
    """
    with told_as_analyze_errors(path):
        try:
            output.mkdir(parents=True, exist_ok=True)
            return keep_up(path, state, output, **options)
        except StateError as error:
            raise AnalyzeError("S003", str(error)) from None
