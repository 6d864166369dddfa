"""Running a program from files: sources in, facts in, results out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Unpack

from engine.evaluation.evaluator import EvaluateOptions, evaluate
from engine.io import file_name, lines, load, store
from engine.language.checked_program import CheckedProgram
from engine.language.compiler import compile
from engine.language.source import Source
from engine.queries import Question, evaluate_outputs, output_query
from engine.result import Result
from engine.storage.memory import LEDGER


def run(
    program: Path | str,
    facts: Path | str,
    output: Path | str,
    *,
    number_bits: int = 32,
    **options: Unpack[EvaluateOptions],
) -> tuple[list[str], Result]:
    """Evaluate a program file on a directory of facts; return the lines for standard output, and the result.

    Input and output files are those that its directives name; `options` are those of `evaluate`. Raises ProgramError,
    FactsError or EvaluationError, and OSError where the program itself cannot be read.
    """
    checked = compile_file(Path(program), number_bits)
    with LEDGER.limited(options.pop("memory_limit", None)):
        result = evaluate_outputs(checked, lambda needed: load(needed, facts), **options)
        return store(checked, result, output), result


def answer(
    program: Path | str, facts: Path | str, query: str, *, number_bits: int = 32, **options: Unpack[EvaluateOptions]
) -> tuple[list[str], Result]:
    """Answer a query on a program file; return the rows that agree with it as lines, and the result.

    Only the files of facts that the query needs are read, and none is written. Raises as `run` does.
    """
    checked = compile_file(Path(program), number_bits)
    question = Question(checked, query)
    result = question.ask(load(question.program, facts), **options)
    return lines(checked, result, question.goal.relation), result


def explain(
    program: Path | str,
    facts: Path | str,
    query: str | None = None,
    *,
    number_bits: int = 32,
    **options: Unpack[EvaluateOptions],
) -> Result:
    """Evaluate a program file, or what a query needs of it, for the plan it goes by, in `Result.plan`; write nothing.

    Files of facts that do not exist count as empty, as does standard input: the plan is then what can be said without
    their sizes. Raises as `run` does.
    """
    checked = compile_file(Path(program), number_bits)
    query = output_query(checked) if query is None else query
    if query is not None:
        checked = Question(checked, query).program
    inputs = tuple(directive for directive in checked.inputs if (Path(facts) / file_name(directive)).exists())
    options["explain"] = True
    return evaluate(checked, load(replace(checked, inputs=inputs), facts), **options)


def compile_file(path: Path, number_bits: int = 32) -> CheckedProgram:
    """Return the checked program of a file and what it includes, looked for beside the including file."""
    source = Source(str(path), path.read_text(encoding="utf-8", errors="surrogateescape"))
    return compile([source], resolve=included, number_bits=number_bits)


def included(name: str, including: Source) -> Source | None:
    path = Path(including.name).parent / name
    if not path.is_file():
        return None
    return Source(str(path), path.read_text(encoding="utf-8", errors="surrogateescape"))
