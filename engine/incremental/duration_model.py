"""The durations of a program's past evaluations, and the prediction of the next update's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from engine.database import Columns
from engine.incremental.maintained_program import MaintainedProgram

Facts = Mapping[str, Columns]

SKIPS = 4
"""Maximum number of consecutive bootstraps chosen by prediction."""
REMEMBERED = 50
"""Number of past updates remembered."""
NEAREST = 3
"""Number of nearest past updates that a prediction uses."""
REACH = 10
"""Maximum ratio of weights of two updates that count as similar."""
FIXED = np.exp2(np.arange(48))
"""Candidates for the weight at which an update takes twice as long as at weight 0."""


@dataclass
class DurationModel:
    """The seconds of the last bootstrap, the weights and seconds of the last updates, the oldest first.

    `skips` is how many bootstraps may be chosen without trying an update, see `update_policy.Predicted`.
    """

    bootstrap_s: float = 0.0
    updates: list[tuple[float, float]] = field(default_factory=list)
    skips: float = SKIPS

    @classmethod
    def restored(cls, notes: Mapping[str, Any]) -> DurationModel:
        """Return the history that was saved as `notes`."""
        return cls(
            notes["bootstrap_s"], [(weight, elapsed_s) for weight, elapsed_s in notes["updates"]], notes["skips"]
        )

    def notes(self) -> dict[str, Any]:
        return asdict(self)

    def remember(self, weight: float, elapsed_s: float) -> None:
        self.updates = [*self.updates, (weight, elapsed_s)][-REMEMBERED:]

    def expected_s(self, weight: float) -> float:
        """Return what an update of this weight is expected to take; nothing is known before the first.

        The seconds are taken to grow with `fixed` + weight: what each update takes, however little it touches, counts
        as so much weight. The median says how fast, over the updates most alike, the last ones first among equals; if
        none is near, the nearest one speaks. What is heavier is expected to take no longer than they did: few commits
        take as much longer as they weigh more, and trying costs a bootstrap at most, not trying one each time.
        """
        if not self.updates:
            return 0.0
        weights, seconds = np.array(self.updates[::-1]).T
        fixed = fixed_weight(weights, seconds)
        distances = np.abs(np.log((weights + fixed) / (weight + fixed)))
        nearest = np.argsort(distances, kind="stable")[:NEAREST]
        nearest = nearest[distances[nearest] <= max(np.log(REACH), distances[nearest[0]])]
        times = np.minimum((weight + fixed) / (weights[nearest] + fixed), 1.0)
        return float(np.median(seconds[nearest] * times))


def fixed_weight(weights: np.ndarray, seconds: np.ndarray) -> float:
    """Return what, added to the weights, makes them most nearly proportional to the seconds.

    That has the least sum of absolute deviations of log(seconds) - log(fixed + weight) from their median.
    """
    logs = np.log(np.maximum(seconds, 1e-6)) - np.log(FIXED[:, None] + weights)
    deviations = np.abs(logs - np.median(logs, axis=1, keepdims=True)).sum(axis=1)
    return float(FIXED[np.argmin(deviations)])


def weight(view: MaintainedProgram, inserted: Facts, deleted: Facts) -> float:
    """Return the weight of a delta: a fact counts for itself and the average number of tuples that share its values.

    A deleted fact counts twice: for the tuples derived from it, and for their other derivations.
    """
    total = 0.0
    for facts, times in ((inserted, 1), (deleted, 2)):
        for name, columns in facts.items():
            relation = view.relations.get(name)
            if relation is not None and columns.size:
                fan_outs = [view.bindings.sizes.fan_out(name, (column,)) for column in range(relation.width)]
                total += times * columns.shape[1] * (1 + max(fan_outs, default=0.0))
    return total
