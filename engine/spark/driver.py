"""The driver's side: facts to the tasks of a barrier stage, results from them.

All that is read goes through Spark, so facts may lie wherever it reads. The stage is followed by a shuffle: Spark then
starts it again by itself when a task, a worker process or an executor is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce

import pyarrow
from py4j.protocol import Py4JError
from pyarrow import fs
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from engine.cluster.member import REPLICATED_ROWS
from engine.database import EvaluationError
from engine.evaluation.execution import Options
from engine.incremental.state_identity import digest_of, format_name
from engine.io.directive_files import device, file_name
from engine.io.facts_error import FactsError
from engine.language.checked_program import CheckedProgram, Relation
from engine.spark import barrier_task, member_results
from engine.spark.executor_memory import memory_of_executors
from engine.spark.member_credentials import new_credentials
from engine.spark.member_facts import Source
from engine.spark.spark_session import members_of

TAGGED = "relation string, rows binary"


def write(
    program: CheckedProgram,
    spark: SparkSession,
    facts: Mapping[str, DataFrame],
    files: barrier_task.Files,
    *,
    sources: Mapping[str, Source] | None = None,
    members: int | None = None,
    replicated_rows: int = REPLICATED_ROWS,
    checkpoints: str | None = None,
    interval_s: float = 60.0,
    options: Options | None = None,
    partition_by: Mapping[str, tuple[int, ...]] | None = None,
    memory_limit: int | None = None,
) -> list[barrier_task.Report]:
    """Evaluate a program and write its results; return what the members report, in their order.

    With `checkpoints`, a directory that all executors reach, a run that was cut off goes on where it was, if program,
    facts and the number of members are the same. Raises FactsError for facts that do not fit, EvaluationError for what
    is wrong with the program, and where Spark gives up.
    """
    n = members_of(spark, members)
    job, rows = prepared(program, spark, facts, sources, replicated_rows)
    job = replace(
        job,
        options=options or Options(),
        interval_s=interval_s,
        partition_by=partition_by or {},
        memory_limit=memory_limit,
    )
    if checkpoints is not None:
        job = replace(job, checkpoints=f"{checkpoints.rstrip('/')}/{fingerprint(program, facts, n)}")
    done = rows.repartition(n).mapInArrow(partial(barrier_task.write, job, files), barrier_task.REPORT, barrier=True)
    reports = sorted(
        (barrier_task.REPORTS.unpack(row.report) for row in collected(done.repartition(1))), key=lambda r: r.rank
    )
    for report in reports:
        if report.error is not None:
            raise report.error.error
    if job.checkpoints is not None:
        system, root = fs.FileSystem.from_uri(job.checkpoints)
        system.delete_dir(root)
    return reports


def fingerprint(program: CheckedProgram, facts: Mapping[str, DataFrame], members: int) -> str:
    """Name a run by all that its result depends on, as far as files tell: their names, sizes and times.

    The name is the same in every process of this version.
    """
    told: list[object] = [format_name(), program, members]
    for name, frame in sorted(facts.items()):
        files = sorted(frame.inputFiles())
        told += [name, files, [described(file) for file in files]]
    return digest_of(told)


def described(file: str) -> str:
    system, path = fs.FileSystem.from_uri(file)
    info = system.get_file_info(path)
    return f"{info.size} {info.mtime_ns}"


def query(
    program: CheckedProgram,
    spark: SparkSession,
    facts: Mapping[str, DataFrame],
    relation: str,
    *,
    members: int | None = None,
    replicated_rows: int = REPLICATED_ROWS,
) -> DataFrame:
    """Return a relation of a program as a DataFrame, which is evaluated when its rows are asked for."""
    job, rows = prepared(program, spark, facts, None, replicated_rows)
    n = members_of(spark, members)
    found = rows.repartition(n).mapInArrow(
        partial(barrier_task.answer, job, relation),
        member_results.schema(program.relations[relation], program.number_bits),
        barrier=True,
    )
    return found.repartition(n)


def prepared(
    program: CheckedProgram,
    spark: SparkSession,
    facts: Mapping[str, DataFrame],
    sources: Mapping[str, Source] | None,
    replicated_rows: int,
) -> tuple[barrier_task.Job, DataFrame]:
    """Return the input of members, and all facts as rows of one DataFrame."""
    sources = {name: (sources or {}).get(name, Source(name)) for name in facts}
    tagged = [
        shaped(program.relations[name], frame, sources[name]).mapInArrow(partial(tag, name), TAGGED)
        for name, frame in facts.items()
    ]
    none = spark.range(0).select(lit("").alias("relation"), lit(b"").alias("rows"))
    job = barrier_task.Job(program, sources, new_credentials(spark), memory_of_executors(spark), replicated_rows)
    return job, reduce(DataFrame.unionAll, tagged, none)


def shaped(relation: Relation, frame: DataFrame, source: Source) -> DataFrame:
    """Return the columns of a DataFrame that are a relation's, by name or else by position."""
    if source.parameters is not None or not relation.arity:
        return frame
    names = [column.name for column in relation.columns]
    if set(names) <= set(frame.columns):
        return frame.select(*names)
    if len(frame.columns) != relation.arity:
        found = ", ".join(frame.columns)
        raise FactsError(source.name, 0, f"{relation.name} has {relation.arity} columns, but the facts have: {found}")
    return frame


def tag(name: str, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Turn batches of rows into rows that hold a batch each."""
    for batch in batches:
        if batch.num_rows:
            out = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(out, batch.schema) as stream:
                stream.write_batch(batch)
            rows = pyarrow.array([out.getvalue().to_pybytes()], pyarrow.binary())
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([name]), rows], names=["relation", "rows"])


def collected(frame: DataFrame) -> list:
    """Return the rows of a DataFrame. Raises EvaluationError with the cause in one line where Spark gives up."""
    try:
        return frame.collect()
    except (PySparkException, Py4JError) as error:
        raise EvaluationError(f"Spark failed: {cause(str(error))}") from error


def cause(text: str) -> str:
    """The line of a report of Spark's that says what went wrong."""
    if found := re.search(r"No module named '([\w.]+)'", text):
        return (
            f"the executors lack the package (no module '{found[1]}'); install it there from where you have it, "
            "or send it along (see docs/spark.md)"
        )
    if found := re.search(r'No FileSystem for scheme "?(\w+)|fs\.(s3)a\.S3AFileSystem not found', text):
        scheme = found[1] or found[2]
        names = "write s3a://…, and add" if scheme.startswith("s3") else "add"
        return (
            f"Spark has no file system for {scheme}://; {names} what reads it, as for S3 "
            "--conf spark.jars.packages=org.apache.hadoop:hadoop-aws:3.4.2, in the version of Spark's Hadoop"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if "Error" in line and not line.startswith(("at ", "File "))]
    return (raised or lines)[0 if not raised else -1][:500]


def frames(
    program: CheckedProgram, spark: SparkSession, directory: str
) -> tuple[dict[str, DataFrame], dict[str, Source]]:
    """Return the facts that the `.input` directives of a program name, in a directory that Spark reads.

    Text files are read as lines. Raises FactsError for a file that is not there, or is of a kind read locally only.
    """
    found: dict[str, DataFrame] = {}
    sources: dict[str, Source] = {}
    readers: Mapping[str, Callable[[str], DataFrame]] = {"file": spark.read.text, "parquet": spark.read.parquet}
    for directive in program.inputs:
        if directive.relation not in program.needed:
            continue
        kind, path = device(directive), f"{directory.rstrip('/')}/{file_name(directive)}"
        parameters = dict(directive.parameters)
        if kind not in readers or "headers" in parameters or "rfc4180" in parameters:
            raise FactsError(path, 0, f"{directive.relation}: Spark reads Parquet, and text without headers or quotes")
        try:
            found[directive.relation] = readers[kind](path)
        except (PySparkException, Py4JError) as error:
            message = f"cannot read the facts of {directive.relation}: {cause(str(error))}"
            raise FactsError(path, 0, message) from None
        sources[directive.relation] = Source(path, parameters if kind == "file" else None)
    return found, sources
