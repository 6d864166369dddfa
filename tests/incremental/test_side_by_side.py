"""Strata side by side: what comes of it is what comes of one after the other."""

import signal
import sys
import threading

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from hypothesis import given
from supports import TINY, check
from test_update import ANEW, DECLARED, RULES, applied, chosen_rules, columns, facts, state, update

import engine
from engine import tables
from engine.database import Database
from engine.evaluation.execution import Options
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.kernels.iterations import ABSENT
from engine.schedule.executor import SCHEDULERS

N_APART = 12
APART = engine.compile(
    [
        ".decl e(x: number, y: number)\n.input e\n"
        + "".join(
            f".decl p{i}(x: number, y: number)\np{i}(x, y) :- e(x, y), x != {i}.\np{i}(x, z) :- p{i}(x, y), e(y, z).\n"
            for i in range(N_APART)
        )
    ]
)
"""Recursions that read the same relation, by the same keys."""


@pytest.fixture(autouse=True, scope="module")
def threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(chosen_rules, facts, st.lists(update, max_size=3), st.booleans(), st.integers(2, 4))
def test_iterations_and_counts_are_those_of_one_thread(scheduler, rules, facts, updates, exact, threads):
    program = engine.compile([DECLARED + "\n".join(rule for rule in RULES if rule in rules)])
    several = MaintainedProgram(program, Database(), threads=threads, options=TINY, exact=exact, scheduler=scheduler)
    as_program = MaintainedProgram(program, Database(), threads=1, options=TINY, exact=exact)
    for view in (several, as_program):
        view.bootstrap(columns(program, facts))
    assert state(several) == state(as_program)
    for inserted, deleted in updates:
        for view in (several, as_program):
            view.update(columns(program, inserted), columns(program, deleted))
        assert state(several) == state(as_program)
        assert several.n_updated == as_program.n_updated
        check(several, exact)
    several.close()


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(chosen_rules, facts, st.lists(update, max_size=2))
def test_the_whole_language_is_what_it_means(scheduler, rules, facts, updates):
    """With texts and records made by several strata at a time."""
    program = engine.compile([DECLARED + "\n".join((*ANEW, *(rule for rule in RULES if rule in rules)))])
    view = MaintainedProgram(program, Database(), threads=3, options=TINY, scheduler=scheduler)
    view.bootstrap(columns(program, facts))
    for inserted, deleted in updates:
        view.update(columns(program, inserted), columns(program, deleted))
        facts = applied(facts, inserted, deleted)
    assert tables.decode(program, view.result(), program.relations) == reference.evaluate(program, facts)
    view.close()


def edges(*pairs):
    return {"e": np.array(pairs, np.int32).reshape(-1, 2).T}


def cycle(n):
    return edges(*((i, (i + 1) % n) for i in range(n)))


@pytest.fixture
def together(monkeypatch):
    """Lets the recursions of APART begin updates in groups of so many: each waits until all of its group have begun."""
    update = MaintainedStratum.update

    def begin(n):
        barrier = threading.Barrier(n, timeout=20)

        def waiting(stratum, *facts):
            if "e" not in stratum.names:
                barrier.wait()
            update(stratum, *facts)

        monkeypatch.setattr(MaintainedStratum, "update", waiting)

    return begin


@pytest.fixture
def one_at_a_time(monkeypatch):
    """Lets no update begin while another one is under way."""
    update, as_program = MaintainedStratum.update, threading.Lock()

    def only(stratum, *facts):
        assert as_program.acquire(blocking=False)
        update(stratum, *facts)
        as_program.release()

    monkeypatch.setattr(MaintainedStratum, "update", only)


@pytest.mark.parametrize("n", [2, 3])
def test_strata_run_side_by_side(together, n):
    view = MaintainedProgram(APART, Database(), threads=n, options=TINY)
    view.bootstrap(cycle(20))
    together(n)
    view.update(edges((3, 10)), edges((5, 6)))
    fresh = MaintainedProgram(APART, Database(), threads=1)
    fresh.bootstrap(edges((3, 10), *((i, (i + 1) % 20) for i in range(20) if i != 5)))
    assert state(view) == state(fresh)


EXPECTED = 19 * 20 / 21
"""Rows that each recursion is expected to touch for one more edge: of 20 nodes 19 reach all, over 21 edges then."""


def test_strata_expected_to_touch_more_rows_than_the_option_says_run_side_by_side(together):
    view = MaintainedProgram(APART, Database(), threads=2, options=Options(beside_rows=int(EXPECTED)))
    view.bootstrap(cycle(20))
    together(2)
    view.update(edges((3, 10)), edges())
    assert view.n_updated == N_APART + 1


@pytest.mark.parametrize("options", [Options(beside_rows=int(EXPECTED) + 1), Options()])
def test_others_run_one_after_the_other(one_at_a_time, options):
    view = MaintainedProgram(APART, Database(), threads=3, options=options)
    view.bootstrap(cycle(20))
    view.update(edges((3, 10)), edges())
    assert view.n_updated == N_APART + 1


class Abandoned(Exception):
    pass


@pytest.mark.parametrize("error", [Abandoned, KeyboardInterrupt])
def test_what_one_stratum_raises_ends_those_beside_it(monkeypatch, error):
    """Of two that have begun the one on the calling thread fails; the other one ends within an iteration."""
    together, failed, ended = threading.Barrier(2, timeout=20), threading.Event(), []
    propagate, stop = MaintainedStratum.propagate, MaintainedProgram.stop

    def telling(view):
        stop(view)
        failed.set()

    def failing(stratum, *batch):
        if "e" not in stratum.names and not ended:
            together.wait()
            if threading.current_thread() is threading.main_thread():
                if error is KeyboardInterrupt:
                    signal.raise_signal(signal.SIGINT)
                raise error
            ended.append(stratum)
            assert failed.wait(20)
        propagate(stratum, *batch)

    view = MaintainedProgram(APART, Database(), threads=2, options=TINY)
    view.bootstrap(cycle(60))
    monkeypatch.setattr(MaintainedProgram, "stop", telling)
    monkeypatch.setattr(MaintainedStratum, "propagate", failing)
    before = state(view)
    with pytest.raises(error):
        view.update(edges((3, 10)), edges((5, 6)))
    assert len(ended) == 1
    assert ended[0].iterations <= 1
    assert not any(relation.log for relation in view.tracked())
    assert {relation.name: before_all(relation) for relation in view.tracked()} == {
        n: set(t) for n, t in before.items()
    }


def before_all(relation):
    """The tuples of the state before the update that has failed."""
    there = np.flatnonzero(relation.before() != ABSENT)
    return {tuple(row) for row in relation.partitions[0].rows[: relation.width, there].T.tolist()}
