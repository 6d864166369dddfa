"""`analyze run`: evaluate a Datalog program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from cli.options import CONF, JOBS, Size
from cli.terminal import say, warn

if TYPE_CHECKING:
    from engine import EvaluateOptions, Result, StratumStatistics
    from engine.explanation import Explanation


class SparkOptions(TypedDict):
    """Options of `engine.spark.run`."""

    members: int | None
    format: str
    partition: Mapping[str, Sequence[str]]
    checkpoints: str | None
    number_bits: int
    memory_limit: int | None
    conf: Mapping[str, str]


@click.command()
@click.argument("program", type=click.Path(path_type=Path))
@click.option("-F", "--facts", default=".", metavar="DIRECTORY", help="Directory of NAME.facts (default: .).")
@click.option("-D", "--output", default=".", metavar="DIRECTORY", help="Directory for NAME.csv (default: .).")
@click.option("--number-width", type=click.Choice(["32", "64"]), default="32", help="Bits of numbers (default: 32).")
@click.option("--query", metavar="ATOM", help="Print the rows that match ATOM, such as 'tc(1, y)'; derive no others.")
@click.option("--explain", is_flag=True, help="Print the query plan for these facts; write nothing.")
@click.option("--profile", type=click.Path(path_type=Path), metavar="FILE", help="Write the cost of each rule as JSON.")
@click.option("--policy", type=click.Choice(["global", "ssp", "dws"]), default="global", help="Worker coordination.")
@click.option("--slack", type=click.IntRange(0), default=1, help="Iterations a worker may be ahead (ssp; default: 1).")
@click.option(
    "--memory-limit",
    type=Size(),
    metavar="SIZE",
    help="Memory of the process, or of a member on Spark, such as 2G; beyond it, results spill to disk (default: 80 % "
    "of the machine's).",
)
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", help="Where to evaluate.")
@click.option("--master", metavar="URL", help="Spark's master: local[2] (default), spark://HOST:PORT, yarn, k8s://URL.")
@CONF
@click.option("--members", type=click.IntRange(1), help="Spark tasks that evaluate together (default: one a core).")
@click.option("--format", type=click.Choice(["parquet", "tsv"]), help="What Spark writes (default: parquet).")
@click.option("--partition", multiple=True, metavar="NAME=COLUMNS", help="Columns that Spark partitions a relation by.")
@click.option("--stats", is_flag=True, help="Print each stratum's method of evaluation on Spark and its cost.")
@click.option("--checkpoint", metavar="DIRECTORY", help="Checkpoints on Spark, from which an interrupted run resumes.")
@JOBS
def run(
    program: Path,
    facts: str,
    output: str,
    number_width: str,
    query: str | None,
    explain: bool,
    profile: Path | None,
    policy: str,
    slack: int,
    memory_limit: int | None,
    engine: str,
    master: str | None,
    conf: dict[str, str],
    members: int | None,
    format: str | None,
    partition: tuple[str, ...],
    stats: bool,
    checkpoint: str | None,
    jobs: int | None,
) -> None:
    """Evaluate the Datalog program PROGRAM: read NAME.facts, write NAME.csv, print sizes, as Soufflé does.

    With --engine spark, directories may be any that Spark reads; each output is a directory NAME.parquet of parts.
    """
    on_spark: dict[str, object] = {
        "--master": master,
        "--members": members,
        "--format": format,
        "--checkpoint": checkpoint,
    }
    on_spark |= {"--partition": partition or None, "--stats": stats or None, "--conf": conf or None}
    if engine == "spark":
        refuse("not with --engine spark", {"--query": query, "--explain": explain or None, "--profile": profile})
        options: SparkOptions = {
            "members": members,
            "format": format or "parquet",
            "partition": dict(map(columns_of, partition)),
            "checkpoints": checkpoint,
            "number_bits": int(number_width),
            "memory_limit": memory_limit,
            "conf": conf,
        }
        run_on_spark(program, facts, output, master or "local[2]", stats, options)
        return
    refuse("only with --engine spark", on_spark)
    run_here(
        Path(facts), Path(output), program, query, explain, profile, policy, slack, memory_limit, jobs, number_width
    )


def run_on_spark(program: Path, facts: str, output: str, master: str, stats: bool, options: SparkOptions) -> None:
    """Evaluate on Spark. Raises AnalyzeError A004 where it is missing."""
    from analyzer.engine_errors import coded_errors
    from analyzer.errors import INSTALL_SPARK, AnalyzeError

    try:
        from engine.spark import run
    except ImportError as error:
        raise AnalyzeError("A004", f"--engine spark needs {error.name}", help=INSTALL_SPARK) from None
    with coded_errors(program):
        lines, reports = run(program, facts, output, master, **options)
    for damage in reports[0].damage:
        warn(f"{damage}; evaluated anew")
    show_lines(lines)
    if stats:
        strata = reports[0].statistics
        for number, stratum in enumerate(strata):
            stratum.tuples_sent = sum(report.statistics[number].tuples_sent for report in reports)
        show_strata(strata)


def columns_of(text: str) -> tuple[str, list[str]]:
    """Parse NAME=COLUMN,COLUMN."""
    name, separator, columns = text.partition("=")
    if not (name and separator and columns):
        raise click.UsageError(f"--partition is NAME=COLUMN,COLUMN…, not '{text}'")
    return name, columns.split(",")


def refuse(why: str, options: Mapping[str, object]) -> None:
    """Raise a usage error for an option that was given."""
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"{name} goes {why}")


def run_here(
    facts: Path,
    output: Path,
    program: Path,
    query: str | None,
    explain: bool,
    profile: Path | None,
    policy: str,
    slack: int,
    memory_limit: int | None,
    jobs: int | None,
    number_width: str,
) -> None:
    """Evaluate on this machine."""
    import engine
    from analyzer.engine_errors import coded_errors

    bits = int(number_width)
    options: EvaluateOptions = {
        "profile": profile is not None,
        "policy": engine.policy_named(policy, slack),
        "threads": jobs,
        "memory_limit": memory_limit,
    }
    lines: list[str] = []
    with coded_errors(program):
        if explain:
            result = engine.explain(program, facts, query, number_bits=bits, **options)
        elif query is not None:
            lines, result = engine.answer(program, facts, query, number_bits=bits, **options)
        else:
            output.mkdir(parents=True, exist_ok=True)
            lines, result = engine.run(program, facts, output, number_bits=bits, **options)
    if result.plan is not None:
        show_plan(result.plan)
    show_lines(lines)
    if profile is not None:
        show_costs(result, profile)


def show_lines(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


def show_strata(strata: Iterable[StratumStatistics]) -> None:
    from cli.output import terminal
    from cli.plan_text import WIDTH_OF_PIPES, print_strata

    print_strata(strata, terminal(WIDTH_OF_PIPES))


def show_plan(plan: Explanation) -> None:
    from cli.output import terminal
    from cli.plan_text import WIDTH_OF_PIPES, print_plan

    print_plan(plan, terminal(WIDTH_OF_PIPES))


def show_costs(result: Result, profile: Path) -> None:
    """Save the costs of rules as JSON, and print the most expensive ones. Raises AnalyzeError A003."""
    import json

    from cli.output import terminal, write_file
    from cli.plan_text import WIDTH_OF_PIPES, print_dearest
    from engine.profile import dearest
    from engine.profile import profile as costs

    write_file(profile, json.dumps(costs(result), indent=1) + "\n")
    print_dearest(dearest(result), terminal(WIDTH_OF_PIPES))
