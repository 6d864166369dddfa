"""Policies by a clock that only goes when told: what they choose, what they say, and how much they can lose."""

from contextlib import contextmanager
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from engine.incremental import update_policy
from engine.incremental.bounded_recursion import CannotUpdate
from engine.incremental.duration_model import SKIPS, DurationModel
from engine.incremental.update_policy import Elastic, Maintainer, Predicted, UpdateOnly

TICK_S = 0.01


class Machine:
    """The time, and what evaluations take: bootstraps, updates in the epoch at hand, the plans of a view's first one.

    An update that takes None is not possible; that turns out half way through a bootstrap's time.
    """

    def __init__(self, bootstrap_s=1.0, plans_s=0.0):
        self.now_s, self.bootstrap_s, self.plans_s, self.update_s = 0.0, bootstrap_s, plans_s, 0.0


class MaintainedProgram:
    """As much of a view as a maintainer looks at."""

    def __init__(self, machine):
        self.machine, self.planned_s, self.watch = machine, 0.0, lambda: None
        self.relations = {"fact": SimpleNamespace(width=1)}
        self.bindings = SimpleNamespace(sizes=SimpleNamespace(fan_out=lambda name, columns: 0.0))

    @contextmanager
    def watched(self, watch):
        self.watch = watch
        yield
        self.watch = None

    def work(self, seconds):
        while seconds > 0:
            self.machine.now_s += min(TICK_S, seconds)
            seconds -= TICK_S
            self.watch()

    def bootstrap(self, facts):
        self.machine.now_s += self.machine.bootstrap_s

    def update(self, inserted, deleted):
        if not self.planned_s:
            self.machine.now_s += self.machine.plans_s
            self.planned_s = self.machine.plans_s
        if self.machine.update_s is None:
            self.work(self.machine.bootstrap_s / 2)
            raise CannotUpdate("a limit is outgrown")
        self.work(self.machine.update_s)
        return {}

    def next_facts(self, inserted, deleted):
        return {}

    def empty(self):
        return MaintainedProgram(self.machine)


@pytest.fixture(autouse=True)
def no_relations(monkeypatch):
    monkeypatch.setattr(update_policy, "difference", lambda old, new: {})


def begun(chosen, **machine):
    machine = Machine(**machine)
    maintainer = Maintainer(MaintainedProgram(machine), chosen, clock=lambda: machine.now_s)
    maintainer.bootstrap({})
    return machine, maintainer


def epoch(machine, maintainer, update_s, n_facts=10):
    """The seconds that an epoch takes, and its outcome, where an update would take this long."""
    machine.update_s, begin = update_s, machine.now_s
    outcome = maintainer.apply({"fact": np.zeros((1, n_facts), np.int32)}, {})
    assert outcome.elapsed_s == pytest.approx(machine.now_s - begin)
    return outcome.elapsed_s, outcome


def better_s(update_s, bootstrap_s=1.0):
    """What the better choice takes: a bootstrap where an update is not possible."""
    return bootstrap_s if update_s is None else min(update_s, bootstrap_s)


epochs = st.lists(
    st.tuples(st.sampled_from([None, 0.0, 0.02, 0.2, 0.5, 0.98, 1.05, 3.0, 20.0]), st.sampled_from([1, 10, 1000])),
    max_size=60,
)


@settings(max_examples=4 * settings.default.max_examples)
@given(epochs)
def test_all_epochs_take_at_most_a_constant_times_the_better_choices(epochs):
    machine, maintainer = begun(Predicted())
    best_s = 1.0
    for update_s, n_facts in epochs:
        epoch(machine, maintainer, update_s, n_facts)
        best_s += better_s(update_s)
        assert machine.now_s <= (2 + SKIPS) * best_s + TICK_S * len(epochs)


@settings(max_examples=4 * settings.default.max_examples)
@given(epochs)
def test_a_single_epoch_takes_at_most_twice_a_bootstrap(epochs):
    machine, maintainer = begun(Predicted())
    for update_s, n_facts in epochs:
        taken_s, outcome = epoch(machine, maintainer, update_s, n_facts)
        assert taken_s <= 2.0 + 2 * TICK_S
        if outcome.strategy == "update":
            assert taken_s == pytest.approx(update_s) and outcome.wasted_s == 0


def test_where_updates_are_always_too_slow_one_in_five_is_tried():
    machine, maintainer = begun(Predicted())
    outcomes = [epoch(machine, maintainer, 3.0)[1] for _ in range(20)]
    assert [at for at, outcome in enumerate(outcomes) if outcome.wasted_s] == [0, 5, 10, 15]
    assert machine.now_s == pytest.approx(1 + 20 + 4, abs=5 * TICK_S)


def test_an_update_is_tried_again_when_it_has_become_fast():
    machine, maintainer = begun(Predicted())
    for _ in range(12):
        epoch(machine, maintainer, 3.0)
    strategies = [epoch(machine, maintainer, 0.01)[1].strategy for _ in range(30)]
    first = strategies.index("update")
    assert first <= SKIPS and "bootstrap" not in strategies[first:]


def test_small_and_large_deltas_are_told_apart():
    """Small ones take 0.05 s, large ones 3 s: once each is known, none is chosen wrongly."""
    machine, maintainer = begun(Predicted())
    known = [(0.05, 10), (0.05, 12), (3.0, 10_000), (0.05, 9)]
    later = [(0.05, 11), (0.05, 8), (3.0, 9000), (0.05, 10), (3.0, 12_000), (0.05, 10), (3.0, 10_000)]
    for update_s, n_facts in known:
        epoch(machine, maintainer, update_s, n_facts)
    assert sum(epoch(machine, maintainer, *each)[0] for each in later) == pytest.approx(4 * 0.05 + 3 * 1.0)


def test_what_an_update_always_takes_is_not_taken_for_weight():
    """Each update takes 0.05 s and 1 ms for a fact: after one of 0 facts, one of 500 is not expected to take hours."""
    durations = DurationModel(1.0)
    for n_facts in (0, 1, 0, 2, 5, 0, 1, 100, 3, 0):
        durations.remember(n_facts, 0.05 + 0.001 * n_facts)
    assert 0.05 <= durations.expected_s(500) <= 0.55
    assert durations.expected_s(0) == pytest.approx(0.05, rel=0.1)


def test_a_large_delta_is_not_called_slow_because_small_ones_grow_with_their_weight():
    """Linear up to 10 facts; what 100,000 take is not known: an update is tried, and then it is."""
    machine, maintainer = begun(Predicted())
    for n_facts in (2, 4, 6, 8, 10):
        epoch(machine, maintainer, 0.005 * n_facts, n_facts)
    assert epoch(machine, maintainer, 0.3, 100_000)[1].strategy == "update"
    assert maintainer.durations.expected_s(100_000) == pytest.approx(0.3, rel=0.5)


def test_what_is_heavier_than_all_so_far_is_tried():
    """Commits of 9,000 facts take 0.4 s, one of 90,000 takes 0.6 s: nothing has shown that it would take 4 s."""
    machine, maintainer = begun(Predicted())
    for n_facts in (10, 9000, 20, 9000, 9100):
        epoch(machine, maintainer, 0.01 if n_facts < 100 else 0.4, n_facts)
    assert epoch(machine, maintainer, 0.6, 90_000)[1].strategy == "update"


def test_plans_are_not_taken_for_the_cost_of_updates():
    """Plans take three times as long as a bootstrap, and are made once: they neither end an update nor count later."""
    machine, maintainer = begun(Predicted(), plans_s=3.0)
    taken = [epoch(machine, maintainer, 0.1) for _ in range(3)]
    assert [outcome.strategy for _, outcome in taken] == ["update"] * 3
    assert [seconds for seconds, _ in taken] == pytest.approx([3.1, 0.1, 0.1])
    assert maintainer.durations.expected_s(10) == pytest.approx(0.1)


def test_an_update_that_is_not_possible_is_no_slow_update():
    machine, maintainer = begun(Predicted())
    epoch(machine, maintainer, 0.1)
    taken_s, outcome = epoch(machine, maintainer, None)
    assert (outcome.strategy, outcome.reason) == ("bootstrap", "a limit is outgrown")
    assert taken_s == pytest.approx(1.5) and outcome.wasted_s == pytest.approx(0.5)
    assert epoch(machine, maintainer, 0.1)[1].strategy == "update"


def test_a_history_goes_on_in_another_process():
    machine, maintainer = begun(Predicted())
    epoch(machine, maintainer, 3.0)
    epoch(machine, maintainer, 3.0)
    again = DurationModel.restored(maintainer.durations.notes())
    assert again == maintainer.durations and again.skips == SKIPS - 1


def test_the_reasons_say_what_was_expected():
    machine, maintainer = begun(Predicted())
    said = [epoch(machine, maintainer, seconds)[1] for seconds in (0.5, 0.5, *[3.0] * 9)]
    assert [f"{outcome.strategy}: {outcome.reason}" for outcome in said] == [
        "update: the first one; the last bootstrap took 1.00 s",
        "update: expected to take 0.50 s, the last bootstrap took 1.00 s",
        *["bootstrap: an update took longer than 1.00 s"] * 2,
        *["bootstrap: an update was expected to take 2.00 s, the last bootstrap took 1.00 s"] * 4,
        "bootstrap: an update took longer than 1.00 s",
        *["bootstrap: an update was expected to take 2.00 s, the last bootstrap took 1.00 s"] * 2,
    ]
    machine, maintainer = begun(Elastic(0.2))
    said = [epoch(machine, maintainer, seconds)[1] for seconds in (0.1, 0.3)]
    assert [f"{outcome.strategy}: {outcome.reason}" for outcome in said] == [
        "update: within 0.20 s, 20% of the last bootstrap",
        "bootstrap: an update took longer than 0.20 s",
    ]
    machine, maintainer = begun(UpdateOnly())
    assert epoch(machine, maintainer, 9.0)[1].strategy == "update"
