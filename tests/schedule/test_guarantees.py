"""What Singh et al. (2020) prove of their schedulers, on counts of simulated time units."""

from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from random_traces import critical_path, longest_of_levels, traces
from simulation import Trace, race, simulate
from traces import of_table_1, tight

from engine.schedule.ancestors import Ancestors
from engine.schedule.dag import Dag
from engine.schedule.hybrid import Hybrid, Raced
from engine.schedule.interval_lists import IntervalList
from engine.schedule.level_based import LevelBased, LookAhead
from engine.schedule.signal_propagation import SignalPropagation

pytestmark = pytest.mark.slow

RANDOM = settings(max_examples=4 * settings.default.max_examples)
WORKERS = st.integers(1, 5)


def fan(n: int) -> Trace:
    """A source that takes long, and n nodes below it, all activated at first."""
    below = range(1, n + 1)
    dag = Dag(n + 1, [(0, node) for node in below])
    return Trace(dag, range(n + 1), {}, {0: 10, **dict.fromkeys(below, 1)})


def within(dag: Dag, cells: int) -> IntervalList:
    return IntervalList(dag, ancestors=Ancestors(dag, (cells - dag.n) // 2))


@RANDOM
@given(trace=traces(), n_workers=WORKERS)
def test_level_based_takes_a_step_for_each_event_of_a_node_and_for_each_level(trace, n_workers):
    """Theorem 2: O(n + L), here with its constant, however many nodes and edges are not active."""
    scheduler = LevelBased(trace.dag)
    n = len(simulate(trace, scheduler, n_workers).order)
    assert scheduler.n_steps <= 4 * n + trace.dag.n_levels + 1
    assert scheduler.n_messages == len(trace.initial) + sum(len(trace.activates.get(x, ())) for x in trace.active())


@RANDOM
@given(trace=traces(longest=1), n_workers=WORKERS)
def test_unit_tasks_take_their_work_over_the_processors_and_a_step_a_level(trace, n_workers):
    """Lemma 3."""
    makespan = simulate(trace, LevelBased(trace.dag), n_workers).clock
    assert makespan <= Fraction(trace.work(), n_workers) + trace.dag.n_levels


@RANDOM
@given(trace=traces(), n_workers=WORKERS, k=st.integers(0, 4))
def test_other_tasks_take_the_longest_of_each_level_as_well(trace, n_workers, k):
    """Lemma 7; looking ahead keeps to it, as what runs early does not run later."""
    bound = Fraction(trace.work(), n_workers) + sum(longest_of_levels(trace))
    assert simulate(trace, LevelBased(trace.dag), n_workers).clock <= bound
    assert simulate(trace, LookAhead(trace.dag, k=k), n_workers).clock <= bound


@RANDOM
@given(trace=traces(), n_workers=WORKERS)
def test_schedulers_that_leave_no_worker_idle_take_the_critical_path_as_well(trace, n_workers):
    """Graham's bound on list scheduling (1966): w/P + C."""
    bound = Fraction(trace.work(), n_workers) + critical_path(trace)
    for make in (IntervalList, Hybrid, SignalPropagation):
        assert simulate(trace, make(trace.dag), n_workers).clock <= bound


def test_on_the_tight_example_levels_take_quadratic_time_and_the_best_order_linear():
    """Figure 2: ΣSᵢ against L, as each level waits for its long task."""
    n_levels = 40
    figure = tight(n_levels)
    assert len(figure.active()) == 2 * n_levels - 1
    level_by_level = 1 + sum(n_levels - i + 1 for i in range(2, n_levels + 1))
    assert simulate(figure, LevelBased(figure.dag), n_levels).clock == level_by_level
    for make in (IntervalList, Hybrid, SignalPropagation, lambda dag: LookAhead(dag, k=n_levels)):
        assert simulate(figure, make(figure.dag), n_levels).clock == n_levels


def test_on_the_tight_example_a_search_of_k_levels_runs_k_levels_ahead():
    figure = tight(20)
    makespans = [simulate(figure, LookAhead(figure.dag, k=k), 20).clock for k in range(20)]
    assert makespans[0] == simulate(figure, LevelBased(figure.dag), 20).clock
    assert makespans == sorted(makespans, reverse=True)
    assert makespans[-1] == 20


@RANDOM
@given(trace=traces(), n_workers=WORKERS, step=st.integers(0, 3), query=st.integers(0, 3))
def test_two_schedulers_with_half_the_processors_each_take_twice_the_better(trace, n_workers, step, query):
    """Theorem 10 within the memory budget, with what scheduling takes."""
    level = simulate(trace, LevelBased(trace.dag), n_workers, step, query).clock
    interval = simulate(trace, IntervalList(trace.dag), n_workers, step, query).clock
    raced = Raced(trace.dag, within, 10_000)
    assert race(trace, raced, n_workers, step, query) == 2 * min(level, interval)
    assert raced.heuristic is not None


@RANDOM
@given(trace=traces(), n_workers=WORKERS, step=st.integers(0, 3), cells=st.integers(0, 100))
def test_a_heuristic_past_its_memory_is_dropped_and_twice_the_levels_is_kept(trace, n_workers, step, cells):
    """Theorem 10 with any memory budget: the heuristic has half of it, for its lists, too."""
    level = simulate(trace, LevelBased(trace.dag), n_workers, step).clock
    interval = simulate(trace, IntervalList(trace.dag), n_workers, step).clock
    raced = Raced(trace.dag, within, cells)
    makespan = race(trace, raced, n_workers, step)
    if raced.heuristic is None:
        assert level <= makespan <= 2 * level
    else:
        assert makespan == 2 * min(level, interval)
        assert raced.heuristic.n_cells <= cells // 2


def test_a_heuristic_whose_lists_do_not_fit_is_never_begun():
    figure = tight(30)
    raced = Raced(figure.dag, within, 2 * figure.dag.n + 20)
    assert raced.heuristic is None
    assert race(figure, raced, 8) == simulate(figure, LevelBased(figure.dag), 8).clock


def test_a_heuristic_that_outgrows_its_memory_is_dropped_on_the_way():
    figure = tight(30)
    lists = 2 * Ancestors(figure.dag).n_intervals + figure.dag.n
    raced = Raced(figure.dag, within, 2 * (lists + 4))
    assert raced.heuristic is not None
    level = simulate(figure, LevelBased(figure.dag), 30).clock
    assert level < race(figure, raced, 30) < 2 * level
    assert raced.heuristic is None


def test_sharing_a_queue_keeps_no_such_promise():
    """While a long task runs, the Hybrid asks of n nodes in turn whether they are below it; the levels just wait."""
    n = 300
    trace, n_workers = fan(n), 2
    costs = {"step_s": 0, "query_s": 1}
    level = simulate(trace, LevelBased(trace.dag), n_workers, **costs).clock
    assert level == 10 + n / 2
    interval = simulate(trace, IntervalList(trace.dag), n_workers, **costs).clock
    hybrid = simulate(trace, Hybrid(trace.dag), n_workers, **costs).clock
    assert hybrid > 2 * min(level, interval)
    assert race(trace, Raced(trace.dag, within, 10_000), n_workers, **costs) == 2 * min(level, interval)


def test_brute_force_sends_a_signal_along_every_edge():
    """Section II.C: O(V + E), while levels take O(n + L)."""
    job = of_table_1(5)
    run = simulate(job, SignalPropagation(job.dag), 8)
    assert run.scheduler.n_steps == job.dag.n + job.dag.n_edges == 1719 + 2430
    level = simulate(job, LevelBased(job.dag), 8).scheduler
    assert level.n_steps <= 4 * 296 + 39 + 1


@pytest.mark.parametrize("n_workers", [1, 3, 200])
def test_interval_lists_are_asked_about_each_pair_of_active_nodes(n_workers):
    """Section II.C. The source is asked against all n + 1, each node below it against the source; then n against n."""
    n = 100
    scheduler = simulate(fan(n), IntervalList(fan(n).dag), n_workers).scheduler
    assert scheduler.n_queries == (n + 1) + n + n * n
    assert scheduler.ancestors.n_intervals == 1


@pytest.mark.parametrize(
    ("number", "column"),
    [(3, (29185, 41506, 76, 560, 149)), (5, (1719, 2430, 6, 296, 39)), (8, (35283, 50511, 9, 177, 198))],
)
def test_a_trace_is_made_to_its_column_of_table_1(number, column):
    job = of_table_1(number)
    made = (job.dag.n, job.dag.n_edges, len(set(job.initial)), len(job.active()), job.dag.n_levels)
    assert made == column
    assert not any(job.dag.parents[node] for node in job.initial)
