"""Machines that extract files and evaluate rules: this one, or another `Machine`."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from analyzer.extraction import worker
from analyzer.extraction.pool import Outcome, Pool, Task

if TYPE_CHECKING:
    import engine
    from engine import Budget

READ = (
    "call_edge",
    "clearing_step",
    "coarsened",
    "evidence",
    "finding",
    "guessed_call",
    "location",
    "method_name_match",
    "only_forwarded",
    "resolved_call",
    "sink_node",
    "source_node",
    "taint_step",
    "unresolved_call",
    "wide",
)
"""The relations that reports read."""


class Machine(Protocol):
    """The interface between a scan and the machine it runs on."""

    @property
    def left_s(self) -> float:
        """The seconds until the scan's deadline; 0 if it has passed."""

    def extract(self, tasks: Iterable[Task], timeout_s: float) -> Generator[Outcome, None, None]:
        """Yield an outcome for each task of `worker.extract`; one may take `timeout_s` seconds of processor time."""

    def evaluate(
        self,
        program: engine.CheckedProgram,
        database: engine.Database,
        wanted: Collection[str],
        widenings: Sequence[engine.Widening],
        budget: Budget | None,
    ) -> engine.Result:
        """Return the wanted relations. Raises engine.EvaluationError."""


class ThisMachine:
    """This machine with `jobs` processes or threads, until the deadline `ends_s` on the monotonic clock."""

    def __init__(self, jobs: int, ends_s: float | None = None) -> None:
        self.jobs, self.ends_s = jobs, ends_s

    @property
    def left_s(self) -> float:
        return inf if self.ends_s is None else max(0.0, self.ends_s - monotonic())

    def extract(self, tasks: Iterable[Task], timeout_s: float) -> Generator[Outcome, None, None]:
        with Pool(worker.extract, self.jobs, timeout_s, inf if self.ends_s is None else self.ends_s) as pool:
            yield from pool.run(tasks)

    def evaluate(
        self,
        program: engine.CheckedProgram,
        database: engine.Database,
        wanted: Collection[str],
        widenings: Sequence[engine.Widening],
        budget: Budget | None,
    ) -> engine.Result:
        import engine

        return engine.evaluate(
            program,
            database,
            threads=self.jobs,
            widenings=widenings,
            budget=budget,
            ends_s=self.ends_s,
            asked=wanted,
        )
