"""Steps of which nothing is known: from the last value that data comes to, to the first that reaches a place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.evaluation.program import FLOW
from analyzer.explanation.trial import NIL, Obstacle, TaintedData, Trial

WORDS = "data comes as far as {value}; {target} reaches the place, and no step from one to the other is known"

Lines = Mapping[int, tuple[int, int]]
"""The file and line of each entity that has one."""


def unknown_steps(trial: Trial, reaching: Sequence[Obstacle], begin: Sequence[int]) -> list[Obstacle]:
    """Return steps to values that reach the place, each from a tainted value in the last line before it.

    That is in the same function, or in one around it or calling it; data that begins at certain values may be anywhere
    in the file. Short steps have a low rank.
    """
    roots = [(trial.root(value), value) for value in begin]
    trial.insert("begins", roots)
    try:
        data, lines, bodies = TaintedData(trial), lines_of(trial), Bodies(trial)
        wanted = {root for root, _ in roots} or {NIL}
        open_values = {value for _, value in trial.listed("open_for")}
        tainted = [value for value in sorted(open_values & lines.keys()) if wanted & data.roots(value)]
        found = []
        for target in dict.fromkeys(each.value for each in reaching if each.value in lines):
            near = tainted if begin else [value for value in tainted if bodies.are_near(value, target)]
            value = last_before(trial, target, near, lines)
            if value is not None:
                rank = lines[target][1] - lines[value][1]
                step = (data.node(value), trial.root(target))
                found.append(Obstacle(FLOW, step, rank, WORDS, "", value, target))
        return found
    finally:
        trial.delete("begins", roots)


def last_before(trial: Trial, target: int, values: Sequence[int], lines: Lines) -> int | None:
    """Return a value in the last line before that of the target, in its file."""
    file, line = lines[target]
    before = [value for value in values if lines[value][0] == file and lines[value][1] < line]
    last = max((lines[value][1] for value in before), default=0)
    return max((value for value in before if lines[value][1] == last), key=trial.order, default=None)


def lines_of(trial: Trial) -> Lines:
    entities, files, lines = trial.rows("location")[:3].tolist()
    return dict(zip(entities, zip(files, lines, strict=True), strict=True))


class Bodies:
    """The functions that values stand in, and those that call these."""

    def __init__(self, trial: Trial) -> None:
        self._scopes: np.ndarray = trial.view.records["Entity"].columns[0]
        self._callers: dict[int, set[int]] = defaultdict(set)
        for call, function in trial.listed("call_target"):
            self._callers[function].add(int(self._scopes[call - 1]))

    def are_near(self, value: int, target: int) -> bool:
        """Return True if a value stands in the target's body, in one around it, or in one that calls it."""
        around = self._around(target)
        return int(self._scopes[value - 1]) in {*around, *self._callers.get(around[0], ())}

    def _around(self, value: int) -> list[int]:
        """Return the bodies around a value, from the inside; its module only if there is no other."""
        bodies, at = [], int(self._scopes[value - 1])
        while at != NIL:
            bodies.append(at)
            at = int(self._scopes[at - 1])
        return bodies[:-1] or bodies or [NIL]
