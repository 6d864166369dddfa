"""A bootstrap of which a copy of the process evaluates strata: the same tuples, iterations and counts as without."""

import os

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from supports import check
from test_update import ANEW, DECLARED, RULES, applied, chosen_rules, columns, facts, state, update

import engine
from engine import tables
from engine.database import Database
from engine.evaluation import split_evaluation
from engine.evaluation.execution import Options
from engine.evaluation.forked_strata import ForkedStrata
from engine.incremental import split_bootstrap
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.split_bootstrap import SplitBootstrap
from engine.operating_system import can_fork

pytestmark = pytest.mark.skipif(not can_fork(), reason="the system cannot copy processes")

EAGER = Options(large_clauses=1, aside_clauses=1, aside_facts=0)
LARGE = "odd(x, y) :- edge(x, y).", "odd(x, z) :- even(x, y), edge(y, z).", "even(x, z) :- odd(x, y), edge(y, z)."
"""A recursion of two relations: beside it a copy is at work."""


@pytest.fixture(autouse=True, scope="module")
def other_tests_leave_threads():
    patched = pytest.MonkeyPatch()
    patched.setattr(split_bootstrap, "active_count", lambda: 1)
    yield
    patched.undo()


@pytest.fixture
def handed_over(monkeypatch):
    """The strata that copies have handed over."""
    found, receive = [], ForkedStrata.receive

    def received(self, wait):
        finished = receive(self, wait)
        found.extend(finished.strata if finished is not None else ())
        return finished

    monkeypatch.setattr(ForkedStrata, "receive", received)
    return found


def bootstrapped(program, given_facts, threads):
    view = MaintainedProgram(program, Database(), threads=threads, options=EAGER, by_demand=True)
    view.bootstrap(columns(program, given_facts))
    return view


@settings(max_examples=40)
@given(chosen_rules, facts, st.lists(update, max_size=2))
def test_iterations_and_counts_are_those_of_one_process(rules, facts, updates):
    chosen = [rule for rule in RULES if rule in rules or rule in LARGE]
    program = engine.compile([DECLARED + "\n".join(chosen)])
    views = [bootstrapped(program, facts, threads) for threads in (1, 2)]
    assert state(views[0]) == state(views[1])
    for inserted, deleted in updates:
        for view in views:
            view.update(columns(program, inserted), columns(program, deleted))
        assert state(views[0]) == state(views[1])
        check(views[1], exact=True)


@settings(max_examples=40)
@given(chosen_rules, facts, st.lists(update, max_size=2))
def test_the_whole_language_is_what_it_means(rules, facts, updates):
    """With texts and records made on both sides."""
    program = engine.compile([DECLARED + "\n".join((*ANEW, *(r for r in RULES if r in rules or r in LARGE)))])
    view = bootstrapped(program, facts, 2)
    assert tables.decode(program, view.result(), program.relations) == reference.evaluate(program, facts)
    for inserted, deleted in updates:
        view.update(columns(program, inserted), columns(program, deleted))
        facts = applied(facts, inserted, deleted)
        assert tables.decode(program, view.result(), program.relations) == reference.evaluate(program, facts)


TEXT = """
.decl arc(x: number, y: number)
.decl odd(x: number, y: number)
.decl even(x: number, y: number)
odd(x, y) :- arc(x, y).
odd(x, z) :- even(x, y), arc(y, z).
even(x, z) :- odd(x, y), arc(y, z).
.decl name(x: number, text: symbol)
name(x, cat("node ", to_string(x))) :- arc(x, _).
name(7, "node 7").
.decl longer(x: number, text: symbol)
longer(x, cat(text, "!")) :- name(x, text).
.decl nameless(x: number)
nameless(x) :- odd(_, x), !name(x, _).
.decl both(x: number, text: symbol)
both(x, text) :- longer(x, text), odd(x, _), name(_, text).
both(x, text) :- longer(x, text), odd(x, _).
"""


@pytest.mark.parametrize("most_bytes", [0, 1 << 25])
def test_what_a_copy_hands_over_goes_on_here(handed_over, monkeypatch, most_bytes):
    monkeypatch.setattr(split_evaluation, "MOST_GIVEN_BYTES", most_bytes)
    program = engine.compile([TEXT])
    arcs = {"arc": np.array([[0, 1, 2, 3], [1, 2, 3, 0]], np.int32)}
    view = MaintainedProgram(program, Database(), threads=2, options=EAGER, by_demand=True)
    view.bootstrap(arcs)
    evaluated = {name for at in handed_over for name in view.strata[at].names}
    assert {"name", "longer"} <= evaluated
    view.update({"arc": np.array([[3], [4]], np.int32)}, {"arc": np.array([[2], [3]], np.int32)})
    found = tables.decode(program, view.result(), ["name", "longer", "nameless", "both"])
    assert found["name"] == {(x, f"node {x}") for x in (0, 1, 3, 7)}
    assert found["longer"] == {(x, f"node {x}!") for x in (0, 1, 3, 7)}
    assert found["nameless"] == {(2,), (4,)}
    assert found["both"] == {(x, f"node {x}!") for x in (0, 1, 3)}


def test_strata_that_a_copy_fails_at_are_evaluated_here(handed_over, monkeypatch):
    here, bootstrap = os.getpid(), MaintainedStratum.bootstrap

    def fails_there(self, *given):
        if os.getpid() != here and "longer" in self.names:
            raise MemoryError
        bootstrap(self, *given)

    monkeypatch.setattr(MaintainedStratum, "bootstrap", fails_there)
    program = engine.compile([TEXT])
    view = MaintainedProgram(program, Database(), threads=2, options=EAGER, by_demand=True)
    view.bootstrap({"arc": np.array([[0], [1]], np.int32)})
    assert "longer" not in {name for at in handed_over for name in view.strata[at].names}
    assert tables.decode(program, view.result(), ["longer"])["longer"] == {(0, "node 0!"), (7, "node 7!")}


def test_a_copy_forgets_arrangements_that_nothing_reads_any_more(handed_over, monkeypatch):
    here, tend, forget_arrangements = os.getpid(), SplitBootstrap.tend, MaintainedRelation.forget_arrangements
    told, telling = os.pipe()

    def forget(self):
        if os.getpid() != here:
            os.write(telling, f"{self.name}\n".encode())
        forget_arrangements(self)

    def tend_when_it_is_idle(self):
        while self.receive(wait=True):
            pass
        tend(self)

    monkeypatch.setattr(MaintainedRelation, "forget_arrangements", forget)
    monkeypatch.setattr(SplitBootstrap, "tend", tend_when_it_is_idle)
    chain = ".decl next(x: number)\nnext(x) :- arc(x, _).\n.decl last(x: number)\nlast(x) :- next(x), x > 1.\n"
    view = MaintainedProgram(engine.compile([TEXT + chain]), Database(), threads=2, options=EAGER, by_demand=True)
    view.bootstrap({"arc": np.array([[0, 1, 2], [1, 2, 0]], np.int32)})
    os.close(telling)
    with open(told) as names:
        forgotten = set(names.read().split())
    evaluated = {name for at in handed_over for name in view.strata[at].names}
    read = {relation.name for stratum in view.strata for relation in stratum.inputs}
    assert "last" in evaluated - read
    assert evaluated - read <= forgotten
