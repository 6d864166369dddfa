"""When to update and when to start again: elastic incremental evaluation (Zhao et al., §3) and two ways beyond it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Thread
from time import perf_counter
from typing import Protocol

import numpy as np

from engine.database import Columns
from engine.incremental.view import Change, View, difference
from engine.incremental.widened import CannotUpdate
from engine.storage.memory import resident_bytes

Facts = Mapping[str, Columns]

SWITCH = 0.2
"""The share of the last bootstrap's time that an update may take: the paper's switching parameter (§5.2)."""


class GivenUp(Exception):
    """What was under way is not to be finished."""


@dataclass
class Outcome:
    """What one epoch took: `strategy` is "update" or "bootstrap", and why; `wasted_s` went into what was dropped."""

    strategy: str
    reason: str
    elapsed_s: float
    changes: dict[str, Change]
    wasted_s: float = 0.0


class Policy(Protocol):
    """Brings a maintainer's view to its next state."""

    name: str

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome: ...


@dataclass
class Maintainer:
    """A view and how long its evaluations took.

    `bootstrap_s` is the time of the last bootstrap, `updates` the size and seconds of each update that was finished.
    """

    view: View
    policy: Policy
    bootstrap_s: float = 0.0
    updates: list[tuple[float, float]] = field(default_factory=list)

    def bootstrap(self, facts: Facts) -> float:
        """Evaluate from scratch; return the seconds it took."""
        begin = perf_counter()
        self.view.bootstrap(facts)
        self.bootstrap_s = perf_counter() - begin
        return self.bootstrap_s

    def apply(self, inserted: Facts, deleted: Facts) -> Outcome:
        """Take in facts inserted and deleted, as the policy decides."""
        begin = perf_counter()
        try:
            return self.policy.apply(self, inserted, deleted)
        except CannotUpdate as error:
            return self.restart(inserted, deleted, str(error), perf_counter() - begin)

    def update(self, inserted: Facts, deleted: Facts, reason: str, budget_s: float | None = None) -> Outcome:
        """Update the view. Raises GivenUp past the budget; then the view is in its old state, to be read only."""
        begin = perf_counter()

        def watch() -> None:
            if budget_s is not None and perf_counter() - begin > budget_s:
                raise GivenUp

        with self.view.watched(watch):
            changes = self.view.update(inserted, deleted)
        elapsed_s = perf_counter() - begin
        self.updates.append((weight(self.view, inserted, deleted), elapsed_s))
        return Outcome("update", reason, elapsed_s, changes)

    def restart(self, inserted: Facts, deleted: Facts, reason: str, wasted_s: float = 0.0) -> Outcome:
        """Bootstrap another view on the facts as they are now, in the place of the present one."""
        begin = perf_counter()
        old, self.view = self.view, self.view.empty()
        self.bootstrap(old.next_facts(inserted, deleted))
        changes = difference(old, self.view)
        return Outcome("bootstrap", reason, perf_counter() - begin + wasted_s, changes, wasted_s)


class UpdateOnly:
    """Never starts again."""

    name = "update"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        return maintainer.update(inserted, deleted, "as asked for")


class BootstrapOnly:
    """Always starts again."""

    name = "bootstrap"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        return maintainer.restart(inserted, deleted, "as asked for")


@dataclass
class Elastic:
    """Updates, and starts again when that takes longer than a share of the last bootstrap (§3)."""

    switch: float = SWITCH
    name = "elastic"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        begin, budget_s = perf_counter(), self.switch * maintainer.bootstrap_s
        try:
            return maintainer.update(inserted, deleted, f"within {budget_s:.2f} s", budget_s)
        except GivenUp:
            reason = f"an update took more than {self.switch:.0%} of the last bootstrap ({budget_s:.2f} s)"
            return maintainer.restart(inserted, deleted, reason, perf_counter() - begin)


@dataclass
class Predicted:
    """Chooses before it starts, by what past updates of such a weight took.

    An update that takes longer than a bootstrap is given up all the same.
    """

    name = "predicted"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        expected_s = expected(maintainer.updates, weight(maintainer.view, inserted, deleted))
        bound_s = maintainer.bootstrap_s
        if expected_s > bound_s:
            return maintainer.restart(inserted, deleted, f"an update is expected to take {expected_s:.2f} s")
        begin = perf_counter()
        try:
            return maintainer.update(inserted, deleted, f"expected to take {expected_s:.2f} s", bound_s)
        except GivenUp:
            wasted_s = perf_counter() - begin
            maintainer.updates.append((weight(maintainer.view, inserted, deleted), 2 * wasted_s))
            return maintainer.restart(inserted, deleted, f"an update took more than {bound_s:.2f} s", wasted_s)


@dataclass
class Raced:
    """Runs both side by side, and takes what is finished first; without memory for both, the update is dropped.

    So it takes at most twice as long as the better one would on all cores: Theorem 10 of Singh et al., with an update
    as heuristic A.
    """

    limit_bytes: int | None = None
    name = "raced"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        begin, old = perf_counter(), maintainer.view
        facts, fresh, won = old.next_facts(inserted, deleted), old.empty(), Event()
        found: list[object] = []

        def bootstrap() -> None:
            with fresh.watched(giving_up(won)):
                try:
                    fresh.bootstrap(facts)
                    won.set()
                except GivenUp:
                    return
                except BaseException as error:
                    found.append(error)
                    won.set()

        other = Thread(target=bootstrap)
        other.start()
        outcome = None
        try:
            with old.watched(giving_up(won, self.limit_bytes)):
                changes = old.update(inserted, deleted)
            outcome = Outcome("update", "it was finished first", perf_counter() - begin, changes)
            won.set()
        except GivenUp:
            pass
        except BaseException:
            won.set()
            raise
        finally:
            other.join()
        if found:
            raise found[0]
        if outcome is not None:
            return outcome
        maintainer.view, maintainer.bootstrap_s = fresh, perf_counter() - begin
        changes = difference(old, fresh)
        return Outcome("bootstrap", "it was finished first", perf_counter() - begin, changes)


def giving_up(won: Event, limit_bytes: int | None = None) -> Callable[[], None]:
    """A watch that ends an evaluation when the other has won, or when the process has become too large."""

    def watch() -> None:
        if won.is_set() or (limit_bytes is not None and resident_bytes() > limit_bytes):
            raise GivenUp

    return watch


def weight(view: View, inserted: Facts, deleted: Facts) -> float:
    """How much a delta touches: a fact counts for itself and for the tuples that share a value with it on average."""
    total = 0.0
    for name, columns in (*inserted.items(), *deleted.items()):
        relation = view.relations.get(name)
        if relation is not None and columns.size:
            fan_outs = [view.bindings.sizes.fan_out(name, (column,)) for column in range(relation.width)]
            total += columns.shape[1] * (1 + max(fan_outs, default=0.0))
    return total


def expected(updates: list[tuple[float, float]], size: float) -> float:
    """What an update of this weight is expected to take: the median, over past ones of similar weight, of the seconds
    for a unit; nothing is known before the first."""
    if not updates:
        return 0.0
    nearest = sorted(updates, key=lambda past: abs(np.log((past[0] + 1) / (size + 1))))[:5]
    return float(np.median([seconds / (past + 1) for past, seconds in nearest])) * (size + 1)


POLICIES: dict[str, type[Policy]] = {
    policy.name: policy for policy in (Elastic, UpdateOnly, BootstrapOnly, Predicted, Raced)
}
