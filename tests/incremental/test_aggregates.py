"""Aggregates by group: an update leaves what a bootstrap makes, and what evaluation makes."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from supports import TINY, check, stored

import engine
from engine.database import Database
from engine.incremental import maintained_relation
from engine.incremental.extremal_recursion import ExtremalRecursion
from engine.incremental.grouped_stratum import GroupedStratum
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.recomputed_stratum import RecomputedStratum
from engine.incremental.saved_state import State

DECLARED = """
.decl arc(x: number, y: number, w: number)
.decl mark(x: number)
.decl price(x: number, f: float)
.decl near(x: number, y: number)
near(x, y) :- arc(x, y, w), w < 3.
"""
PARTS = (
    ".decl least(x: number, w: number) least(x, min<w>) :- arc(x, _, w). least(x, min<w>) :- arc(_, x, w), mark(x).",
    ".decl span(x: number, a: number, b: number) span(x, min<w>, max<w>) :- arc(x, _, w), !mark(x).",
    ".decl degree(x: number, n: number) degree(x, count<y>) :- near(x, y). degree(0, count<0>).",
    ".decl total(x: number, n: number) total(x, sum<(y, w)>) :- arc(x, y, w). total(x, sum<(y, 1)>) :- near(y, x).",
    ".decl all(n: number) all(sum<w>) :- arc(_, _, w).",
    ".decl middle(x: number, f: float) middle(x, mean<f>) :- near(x, y), price(y, f).",
    ".decl cost(x: number, f: float) cost(x, sum<(y, f)>) :- arc(x, y, _), price(y, f).",
    ".decl dearest(x: number, f: float) dearest(x, max<f>) :- near(x, y), price(y, f).",
    ".decl sp(x: number, d: number) sp(x, min<0>) :- mark(x). sp(y, min<d>) :- sp(x, c), arc(x, y, w), d = c + w.",
    ".decl hop(x: number, y: number, d: number) hop(x, y, min<w>) :- arc(x, y, w).\n"
    "hop(x, z, min<d>) :- hop(x, y, a), hop(y, z, b), d = a + b, !mark(y).",
    ".decl odd(x: number, d: number) .decl even(x: number, d: number) even(x, min<0>) :- mark(x).\n"
    "odd(y, min<c + w>) :- even(x, c), arc(x, y, w). even(y, min<c + w>) :- odd(x, c), arc(x, y, w).",
    ".decl dear(x: number, f: float) dear(x, min<f>) :- price(x, f). dear(y, min<f>) :- dear(x, f), near(x, y).",
    ".decl high(x: number, d: number) high(x, max<5>) :- mark(x).\n"
    "high(y, max<d>) :- high(x, c), near(x, y), x < y, d = c - 1.",
    ".decl fan(x: number, n: number) fan(x, n) :- mark(x), n = count : { near(x, _) }.",
    ".decl top(x: number, w: number) top(x, w) :- arc(x, _, _), w = max v : { arc(x, y, v), !mark(y) }.",
    ".decl bill(x: number, f: float) bill(x, f) :- near(x, _), f = sum g : { near(x, y), price(y, g) }.",
    ".decl share(x: number, f: float) share(x, f) :- mark(x), f = mean g : { price(y, g), y != x }.",
    ".decl two(n: number, m: number) two(n, m) :- n = count : { arc(_, _, _) }, m = sum w : { arc(_, _, w), w < n }.",
    ".decl first(x: number, y: number) first(x, y) :- arc(x, y, w), w = min v : { arc(x, _, v) }.",
    ".decl spread(x: number) spread(x) :- mark(x).\n"
    "spread(y) :- spread(x), near(x, y), n = count : { arc(y, z, w), mark(z) }, n < 2.",
)
number = st.integers(0, 4)
weight = st.integers(0, 4)
amount = st.sampled_from([0.1, 0.2, 0.3, 1e16, -1e16, 1.0, -0.0, 1 / 3])
EDB = {
    "arc": st.sets(st.tuples(number, number, weight), max_size=10),
    "mark": st.sets(st.tuples(number), max_size=3),
    "price": st.sets(st.tuples(number, amount), max_size=8),
}
facts = st.fixed_dictionaries(EDB)
updates = st.lists(st.tuples(facts, facts), min_size=1, max_size=4)


def columns(program, rows):
    found = {}
    for name, held in rows.items():
        kinds = [column.type.kind for column in program.relations[name].columns]
        values = [
            np.array(column, np.float64).view(np.int64) if kind == "float" else np.array(column, np.int64)
            for kind, column in zip(kinds, zip(*sorted(held), strict=True), strict=False)
        ]
        found[name] = np.array(values, np.int64).reshape(len(kinds), len(held))
    return found


def evaluated(program, facts):
    result = engine.evaluate(program, Database(relations=columns(program, facts)), threads=1)
    return {name: rows_of(result.relations[name]) for name in program.relations}


def rows_of(relation):
    return set(zip(*relation.tolist(), strict=True)) if len(relation) else relation.shape[1]


def state(view):
    return {relation.name: stored(relation) for relation in view.tracked()}


@settings(max_examples=4 * settings.default.max_examples)
@given(st.sets(st.sampled_from(PARTS), min_size=1, max_size=4), facts, updates, st.integers(1, 2))
def test_an_update_leaves_what_a_bootstrap_makes(parts, facts, updates, threads):
    program = engine.compile([DECLARED + "\n".join(part for part in PARTS if part in parts)])
    view = MaintainedProgram(program, Database(), threads=threads, options=TINY)
    assert not any(isinstance(stratum, RecomputedStratum) for stratum in view.strata)
    view.bootstrap(columns(program, facts))
    for inserted, deleted in updates:
        before = evaluated(program, facts)
        changes = view.update(columns(program, inserted), columns(program, deleted))
        facts = {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}
        after = evaluated(program, facts)
        assert {name: rows_of(view.columns(name)) for name in program.relations} == after
        for name in program.relations:
            found = changes.get(name)
            come, gone = (rows_of(found.inserted), rows_of(found.deleted)) if found else (set(), set())
            assert (come, gone) == (after[name] - before[name], before[name] - after[name])
        check(view, True)
        fresh = MaintainedProgram(program, Database(), threads=1, options=TINY)
        fresh.bootstrap(columns(program, facts))
        assert state(fresh) == state(view)


@pytest.mark.parametrize("part", PARTS)
def test_the_extreme_goes_and_groups_vanish_and_come_back(part):
    program = engine.compile([DECLARED + part])
    arcs = {(x, y, (x + y) % 4) for x in range(4) for y in range(4)}
    facts = {"arc": arcs, "mark": {(0,), (2,)}, "price": {(x, x / 10) for x in range(4)}}
    view = MaintainedProgram(program, Database(), threads=1, options=TINY)
    view.bootstrap(columns(program, facts))
    whole = {name: rows_of(view.columns(name)) for name in program.relations}
    for name in facts:
        for row in sorted(facts[name]):
            view.update({}, columns(program, {name: {row}}))
            facts[name] = facts[name] - {row}
            assert {name: rows_of(view.columns(name)) for name in program.relations} == evaluated(program, facts)
    assert view.relations["near"].present().size == 0
    view.update(columns(program, {"arc": arcs, "mark": {(0,), (2,)}, "price": {(x, x / 10) for x in range(4)}}), {})
    assert {name: rows_of(view.columns(name)) for name in program.relations} == whole


GIVEN = """
.decl r(x: number, y: number)
.decl least(x: number, w: number) .input least
least(x, min<y>) :- r(x, y).
.decl total(x: number, n: number) .input total
total(x, sum<(y, y)>) :- r(x, y).
.decl sp(x: number, d: number) .input sp
sp(y, min<d>) :- sp(x, c), r(x, y), d = c + 1.
"""
pair = st.tuples(number, number)
given_facts = st.fixed_dictionaries({name: st.sets(pair, max_size=5) for name in ("r", "least", "total", "sp")})


@given(given_facts, st.lists(st.tuples(given_facts, given_facts), max_size=3))
def test_facts_of_aggregates_come_and_go(facts, updates):
    program = engine.compile([GIVEN])
    view = MaintainedProgram(program, Database(), threads=1, options=TINY)
    view.bootstrap(columns(program, facts))
    for inserted, deleted in updates:
        view.update(columns(program, inserted), columns(program, deleted))
        facts = {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}
        assert {name: rows_of(view.columns(name)) for name in program.relations} == evaluated(program, facts)
    kept = {name: rows for stratum in view.strata for name, rows in stratum.facts().items()}
    assert {name: rows_of(kept[name]) for name in facts} == facts


def test_programs_that_need_not_be_strict_are_evaluated_anew():
    """The value of x is derived by way of near(x), which its first value made."""
    program = engine.compile(
        [
            """
            .decl mark(x: number) .decl sp(x: number, d: number) .decl near(x: number)
            sp(x, min<9>) :- mark(x). near(x) :- sp(x, c), c < 10. sp(x, min<5>) :- near(x).
            """
        ]
    )
    view = MaintainedProgram(program, Database(), threads=1)
    view.bootstrap({"mark": np.array([[1]])})
    assert rows_of(view.columns("sp")) == {(1, 5)}
    view.update({}, {"mark": np.array([[1]])})
    assert rows_of(view.columns("sp")) == set()


def test_kinds_of_strata():
    program = engine.compile([DECLARED + "\n".join(PARTS)])
    view = MaintainedProgram(program, Database(), threads=1)
    kinds = {relation.name: type(stratum) for stratum in view.strata for relation in stratum.relations}
    assert all(issubclass(kinds[name], GroupedStratum) for name in ("least", "cost", "fan&fold0", "two&fold1"))
    assert all(kinds[name] is ExtremalRecursion for name in ("sp", "hop", "odd", "even", "dear", "high"))


@given(st.sets(st.sampled_from(PARTS), min_size=1, max_size=3), facts, updates, st.sampled_from([0, 1 << 12]))
def test_updates_after_loading_are_those_without(tmp_path_factory, monkeypatch, parts, facts, updates, small_rows):
    program = engine.compile([DECLARED + "\n".join(part for part in PARTS if part in parts)])
    monkeypatch.setattr(maintained_relation, "SMALL_ROWS", small_rows)
    directory = tmp_path_factory.mktemp("state")
    view = MaintainedProgram(program, Database(), threads=1, options=TINY)
    view.bootstrap(columns(program, facts))
    for inserted, deleted in updates:
        for work in (lambda state, view=view: state.save(view), lambda state: state.load(threads=1, options=TINY)):
            saved = State(directory, program)
            saved.open(0)
            loaded = work(saved)
            saved.close()
        view = loaded
        view.update(columns(program, inserted), columns(program, deleted))
        facts = {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}
        assert {name: rows_of(view.columns(name)) for name in program.relations} == evaluated(program, facts)
        fresh = MaintainedProgram(program, Database(), threads=1, options=TINY)
        fresh.bootstrap(columns(program, facts))
        assert state(fresh) == state(view)
