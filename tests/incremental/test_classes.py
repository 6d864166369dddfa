"""Equivalences that are kept up to date: by classes, not by pairs."""

import hypothesis.strategies as st
import numpy as np
import reference
from hypothesis import given
from supports import TINY, check, stored

import engine
from engine import tables
from engine.database import Database
from engine.incremental.maintained_program import MaintainedProgram

DECLARED = """
.decl link(x: number, y: number)
.decl mark(x: number)
.decl same(x: number, y: number) eqrel
.decl near(x: number, y: number) eqrel
.decl reached(x: number)
.decl apart(x: number, y: number)
.decl lonely(x: number)
.decl size(x: number, n: number)
.decl some()
.decl twin(x: number, y: number)
.decl met(x: number, y: number)
"""
RULES = (
    "same(x, y) :- link(x, y).",
    "same(x, x) :- mark(x).",
    "same(x, y) :- near(x, y), mark(x).",
    "near(x, y) :- link(x, z), link(z, y), mark(z).",
    "near(x, y) :- near(x, z), link(z, y).",
    "reached(x) :- mark(x). reached(y) :- reached(x), same(x, y).",
    "same(x, y) :- met(x, z), same(z, y). met(x, y) :- same(x, y), mark(y). met(x, y) :- link(y, x), near(x, 2).",
    "apart(x, y) :- mark(x), mark(y), !same(x, y).",
    "lonely(x) :- link(x, _), !near(x, _).",
    "lonely(x) :- mark(x), !same(_, x).",
    "size(x, n) :- mark(x), n = count : { same(x, _) }.",
    "size(x, n) :- link(x, _), n = sum y : { near(x, y) }.",
    "some() :- same(_, _), near(1, _). some() :- same(x, x), mark(x).",
    "twin(x, y) :- same(x, y), near(y, x), x != y.",
    "twin(x, 3) :- same(x, 3). twin(x, y) :- twin(y, x), same(x, _), near(_, y).",
)
number = st.integers(0, 6)
ROWS = {"link": st.tuples(number, number), "mark": st.tuples(number), "same": st.tuples(number, number)}
facts = st.fixed_dictionaries({name: st.sets(row, max_size=7 if name == "link" else 3) for name, row in ROWS.items()})


def columns(program, rows):
    return {
        name: np.array(sorted(found), np.int32).reshape(len(found), program.relations[name].arity).T
        for name, found in rows.items()
    }


@given(st.sets(st.sampled_from(RULES), min_size=1), facts, st.lists(st.tuples(facts, facts), max_size=3), st.booleans())
def test_an_update_leaves_the_classes_that_a_bootstrap_makes(rules, facts, updates, exact):
    program = engine.compile([DECLARED + "\n".join(rule for rule in RULES if rule in rules)])
    view = MaintainedProgram(program, Database(), threads=1, options=TINY, exact=exact)
    view.bootstrap(columns(program, facts))
    for inserted, deleted in updates:
        view.update(columns(program, inserted), columns(program, deleted))
        facts = {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}
        assert tables.decode(program, view.result(), program.relations) == reference.evaluate(program, facts)
        check(view, exact)
        if exact:
            fresh = MaintainedProgram(program, Database(), threads=1, options=TINY)
            fresh.bootstrap(columns(program, facts))
            assert {r.name: stored(r) for r in view.tracked()} == {r.name: stored(r) for r in fresh.tracked()}


def test_a_class_takes_a_row_an_element():
    """All pairs of 50,001 elements would be 2.5 billion rows."""
    n = 50_000
    program = engine.compile([DECLARED + RULES[0] + "twin(x, 1) :- same(x, 1), mark(x)."])
    view = MaintainedProgram(program, Database(), threads=1)
    chain = np.array([range(n), range(1, n + 1)], np.int32)
    view.bootstrap({"link": chain, "mark": np.array([[7]], np.int32)})
    assert view.columns("twin").T.tolist() == [[7, 1]]
    view.update({"mark": np.array([[40_000]], np.int32)}, {"link": chain[:, 30_000:30_001]})
    assert sum(relation.n_ids for relation in view.tracked()) < 5 * n
    classes = view.relations["same"].generators()
    assert sorted(np.unique(classes[1], return_counts=True)[1].tolist()) == [20_000, 30_001]
    assert view.columns("twin").T.tolist() == [[7, 1]]
