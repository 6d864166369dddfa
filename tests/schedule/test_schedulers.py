"""Schedulers on random graphs with random changes: what they run, and when."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from random_traces import ancestors, traces
from simulation import Simulation

from engine.schedule.ancestors import Ancestors
from engine.schedule.dag import Dag
from engine.schedule.hybrid import Hybrid
from engine.schedule.interval_lists import IntervalList
from engine.schedule.level_based import LevelBased, LookAhead
from engine.schedule.signal_propagation import SignalPropagation

ALL = {
    "level": LevelBased,
    "lbl(0)": lambda dag: LookAhead(dag, k=0),
    "lbl(1)": lambda dag: LookAhead(dag, k=1),
    "lbl(3)": lambda dag: LookAhead(dag, k=3),
    "lbl": LookAhead,
    "interval": IntervalList,
    "signals": SignalPropagation,
    "hybrid": Hybrid,
    "hybrid with look-ahead": lambda dag: Hybrid(dag, lambda d, states: LookAhead(d, states, 2)),
}
RANDOM = settings(max_examples=4 * settings.default.max_examples)


@pytest.mark.parametrize("name", ALL)
@RANDOM
@given(trace=traces(), n_workers=st.integers(1, 4))
def test_each_activated_node_runs_once_and_not_before_its_active_ancestors(name, trace, n_workers):
    run, above, begun = Simulation(trace, ALL[name](trace.dag), n_workers), ancestors(trace.dag), 0
    running, active, done = set(), set(trace.initial), set()
    while True:
        for node in run.order[begun:]:
            assert node in active
            assert not above[node] & active and not above[node] & running
            running.add(node)
            active.remove(node)
        begun = len(run.order)
        if run.finished:
            break
        ended = run.running[0][-1]
        run.step()
        running.remove(ended)
        done.add(ended)
        active.update(set(trace.activates.get(ended, ())) - done)
    assert sorted(run.order) == sorted(trace.active())
    assert done == trace.active()


@pytest.mark.parametrize("name", ALL)
@RANDOM
@given(trace=traces(), n_workers=st.integers(1, 4))
def test_the_same_calls_get_the_same_answers(name, trace, n_workers):
    runs = [Simulation(trace, ALL[name](trace.dag), n_workers) for _ in range(2)]
    for run in runs:
        while not run.finished:
            run.step()
    assert runs[0].order == runs[1].order
    assert [run.spent() for run in runs[:1]] == [run.spent() for run in runs[1:]]


@pytest.mark.parametrize("name", ["interval", "signals", "hybrid", "lbl"])
@RANDOM
@given(trace=traces(), n_workers=st.integers(1, 4))
def test_no_worker_is_idle_while_a_node_could_run(name, trace, n_workers):
    """The graphs have fewer levels than LBL looks ahead by default. Signals go through idle nodes at once."""
    run, above = Simulation(trace, ALL[name](trace.dag), n_workers), ancestors(trace.dag)
    unfinished = set(trace.initial)
    while not run.finished:
        running = {node for _, _, node in run.running}
        could = {node for node in unfinished - running if not above[node] & unfinished}
        assert len(running) == n_workers or not could
        ended = run.running[0][-1]
        run.step()
        unfinished = (unfinished | set(trace.activates.get(ended, ()))) - {ended}


@RANDOM
@given(trace=traces())
def test_intervals_hold_the_ancestors_of_a_node_and_no_others(trace):
    found, every = Ancestors(trace.dag), np.arange(trace.dag.n)
    numbers = np.array(found.numbers)
    assert sorted(numbers) == every.tolist()
    for node, above in enumerate(ancestors(trace.dag)):
        assert set(np.flatnonzero(found.has(node, numbers)).tolist()) == above


def test_a_tree_takes_one_interval_a_node_and_a_worst_case_many():
    chain = Dag(100, [(i, i + 1) for i in range(99)])
    assert Ancestors(chain).n_intervals == 99
    # Every node of the lower half lies below the even ones of the upper half, or below the odd ones.
    split = Dag(200, [(2 * i + side, 100 + 2 * j + side) for i in range(50) for j in range(50) for side in (0, 1)])
    assert Ancestors(split).n_intervals <= 100
    # The sets of parents differ from one another in half of their members.
    worst = Dag(256, [(i, 128 + j) for i in range(128) for j in range(128) if (i & j).bit_count() % 2])
    assert Ancestors(worst).n_intervals > 128 * 128 / 8


def test_schedulers_for_a_graph_share_what_depends_on_it_alone():
    dag = Dag(3, [(0, 1), (1, 2)])
    first, second = IntervalList(dag), Hybrid(dag).parts[1]
    assert first.ancestors is second.ancestors is dag.ancestors


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        Dag(3, [(0, 1), (1, 2), (2, 1)])


def test_a_node_that_has_begun_cannot_be_activated():
    scheduler = LevelBased(Dag(2, [(0, 1)]))
    scheduler.begin([1])
    assert scheduler.next() == 1
    with pytest.raises(ValueError, match="node 1 is activated after it has begun"):
        scheduler.begin([1])


def test_a_node_whose_output_is_as_it_was_activates_nothing():
    """5 → 6 is in the graph, but 5 changes nothing that 6 reads; 3 is passed by, and 4 runs for what 0 changed."""
    dag = Dag(7, [(0, 1), (1, 2), (0, 4), (3, 4), (5, 6), (2, 6)])
    for make in ALL.values():
        scheduler = make(dag)
        scheduler.begin([0, 5])
        assert {scheduler.next(), scheduler.next()} == {0, 5}
        assert scheduler.next() is None
        scheduler.complete(5)
        assert scheduler.next() is None
        scheduler.complete(0, [4])
        assert scheduler.next() == 4
        scheduler.complete(4)
        assert scheduler.next() is None
