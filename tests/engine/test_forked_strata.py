"""Strata that a copy of the process evaluates: what it hands over, and what becomes of what it does not."""

import os
import signal
from dataclasses import dataclass, replace

import numpy as np
import pytest
from split_program import ARCS, EAGER, TEXT

import engine
from engine import tables
from engine.evaluation import split_evaluation
from engine.evaluation.evaluator import Evaluation
from engine.evaluation.forked_strata import ForkedStrata
from engine.evaluation.stratum_evaluation import StratumEvaluation
from engine.evaluation.translated_ids import MAX_NESTING
from engine.operating_system import can_fork
from engine.storage.memory import LEDGER, MemoryLimitReached

pytestmark = pytest.mark.skipif(not can_fork(), reason="the system cannot copy processes")


@dataclass
class Seen:
    """The strata that a copy was given, in one list each time, and those that it did not hand over."""

    given: list[list[int]]
    left: list[int] | None = None


@pytest.fixture
def copies(monkeypatch):
    made = []
    init, go_on, close = ForkedStrata.__init__, ForkedStrata.go_on, ForkedStrata.close

    def begin(self, strata, *rest):
        made.append(Seen([list(strata)]))
        init(self, strata, *rest)

    def give(self, task):
        made[-1].given.append(list(task.strata))
        go_on(self, task)

    def end(self):
        if self.is_running:
            made[-1].left = list(self.strata)
        close(self)

    monkeypatch.setattr(ForkedStrata, "__init__", begin)
    monkeypatch.setattr(ForkedStrata, "go_on", give)
    monkeypatch.setattr(ForkedStrata, "close", end)
    return made


def evaluated(threads=2, text=TEXT, options=EAGER, **others):
    program = engine.compile([text])
    result = engine.evaluate(program, engine.facts(program, {"arc": ARCS}), threads=threads, options=options, **others)
    return tables.decode(program, result, program.relations), result


def test_symbols_made_in_a_copy_and_here_are_the_same(copies):
    """Names are made aside, and compared and put together here. 9 nodes on a cycle reach all 9."""
    found, result = evaluated()
    assert [copy.left for copy in copies] == [[]], "a copy has handed over all of its strata"
    assert len(found["named"]) == 81 and ("node 3!", "node 4") in found["named"]
    assert found == evaluated(threads=1)[0]
    assert [s.relations for s in result.statistics] == [s.relations for s in evaluated(threads=1)[1].statistics]
    assert sum(s.rows for s in result.statistics) == sum(map(len, found.values()))


IN_TURN = """
.decl arc(x: number, y: number)
.decl step(x: number)
step(y) :- arc(_, y).
.decl reach(x: number, y: number)
.decl back(x: number, y: number)
reach(x, y) :- arc(x, y), step(y).
reach(x, z) :- back(y, x), reach(y, z).
back(y, x) :- reach(x, y).
.decl name(x: number, text: symbol)
name(x, cat("node ", to_string(x))) :- arc(x, _).
.decl both(x: number, text: symbol)
both(x, text) :- name(x, text), step(x).
"""


def positions(program):
    return {name: at for at, stratum in enumerate(program.strata) for name in stratum.relations}


def test_a_copy_goes_on_between_two_iterations(copies, monkeypatch):
    """It is given what waits for its first task, and for what leads to a recursion, during the recursion."""
    within, during, stratum, go_on = [], [], StratumEvaluation.stratum, ForkedStrata.go_on

    def evaluate(state, each):
        within.append(each.relations)
        done = stratum(state, each)
        within.pop()
        return done

    def tend_within(evaluation):
        while within and evaluation.receive(wait=True):
            pass
        if within or not copies:
            tend(evaluation)

    def give(self, task):
        during.append(within[-1:])
        go_on(self, task)

    tend = Evaluation.tend
    monkeypatch.setattr(StratumEvaluation, "stratum", evaluate)
    monkeypatch.setattr(Evaluation, "tend", tend_within)
    monkeypatch.setattr(ForkedStrata, "go_on", give)
    program = engine.compile([IN_TURN])
    result = engine.evaluate(program, engine.facts(program, {"arc": ARCS}), threads=2, options=EAGER)
    at = positions(program)
    assert [copy.given for copy in copies] == [[[at["name"]], [at["both"]]]]
    assert [set(names) for [names] in during] == [{"reach", "back"}]
    found = tables.decode(program, result, ["reach", "both"])
    assert len(found["reach"]) == 81
    assert found["both"] == {(y, f"node {y}") for _, y in ARCS}


TEND = Evaluation.tend


def tend_when_it_is_idle(evaluation):
    while evaluation.receive(wait=True):
        pass
    TEND(evaluation)


READ_LATER = """
.type Pair = [node: symbol, next: Pair]
.decl arc(x: number, y: number)
.decl first(x: number)
first(x) :- arc(x, _).
.decl reach(x: number, y: number)
reach(x, y) :- arc(x, y).
reach(x, z) :- reach(x, y), arc(y, z).
.decl far(x: number, most: number)
far(x, max<y>) :- reach(x, y).
.decl pair(p: Pair)
pair([cat("node ", to_string(x)), [cat("to ", to_string(y)), nil]]) :- reach(x, y), x = y.
.decl large(x: number, y: number)
large(x, y) :- far(x, y).
large(x, z) :- large(x, y), far(y, z).
.decl told(text: symbol, most: number)
told(t, y) :- pair([t, [_, nil]]), far(x, y), t = cat("node ", to_string(x)).
"""


@pytest.mark.parametrize("most_bytes", [1 << 25, 0])
def test_a_copy_is_given_what_was_derived_here_meanwhile(copies, monkeypatch, most_bytes):
    """Extrema, symbols and records made behind the fork; where they are too many, another copy begins with all."""
    monkeypatch.setattr(split_evaluation, "MOST_GIVEN_BYTES", most_bytes)
    monkeypatch.setattr(Evaluation, "tend", tend_when_it_is_idle)
    program = engine.compile([READ_LATER])
    result = engine.evaluate(program, engine.facts(program, {"arc": ARCS}), threads=2, options=EAGER)
    found = tables.decode(program, result, program.relations)
    assert found["told"] == {(f"node {x}", 8) for x in range(9)}
    assert found["pair"] == {((f"node {x}", (f"to {x}", None)),) for x in range(9)}
    last = copies[-1].given[-1]
    assert last == [positions(program)["told"]] and (len(copies) == 1) == bool(most_bytes)


def test_a_copy_that_is_killed_while_it_waits_is_not_waited_for(copies, monkeypatch):
    go_on = ForkedStrata.go_on

    def kill(self, task):
        os.kill(self._process, signal.SIGKILL)
        os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOWAIT)
        go_on(self, task)

    monkeypatch.setattr(ForkedStrata, "go_on", kill)
    monkeypatch.setattr(Evaluation, "tend", tend_when_it_is_idle)
    found, _ = evaluated(text=READ_LATER)
    assert copies[0].given[1:] and copies[0].left, "it was given more"
    assert found == evaluated(threads=1, text=READ_LATER)[0]


@pytest.mark.parametrize("reason", ["ends", "raises", "memory"])
def test_what_a_copy_does_not_hand_over_is_evaluated_here(copies, monkeypatch, reason):
    here, complete = os.getpid(), StratumEvaluation.evaluated

    def evaluate_some(self, stratum):
        if "longer" in stratum.relations and os.getpid() != here:
            if reason == "ends":
                os._exit(3)
            raise MemoryLimitReached(1, 1) if reason == "memory" else ValueError
        return complete(self, stratum)

    monkeypatch.setattr(StratumEvaluation, "evaluated", evaluate_some)
    found, _ = evaluated(options=replace(EAGER, aside_clauses=2))
    assert copies[0].left, "something was left"
    assert found == evaluated(threads=1)[0]


def test_a_system_without_room_for_a_process_evaluates_all_in_one(monkeypatch):
    n_open = len(os.listdir("/proc/self/fd"))

    def refuse():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    assert evaluated()[0] == evaluated(threads=1)[0]
    assert len(os.listdir("/proc/self/fd")) == n_open


def test_no_copy_outlives_an_evaluation_that_fails(copies, monkeypatch):
    started = []
    init = ForkedStrata.__init__

    def begin(self, *rest):
        init(self, *rest)
        started.append(self._process)

    def interrupted(self, stratum):
        raise KeyboardInterrupt

    monkeypatch.setattr(ForkedStrata, "__init__", begin)
    monkeypatch.setattr(StratumEvaluation, "stratum", interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluated()
    for process in started:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_there_is_no_copy_with_one_thread_limited_memory_a_profile_or_few_facts(copies):
    evaluated(threads=1)
    evaluated(memory_limit=LEDGER.held_bytes + (4 << 30))
    evaluated(profile=True)
    program = engine.compile([TEXT])
    few = replace(EAGER, aside_facts=len(ARCS) + 1)
    engine.evaluate(program, engine.facts(program, {"arc": ARCS}), threads=2, options=few)
    assert copies == []


NESTED = """
.type Name = [text: symbol, number: number]
.type List = [head: Name, tail: List]
.decl item(x: number)
.decl large(x: number)
large(x) :- item(x).
large(x) :- large(y), x = y.
.decl list(l: List, n: number)
list([[cat("item ", to_string(x)), x], nil], 1) :- item(x).
list([[cat("item ", to_string(x)), x], l], n + 1) :- item(x), list(l, n), n < LONG.
.decl doubled(l: List)
doubled([a, [a, nil]]) :- large(x), a = [cat("item ", to_string(x)), x].
.decl same(l: List, text: symbol)
same(l, text) :- list(l, _), doubled(l), l = [[text, _], _].
"""


@pytest.mark.parametrize("longest", [2, 3])
def test_records_made_in_a_copy_and_here_are_the_same(copies, longest):
    """Lists of pairs are made aside while lists of the same pairs are made here."""
    program = engine.compile([NESTED.replace("LONG", str(longest))])
    facts = engine.facts(program, {"item": [(1,), (2,), (3,)]})
    result = engine.evaluate(program, facts, threads=2, options=EAGER)
    assert copies[0].left == [], "a copy has handed over all of its strata"
    found = tables.decode(program, result, program.relations)
    assert len(found["list"]) == sum(3**n for n in range(1, longest + 1))
    names = [(f"item {x}", x) for x in (1, 2, 3)]
    assert found["same"] == {((name, (name, None)), name[0]) for name in names}


def test_records_nested_too_deep_to_hand_over_are_made_here(copies):
    longest = 2 * MAX_NESTING
    program = engine.compile([NESTED.replace("LONG", str(longest))])
    facts = engine.facts(program, {"item": [(1,)]})
    result = engine.evaluate(program, facts, threads=2, options=EAGER)
    assert copies[0].left, "something was left"
    found = tables.decode(program, result, program.relations)
    assert len(found["list"]) == longest and len(found["same"]) == 1


def test_branches_of_a_data_type_are_made_here(copies):
    text = """
    .type Tree = Leaf { text: symbol } | Node { left: Tree, right: Tree }
    .decl item(x: number)
    .decl large(x: number)
    large(x) :- item(x).
    large(x) :- large(y), x = y.
    .decl tree(t: Tree)
    tree($Node($Leaf(cat("item ", to_string(x))), $Leaf("end"))) :- item(x).
    .decl text(t: symbol)
    text(t) :- tree($Node($Leaf(t), _)), large(_).
    """
    program = engine.compile([text])
    result = engine.evaluate(program, engine.facts(program, {"item": [(1,), (2,)]}), threads=2, options=EAGER)
    assert tables.decode(program, result, ["text"]) == {"text": {("item 1",), ("item 2",)}}


def test_widened_facts_are_read_behind_the_recursion_alone(copies):
    text = """
    .decl arc(x: number, y: number)
    .decl blocked(x: number)
    .decl reach(x: number, y: number)
    reach(x, y) :- arc(x, y), !blocked(y).
    reach(x, z) :- reach(x, y), reach(y, z), !blocked(z).
    .decl told(x: number)
    told(x) :- blocked(x).
    .decl beside(x: number)
    beside(x) :- arc(x, _).
    """
    program = engine.compile([text])
    facts = {"arc": [(i, i + 1) for i in range(99)]}
    widening = engine.Widening("reach", [3000], "blocked", lambda rows: np.array([[50]], np.int32))
    for threads in (1, 2):
        result = engine.evaluate(
            program, engine.facts(program, facts), threads=threads, options=EAGER, widenings=[widening]
        )
        assert result.relation("told").tolist() == [[50]]
    assert copies


AHEAD = """
.decl arc(x: number, y: number)
.decl name(x: number, text: symbol)
name(x, cat("node ", to_string(x))) :- arc(x, _).
.decl there(x: number, y: number)
.decl back(x: number, y: number)
there(x, y) :- arc(x, y).
there(x, z) :- back(x, y), there(y, z).
back(x, z) :- there(x, y), there(y, z).
.decl both(x: number, text: symbol)
both(x, text) :- name(x, text), there(x, _), back(x, _).
"""
"""A name can be made while the recursion runs; what reads both waits for it."""


def test_no_copy_begins_where_this_process_holds_much(copies):
    program = engine.compile([READ_LATER])
    options = replace(EAGER, most_copied_bytes=0)
    result = engine.evaluate(program, engine.facts(program, {"arc": ARCS}), threads=2, options=options)
    assert tables.decode(program, result, ["told"])["told"] == {(f"node {x}", 8) for x in range(9)}
    assert not copies


@pytest.mark.parametrize(("most_bytes", "ends"), [(0, True), (1 << 60, False)])
def test_a_copy_that_waits_for_a_recursion_ends_where_this_process_holds_much(copies, monkeypatch, most_bytes, ends):
    monkeypatch.setattr(split_evaluation, "MOST_IDLE_BYTES", most_bytes)
    monkeypatch.setattr(Evaluation, "tend", tend_when_it_is_idle)
    during, end_copy = [], Evaluation.end_copy

    def ended(evaluation):
        during.append(evaluation.copy is not None and evaluation.order.is_at_goal)
        end_copy(evaluation)

    monkeypatch.setattr(Evaluation, "end_copy", ended)
    program = engine.compile([AHEAD])
    result = engine.evaluate(program, engine.facts(program, {"arc": ARCS}), threads=2, options=EAGER)
    assert tables.decode(program, result, ["both"])["both"] == {(x, f"node {x}") for x in range(9)}
    assert len(copies) == 1 and any(during) == ends
