"""Strata that a second thread evaluates, and what becomes of those that it does not finish."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from split_program import ARCS, EAGER, TEXT

import engine
from engine import tables
from engine.evaluation.evaluator import Evaluation
from engine.evaluation.operators import Join, Operator, Segment
from engine.evaluation.semi_join import SemiJoin
from engine.evaluation.stratum_evaluation import StratumEvaluation
from engine.evaluation.worker_pool import Worker
from engine.kernels.csr_runs import LENGTH
from engine.operating_system import can_fork
from engine.storage.arrangement import Arrangement
from engine.storage.narrowed_arrangement import narrowed
from engine.storage.partition import Block

pytestmark = pytest.mark.skipif(not can_fork(), reason="where no copy can be made strata stay in order")

BESIDE = replace(EAGER, most_copied_bytes=0)


def evaluated(threads=2, options=BESIDE, **others):
    program = engine.compile([TEXT])
    result = engine.evaluate(program, engine.facts(program, {"arc": ARCS}), threads=threads, options=options, **others)
    return tables.decode(program, result, program.relations)


@pytest.fixture
def threads(monkeypatch):
    """The relations of each stratum, by the thread that has evaluated it. The first waits for the second one's."""
    found = {"here": [], "beside": []}
    evaluate, beside, next_here = Evaluation.evaluate, Evaluation.evaluate_beside, Evaluation.next

    def evaluate_here(self, at):
        found["here"] += self.strata[at].relations
        return evaluate(self, at)

    def evaluate_beside(self, state, at):
        done = beside(self, state, at)
        found["beside"] += self.strata[at].relations
        return done

    def give_way(self):
        with self.changed:
            while self.beside is not None and self.beside.is_at_work:
                self.changed.wait()
            return next_here(self)

    monkeypatch.setattr(Evaluation, "evaluate", evaluate_here)
    monkeypatch.setattr(Evaluation, "evaluate_beside", evaluate_beside)
    monkeypatch.setattr(Evaluation, "next", give_way)
    return found


def test_two_threads_derive_what_one_does(threads):
    found = evaluated()
    assert {"name", "longer"} <= set(threads["beside"]) and "reach" in threads["here"]
    assert sorted(threads["here"] + threads["beside"]) == sorted(found)
    assert len(found["named"]) == 81 and ("node 3!", "node 4") in found["named"]
    assert found == evaluated(threads=1)


def alive():
    return [thread.name for thread in threading.enumerate() if thread.name == "strata"]


@pytest.mark.parametrize("error", [ValueError, MemoryError, KeyboardInterrupt])
def test_what_the_second_thread_does_not_finish_is_evaluated_here(threads, monkeypatch, error):
    complete = StratumEvaluation.evaluated

    def fail_beside(self, stratum):
        done = complete(self, stratum)
        if "longer" in stratum.relations and threading.current_thread().name == "strata":
            raise error
        return done

    monkeypatch.setattr(StratumEvaluation, "evaluated", fail_beside)
    found = evaluated()
    assert "longer" in threads["here"] and "longer" not in threads["beside"]
    assert found == evaluated(threads=1)
    assert not alive()


def test_an_evaluation_that_fails_ends_the_second_thread(threads, monkeypatch):
    complete, begun = StratumEvaluation.evaluated, threading.Event()

    def fail(self, stratum):
        if threading.current_thread().name == "strata":
            begun.set()
        elif "reach" in stratum.relations:
            assert begun.wait(60)
            raise ValueError("here")
        return complete(self, stratum)

    monkeypatch.setattr(StratumEvaluation, "evaluated", fail)
    with pytest.raises(ValueError, match="here"):
        evaluated()
    assert begun.is_set() and not alive()


def test_there_is_one_thread_where_rules_have_a_budget(threads):
    budget = engine.Budget({"name": ["untrusted.dl"]}, rows=100, seconds=60.0)
    assert evaluated(budget=budget)["name"] and threads["beside"] == []


def test_there_is_one_thread_where_a_copy_can_be_made(threads):
    evaluated(options=replace(EAGER, most_copied_bytes=1 << 40))
    assert threads["beside"] == []


def arranged(*columns):
    """Rows of one key, 1, with these columns beside it, arranged by it; nothing is added any more."""
    rows = np.array([[1] * len(columns[0]), *columns], np.int32)
    arrangement = Arrangement([0], len(rows), np.dtype(np.int32), grows=False)
    arrangement.add([Block(rows, 0, rows.shape[1])])
    arrangement.build_arena([Block(rows, 0, rows.shape[1])])
    return arrangement


ONE_KEY = np.array([[1]], np.int32)
FIRST = np.zeros(1, np.int64)


def test_a_join_goes_on_while_what_it_reads_is_put_in_order():
    """Half of the pairs are read before the runs are sorted, the others after it: each is read once."""
    arrangement, out, found = arranged([5, 3, 9, 1, 7, 2]), np.empty((2, 3), np.int32), []
    for n in arrangement.pairs(ONE_KEY, 1, FIRST, LENGTH, FIRST, FIRST, out):
        found += out[1, :n].tolist()
        if not arrangement.order:
            arrangement.sort([1])
    assert sorted(found) == [1, 2, 3, 5, 7, 9]
    assert arrangement.arena[0, :6].tolist() == [1, 2, 3, 5, 7, 9]


def test_a_part_of_a_run_is_read_while_its_order_is_refined():
    arrangement, out, found = arranged([4] * 6, [5, 3, 9, 1, 7, 2]), np.empty((2, 3), np.int32), []
    part, key = narrowed(arrangement, [1]), np.array([[1], [4]], np.int32)
    for n in part.pairs(key, 1, np.arange(2), LENGTH, FIRST, np.ones(1, np.int64), out):
        found += out[1, :n].tolist()
        assert narrowed(arrangement, [1, 2]) is not None
    assert sorted(found) == [1, 2, 3, 5, 7, 9]
    assert arrangement.order == (1, 2)


def test_a_semi_join_tries_each_match_while_they_are_put_in_order():
    """No match passes, so each has to be tried: the first four before the runs are sorted, the others after it."""
    arrangement, tried = arranged([5, 3, 9, 1, 7, 2]), []
    segment = Segment(0)
    for _ in range(3):
        segment.register(wide=False)

    class Refuse(Operator):
        def apply(self, worker, chunk, n):
            tried.extend(chunk[2, :n].tolist())
            if not arrangement.order:
                arrangement.sort([1])
            return 0

    join = Join("to", arrangement, False, [0], segment, [0, 1], [1])
    chunk = np.array([[1], [0]], np.int32)
    assert SemiJoin(join, [Refuse()], 1, 1, [0]).apply(Worker(8, 8, bool), chunk, 1) == 0
    assert sorted(tried) == [1, 2, 3, 5, 7, 9]
