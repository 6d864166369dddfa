"""The supports of a tuple: those that brute force finds, also after updates."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from supports import atoms_first, instantiations, stored

import engine
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.support_query import supports
from engine.plan.rule import Absent

PROGRAM = """
.decl edge(x: number, y: number)
.decl mark(x: number)
.decl path(x: number, y: number)
.decl open(x: number)
.decl most(x: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z), !mark(y).
path(2, 5).
open(x) :- path(1, x), x < 4, !edge(x, _).
open(x) :- open(y), path(x, y), path(y, x).
most(x) :- mark(x), x = max y : { path(y, _) }.
"""
number = st.integers(0, 5)
edges, marks = st.sets(st.tuples(number, number), max_size=8), st.sets(st.tuples(number), max_size=3)


def columns(rows, width):
    return np.array(sorted(rows), np.int32).reshape(-1, width).T.copy()


def by_brute_force(view):
    """The supports of all tuples that have any: (positive, negative) atoms by relation and row."""
    tables = {relation.name: stored(relation) for relation in view.tracked()}
    found = {}
    for stratum in view.strata:
        for rule in stratum.rules if isinstance(stratum, MaintainedStratum) else ():
            for bindings, used in instantiations(atoms_first(rule.body), tables, {}):
                head = tuple(t if isinstance(t, int) else bindings[t] for t in rule.head)
                iterations = [tables[name][row][0] if name in stratum.names else 0 for name, row in used]
                if 1 + max(iterations, default=0) <= tables[rule.relation][head][0]:
                    absent = [
                        (literal.relation, tuple(t if isinstance(t, int) else bindings[t] for t in literal.terms))
                        for literal in rule.body
                        if isinstance(literal, Absent)
                    ]
                    found.setdefault((rule.relation, head), []).append((sorted(used), absent))
    return found


@given(edges, marks, edges, edges)
def test_supports_are_those_of_brute_force(first, marked, come, gone):
    program = engine.compile([engine.Source("p", PROGRAM)])
    view = MaintainedProgram(program, engine.Database(), threads=1)
    view.bootstrap({"edge": columns(first, 2), "mark": columns(marked, 1)})
    view.update({"edge": columns(come, 2)}, {"edge": columns(gone, 2)})
    expected = by_brute_force(view)
    for name in program.relations:
        for row in stored(view.relations[name]):
            found = [(sorted(positive), negative) for positive, negative in supports(view, name, row)]
            assert sorted(found) == sorted(expected.get((name, row), [])), (name, row)
    assert list(supports(view, "path", (9, 9))) == []
