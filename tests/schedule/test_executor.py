"""Strata of programs as a graph, and the running of activated ones on threads."""

import signal
import threading
import time

import hypothesis.strategies as st
import pytest
import reference
from hypothesis import given, settings
from random_traces import ancestors, traces

import engine
from engine.language.traverse import all_atoms
from engine.schedule.activation_graph import strata_of
from engine.schedule.dag import Dag
from engine.schedule.executor import DEFAULT, SCHEDULERS, run
from engine.schedule.level_based import LevelBased

PROGRAM = """
.decl e(x: number, y: number)
.input e
.decl f(x: number)
.input f
.decl path(x: number, y: number)
.decl back(x: number, y: number)
.decl odd(x: number)
.decl even(x: number)
.decl most(n: number)
.decl alone(x: number)
path(x, y) :- e(x, y).
path(x, z) :- path(x, y), e(y, z).
back(y, x) :- path(x, y).
odd(y) :- even(x), e(x, y).
even(0) :- f(0).
even(y) :- odd(x), e(x, y).
most(n) :- n = max x : { back(x, _), !f(x) }.
alone(x) :- f(x), !path(x, x).
"""


@pytest.fixture(scope="module")
def strata():
    program = engine.compile([PROGRAM])
    read = [{atom.relation for clause in s.clauses for atom in all_atoms(clause)} for s in program.strata]
    return program, strata_of([s.relations for s in program.strata], read)


def test_an_edge_leads_from_what_is_written_to_what_reads_it(strata):
    program, graph = strata
    named = {
        (",".join(program.strata[a].relations), ",".join(program.strata[b].relations))
        for a in range(graph.dag.n)
        for b in graph.dag.children[a]
    }
    assert named == {
        ("e", "path"),
        ("e", "odd,even"),
        ("f", "odd,even"),
        ("path", "back"),
        ("back", "most"),
        ("f", "most"),
        ("f", "alone"),
        ("path", "alone"),
    }


def test_a_change_activates_those_that_read_it(strata):
    program, graph = strata
    assert graph.writer["odd"] == graph.writer["even"]
    assert graph.activated(["path"]) == sorted([graph.writer["back"], graph.writer["alone"]])
    assert graph.activated(["odd", "most"]) == []


@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_strata_brought_up_to_date_as_scheduled_are_those_of_a_full_run(strata, name, n_workers):
    """A stratum is evaluated by the oracle, on what the relations hold at that time; from f it may not be reached."""
    program, graph = strata
    facts = {"e": {(0, 1), (1, 2), (2, 0)}, "f": {(0,), (3,)}}
    before, after = facts, {**facts, "f": {(0,), (3,), (2,)}}
    held = dict(reference.evaluate(program, before))
    expected = reference.evaluate(program, after)

    def work(node):
        stratum = program.strata[node]
        given = {n: rows for n, rows in {**held, **after}.items() if n not in stratum.relations or n in after}
        clauses = "\n".join(line for line in PROGRAM.splitlines() if line.split("(")[0] in stratum.relations)
        declared = "\n".join(line for line in PROGRAM.splitlines() if line.startswith(".decl"))
        inputs = "\n".join(f".input {n}" for n in given)
        found = reference.evaluate(engine.compile([f"{declared}\n{inputs}\n{clauses}"]), given)
        changed = [n for n in stratum.relations if found[n] != held[n]]
        held.update((n, found[n]) for n in stratum.relations)
        return graph.activated(changed)

    order = run(SCHEDULERS[name](graph.dag), [graph.writer["f"]], work, n_workers)
    assert held == expected
    assert sorted(order) == sorted(graph.writer[n] for n in ("f", "odd", "most", "alone"))


@pytest.mark.parametrize("name", SCHEDULERS)
@settings(max_examples=2 * settings.default.max_examples)
@given(trace=traces())
def test_on_threads_each_activated_node_runs_once_after_its_active_ancestors(name, trace):
    lock, begun, ended = threading.Lock(), {}, {}

    def work(node):
        with lock:
            begun[node] = len(begun) + len(ended)
        with lock:
            ended[node] = len(begun) + len(ended)
        return trace.activates.get(node, ())

    order = run(SCHEDULERS[name](trace.dag), trace.initial, work, 3)
    assert sorted(order) == sorted(trace.active())
    for node, above in enumerate(ancestors(trace.dag)):
        assert all(ended[a] <= begun[node] for a in above if node in begun and a in begun)


def test_as_many_nodes_run_side_by_side_as_there_are_workers():
    """Each waits for the two others: with fewer at a time, the barrier would break."""
    barrier = threading.Barrier(3, timeout=20)

    def work(node):
        barrier.wait()
        return ()

    assert sorted(run(SCHEDULERS[DEFAULT](Dag(3, [])), range(3), work, 3)) == [0, 1, 2]


@pytest.mark.parametrize("n_workers", [1, 2])
def test_after_an_exception_nothing_is_begun(n_workers):
    """Node 0 fails when node 1 has begun, if there is a second worker, which ends only when it is told to stop."""
    beside, told, begun = threading.Event(), threading.Event(), []

    def work(node):
        begun.append(node)
        if node == 0:
            assert n_workers == 1 or beside.wait(20)
            raise engine.EvaluationError("no value")
        beside.set()
        assert told.wait(20)
        return ()

    with pytest.raises(engine.EvaluationError, match="no value"):
        run(LevelBased(Dag(10, [])), range(10), work, n_workers, stop=told.set)
    assert sorted(begun) == [0, 1][:n_workers]


def test_an_interrupt_of_the_waiting_thread_ends_what_runs_beside_it():
    """The calling thread has nothing left to run when the signal comes."""
    beside, ended, told = threading.Event(), threading.Event(), threading.Event()
    n_threads, main = threading.active_count(), threading.main_thread()

    def work(node):
        if threading.current_thread() is main:
            assert beside.wait(20)
            return ()
        beside.set()
        assert ended.wait(20)
        signal.pthread_kill(main.ident, signal.SIGINT)
        assert told.wait(20)
        return ()

    class Watched(LevelBased):
        def complete(self, node, activated=()):
            super().complete(node, activated)
            ended.set()

    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background job ignores it.
    try:
        with pytest.raises(KeyboardInterrupt):
            run(Watched(Dag(2, [])), range(2), work, 2, stop=told.set)
    finally:
        signal.signal(signal.SIGINT, ignored)
    assert threading.active_count() == n_threads


@pytest.mark.parametrize("name", SCHEDULERS)
@given(trace=traces(), paying=st.sets(st.integers(0, 13)), n_workers=st.integers(1, 4))
def test_of_the_nodes_that_do_not_pay_one_runs_at_a_time(name, trace, paying, n_workers):
    lock, alone, n_at_once = threading.Lock(), threading.Lock(), []
    running = set()

    def work(node):
        with lock:
            running.add(node)
            n_at_once.append(len(running))
        if node not in paying:
            assert alone.acquire(blocking=False), "two at a time"
            time.sleep(0)
            alone.release()
        with lock:
            running.remove(node)
        return trace.activates.get(node, ())

    order = run(SCHEDULERS[name](trace.dag), trace.initial, work, n_workers, paying.__contains__)
    assert sorted(order) == sorted(trace.active())
    assert max(n_at_once, default=0) <= n_workers


def test_one_that_pays_runs_beside_those_that_do_not():
    """Node 0 ends only when 1 to 5 have, one of which begins last."""
    ended = [threading.Event() for _ in range(6)]

    def work(node):
        assert node or all(event.wait(20) for event in ended[1:])
        ended[node].set()
        return ()

    assert run(LevelBased(Dag(6, [])), range(6), work, 2, lambda node: node == 0)[-1] == 0
