"""A database on Spark: columns and symbols as the driver holds them, and relations of the result back to it.

For programs whose facts are made on the driver and whose results it reads, as a scan: `write` and `query` are for facts
and results that it never sees.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow
from pyspark.broadcast import Broadcast
from pyspark.sql import SparkSession

from engine.budget import Budget
from engine.cluster import member as evaluation
from engine.cluster.member import REPLICATED_ROWS
from engine.cluster.message_codec import Failure, pack, unpack
from engine.database import Columns, Database, EvaluationError, Widening
from engine.evaluation.execution import Options
from engine.language.checked_program import CheckedProgram
from engine.result import Result
from engine.spark.barrier_task import Job, joined
from engine.spark.driver import TAGGED, collected
from engine.spark.executor_memory import memory_of_executors
from engine.spark.member_credentials import new_credentials
from engine.spark.spark_session import members_of
from engine.symbols import Symbols

NEWS, FAILED = "@news", "@failed"
ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Shared:
    """The data replicated to every member: the texts of the symbols, and the records."""

    texts: list[str]
    records: dict[str, Columns]


def evaluate(
    program: CheckedProgram,
    spark: SparkSession,
    database: Database,
    relations: Collection[str],
    *,
    widenings: Sequence[Widening] = (),
    budget: Budget | None = None,
    members: int | None = None,
) -> Result:
    """Evaluate a program on Spark; return some of its relations. Raises EvaluationError, and BudgetExceeded."""
    n = members_of(spark, members)
    texts = database.symbols.texts(range(len(database.symbols)))
    shared = spark.sparkContext.broadcast(Shared(texts, dict(database.records)))
    try:
        frame = spark.createDataFrame(tagged(database.relations)).repartition(n)
        job = Job(program, {}, new_credentials(spark), memory_of_executors(spark), REPLICATED_ROWS)
        work = partial(answer, job, shared, tuple(relations), tuple(widenings), budget)
        rows = collected(frame.mapInArrow(work, TAGGED, barrier=True).repartition(n))
    finally:
        shared.destroy()
    return result(program, texts, rows, relations)


def tagged(relations: dict[str, Columns]) -> pyarrow.Table:
    """Return relations as rows of a name and a piece of the columns."""
    pieces = [
        (name, pack(columns[:, at : at + ROWS_AT_ONCE]))
        for name, columns in relations.items()
        for at in range(0, columns.shape[1], ROWS_AT_ONCE)
    ]
    names, rows = ([piece[i] for piece in pieces] for i in range(2))
    return pyarrow.table(
        {"relation": pyarrow.array(names, pyarrow.string()), "rows": pyarrow.array(rows, pyarrow.binary())}
    )


def answer(
    job: Job,
    shared: Broadcast,
    names: Sequence[str],
    widenings: Sequence[Widening],
    budget: Budget | None,
    batches: Iterable[pyarrow.RecordBatch],
) -> Iterator[pyarrow.RecordBatch]:
    """Evaluate with the other tasks; yield this member's part of some relations, and what the first has made.

    Or why there is nothing: a task that raised would be tried again.
    """
    parts: dict[str, list[Columns]] = {}
    for batch in batches:
        for name, rows in zip(batch["relation"].to_pylist(), batch["rows"].to_pylist(), strict=True):
            parts.setdefault(name, []).append(unpack(rows))
    relations = {name: np.concatenate(found, axis=1) for name, found in parts.items()}
    given: Shared = shared.value
    group = joined(job)
    try:
        with job.limited(group):
            database = Database(Symbols(given.texts), given.records, relations)
            done = evaluation.evaluate(
                job.program, database, group, Options(), job.replicated_rows, widenings=widenings, budget=budget
            )
    except EvaluationError as error:
        group.fail(error)
        yield row(FAILED, pack(Failure.of(error)))
        return
    finally:
        group.close()
    if group.rank == 0:
        texts = done.symbols.texts(range(len(given.texts), len(done.symbols)))
        news = texts, {name: table.columns for name, table in done.records.items()}, done.statistics
        yield row(NEWS, pack(news))
    for name in names:
        columns = done.part(name)
        for at in range(0, columns.shape[1], ROWS_AT_ONCE):
            yield row(name, pack(columns[:, at : at + ROWS_AT_ONCE]))


def row(name: str, content: bytes) -> pyarrow.RecordBatch:
    columns = [pyarrow.array([name], pyarrow.string()), pyarrow.array([content], pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(columns, names=["relation", "rows"])


def result(program: CheckedProgram, given: Sequence[str], rows: Sequence, names: Collection[str]) -> Result:
    """Put together what the members have sent; `given` are the texts that they were given. Raises EvaluationError."""
    parts: dict[str, list[Columns]] = {name: [] for name in (NEWS, FAILED, *names)}
    for row in rows:
        parts[row.relation].append(unpack(row.rows))
    for failure in parts.pop(FAILED):
        raise failure.error
    ((texts, records, statistics),) = parts.pop(NEWS)
    none = {name: np.empty((program.relations[name].arity, 0), np.int32) for name in names}
    relations = {name: np.concatenate([none[name], *found], axis=1) for name, found in parts.items()}
    return Result(Symbols([*given, *texts]), records, relations, statistics)
