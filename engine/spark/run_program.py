"""Running a program file on Spark: facts from wherever Spark reads, results in a directory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex

from pyarrow import fs

from engine.cluster.member import REPLICATED_ROWS
from engine.database import EvaluationError
from engine.io.facts_error import FactsError
from engine.language.checked_program import CheckedProgram
from engine.run_program import compile_file
from engine.spark import driver
from engine.spark.barrier_task import Files, Report
from engine.spark.spark_session import NO_SETTINGS, session


def run(
    program: Path,
    facts: str,
    output: str,
    master: str,
    *,
    format: str = "parquet",
    members: int | None = None,
    replicated_rows: int = REPLICATED_ROWS,
    checkpoints: str | None = None,
    partition: Mapping[str, Sequence[str]] | None = None,
    number_bits: int = 32,
    memory_limit: int | None = None,
    conf: Mapping[str, str] = NO_SETTINGS,
) -> tuple[list[str], list[Report]]:
    """Evaluate a program file; return the lines for standard output, and what the members report.

    Each output is a directory `output`/RELATION.FORMAT of parts, there when it is complete. Raises ProgramError,
    FactsError or EvaluationError, and OSError where the program itself cannot be read.
    """
    checked = compile_file(program, number_bits)
    partition_by = partition_keys(checked, partition or {})
    outputs = tuple(dict.fromkeys(directive.relation for directive in checked.outputs))
    system, root = opened(output)
    refuse_present(system, root, [f"{name}.{format}" for name in outputs])
    hidden = f".unfinished-{token_hex(4)}"
    unfinished = f"{root}/{hidden}"
    with session(master, conf) as spark:
        frames, sources = driver.frames(checked, spark, absolute(facts))
        try:
            reports = driver.write(
                checked,
                spark,
                frames,
                Files(outputs, within(absolute(output), hidden), format),
                sources=sources,
                members=members,
                replicated_rows=replicated_rows,
                checkpoints=None if checkpoints is None else absolute(checkpoints),
                partition_by=partition_by,
                memory_limit=memory_limit,
            )
            complete = f"{unfinished}/{reports[0].token}"
            for name in outputs:
                system.open_output_stream(f"{complete}/{name}/_SUCCESS").close()
                system.move(f"{complete}/{name}", f"{root}/{name}.{format}")
        finally:
            if system.get_file_info(unfinished).type != fs.FileType.NotFound:
                system.delete_dir(unfinished)
    return sizes(checked, reports), reports


def sizes(program: CheckedProgram, reports: Iterable[Report]) -> list[str]:
    n_rows = next(iter(reports)).n_rows
    return [f"{directive.relation}\t{n_rows[directive.relation]}" for directive in program.printsizes]


def partition_keys(program: CheckedProgram, partition: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """Return the columns to partition relations by as positions. Raises EvaluationError for one that cannot be."""
    partition_by = {}
    for name, columns in partition.items():
        if name not in program.relations:
            raise EvaluationError(f"--partition {name}: the program declares no relation '{name}'")
        declared = program.relations[name]
        known = {declared.columns[at].name: at for at in declared.group}
        for column in columns:
            if column not in known:
                raise EvaluationError(
                    f"--partition {name}: '{column}' is not a column to partition by; known: {', '.join(known)}"
                )
        partition_by[name] = tuple(sorted(known[column] for column in columns))
    return partition_by


def absolute(place: str) -> str:
    """A path as it is known elsewhere; a URI as it is."""
    return place if "://" in place else str(Path(place).absolute())


def opened(directory: str) -> tuple[fs.FileSystem, str]:
    """The file system of a directory, which is made, and its path there. Raises FactsError."""
    try:
        system, root = fs.FileSystem.from_uri(absolute(directory))
        system.create_dir(root, recursive=True)
    except (OSError, ValueError) as error:
        raise FactsError(directory, 0, f"cannot make the directory: {error}") from None
    return system, root


def within(directory: str, name: str) -> str:
    """A name in a directory; the query of a URI, which says how to reach it, stays at the end."""
    path, mark, query = directory.partition("?") if "://" in directory else (directory, "", "")
    return f"{path.rstrip('/')}/{name}{mark}{query}"


def refuse_present(system: fs.FileSystem, root: str, names: Iterable[str]) -> None:
    present = [name for name in names if system.get_file_info(f"{root}/{name}").type != fs.FileType.NotFound]
    if present:
        raise EvaluationError(f"{root}/{present[0]} already exists; remove it, or choose another directory (-D)")
