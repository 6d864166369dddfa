"""The request for a batch. PySpark is imported only when a batch begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.errors import INSTALL_SPARK, AnalyzeError

if TYPE_CHECKING:
    from analyzer.batch.batch_summary import Summary

Progress = Callable[[str, int, int | None], None]
Watch = Callable[[int, int, Mapping[str, float]], None]
"""Called with the number of repositories done, the total, and the start times of those running."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A batch. `flags` are those of a scan; without `memory_bytes`, tasks share most of an executor's memory.

    `conf` are settings of Spark.
    """

    listing: Path
    output: Path
    master: str = "local[*]"
    cache: Path | None = None
    timeout_s: float = 1800
    memory_bytes: int | None = None
    retries: int = 1
    flags: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[Path, ...] = ()
    rules_dirs: tuple[Path, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)


def run_batch(request: BatchRequest, progress: Progress, watch: Watch) -> Summary:
    """Scan the remaining repositories, and complete the output. Raises AnalyzeError; A004 without Spark."""
    try:
        from analyzer.batch.batch_pipeline import run
    except ImportError as error:
        raise AnalyzeError("A004", f"analyze batch needs {error.name}", help=INSTALL_SPARK) from None
    return run(request, progress, watch)
