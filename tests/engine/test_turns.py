"""Relations of a recursion take turns where iterations do not matter: fewer rounds, one fixpoint, no join twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.plan.rule import Match, Rule
from engine.plan.turns import turns

HOPS = """
.decl arc(x: number, y: number)
.decl stop(x: number)
.decl a(x: number)
.decl b(x: number)
.decl c(x: number)
a(0).
b(x) :- a(x), !stop(x).
c(x) :- b(x).
a(y) :- c(x), arc(x, y).
"""
PAIRS = """
.decl arc(x: number, y: number)
.decl back(x: number, y: number)
.decl there(x: number, y: number)
.decl here(x: number, y: number)
there(x, y) :- arc(x, y).
here(x, y) :- back(x, y).
there(x, z) :- there(x, y), here(y, z).
here(x, z) :- here(x, y), there(y, z).
"""


def evaluate(text, threads=1, widenings=(), **relations):
    columns = {name: np.array(rows, np.int32).reshape(len(rows), -1).T for name, rows in relations.items()}
    database = engine.Database(relations=columns)
    return engine.evaluate(engine.compile([text]), database, threads=threads, widenings=widenings)


def rows(result, name):
    return set(map(tuple, result.relation(name).T.tolist()))


def recursion(result, name):
    return next(s for s in result.statistics if name in s.relations)


CHAIN = [(i, i + 1) for i in range(50)]


def test_a_hop_over_several_relations_is_one_round():
    """Advanced together, three relations take three iterations a hop."""
    result = evaluate(HOPS, arc=CHAIN, stop=[(99,)])
    assert rows(result, "a") == {(i,) for i in range(51)}
    assert 50 <= recursion(result, "a").iterations <= 52


def test_where_facts_depend_on_the_iteration_all_are_advanced_together():
    """The limit of 20 rows is passed when `a` has 21: an iteration of its own shows exactly these."""
    seen = []

    def choose(found):
        seen.append(found.shape[1])
        return np.array([[30]], np.int32)

    result = evaluate(HOPS, widenings=[engine.Widening("a", [20], "stop", choose)], arc=CHAIN, stop=[(99,)])
    assert seen == [21]
    assert rows(result, "a") == {(i,) for i in range(31)}
    assert recursion(result, "a").iterations > 3 * 30


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_facts_in_any_iteration_let_relations_take_turns(threads):
    always = engine.Always(np.array([[30]], np.int32))
    result = evaluate(HOPS, threads, [engine.Widening("a", [20], "stop", always)], arc=CHAIN, stop=[(99,)])
    assert rows(result, "a") == {(i,) for i in range(31)}
    assert recursion(result, "a").restarts == 1
    assert recursion(result, "a").iterations <= 32


ARCS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12, unique=True)


@settings(max_examples=60, deadline=None)
@given(ARCS, ARCS, st.sampled_from([1, 2]))
def test_each_pair_of_rows_is_joined_once(arcs, backs, threads):
    """The fixpoint is that of a naive oracle, and the two rules make as many rows as there are pairs to join."""
    there, here = set(arcs), set(backs)
    while True:
        more = {(x, z) for x, y in there for w, z in here if y == w} - there
        back = {(x, z) for x, y in here for w, z in there if y == w} - here
        if not more | back:
            break
        there |= more
        here |= back
    result = evaluate(PAIRS, threads, arc=arcs, back=backs)
    assert (rows(result, "there"), rows(result, "here")) == (there, here)
    pairs = [(x, z) for x, y in there for w, z in here if y == w] + [
        (x, z) for x, y in here for w, z in there if y == w
    ]
    made = sum(rule.produced for rule in recursion(result, "there").rules)
    assert made == len(pairs) + len(arcs) + len(backs)


def test_turns_follow_what_is_read():
    def rule(head, *body):
        return Rule(head, (), tuple(Match(name, ()) for name in body), {}, "")

    rules = [rule("tainted", "step"), rule("step", "use"), rule("use", "tainted"), rule("use", "arc")]
    assert turns(["tainted", "step", "use"], rules) == ["use", "step", "tainted"]
    assert turns(["use", "tainted", "step"], rules) == ["step", "tainted", "use"]
