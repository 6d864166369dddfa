"""Evaluates the rules of a scorer on small programs, under a context policy: what svf.py and pointerbench.py share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import engine
import facts
from analyzer.evaluation.contexts.evaluate import InContexts
from analyzer.evaluation.program import compile_cached
from analyzer.evaluation.rule_sources import bundled, fact_schema
from analyzer.extraction.machine import ThisMachine
from rules import library

Evaluate = Callable[[facts.Mounted, str], engine.Result]


def evaluator(rules: Path, wanted: Sequence[str], directory: Path) -> Evaluate:
    """Return what evaluates the wanted relations of a scorer's rules on facts, under the policy of a name.

    Programs are kept in `directory`. Under a policy entities of clones are told apart; `content` says what they are.
    """
    analysis = [fact_schema(), *map(bundled, library.analysis())]
    sources = [*analysis, engine.Source(rules.name, rules.read_text())]
    program = compile_cached(sources, directory, wanted)

    def evaluate(mounted: facts.Mounted, policy: str) -> engine.Result:
        return InContexts(program, sources, analysis, wanted, mounted, ThisMachine(1), directory).evaluate(policy)

    return evaluate


def content(result: engine.Result, entity: int) -> tuple[int, ...]:
    """Return what names an entity: the same for an entity and its clones."""
    return tuple(result.records["Entity"][:, entity - 1].tolist())
