"""Evaluation under a context policy: first without contexts, to choose them, then on the facts with clones.

In the results of the second evaluation, clones are replaced by their originals as far as reports see entities: by
names and places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

import engine
import facts
from analyzer.context_policies import INSENSITIVE, POLICIES, ContextCosts
from analyzer.evaluation.contexts.bodies import Bodies
from analyzer.evaluation.contexts.choose import GROWTH, Calls, choose, distinct, without
from analyzer.evaluation.contexts.clone import Cloned, clone
from analyzer.evaluation.program import GIVEN, compile_cached, evaluate_program
from analyzer.evaluation.recursion_bounds import INTO
from analyzer.evaluation.rule_sources import bundled
from analyzer.extraction.machine import Machine
from engine import Budget
from rules import library

ASKED = ("entered", "entered_on", "gives_no_context", "kept_whole", INTO)
"""The relations that contexts are chosen by (`rules/exports/contexts.dl`)."""
CLONES = frozenset(("clone_at", "clone_for", "has_clones", "is_clone", "fellow_clone", "repeated"))
"""The facts of `rules/lib/context_clones.dl`. Without a policy rules that read them are cut from the program."""
COPIES = 1 + int(GROWTH)
"""Factor on the bound on points-to rows without clones, beyond which its widest values are not propagated."""
COUNTED = ("resolved_call", "unresolved_call", "method_name_match")
"""Relations whose first column is counted: a call counts once, however many clones it is in."""


@dataclass
class InContexts:
    """Evaluates a program on mounted facts for relations that are wanted; what policies share is done once.

    The program is that of `sources`, `analysis` the part of these that contexts are chosen by: no checks.
    """

    program: engine.OutlinedProgram
    sources: Sequence[engine.Source]
    analysis: Sequence[engine.Source]
    wanted: Sequence[str]
    mounted: facts.Mounted
    machine: Machine
    directory: Path
    budget: Budget | None = None
    costs: list[ContextCosts] = field(default_factory=list)

    def evaluate(self, policy: str) -> engine.Result:
        """Return the relations under the policy of that name. Raises as `evaluate_program`."""
        if policy == INSENSITIVE:
            return evaluate_program(self.program, self.mounted, self.machine, self.wanted, budget=self.budget)
        bodies, calls, whole, wide = self.asked
        contexts = choose(bodies, calls, POLICIES[policy], whole)
        cloned = clone(bodies, contexts, wide)
        n_facts = sum(rows.shape[1] for rows in cloned.mounted.relations.values())
        self.costs.append(ContextCosts(policy, cloned.n_functions, cloned.n_clones, len(contexts.cut), n_facts))
        program = compile_cached(self.sources, self.directory, self.wanted, GIVEN | CLONES)
        evaluated = evaluate_program(program, cloned.mounted, self.machine, self.wanted, COPIES, self.budget)
        return without_clones(evaluated, cloned)

    @cached_property
    def asked(self) -> tuple[Bodies, Calls, np.ndarray, np.ndarray]:
        """The input of the choice of contexts: bodies, calls, functions that keep one context, wide values."""
        sources = [*self.analysis, bundled(library.contexts())]
        program = compile_cached(sources, self.directory, ASKED)
        result = evaluate_program(program, self.mounted, self.machine, ASKED, budget=self.budget)
        bodies = Bodies.of(self.mounted)
        wide = result.relation(INTO)[0].astype(np.int64)
        return bodies, *calls_of(result, bodies), wide[wide <= bodies.n]


def calls_of(result: engine.Result, bodies: Bodies) -> tuple[Calls, np.ndarray]:
    """Return the calls of an evaluation without contexts, and the functions that are not worth one.

    Among these are those whose receivers are made at no place of the facts, such as closures under decorators.
    """
    entered, received = (distinct(result.relation(name).astype(np.int64)) for name in ("entered", "entered_on"))
    known = (received <= bodies.n).all(axis=0)
    whole = np.concatenate([result.relation("kept_whole")[0], received[1, ~known]])
    entered = entered[:, (entered <= bodies.n).all(axis=0)]
    received = received[:, known]
    ambient, none = (np.isin(rows[0], result.relation("gives_no_context")[0]) for rows in (entered, received))
    received, ambient, entered = received[:, ~none], entered[:, ambient], entered[:, ~ambient]
    return Calls(without(entered, distinct(received[:2])), received, ambient), np.unique(whole[whole <= bodies.n])


def without_clones(result: engine.Result, cloned: Cloned) -> engine.Result:
    """Return the result with clones named as their originals, whose places they share."""
    entities = result.records["Entity"].copy()
    clones = np.arange(len(cloned.origin) - 1)
    entities[:, clones] = entities[:, cloned.origin[clones + 1] - 1]
    return replace(
        result, records={**result.records, "Entity": entities}, relations=Relations(result.relations, cloned.origin)
    )


class Relations(Mapping[str, np.ndarray]):
    """The relations of an evaluation with clones; in those that are COUNTED clones are what they are clones of."""

    def __init__(self, relations: Mapping[str, np.ndarray], origin: np.ndarray) -> None:
        self._relations, self._origin = relations, origin

    def __getitem__(self, name: str) -> np.ndarray:
        rows = self._relations[name]
        return np.concatenate([self._origin[rows[:1]], rows[1:]]) if name in COUNTED else rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._relations)

    def __len__(self) -> int:
        return len(self._relations)
