"""Conditions on changed tuples: rows that take part in an instantiation are never ruled out, and others are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.incremental.changed_rows import AskedRows, conditions_of
from engine.incremental.maintained_relation import MaintainedRelation
from engine.plan.rule import Match

value = st.integers(0, 4)
term = st.one_of(value, st.sampled_from("xyz"), st.none())
pairs = st.lists(st.tuples(value, value), max_size=6, unique=True)
atom = st.tuples(st.sampled_from("pq"), st.tuples(term, term))


def relation(name, rows, keys):
    made = MaintainedRelation(name, 2, np.dtype(np.int32))
    made.enter(made.add(np.array(rows, np.int32).reshape(-1, 2).T), 0)
    made.arrange()
    for key in keys:
        made.arrangement(key, payload=False, old=False)
    return made


def agreeing(terms, row, bindings):
    """Return the bindings that a row adds, None if it does not fit."""
    found = dict(bindings)
    for wanted, given_value in zip(terms, row, strict=True):
        if wanted is not None and (wanted if isinstance(wanted, int) else found.setdefault(wanted, given_value)) != (
            given_value
        ):
            return None
    return found


def instantiations(terms, row, body, tables):
    """Return the number of matches of a body, begun with a row on some terms."""
    states = [found for found in [agreeing(terms, row, {})] if found is not None]
    for name, wanted in body:
        states = [
            found for state in states for held in tables[name] if (found := agreeing(wanted, held, state)) is not None
        ]
    return len(states)


def asked(terms, body, tables, rows, keys):
    relations = {name: relation(name, held, keys) for name, held in tables.items()}
    atoms = [Match(name, (*wanted, f"#{at}")) for at, (name, wanted) in enumerate(body)]
    tested = AskedRows(np.array(rows, np.int32).reshape(-1, 2).T)
    return tested, conditions_of(terms, atoms, relations), relations


@given(
    st.tuples(term, term),
    st.lists(atom, max_size=3),
    st.fixed_dictionaries({"p": pairs, "q": pairs}),
    pairs,
    st.sets(st.sampled_from([(0,), (1,), (0, 1)])),
)
def test_what_matches_is_not_ruled_out(terms, body, tables, rows, keys):
    tested, conditions, _ = asked(terms, body, tables, rows, keys)
    if any(instantiations(terms, row, body, tables) for row in rows):
        assert tested.may_match(conditions)


def test_what_cannot_match_is_ruled_out():
    rows = [(1, 2), (3, 4)]
    for terms, body in (
        ((0, "y"), []),
        (("x", "x"), []),
        (("x", "y"), [("p", ("y", None))]),
        (("x", "y"), [("p", ("x", 3))]),  # There is (3, 1), but not (3, 3): asked as a whole.
        (("x", 4), [("p", ("x", "z")), ("q", ("x", "w"))]),  # Each atom has a match, but not for one row.
    ):
        tested, conditions, _ = asked(terms, body, {"p": [(1, 1), (3, 1)], "q": [(1, 0)]}, rows, [(0,)])
        assert not tested.may_match(conditions), (terms, body)


def test_tuples_that_come_are_seen():
    tested, conditions, relations = asked(("x", "y"), [("p", ("x", "z"))], {"p": [(0, 0)]}, [(1, 2)], [(0,)])
    assert not tested.may_match(conditions)
    relations["p"].add(np.array([[1], [1]], np.int32))
    relations["p"].arrange()
    assert tested.may_match(conditions)


def test_queries_take_their_arrangements_along():
    """One arrangement goes with the first query, another one comes with the second."""
    program = engine.compile(
        [
            ".decl wide(x: number, y: number, z: number, w: number)\n.decl mark(x: number, z: number)\n"
            ".decl small(z: number, w: number)\n.decl other(x: number, z: number)\n.decl out(x: number)\n"
            "out(x) :- mark(x, z), small(z, y), wide(x, y, z, _)."
        ]
    )
    wide = [(i, j, i, 0) for i in range(30) for j in range(200)]
    small = [(i, i) for i in range(30)]
    with engine.View(program, {"wide": wide, "mark": [(1, 1)], "small": small, "other": [(5, 5)]}) as view:
        for number, query in enumerate(("other(x, z), wide(x, _, z, _)", "other(x, z), wide(_, x, _, z)"), 2):
            with view.query(query):
                view.insert("mark", [(number, number)])
                view.commit()
        assert view.tuples("out") == {(1,), (2,), (3,)}


def test_arrangements_that_are_forgotten_are_not_asked():
    tested, conditions, relations = asked(("x", "y"), [("p", ("x", "z"))], {"p": [(0, 0)]}, [(1, 2)], [(0,)])
    assert not tested.may_match(conditions)
    relations["p"].forget_arrangements()
    relations["p"].add(np.array([[2], [2]], np.int32))
    assert AskedRows(tested.rows).may_match(conditions)
