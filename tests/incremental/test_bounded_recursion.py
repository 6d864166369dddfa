"""A bounded recursion: after any updates what an evaluation from scratch with the same widening gives."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import engine
from engine.database import Database
from engine.incremental.bounded_recursion import Bound, BoundedRecursion
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.saved_state import State
from engine.incremental.support_query import supports
from engine.incremental.update_policy import Elastic, Maintainer

TEXT = """
.decl arc(x: number, y: number)
.decl wide(x: number)
.decl reach(x: number, y: number)
reach(x, y) :- arc(x, y), !wide(x).
reach(x, z) :- reach(x, y), arc(y, z), !wide(x).
.decl back(x: number)
back(x) :- reach(x, y), reach(y, x).
reach(x, x) :- seed(x), !wide(x).
.decl seed(x: number)
.decl stop(x: number)
stop(x) :- wide(x), arc(x, _).
"""
PROGRAM = engine.compile([TEXT])
PAIRED = engine.compile(
    [
        TEXT.replace("reach(x, z) :- reach(x, y), arc(y, z), !wide(x).", "reach(x, z) :- pair(x, z), !wide(x).")
        + ".decl pair(x: number, y: number)\npair(x, z) :- reach(x, y), arc(y, z)."
    ]
)
"""Rows of `pair` may count, too: they are of the same recursion."""
WIDTHS = (6, 4, 2)


def wide_values(width, rows):
    counts = np.bincount(rows[0])
    return np.flatnonzero(counts > min(width, int(counts.max()) - 1)).astype(np.int32)[None, :]


def from_scratch(facts, limits, program=PROGRAM, counted=(), width=0):
    widths = iter(WIDTHS)
    widening = engine.Widening("reach", limits, "wide", lambda rows: wide_values(next(widths), rows), counted, width)
    result = engine.evaluate(program, Database(relations=columns(facts)), threads=1, widenings=[widening])
    return {name: set(zip(*result.relation(name).tolist(), strict=True)) for name in program.relations}


def columns(facts):
    arity = {"arc": 2, "seed": 1}
    return {name: np.array(sorted(rows), np.int32).reshape(len(rows), arity[name]).T for name, rows in facts.items()}


def found(view):
    return {name: set(zip(*view.columns(name).tolist(), strict=True)) for name in view.program.relations}


number = st.integers(0, 9)
facts = st.fixed_dictionaries(
    {"arc": st.sets(st.tuples(number, number), max_size=24), "seed": st.sets(st.tuples(number), max_size=3)}
)
few = st.fixed_dictionaries(
    {"arc": st.sets(st.tuples(number, number), max_size=3), "seed": st.sets(st.tuples(number), max_size=1)}
)
updates = st.lists(st.tuples(few, few, st.integers(-2, 2)), max_size=4)


@pytest.mark.parametrize(
    ("program", "counted", "width"),
    [(PROGRAM, (), 0), (PAIRED, ("pair",), 0), (PROGRAM, (), 2), (PAIRED, ("pair",), 3)],
)
@settings(max_examples=4 * settings.default.max_examples)
@given(facts, updates, st.tuples(*[st.integers(5, 40)] * len(WIDTHS)))
def test_updates_choose_what_an_evaluation_from_scratch_chooses(program, counted, width, facts, updates, limits):
    choices = [lambda rows, width=width: wide_values(width, rows) for width in WIDTHS]
    bound = Bound("reach", limits, "wide", choices, counted, width)
    maintainer = Maintainer(MaintainedProgram(program, Database(), threads=1, bounds=[bound]), Elastic(1e9))
    maintainer.bootstrap(columns(facts))
    assert found(maintainer.view) == from_scratch(facts, limits, program, counted, width)
    for inserted, deleted, more in updates:
        bound.max_rows = [max(1, limit + more) for limit in bound.max_rows]
        maintainer.apply(columns(inserted), columns(deleted))
        facts = {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}
        assert found(maintainer.view) == from_scratch(facts, bound.max_rows, program, counted, width)


def test_a_small_update_of_a_widened_recursion_is_an_update():
    """A ring of 60 is cut off in iteration 9, at 540 pairs; then values with more than 6 objects are wide."""
    ring = {"arc": {(x, (x + 1) % 60) for x in range(60)} | {(100, 101)}, "seed": set()}
    bound = Bound("reach", [500], "wide", [lambda rows: wide_values(6, rows)])
    maintainer = Maintainer(MaintainedProgram(PROGRAM, Database(), threads=1, bounds=[bound]), Elastic(1e9))
    maintainer.bootstrap(columns(ring))
    (stratum,) = [s for s in maintainer.view.strata if isinstance(s, BoundedRecursion)]
    assert [level.last for level in stratum.levels] == [9]
    outcome = maintainer.apply({"arc": np.array([[101], [102]], np.int32)}, {})
    assert outcome.strategy == "update"
    assert found(maintainer.view)["reach"] == {(100, 101), (100, 102), (101, 102)}
    ((positive, absent),) = supports(maintainer.view, "reach", (100, 102))
    assert sorted(positive) == [("arc", (101, 102)), ("reach", (100, 101))] and absent == [("wide", (100,))]


def test_a_level_follows_the_iteration_in_which_it_outgrows_the_limit():
    """A ring of n has n pairs more with each iteration: beyond 500 it is in iteration 9 (60), 6 (90), 11 (50)."""
    bound = Bound("reach", [500], "wide", [lambda rows: wide_values(6, rows)])
    maintainer = Maintainer(MaintainedProgram(PROGRAM, Database(), threads=1, bounds=[bound]), Elastic(1e9))
    maintainer.bootstrap(columns(facts := {"arc": ring(60), "seed": set()}))
    (stratum,) = [s for s in maintainer.view.strata if isinstance(s, BoundedRecursion)]
    for n, last in ((60, 9), (90, 6), (50, 11), (61, 9)):
        arcs = ring(n)
        outcome = maintainer.apply(columns({"arc": arcs - facts["arc"]}), columns({"arc": facts["arc"] - arcs}))
        facts["arc"] = arcs
        assert outcome.strategy == "update" and [level.last for level in stratum.levels] == [last]
        assert found(maintainer.view) == from_scratch(facts, [500])


def test_an_abort_leaves_a_level_cut_off_where_it_was():
    bound = Bound("reach", [500], "wide", [lambda rows: wide_values(6, rows)])
    view = MaintainedProgram(PROGRAM, Database(), threads=1, bounds=[bound])
    view.bootstrap(columns({"arc": ring(60), "seed": set()}))
    (stratum,) = [s for s in view.strata if isinstance(s, BoundedRecursion)]
    (level,) = stratum.levels
    rows = {name: view.joined[name].columns() for name in ("reach", "wide", level.relation.name)}

    def stop_when_cut_off() -> None:
        if level.last != 9:
            raise KeyError

    with pytest.raises(KeyError), view.watched(stop_when_cut_off):
        view.update(columns({"arc": ring(50) - ring(60)}), columns({"arc": ring(60) - ring(50)}))
    assert level.last == 9 and found(view) == from_scratch({"arc": ring(60), "seed": set()}, [500])
    for name, before in rows.items():
        assert sorted(view.joined[name].columns().T.tolist()) == sorted(before.T.tolist())
    view.update(columns({"arc": {(100, 101)}}), {})
    assert found(view) == from_scratch({"arc": ring(60) | {(100, 101)}, "seed": set()}, [500])


def ring(n):
    return {(x, (x + 1) % n) for x in range(n)}


def test_a_widened_state_goes_on_from_a_directory(tmp_path):
    ring = {"arc": {(x, (x + 1) % 60) for x in range(60)}, "seed": set()}
    bound = Bound("reach", [500], "wide", [lambda rows: wide_values(6, rows)])
    made = MaintainedProgram(PROGRAM, Database(), threads=1, bounds=[bound])
    made.bootstrap(columns(ring))
    for arc in ((100, 101), (101, 102), (5, 7)):
        state = State(tmp_path, PROGRAM)
        state.open(0)
        if made is None:
            made = state.load(threads=1, bounds=[bound])
        made.update({"arc": np.array([arc], np.int32).T.copy()}, {})
        ring["arc"].add(arc)
        expected = MaintainedProgram(PROGRAM, Database(), threads=1, bounds=[bound])
        expected.bootstrap(columns(ring))
        assert found(made) == found(expected)
        state.save(made)
        state.close()
        made = None
