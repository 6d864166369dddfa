"""Atoms that bind nothing wanted are tests of existence: the rows they cost, and the answers of random programs."""

import sys
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from backends import BACKENDS, assert_as_the_oracle
from hypothesis import given

import engine
from engine import tables
from engine.database import Database
from engine.evaluation.execution import Options
from engine.incremental.maintained_program import MaintainedProgram
from engine.plan.existence import split_existence

for directory in ("cluster", "incremental"):
    sys.path.insert(0, str(Path(__file__).parents[1] / directory))
import meeting  # noqa: E402
import supports  # noqa: E402

DECLARED = """
.decl a(x: number)
.decl b(x: number)
.decl e(x: number, y: number)
.decl p(x: number)
.decl q(x: number, y: number)
.decl go()
"""
APART = {
    "first": "p(x) :- a(_), b(x).",
    "last": "p(x) :- b(x), a(_).",
    "named": "p(x) :- a(y), b(x).",
    "behind a filter": "p(x) :- a(y), y > 5, b(x).",
    "a filter that nothing passes": "p(x) :- a(y), y < 0, b(x).",
    "a nullary head": "go() :- a(_), b(_).",
    "a nullary head, joined": "go() :- a(x), b(y), e(y, _).",
    "a recursive delta": "p(0). p(x) :- p(_), b(x).",
    "a recursive delta, filtered": "p(7). p(x) :- p(y), y > 5, b(x).",
    "another key": "p(y) :- e(1, y), e(2, z).",
    "a negated one": "p(x) :- b(x), a(y), !b(y).",
    "an aggregate": "p(x) :- b(x), a(y), y = count : { a(_) }.",
}
WITHIN = {
    "another match": "q(x, y) :- e(x, y), e(x, z), y != z.",
    "a greater one": "q(x, y) :- e(x, y), e(x, z), z >= y, z > 3.",
    "a computed one": "q(x, y) :- e(x, y), e(x, z), z + 1 > y.",
    "a negated one": "q(x, y) :- e(x, y), e(x, z), !q(z, z), z != y. q(-1, -1).".replace("!q(z, z)", "!a(z + 5000)"),
    "the other way round": "q(x, y) :- e(x, z), e(x, y), y != z.",
    "a recursive delta": "q(1, 1). q(x, y) :- q(x, u), e(x, y), e(x, z), z != y, u > 0.",
}
N = 1000
FACTS = {
    "a": [(i,) for i in range(N)],
    "b": [(i,) for i in range(N)],
    "e": [(i % 2 + 1, i) for i in range(N)],
}


def evaluated(rules):
    program = engine.compile([DECLARED + rules])
    result = engine.evaluate(program, engine.facts(program, FACTS), threads=1)
    derived = sum(rule.produced for stratum in result.statistics for rule in stratum.rules)
    return derived, tables.decode(program, result, program.relations)


@pytest.mark.parametrize("name", APART)
def test_what_shares_no_variable_is_asked_for_once(name):
    derived, found = evaluated(APART[name])
    assert derived <= 4 * N
    expected = reference.evaluate(engine.compile([DECLARED + APART[name]]), {k: v[:9] for k, v in FACTS.items()})
    assert {r for r in ("p", "q", "go") if found[r]} == {r for r in ("p", "q", "go") if expected[r]}


@pytest.mark.parametrize("name", WITHIN)
def test_one_match_that_passes_is_enough(name):
    derived, found = evaluated(WITHIN[name])
    assert derived <= 4 * N
    assert len(found["q"]) >= N / 2 - 1


@pytest.mark.parametrize("name", APART)
def test_an_update_counts_no_pairs(name):
    program = engine.compile([DECLARED + APART[name]])
    view = MaintainedProgram(program, Database(), threads=1)
    view.bootstrap({k: np.array(v, np.int32).T for k, v in FACTS.items()})
    counted = sum(int(relation.count[: relation.n_ids].sum()) for relation in view.tracked())
    assert counted <= 8 * N
    assert set(view.result().relations) == set(program.relations), "tests of existence are no result"


def test_a_part_that_reads_the_recursion_is_asked_for_in_it():
    program = split_existence(engine.compile([DECLARED + "p(x) :- p(_), b(x). p(x) :- e(x, _), a(_), go()."]))
    (stratum,) = (s for s in program.strata if "p" in s.relations)
    assert stratum.relations == ("p", "p&exists0")
    assert ("p&exists1",) in [s.relations for s in program.strata]


def test_what_depends_on_iterations_is_left_alone():
    declared = DECLARED + ".decl c(x: number, y: number) choice-domain x\n.decl d(x: number, m: number)\n"
    rules = "c(x, y) :- c(_, _), e(x, y). c(1, 1). d(x, min<0>) :- b(x). d(x, min<n>) :- d(_, _), d(x, m), n = m."
    program = engine.compile([declared + rules])
    assert split_existence(program).relations == program.relations


NAMES = "uvwxyz"
HEADS = ("p({0})", "p({0})", "q({0}, {1})", "go()", "p(3)", "p({0} + 1)", "s({0}, {1})", "n(count<{0}>)", "m(min<{0}>)")
ATOMS = ("a({0})", "b({0})", "e({0}, {1})", "e({0}, _)", "e(_, {0})", "e(1, {0})", "a(_)", "f({0}, {1}, {2})", "k({0})")
READ = ("p({0})", "p(_)", "q({0}, {1})", "q(_, {0})", "go()", "s({0}, {1})")
FILTERS = ("{0} != {1}", "{0} < {1}", "{0} > 1", "{0} + 1 = {1}", "!a({0})", "!e({0}, _)", "!e({0}, {1})")
ENDS = ("{0} < count : {{ e({1}, _) }}", "{0} = min v9 : {{ e({1}, v9) }}", "{0} = range(0, 3)")
MORE = """
.type Pair = [first: number, second: number]
.decl f(x: number, y: number, z: number)
.decl k(r: Pair)
.decl s(x: number, y: number) eqrel
.decl n(x: number)
.decl m(x: number)
k([x, y]) :- e(x, y).
p(x) :- a(x), x < 1.
"""


@st.composite
def rules(draw):
    head = draw(st.sampled_from(HEADS))
    kinds = ATOMS + (READ if head.startswith(("p(", "q(", "go")) else ())
    if head == "p({0} + 1)":
        kinds = ATOMS
    used = set()

    def variable(_):
        name = draw(st.sampled_from(NAMES))
        used.add(name)
        return name

    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    body = []
    for kind in chosen:
        if kind == "k({0})":
            body.append(f"k([{variable(0)}, {draw(st.sampled_from(['_', variable(0)]))}])")
        else:
            body.append(kind.format(*map(variable, range(3))))
    text = ", ".join(body)
    bound = sorted(name for name in used if any(name in atom.partition("(")[2] for atom in body)) or ["2"]
    known = [draw(st.sampled_from(bound)) for _ in range(3)]
    filters = draw(st.lists(st.sampled_from(FILTERS), max_size=2)) + draw(st.lists(st.sampled_from(ENDS), max_size=1))
    for kind in filters:
        text += ", " + kind.format(draw(st.sampled_from(bound)), draw(st.sampled_from(bound)))
    return f"{head.format(*known)} :- {text}."


small = st.integers(0, 4)
FEW = st.fixed_dictionaries({
    "a": st.sets(st.tuples(small), max_size=3),
    "b": st.sets(st.tuples(small), max_size=4),
    "e": st.sets(st.tuples(small, small), max_size=9),
    "f": st.sets(st.tuples(small, small, small), max_size=4),
})  # fmt: skip


@given(st.lists(rules(), min_size=2, max_size=5), FEW)
def test_any_way_of_evaluating_answers_as_the_oracle(clauses, facts):
    assert_as_the_oracle(engine.compile([DECLARED + MORE + "\n".join(clauses)]), facts, BACKENDS)


@given(st.lists(rules(), min_size=2, max_size=5), FEW)
def test_members_answer_as_the_oracle(clauses, facts):
    program = engine.compile([DECLARED + MORE + "\n".join(clauses)])
    expected = reference.evaluate(program, facts)
    members = meeting.run(program, engine.facts(program, facts), 2, replicated_rows=0)
    found = {name: set() for name in program.relations}
    for result in meeting.results(program, members):
        for name, rows in tables.decode(program, result, program.relations).items():
            found[name] |= rows
    assert found == expected


def numbers(view):
    """Iterations and counts; `k` holds records, whose ids are a view's own."""
    return {relation.name: supports.stored(relation) for relation in view.tracked() if relation.name != "k"}


@given(st.lists(rules(), min_size=2, max_size=5), FEW, st.lists(st.tuples(FEW, FEW), max_size=2))
def test_an_update_leaves_what_a_bootstrap_makes(clauses, facts, updates):
    program = engine.compile([DECLARED + MORE + "\n".join(clauses)])

    def columns(rows):
        return {
            name: np.array(sorted(found), np.int32).reshape(len(found), program.relations[name].arity).T
            for name, found in rows.items()
        }

    view = MaintainedProgram(program, Database(), threads=1, options=Options(alone_rows=0, min_sampled=2))
    view.bootstrap(columns(facts))
    for inserted, deleted in updates:
        view.update(columns(inserted), columns(deleted))
        facts = {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}
        assert tables.decode(program, view.result(), program.relations) == reference.evaluate(program, facts)
        fresh = MaintainedProgram(program, Database(), threads=1)
        fresh.bootstrap(columns(facts))
        assert numbers(view) == numbers(fresh)


def test_a_stratum_that_is_split_once_more_gets_new_names():
    """The recomputed stratum of `p` reads the test of its first rule, and tests `a(w)` besides."""
    clauses = "p(3) :- a(u), a(v), a(w), u < count : { e(v, _) }.\np(u) :- a(u), u < count : { e(u, _) }.\n"
    program = engine.compile([DECLARED + clauses])
    view = MaintainedProgram(program, Database(), threads=1)
    view.bootstrap({"a": np.zeros((1, 1), np.int32)})
    assert tables.decode(program, view.result(), ["p"]) == {"p": set()}
