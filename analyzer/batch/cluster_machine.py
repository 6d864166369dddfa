"""One repository on a cluster: its files are extracted by tasks of Spark, its rules evaluated by members of a group.

The driver reads the tree, gives facts their places and makes the report, as for a scan on one machine.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from math import inf

from pyspark.sql import SparkSession

import engine.spark
from analyzer.errors import AnalyzeError
from analyzer.extraction import worker
from analyzer.extraction.pool import Outcome, Pool, Task
from engine import Budget
from engine.spark import session

WAVE_BYTES = 64 << 20
WAVE_TASKS = 1 << 14
SLICES = 4
"""Tasks per core in a wave, since the costs of files differ."""


class Cluster:
    """A machine made of the executors of a session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    left_s = inf
    """A scan on a cluster has no deadline."""

    def extract(self, tasks: Iterable[Task], timeout_s: float) -> Generator[Outcome, None, None]:
        """Extract in waves."""
        source = iter(tasks)
        n_slices = SLICES * self.spark.sparkContext.defaultParallelism
        while wave := list(drawn(source)):
            spread = self.spark.sparkContext.parallelize(wave, min(n_slices, len(wave)))
            yield from spread.mapPartitions(partial(extracted, timeout_s)).toLocalIterator(prefetchPartitions=True)

    def evaluate(
        self,
        program: engine.CheckedProgram,
        database: engine.Database,
        wanted: Collection[str],
        widenings: Sequence[engine.Widening],
        budget: Budget | None,
    ) -> engine.Result:
        return engine.spark.evaluate(program, self.spark, database, wanted, widenings=widenings, budget=budget)


@contextmanager
def cluster(master: str, conf: Mapping[str, str]) -> Iterator[Cluster]:
    """Yield a cluster. Raises AnalyzeError if no session can be started."""
    try:
        entered = session(master, conf)
        with entered as spark:
            yield Cluster(spark)
    except engine.EvaluationError as error:
        raise AnalyzeError("V001", str(error)) from None


def drawn(tasks: Iterator[Task]) -> Iterator[Task]:
    """Yield the tasks of one wave."""
    n_bytes = 0
    for task in islice(tasks, WAVE_TASKS):
        n_bytes += task.size
        yield task
        if n_bytes >= WAVE_BYTES:
            return


def extracted(timeout_s: float, tasks: Iterable[Task]) -> Iterator[Outcome]:
    """Extract in a separate process; a crash or hang costs only one file."""
    with Pool(worker.extract, 1, timeout_s) as pool:
        yield from pool.run(tasks)
