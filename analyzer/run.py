"""The bare engine on a Datalog program in a file, with facts and results in files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analyzer.errors import INSTALL_SPARK, AnalyzeError, ProgramErrors
from analyzer.state_directory import write_atomically
from engine import EvaluationError, FactsError, ProgramError
from engine.explanation import (
    Explanation,
    PartitioningPlan,
    RelationPlan,
    RulePlan,
    StepPlan,
    StratumPlan,
    SubJoinPlan,
    VariantPlan,
)
from engine.local.policy import policy_named
from engine.profile import dearest, profile
from engine.result import Result, RuleStatistics, StratumStatistics
from engine.run import answer, explain, run

__all__ = [
    "Explanation",
    "PartitioningPlan",
    "RelationPlan",
    "Result",
    "RulePlan",
    "RuleStatistics",
    "StepPlan",
    "StratumPlan",
    "StratumStatistics",
    "SubJoinPlan",
    "VariantPlan",
    "answer_query",
    "explain_program",
    "policy_named",
    "run_program",
    "run_program_on_spark",
    "save_profile",
]


def run_program(path: Path, facts: Path, output: Path, **options: object) -> tuple[list[str], Result]:
    """Evaluate the program at `path`, write its outputs; return the lines that it prints, and the result.

    `options` are those of `engine.run.run`. Raises AnalyzeError: A001 for a file that cannot be read or written, F001
    for facts that do not fit, R001 for errors in the program, V001 during evaluation.
    """
    with told_as_analyze_errors(path):
        output.mkdir(parents=True, exist_ok=True)
        return run(path, facts, output, **options)


def run_program_on_spark(
    path: Path, facts: str, output: str, master: str, **options: object
) -> tuple[list[str], list[StratumStatistics], list[str]]:
    """Evaluate the program at `path` on Spark; return the lines that it prints, the costs of strata, and warnings.

    Raises as `run_program`.

    `options` are those of `engine.spark.run.run`. A004 says what to install where Spark is missing.
    """
    try:
        from engine.spark.run import run as run_on_spark
    except ImportError as error:
        missing = f"--engine spark needs {error.name}"
        raise AnalyzeError("A004", missing, help=INSTALL_SPARK) from None
    with told_as_analyze_errors(path):
        lines, reports = run_on_spark(path, facts, output, master, **options)
    strata = reports[0].statistics
    for number, stratum in enumerate(strata):
        stratum.tuples_sent = sum(report.statistics[number].tuples_sent for report in reports)
    return lines, strata, [f"{damage}; evaluated anew" for damage in reports[0].damage]


def answer_query(path: Path, facts: Path, query: str, **options: object) -> tuple[list[str], Result]:
    """Return the rows that a query asks of the program at `path`, as lines, and the result. Raises as `run_program`."""
    with told_as_analyze_errors(path):
        return answer(path, facts, query, **options)


def explain_program(path: Path, facts: Path, query: str | None, **options: object) -> Result:
    """Evaluate the program at `path` on the facts there are, for its plan; write nothing. Raises as `run_program`."""
    with told_as_analyze_errors(path):
        return explain(path, facts, query, **options)


def save_profile(result: Result, path: Path) -> list[RuleStatistics]:
    """Write what an evaluation cost as JSON; return the ten dearest rules. Raises AnalyzeError A003."""
    try:
        write_atomically(path, (json.dumps(profile(result), indent=1) + "\n").encode())
    except OSError as error:
        raise AnalyzeError("A003", f"cannot write {path}: {error.strerror}") from None
    return dearest(result)


@contextmanager
def told_as_analyze_errors(path: Path) -> Iterator[None]:
    """Turn the engine's errors, met while running the program at `path`, into coded ones."""
    try:
        yield
    except ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None
    except FactsError as error:
        raise AnalyzeError("F001", error.message, file=str(error.path), line=error.line) from None
    except EvaluationError as error:
        raise AnalyzeError("V001", str(error)) from None
    except OSError as error:
        name = error.filename or path
        raise AnalyzeError("A001", f"cannot read or write {name}: {error.strerror}") from None
