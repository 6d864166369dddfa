"""Policies of update or bootstrap: elastic incremental evaluation (Zhao et al., §3) and two extensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from time import perf_counter
from typing import Protocol

from engine.incremental.bounded_recursion import CannotUpdate
from engine.incremental.changes import Changes, difference
from engine.incremental.duration_model import SKIPS, DurationModel, Facts, weight
from engine.incremental.maintained_program import MaintainedProgram, nothing
from engine.operating_system import private_bytes

SWITCH = 0.2
"""The share of the last bootstrap's time that an update may take: the paper's switching parameter (§5.2)."""


class Abandoned(Exception):
    """Work in progress is abandoned."""


@dataclass
class Outcome:
    """The outcome of one epoch: `strategy` is "update" or "bootstrap", and why; `wasted_s` was spent on dropped work.

    `planned_s` is an update's time for plans, which later updates reuse.
    """

    strategy: str
    reason: str
    elapsed_s: float
    changes: Changes
    wasted_s: float = 0.0
    planned_s: float = 0.0


class UpdatePolicy(Protocol):
    """Brings a maintainer's view to its next state."""

    name: str

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome: ...


@dataclass
class Maintainer:
    """A view, the history of its evaluations, and the policy of update or bootstrap. `clock` returns seconds."""

    view: MaintainedProgram
    policy: UpdatePolicy
    durations: DurationModel = field(default_factory=DurationModel)
    clock: Callable[[], float] = perf_counter
    watch: Callable[[], None] = nothing

    def bootstrap(self, facts: Facts) -> float:
        """Evaluate from scratch. Return the elapsed seconds."""
        return self._evaluate(self.view, facts)

    def apply(self, inserted: Facts, deleted: Facts, watch: Callable[[], None] = nothing) -> Outcome:
        """Apply inserted and deleted facts as the policy decides.

        `watch` is called between pieces of work; what it raises ends that, and the view is as it was.
        """
        self.watch = watch
        try:
            return self.policy.apply(self, inserted, deleted)
        finally:
            self.watch = nothing

    def attempt(self, inserted: Facts, deleted: Facts, reason: str, budget_s: float = float("inf")) -> Outcome:
        """Update the view; bootstrap if that is impossible, or takes longer than the budget, excluding planning."""
        view, size = self.view, weight(self.view, inserted, deleted)
        begin, planned_s = self.clock(), view.planned_s

        def worked_s() -> float:
            return self.clock() - begin - (view.planned_s - planned_s)

        def watch() -> None:
            self.watch()
            if self.clock() - begin > budget_s and worked_s() > budget_s:
                raise Abandoned

        try:
            with view.watched(watch):
                changes = view.update(inserted, deleted)
        except Abandoned:
            # As long again, for all that is known: that is what half of all things that have lasted so long do.
            self.durations.remember(size, 2 * budget_s)
            return self.restart(inserted, deleted, f"an update took longer than {budget_s:.2f} s", self.clock() - begin)
        except CannotUpdate as error:
            return self.restart(inserted, deleted, str(error), self.clock() - begin)
        self.durations.remember(size, max(0.0, worked_s()))
        return Outcome("update", reason, self.clock() - begin, changes, planned_s=view.planned_s - planned_s)

    def restart(self, inserted: Facts, deleted: Facts, reason: str, wasted_s: float = 0.0) -> Outcome:
        """Bootstrap another view on the current facts, and replace the present one."""
        begin = self.clock()
        old, fresh = self.view, self.view.empty()
        with fresh.watched(self.watch):
            self._evaluate(fresh, old.next_facts(inserted, deleted))
        self.view, changes = fresh, Changes(lambda: difference(old, fresh))
        return Outcome("bootstrap", reason, self.clock() - begin + wasted_s, changes, wasted_s)

    def _evaluate(self, view: MaintainedProgram, facts: Facts) -> float:
        """Evaluate an empty view from scratch. Return the elapsed seconds, which policies compare updates with."""
        begin = self.clock()
        view.bootstrap(facts)
        self.durations.bootstrap_s = self.clock() - begin
        return self.durations.bootstrap_s


class UpdateOnly:
    """Always updates, unless that is impossible."""

    name = "update"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        return maintainer.attempt(inserted, deleted, "as asked for")


class BootstrapOnly:
    """Always bootstraps."""

    name = "bootstrap"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        return maintainer.restart(inserted, deleted, "as asked for")


@dataclass
class Elastic:
    """Updates, and bootstraps when that takes longer than a share of the last bootstrap (§3)."""

    switch: float = SWITCH
    name = "elastic"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        budget_s = self.switch * maintainer.durations.bootstrap_s
        reason = f"within {budget_s:.2f} s, {self.switch:.0%} of the last bootstrap"
        return maintainer.attempt(inserted, deleted, reason, budget_s)


@dataclass
class Predicted:
    """Chooses by the durations of past updates, and abandons an update when a bootstrap would have finished.

    Giving up there is the rule of the ski rental problem (Karlin et al., 1988): it takes at most twice as long as the
    better choice. A prediction may be wrong, so a bootstrap that it chooses must have been paid for: an update tried
    for a share q of a bootstrap's time, which the better choice then has taken, too, allows for q * SKIPS more, and
    there are never more than SKIPS. With the first bootstrap, which nobody can do without, all epochs together take at
    most 2 + SKIPS times as long as the better choice in each of them, if bootstraps take as long as each other; and
    where updates are always too slow, every (SKIPS + 1)-th epoch finds out, and they take (SKIPS + 2) / (SKIPS + 1)
    times as long as bootstraps alone. Plans are not counted: they are made once after a bootstrap.
    """

    name = "predicted"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        durations = maintainer.durations
        bound_s = durations.bootstrap_s
        expected_s = durations.expected_s(weight(maintainer.view, inserted, deleted))
        reason = f"expected to take {expected_s:.2f} s, the last bootstrap took {bound_s:.2f} s"
        if expected_s > bound_s and durations.skips >= 1:
            durations.skips -= 1
            return maintainer.restart(inserted, deleted, f"an update was {reason}")
        if not durations.updates:
            reason = f"the first one; the last bootstrap took {bound_s:.2f} s"
        elif expected_s > bound_s:
            reason = f"tried again, though {reason}"
        outcome = maintainer.attempt(inserted, deleted, reason, bound_s)
        share = 1.0
        if outcome.strategy == "update" and bound_s:
            share = (outcome.elapsed_s - outcome.planned_s) / bound_s
        durations.skips = min(SKIPS, durations.skips + SKIPS * share)
        return outcome


@dataclass
class Raced:
    """Runs both concurrently, and takes the first result; without memory for both, the update is dropped.

    So it takes at most twice as long as the better one would on all cores: Theorem 10 of Singh et al., with an update
    as heuristic A.
    """

    limit_bytes: int | None = None
    name = "raced"

    def apply(self, maintainer: Maintainer, inserted: Facts, deleted: Facts) -> Outcome:
        begin, old = maintainer.clock(), maintainer.view
        facts, fresh, won = old.next_facts(inserted, deleted), old.empty(), Event()
        found: list[object] = []

        def bootstrap() -> None:
            with fresh.watched(abandoning(won)):
                try:
                    fresh.bootstrap(facts)
                    won.set()
                except Abandoned:
                    return
                except BaseException as error:
                    found.append(error)
                    won.set()

        other = Thread(target=bootstrap)
        other.start()
        outcome, reason = None, "it was finished first"
        try:
            with old.watched(abandoning(won, self.limit_bytes, maintainer.watch)):
                changes = old.update(inserted, deleted)
            outcome = Outcome("update", reason, maintainer.clock() - begin, changes)
            won.set()
        except Abandoned:
            pass
        except CannotUpdate as error:
            reason = str(error)
        except BaseException:
            won.set()
            raise
        finally:
            other.join()
        if found:
            raise found[0]
        if outcome is not None:
            return outcome
        maintainer.view, maintainer.durations.bootstrap_s = fresh, maintainer.clock() - begin
        changes = Changes(lambda: difference(old, fresh))
        return Outcome("bootstrap", reason, maintainer.clock() - begin, changes)


def abandoning(won: Event, limit_bytes: int | None = None, more: Callable[[], None] = nothing) -> Callable[[], None]:
    """A watch that ends an evaluation when the other has won, when the process has become too large, or by one more."""

    def watch() -> None:
        more()
        if won.is_set() or (limit_bytes is not None and private_bytes() > limit_bytes):
            raise Abandoned

    return watch


POLICIES: dict[str, type[UpdatePolicy]] = {
    policy.name: policy for policy in (Predicted, Elastic, UpdateOnly, BootstrapOnly, Raced)
}
DEFAULT = Predicted.name
"""The policy with a bound on what a wrong choice costs; best on two of four workloads, near the best on the others."""
