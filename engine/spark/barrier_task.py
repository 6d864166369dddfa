"""A task of the barrier stage: the work of one member, from its facts to its part of the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from secrets import token_hex
from time import perf_counter

import pyarrow
from pyarrow import fs
from pyspark import BarrierTaskContext

from engine.cluster import member as evaluation
from engine.cluster.checkpoint import Checkpoints
from engine.cluster.communicator import broadcast
from engine.cluster.member import Member
from engine.cluster.message_codec import Failure
from engine.cluster.symbol_dictionary import Dictionary
from engine.codec import Codec
from engine.database import Database, EvaluationError
from engine.evaluation.execution import Options
from engine.io.facts_error import FactsError
from engine.language.checked_program import CheckedProgram
from engine.result import StratumStatistics
from engine.spark import member_facts, member_results
from engine.spark.executor_memory import ExecutorMemory
from engine.spark.socket_communicator import Credentials, SocketCommunicator
from engine.storage.memory import LEDGER
from engine.symbols import Symbols


@dataclass(frozen=True)
class Job:
    """The input of all members: the program, the sources of facts, their access to one another, and executors.

    `checkpoints` is a directory of this run alone; in the middle of a fixpoint one is made each `interval_s` seconds.
    """

    program: CheckedProgram
    sources: dict[str, member_facts.Source]
    access: Credentials
    memory: ExecutorMemory
    replicated_rows: int
    checkpoints: str | None = None
    interval_s: float = 60.0
    options: Options = Options()
    partition_by: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    memory_limit: int | None = None

    def limited(self, group: SocketCommunicator) -> AbstractContextManager[None]:
        """Hold this process to the limit of a member: by default its part of the memory of where it runs."""
        return LEDGER.limited(self.memory_limit or self.memory.share(group.n_here))


@dataclass(frozen=True)
class Files:
    """Results go to `directory`/TOKEN/RELATION, a part for each member, in a `format` of `member_results.FORMATS`.

    The token is of the attempt: members of one that Spark has given up may still be writing.
    """

    relations: tuple[str, ...]
    directory: str
    format: str


@dataclass
class Report:
    """The final report of a member: `error` is for the user, `n_derived` the rows that it owned.

    `damage` lists the damaged checkpoints.
    """

    rank: int
    host: str
    token: str = ""
    error: Failure | None = None
    n_derived: int = 0
    n_rows: dict[str, int] = field(default_factory=dict)
    statistics: list[StratumStatistics] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)


REPORT = "report binary"
REPORTS: Codec[Report] = Codec(Report)


def write(job: Job, files: Files, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Evaluate with the other tasks, write files; yield the report, packed."""
    tables = member_facts.received(batches)
    group = joined(job)
    report = Report(group.rank, group.host)
    try:
        with job.limited(group):
            member, dictionary = evaluate(job, tables, group, report)
            begin = perf_counter()
            report.token = broadcast(group, token_hex(4))
            for name in files.relations:
                content = member_results.FORMATS[files.format](member_results.rows_of(member, dictionary, name))
                save(content, files, f"{report.token}/{name}", group.rank)
            report.seconds["results"] = perf_counter() - begin
    except (EvaluationError, FactsError) as error:
        report.error = Failure.of(error)
        group.fail(error)
    finally:
        group.close()
    yield pyarrow.RecordBatch.from_pydict({"report": pyarrow.array([REPORTS.pack(report)], pyarrow.binary())})


def answer(job: Job, name: str, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Evaluate with the other tasks; yield this member's rows of a relation. Wrong facts fail the task."""
    tables = member_facts.received(batches)
    group = joined(job)
    try:
        with job.limited(group):
            member, dictionary = evaluate(job, tables, group, Report(group.rank, group.host))
            found = member_results.table(member_results.rows_of(member, dictionary, name), job.program.number_bits)
        yield from found.to_batches()
    except (EvaluationError, FactsError) as error:
        group.fail(error)
        raise
    finally:
        group.close()


def joined(job: Job) -> SocketCommunicator:
    """Meet the other tasks of the stage."""
    context = BarrierTaskContext.get()
    tasks = context.getTaskInfos()
    rank = context.partitionId()
    host = tasks[rank].address.rpartition(":")[0] or tasks[rank].address
    return SocketCommunicator(rank, len(tasks), host, job.access, context.allGather)


def evaluate(
    job: Job, tables: member_facts.Tables, group: SocketCommunicator, report: Report
) -> tuple[Member, Dictionary]:
    begin = perf_counter()
    checkpoints = None if job.checkpoints is None else Checkpoints(job.checkpoints, group, job.interval_s)
    database, dictionary = read(job, tables, group, checkpoints)
    report.seconds["facts"] = perf_counter() - begin
    begin = perf_counter()
    member = evaluation.evaluate(
        job.program, database, group, job.options, job.replicated_rows, checkpoints, job.partition_by
    )
    report.seconds["evaluation"] = perf_counter() - begin
    report.damage = [] if checkpoints is None else checkpoints.damage
    report.n_derived = member.n_derived
    report.n_rows, report.statistics = member.n_rows, member.statistics
    return member, dictionary


def read(
    job: Job, tables: member_facts.Tables, group: SocketCommunicator, checkpoints: Checkpoints | None
) -> tuple[Database, Dictionary]:
    """Return this member's share of the facts, from a checkpoint if there is one: then ids are as they were."""
    saved = None if checkpoints is None else checkpoints.load("facts")
    if saved is None:
        database, dictionary = member_facts.read(job.program, tables, job.sources, group)
        if checkpoints is not None:
            texts = database.symbols.texts(range(len(database.symbols)))
            checkpoints.save("facts", (texts, database.records, database.relations, dictionary.saved()))
            checkpoints.begin_from("facts")
        return database, dictionary
    checkpoints.begin_from("facts")
    texts, records, relations, dictionary = saved
    return Database(Symbols(texts), records, relations), Dictionary.restored(dictionary, group)


def save(content: bytes, files: Files, directory: str, rank: int) -> None:
    """Write this member's part to a directory below that of `files`."""
    system, root = fs.FileSystem.from_uri(files.directory)
    system.create_dir(f"{root}/{directory}", recursive=True)
    with system.open_output_stream(f"{root}/{directory}/part-{rank:05}.{files.format}") as out:
        out.write(content)
