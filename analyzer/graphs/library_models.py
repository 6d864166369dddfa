"""Models of libraries: which ones a repository lacks, and those that follow from a package's own code."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import engine
from analyzer.evaluation.program import compile_cached, evaluate_program
from analyzer.evaluation.rule_sources import bundled
from analyzer.evaluation.rulebook import build_rulebook
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.extraction.machine import ThisMachine
from analyzer.findings.entities import Entities
from analyzer.findings.incompleteness import READ, UNPARSED, incompleteness
from analyzer.graphs.export import collected_facts
from analyzer.report import Place, Problem
from engine.operating_system import n_cores
from rules import library
from rules.catalogue import DatalogFile

MISSING = ("missing.missing_model", "missing.missing_method")
DERIVED = ("derived.sink_of", "derived.summary_of")


@dataclass(frozen=True, slots=True)
class MissingModel:
    """A function of a library, or a method by its name alone (`.name`), that tainted data enters at these places."""

    name: str
    places: tuple[Place, ...]


def missing_models(
    path: Path, jobs: int | None, progress: Progress = silent
) -> tuple[list[MissingModel], list[Problem]]:
    """Return what no model knows and tainted data enters, most places first, and what was not looked at.

    Raises AnalyzeError.
    """
    result, problems = _evaluate(library.missing_models(), MISSING, path, jobs, progress)
    entities = Entities(result)
    places: dict[str, set[Place]] = defaultdict(set)
    for relation, prefix in zip(MISSING, ("", "."), strict=True):
        names, calls = result.relation(relation)
        for name, call in zip(result.symbols.texts(names), calls.tolist(), strict=True):
            if place := entities.place(call):
                places[prefix + name].add(place)
    found = [MissingModel(name, tuple(sorted(where))) for name, where in places.items()]
    return sorted(found, key=lambda each: (-len(each.places), each.name)), problems


def derived_models(path: Path, jobs: int | None, progress: Progress = silent) -> tuple[list[str], list[Problem]]:
    """Return facts of models, in order, for what the exported functions of a package do, and what was not looked at.

    Functions without a name are left out. A directory that is a Python package gives its name to its modules. Raises
    AnalyzeError.
    """
    result, problems = _evaluate(library.derived_models(), DERIVED, path, jobs, progress)
    sinks, summaries = ([result.symbols.texts(column) for column in result.relation(name)] for name in DERIVED)
    package = f"{path.resolve().name}." if (path / "__init__.py").is_file() else ""

    def qualified(name: str) -> str:
        return package + name.removeprefix("__init__.") if package else name

    facts = [_fact("sink_argument", (kind, qualified(name), at)) for kind, name, at in zip(*sinks, strict=True)]
    facts += [_fact("summary", (qualified(name), at, "return")) for name, at in zip(*summaries, strict=True)]
    return sorted(facts), problems


def _fact(relation: str, values: Sequence[str]) -> str:
    return f"{relation}({', '.join(json.dumps(value, ensure_ascii=False) for value in values)})."


def _evaluate(
    question: DatalogFile, wanted: Sequence[str], path: Path, jobs: int | None, progress: Progress
) -> tuple[engine.Result, list[Problem]]:
    """Evaluate what a file asks of taint analysis with all models and the checks of the default tier."""
    sources = [*build_rulebook([], ()).sources, bundled(question)]
    with collected_facts(path, None, jobs, progress) as (collected, state, config):
        wanted = (*wanted, *READ)
        program = compile_cached(sources, state.path, wanted)
        result = evaluate_program(program, collected.mounted, ThisMachine(config.jobs or n_cores()), wanted)
        return result, list(incompleteness(collected.problems, collected.mounted.relations[UNPARSED], result))
