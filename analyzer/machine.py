"""Where a scan does its work: files are extracted, and rules evaluated, on this machine or on another `Machine`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from analyzer import worker
from analyzer.pool import Outcome, Pool, Task

if TYPE_CHECKING:
    import engine

READ = (
    "call_edge",
    "clearing_step",
    "finding",
    "location",
    "method_name_match",
    "resolved_call",
    "sink_node",
    "source_node",
    "taint_step",
    "unresolved_call",
)
"""The relations that a report is made from."""


class Machine(Protocol):
    """What a scan needs of where it runs."""

    def extract(self, tasks: Iterable[Task], timeout_s: float) -> Iterator[Outcome]:
        """Yield an outcome for each task of `worker.extract`; one may take `timeout_s` seconds."""

    def evaluate(
        self, program: engine.CheckedProgram, database: engine.Database, widenings: Sequence[engine.Widening]
    ) -> engine.Result:
        """Return the relations `READ` at least. Raises engine.EvaluationError."""


class ThisMachine:
    """So many processes, then threads, of this machine."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def extract(self, tasks: Iterable[Task], timeout_s: float) -> Iterator[Outcome]:
        return Pool(worker.extract, self.jobs, timeout_s).run(tasks)

    def evaluate(
        self, program: engine.CheckedProgram, database: engine.Database, widenings: Sequence[engine.Widening]
    ) -> engine.Result:
        import engine

        return engine.evaluate(program, database, threads=self.jobs, widenings=widenings)
