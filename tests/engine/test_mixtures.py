"""Equivalences, choices, limits, counters and records that feed one another: the engine against the oracle."""

import hypothesis.strategies as st
from backends import BACKENDS, assert_as_the_oracle
from hypothesis import given, settings

import engine

DECLARED = """
.type Pair = [first: number, second: Pair]
.type Tree = Leaf { value: number } | Node { left: Tree, right: Tree } | None {}
.decl edge(x: number, y: number)
.decl name(x: number, s: symbol)
.decl closed(x: number, y: number)
.decl same(x: number, y: number) eqrel
.decl alike(x: symbol, y: symbol) eqrel
.decl chosen(x: number, y: number) choice-domain x
.decl matched(x: number, s: symbol) choice-domain x, s
.decl first(x: number)
.limitsize first(n=5)
.decl list(p: Pair, n: number)
.decl picked(p: Pair, n: number) choice-domain n
.decl tree(t: Tree)
.decl size(t: Tree, n: number)
.decl numbered(n: number, x: number, s: symbol)
.decl counted(x: number, n: number)
"""
RECURSIVE = (
    "closed(x, y) :- edge(x, y).",
    "closed(x, z) :- closed(x, y), edge(y, z).",
    "closed(x, y) :- same(x, y), edge(x, _), edge(y, _).",
    "closed(x, y) :- chosen(x, y).",
    "closed(x, y) :- first(x), chosen(x, y).",
    "same(x, y) :- edge(x, y), name(x, _).",
    "same(x, z) :- same(x, y), closed(y, z), name(z, _).",
    "same(x, y) :- name(x, s), name(y, t), alike(s, t), x <= y.",
    "same(n, x) :- list([x, _], n).",
    "alike(s, t) :- name(x, s), same(x, y), name(y, t).",
    "alike(s, t) :- matched(x, s), chosen(x, y), name(y, t).",
    "alike(s, cat(s, t)) :- name(x, s), edge(x, y), name(y, t).",
    "chosen(x, y) :- edge(x, y).",
    "chosen(y, z) :- chosen(_, y), edge(y, z).",
    "chosen(x, y) :- same(x, y), x != y.",
    "matched(x, s) :- edge(x, _), name(_, s).",
    "matched(x, s) :- chosen(x, y), name(y, s).",
    "matched(x, t) :- matched(y, s), edge(y, x), alike(s, t).",
    "first(x) :- edge(x, _).",
    "first(x + 1) :- first(x), x < 20.",
    "first(y) :- chosen(_, y).",
    "list([x, nil], 1) :- edge(x, _).",
    "list([x, p], n + 1) :- list(p, n), p = [y, _], edge(y, x), n < 3.",
    "picked(p, n) :- list(p, n).",
    "picked([n, p], m) :- picked(p, n), edge(n, m), n < 4.",
    "list(p, n) :- picked(p, n), first(n).",
    "tree($Leaf(x)) :- first(x), x < 4.",
    "tree($Node(t, $None())) :- tree(t), t = $Leaf(x), edge(x, _).",
    "tree(t) :- tree($Node(t, _)).",
)
FINAL = (
    "numbered($, x, s) :- closed(x, _), name(x, s).",
    "numbered(autoinc() + 100, x, s) :- picked([x, _], _), matched(_, s).",
    "counted(x, n) :- edge(x, _), n = count : { same(x, _) }.",
    "counted(x, n) :- first(x), n = max y : { chosen(y, _), !same(x, y) }.",
    "size($None(), 0) :- tree(_).",
    "size(t, 1) :- tree(t), t = $Leaf(_).",
    "size(t, m + n) :- tree(t), t = $Node(l, r), size(l, m), size(r, n).",
)
NUMBERS = st.integers(0, 6)
FACTS = st.fixed_dictionaries({
    "edge": st.sets(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=10),
    "name": st.sets(st.tuples(NUMBERS, st.sampled_from(["a", "b", "c", ""])), min_size=2, max_size=6),
    "same": st.sets(st.tuples(NUMBERS, NUMBERS), max_size=2),
    "chosen": st.sets(st.tuples(NUMBERS, NUMBERS), max_size=3),
    "list": st.sets(st.tuples(st.sampled_from([None, (1, None), (2, (1, None))]), NUMBERS), max_size=3),
})  # fmt: skip


@settings(max_examples=settings.default.max_examples // 4)
@given(st.sets(st.sampled_from(RECURSIVE), min_size=6, max_size=18), st.sets(st.sampled_from(FINAL)), FACTS)
def test_mixtures_answer_as_the_oracle(recursive, final, facts):
    rules = [rule for rule in (*RECURSIVE, *FINAL) if rule in recursive | final]
    assert_as_the_oracle(engine.compile([DECLARED + "\n".join(rules)]), facts, BACKENDS)
