"""The same tuples from every evaluator: the oracle, and the engine on threads, policies and numbers of partitions."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

import numpy as np

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL, CoordinationPolicy, Dws, Ssp
from engine.evaluation.execution import Options
from engine.io import parquet_file
from engine.io.directive_files import Input
from engine.io.output_order import OrderedRows
from engine.io.value_text import Interner, Printer
from engine.language.checked_program import CheckedProgram
from engine.language.syntax import Functor
from engine.language.traverse import all_literals, literal_terms, subterms
from engine.queries import evaluate_outputs
from engine.symbols import Symbols

for directory in ("cluster", "oracle"):
    sys.path.insert(0, str(Path(__file__).parents[1] / directory))
import meeting  # noqa: E402
import reference  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLICIES: dict[str, CoordinationPolicy] = {"global": GLOBAL, "ssp": Ssp(1), "dws": Dws()}
Rows = dict[str, set[tuple]]


class TimeLimit(Exception):
    """A program took longer than it may."""


@contextmanager
def time_limit(limit_s: int) -> Iterator[None]:
    """Raise TimeLimit when the block takes longer; on the main thread, one at a time."""

    def give_up(*_: object) -> None:
        raise TimeLimit(f"more than {limit_s} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(limit_s)
    try:
        yield
    finally:
        signal.alarm(0)


@dataclass(frozen=True)
class Configuration:
    """How a program is evaluated; by the oracle, if `threads` is 0."""

    name: str
    threads: int
    options: Options = Options()
    policy: CoordinationPolicy = GLOBAL

    def evaluate(self, program: CheckedProgram, facts: Path) -> engine.Result:
        if self.threads:
            return engine.evaluate(program, engine.load(program, facts), **self.chosen())
        database = engine.load(program, facts)
        relations = reference.evaluate(program, tables.decode(program, database, program.relations))
        encoded = engine.facts(program, relations)
        return engine.Result(encoded.symbols, encoded.records, encoded.relations)

    def chosen(self) -> dict[str, object]:
        return {"threads": self.threads, "options": self.options, "policy": self.policy}

    def for_output(self, program: CheckedProgram, facts: Path) -> engine.Result:
        """Evaluate as `analyze run` does: by magic sets, if the program asks for them."""
        if not self.threads:
            return self.evaluate(program, facts)
        return evaluate_outputs(program, lambda needed: engine.load(needed, facts), **self.chosen())

    def limited(self, limit_s: int) -> AbstractContextManager[None]:
        """Raise TimeLimit when what is evaluated in the block takes longer."""
        return time_limit(limit_s)

    def rows(self, program: CheckedProgram, facts: Path) -> Rows:
        return tables.decode(program, self.evaluate(program, facts), program.relations)


def partitioned(partitions: int) -> Options:
    """Options that split relations as early as possible, into so many partitions (a power of 2), on small chunks."""
    bits = partitions.bit_length() - 1
    return Options(
        chunk_rows=1024,
        buffer_rows=32,
        partition_rows=64,
        split_rows=64,
        delta_rows=1,
        max_bits=bits,
        alone_rows=0,
        wave_tasks=4,
    )


@dataclass(frozen=True)
class Members(Configuration):
    """By so many members of a group (`threads`), relations of more than `replicated_rows` rows spread over them."""

    replicated_rows: int = 0

    def evaluate(self, program: CheckedProgram, facts: Path) -> engine.Result:
        database = engine.load(program, facts)
        members = meeting.run(
            program, database, self.threads, options=self.options, replicated_rows=self.replicated_rows
        )
        parts = list(meeting.results(program, members))
        rows = {name: np.concatenate([part.relations[name] for part in parts], axis=1) for name in program.relations}
        return engine.Result(parts[0].symbols, parts[0].records, rows)

    def for_output(self, program: CheckedProgram, facts: Path) -> engine.Result:
        return self.evaluate(program, facts)


@dataclass(frozen=True)
class OnSpark(Configuration):
    """By the tasks of a session of Spark; facts go there as DataFrames, results come back as Parquet files."""

    session: SparkSession | None = None

    @contextmanager
    def limited(self, limit_s: int) -> Iterator[None]:
        """Let Spark end its jobs: one that nobody waits for any more would hold all slots."""
        timer = Timer(limit_s, self.session.sparkContext.cancelAllJobs)
        timer.start()
        try:
            yield
        except Exception as error:
            if timer.finished.is_set():
                raise TimeLimit(f"more than {limit_s} s") from error
            raise
        finally:
            timer.cancel()

    def evaluate(self, program: CheckedProgram, facts: Path) -> engine.Result:
        from engine.spark import driver
        from engine.spark.barrier_task import Files
        from engine.spark.member_results import table

        database = engine.load(program, facts)
        printer = Printer(program.records, database.records, database.symbols)
        frames = {
            name: self.session.createDataFrame(
                table(OrderedRows(program.relations[name], columns, printer), program.number_bits)
            )
            for name, columns in database.relations.items()
            if columns.shape[1]
        }
        with tempfile.TemporaryDirectory() as directory:
            files = Files(tuple(program.relations), directory, "parquet")
            reports = driver.write(program, self.session, frames, files, members=self.threads, replicated_rows=0)
            complete = Path(directory) / reports[0].token
            interner = Interner(program.records, Symbols(), program.number_bits)
            found = {
                name: parquet_file.read(Input(relation, complete / name, {}, interner))
                for name, relation in program.relations.items()
            }
            return engine.Result(interner.symbols, interner.tables(), found)

    def for_output(self, program: CheckedProgram, facts: Path) -> engine.Result:
        return self.evaluate(program, facts)


REFERENCE = Configuration("reference", 0)
CONFIGURATIONS = (
    Configuration("1 thread", 1),
    Configuration("2 threads", 2),
    Configuration("1 partition, small chunks", 1, partitioned(1)),
    Configuration("16 partitions", 1, partitioned(16)),
    Configuration("256 partitions, 2 threads", 2, partitioned(256)),
    Configuration("ssp, 16 partitions, 2 threads", 2, partitioned(16), Ssp(1)),
    Configuration("dws, 64 partitions, 2 threads", 2, partitioned(64), Dws()),
    Configuration("dws, 1 thread", 1, Options(), Dws()),
    Members("3 members", 3),
    Members("2 members, small relations complete", 2, partitioned(16), replicated_rows=1000),
)


def orders_by_id(program: CheckedProgram) -> bool:
    """Whether a program asks for the number of a text or a record: the oracle gives others than the engine."""
    terms = [t for c in program.clauses for x in (c.head, *all_literals(c.body)) for t in literal_terms(x)]
    parts = [part for term in terms for part in subterms(term)]
    return any(isinstance(part, Functor) and part.name == "ord" and part.kind != "number" for part in parts)


def difference(program: CheckedProgram, facts: Path, limit_s: int) -> tuple[str | None, bool]:
    """Return where the configurations differ, or None, and whether the oracle could be asked, within the limit."""
    expected = None
    try:
        with time_limit(limit_s):
            expected = None if orders_by_id(program) else REFERENCE.rows(program, facts)
    except TimeLimit:
        pass
    with_oracle = expected is not None
    for configuration in CONFIGURATIONS:
        with time_limit(limit_s):
            found = configuration.rows(program, facts)
        expected = found if expected is None else expected
        for name, rows in expected.items():
            # As text, since NaN is equal to itself only where it is the same object.
            if rows != found[name] and set(map(repr, rows)) != set(map(repr, found[name])):
                missing, extra = sorted(map(repr, rows - found[name]))[:2], sorted(map(repr, found[name] - rows))[:2]
                return f"{configuration.name}: {name} lacks {missing}, has {extra}", with_oracle
    return None, with_oracle
