"""Updates: the same tuples, iterations and counts as a bootstrap on the final facts."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from supports import check, stored

import engine
from engine import reference, tuples
from engine.database import Database
from engine.incremental.view import View
from engine.local.execution import Options

TINY = Options(chunk_rows=5, inbox_rows=2, alone_rows=0, min_sampled=2)

DECLARED = """
.decl edge(x: number, y: number)
.decl mark(x: number)
.decl left(x: number, y: number)
.decl right(x: number, y: number)
.decl odd(x: number, y: number)
.decl even(x: number, y: number)
.decl wide(x: number, y: number, z: number)
.decl lacking(x: number, y: number)
.decl alone(x: number)
.decl flag()
.decl again(x: number)
"""
RULES = (
    "left(x, y) :- edge(x, y).",
    "left(x, z) :- left(x, y), edge(y, z).",
    "left(x, y) :- wide(x, _, y).",
    "right(x, y) :- edge(x, y), x != y.",
    "right(x, z) :- right(x, y), right(y, z).",
    "odd(x, y) :- edge(x, y).",
    "odd(x, z) :- even(x, y), edge(y, z).",
    "even(x, z) :- odd(x, y), edge(y, z).",
    "even(x, y) :- odd(y, x), flag().",
    "wide(x, y, z) :- edge(x, y), edge(y, z), edge(z, x).",
    "wide(z, x, y) :- wide(x, y, z), edge(y, _).",
    "wide(x, y, 7) :- left(x, y), right(y, x), odd(x, _).",
    "lacking(x, y) :- edge(x, _), edge(_, y), !left(x, y).",
    "lacking(x, x) :- mark(x), !right(x, x), lacking(_, x).",
    "alone(x) :- edge(x, _), !left(_, x).",
    "alone(x) :- mark(x), !flag().",
    "alone(y) :- alone(x), edge(x, y), !mark(y).",
    "flag() :- left(1, 2).",
    "flag() :- left(x, x), !mark(x).",
    "again(x) :- mark(x). again(y) :- again(x), left(x, y), x < y. again(3).",
    "left(2, 5). left(y, x) :- left(x, y), flag(), mark(x).",
    "mark(4). mark(x) :- edge(x, x).",
)
number = st.integers(0, 6)
EDB = {
    "edge": st.tuples(number, number),
    "mark": st.tuples(number),
    "left": st.tuples(number, number),
    "flag": st.just(()),
}
facts = st.fixed_dictionaries({name: st.sets(row, max_size=12 if name == "edge" else 3) for name, row in EDB.items()})
update = st.tuples(facts, facts)


def columns(program, symbols, rows):
    return {
        name: np.array(sorted(found), np.int32).reshape(len(found), program.relations[name].arity).T
        for name, found in rows.items()
    }


def applied(facts, inserted, deleted):
    return {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}


def state(view):
    return {relation.name: stored(relation) for relation in view.tracked()}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sets(st.sampled_from(RULES), min_size=1), facts, st.lists(update, max_size=3), st.booleans(), st.integers(1, 2)
)
def test_an_update_leaves_what_a_bootstrap_makes(rules, facts, updates, exact, threads):
    program = engine.compile([DECLARED + "\n".join(rule for rule in RULES if rule in rules)])
    view = View(program, Database(), threads=threads, options=TINY, exact=exact)
    view.bootstrap(columns(program, None, facts))
    for inserted, deleted in updates:
        changes = view.update(columns(program, None, inserted), columns(program, None, deleted))
        before, facts = facts, applied(facts, inserted, deleted)
        check(view, exact)
        expected = reference.evaluate(program, facts)
        assert {name: set(rows) for name, rows in state(view).items() if name in expected} == expected
        was = reference.evaluate(program, before)
        for name in expected:
            change = changes.get(name)
            found = (
                [set(), set()] if change is None else [set(zip(*c.tolist())) for c in (change.inserted, change.deleted)]
            )
            if program.relations[name].arity:
                assert found == [expected[name] - was[name], was[name] - expected[name]]
        if exact:
            fresh = View(program, Database(), threads=1, options=TINY)
            fresh.bootstrap(columns(program, None, facts))
            assert state(fresh) == state(view)
