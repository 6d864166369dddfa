"""What `explain` says of plans, on data whose best plan is plain."""

import numpy as np
import pytest

import engine
from engine import tables

REACHABLE = """
.decl edge(a: number, b: number)
.decl path(a: number, b: number)
path(x, y) :- edge(x, y).
path(x, z) :- {recursion}.
"""


def explained(text, facts, **options):
    program = engine.compile([text])
    return engine.evaluate(program, engine.facts(program, facts), threads=1, explain=True, **options).plan


def rule_of(plan, relation, number=0):
    return [rule for stratum in plan.strata for rule in stratum.rules if rule.text.startswith(f"{relation}(")][number]


def test_no_plan_is_made_unless_asked_for():
    program = engine.compile(["p(1). .decl p(x: number)"])
    assert engine.evaluate(program, engine.Database()).plan is None


def test_the_join_begins_with_the_smaller_side_and_says_by_which_columns_it_goes_on():
    text = """
    .decl few(x: number)
    .decl many(x: number, y: number)
    .decl r(x: number, y: number)
    r(x, y) :- many(x, y), few(x), y > 3.
    """
    plan = explained(text, {"few": {(1,), (2,)}, "many": {(i, j) for i in range(60) for j in range(60)}})
    (variant,) = rule_of(plan, "r").variants
    first, second, third = variant.steps
    assert (first.literal, first.operators, first.bound) == ("few(x)", ("scan",), ())
    joined = ("fill", "join many[x, y between]")
    assert (second.literal, second.operators, second.bound) == ("many(x, y)", joined, ("x",))
    assert (third.literal, third.operators, third.is_atom) == ("y > 3", ("filter",), False)
    assert second.fan_out == pytest.approx(60, rel=0.2), "each of 60 x has 60 y"


def test_one_arrangement_serves_rules_of_several_strata():
    text = REACHABLE.format(recursion="path(x, y), edge(y, z)")
    text += ".decl mark(a: number) .decl next(a: number)\nnext(z) :- mark(y), edge(y, z), !path(z, y)."
    plan = explained(text, {"edge": {(i, i + 1) for i in range(20)}, "mark": {(3,)}})
    shared = next(a for a in plan.arrangements if (a.relation, a.key) == ("edge", ("a",)))
    assert [reader.split()[0] for reader in shared.readers] == ["path", "next"]
    assert (shared.rows, shared.bytes > 0) == (20, True)


@pytest.mark.parametrize(
    ("recursion", "decomposable", "reason"),
    [
        ("path(x, y), edge(y, z)", True, "every recursive rule keeps path.a"),
        ("edge(x, y), path(y, z)", True, "every recursive rule keeps path.b"),
        ("path(x, y), path(y, z)", True, "of what path is composed with itself, one side is what it begins from"),
        ("path(x, y), path(y, z), x < z", False, "is not linear: it reads path and path"),
        ("edge(x, a), path(a, b), edge(b, z)", False, "keeps no column of path in its head"),
    ],
)
def test_a_recursion_is_decomposable_or_a_rule_is_named_that_breaks_it(recursion, decomposable, reason):
    plan = explained(REACHABLE.format(recursion=recursion), {"edge": {(1, 2), (2, 3)}})
    stratum = next(stratum for stratum in plan.strata if stratum.recursive)
    assert (stratum.decomposable, reason in stratum.reason) == (decomposable, True)
    if not decomposable:
        assert stratum.reason.startswith(rule_of(plan, "path", 1).place)


def ports_of(plan):
    """The homes and ports of the one recursive stratum, and what they cost."""
    (stratum,) = [stratum for stratum in plan.strata if stratum.recursive]
    found = stratum.partitioning
    readers = {reader.split()[0] for port in found.ports for reader in port.readers}
    assert readers <= {relation.name for relation in stratum.relations} | {
        aux.split("(")[0] for aux in found.auxiliaries
    }
    return {(port.relation, port.columns, port.is_owner) for port in found.ports}, found.cost


def test_a_linear_closure_lives_by_its_first_column_and_sends_nothing():
    plan = explained(REACHABLE.format(recursion="path(x, y), edge(y, z)"), {"edge": {(1, 2), (2, 3)}})
    assert ports_of(plan) == ({("path", ("a",), True)}, 0)


@pytest.mark.parametrize("policy", [engine.Global(), engine.Dws()], ids=["global", "dws"])
def test_the_same_generation_lives_by_both_columns_and_is_sent_once(policy):
    recursion = "edge(a, x), path(a, b), edge(b, z)"
    plan = explained(REACHABLE.format(recursion=recursion), {"edge": {(1, 2), (2, 3)}}, policy=policy)
    assert ports_of(plan) == ({("path", ("a", "b"), True)}, 1)


@pytest.mark.parametrize("policy", [engine.Global(), engine.Dws()], ids=["global", "dws"])
def test_a_closure_that_is_not_linear_goes_to_two_arrangements(policy):
    """DCDatalog, §4.3: one copy by each argument; both variants derive what belongs elsewhere."""
    recursion = "path(x, y), path(y, z), x < z"
    plan = explained(REACHABLE.format(recursion=recursion), {"edge": {(1, 2), (2, 3)}}, policy=policy)
    ports, cost = ports_of(plan)
    assert {columns: home for _, columns, home in ports} in (
        {("a",): True, ("b",): False},
        {("a",): False, ("b",): True},
    )
    assert cost == 1 + 2
    assert all(len(port.readers) == 1 for s in plan.strata if s.recursive for port in s.partitioning.ports)


@pytest.mark.parametrize("policy", [engine.Global(), engine.Dws()], ids=["global", "dws"])
def test_a_rule_of_three_recursive_atoms_names_the_relation_that_cuts_it(policy):
    recursion = "path(x, a), path(a, b), path(b, z)"
    plan = explained(REACHABLE.format(recursion=recursion), {"edge": {(1, 2), (2, 3)}}, policy=policy)
    (found,) = [stratum.partitioning for stratum in plan.strata if stratum.recursive]
    assert found.auxiliaries == ("path&0(x, b) :- path(x, a), path(a, b).",)
    (home,) = [port for port in found.ports if port.relation == "path&0"]
    assert home.is_owner and home.columns == ("b",), "it joins path by b"


def test_what_cannot_be_divided_has_no_ports():
    text = ".decl e(a: number, b: number)\n.decl same(a: number, b: number) eqrel\n"
    text += "same(x, y) :- e(x, y).\nsame(x, z) :- e(x, y), same(y, z)."
    (found,) = [s.partitioning for s in explained(text, {"e": {(0, 1)}}).strata if s.recursive]
    assert found is None


def test_rules_that_keep_different_columns_break_each_other():
    text = REACHABLE.format(recursion="path(x, y), edge(y, z)") + "path(x, z) :- edge(x, y), path(y, z)."
    plan = explained(text, {"edge": {(1, 2), (2, 3)}})
    stratum = next(stratum for stratum in plan.strata if stratum.recursive)
    assert stratum.reason == f"{rule_of(plan, 'path', 2).place} keeps other columns than the rules before it"


def test_a_variant_for_each_recursive_atom():
    plan = explained(REACHABLE.format(recursion="path(x, y), path(y, z), x < z"), {"edge": {(1, 2), (2, 3)}})
    assert [(v.delta, v.source) for v in rule_of(plan, "path", 1).variants] == [(1, "path"), (2, "path")]


def test_without_facts_the_plan_is_marked_as_a_guess():
    plan = explained(REACHABLE.format(recursion="path(x, y), edge(y, z)"), {})
    (variant,) = rule_of(plan, "path", 1).variants
    assert variant.n_plans == 0
    assert [step.literal for step in variant.steps] == ["path(x, y)", "edge(y, z)"]


def test_plans_are_made_anew_as_sizes_grow():
    graph = {(int(a), int(b)) for a, b in np.random.default_rng(0).integers(0, 300, (600, 2))}
    plan = explained(REACHABLE.format(recursion="path(x, y), path(y, z), x + z > 0"), {"edge": graph})
    assert max(v.n_plans for v in rule_of(plan, "path", 1).variants) > 1


def test_a_contradiction_of_constants_is_told():
    plan = explained(".decl e(x: number) .decl r(x: number)\nr(x) :- e(x), 1 = 2.", {"e": {(1,)}})
    assert not rule_of(plan, "r").variants[0].is_satisfiable


def test_literals_read_as_they_were_written():
    text = """
    .decl e(x: number, s: symbol, f: float)
    .decl r(x: number)
    r(n) :- e(x, "a b", 1.5), n = count : { e(x, _, _) }, contains("a", "cat"), !e(n, "c", _), n != x + 1.
    """
    literals = {step.literal for step in rule_of(explained(text, {}), "r").variants[0].steps}
    assert {'e(x, "a b", 1.5)', "n = count : { e(x, _, _) }", '!e(n, "c", _)', 'contains("a", "cat")'} <= literals


def test_relations_that_let_in_some_rows_only_are_explained_too():
    text = ".decl e(a: number, b: number)\n.decl tree(a: number, b: number) choice-domain b\n"
    text += "tree(0, x) :- e(0, x).\ntree(x, y) :- tree(_, x), e(x, y)."
    plan = explained(text, {"e": {(0, 1), (1, 2), (0, 2), (2, 0)}})
    stratum = next(stratum for stratum in plan.strata if stratum.recursive)
    assert (stratum.decomposable, stratum.relations[0].rows) == (False, 3)
    assert "depends on the iteration" in stratum.reason


def test_equivalences_in_recursion_are_explained_too():
    text = ".decl e(a: number, b: number)\n.decl same(a: number, b: number) eqrel\n"
    text += "same(x, y) :- e(x, y).\nsame(x, z) :- e(x, y), same(y, z)."
    plan = explained(text, {"e": {(0, 1), (1, 2)}})
    stratum = next(stratum for stratum in plan.strata if stratum.recursive)
    assert (stratum.decomposable, stratum.relations[0].rows) == (False, 9)
    assert stratum.reason == "the classes of same are kept in one place"


def test_arithmetic_for_an_extremum_is_done_by_the_join_before_it():
    text = """
    .decl arc(x: number, y: number, w: number)
    .decl far(x: number, d: number)
    far(0, min<0>).
    far(y, min<d>) :- far(x, c), arc(x, y, w), d = c + w.
    """
    (variant,) = rule_of(explained(text, {"arc": {(0, 1, 5), (1, 2, 7)}}), "far").variants
    assert [step.operators for step in variant.steps] == [("scan",), ("join arc[x]",), ("compute in the join",)]


@pytest.mark.parametrize(
    "hint, expected",
    [
        ("", [("few", "many")]),
        (".plan 0:(1,2)", [("many", "few")]),
        (".plan 0:(2,1)", [("few", "many")]),
    ],
)
def test_a_plan_is_followed_where_one_is_given(hint, expected):
    text = f"""
    .decl few(x: number)
    .decl many(x: number, y: number)
    .decl r(x: number, y: number)
    r(x, y) :- many(x, y), few(x). {hint}
    """
    plan = explained(text, {"few": {(1,), (2,)}, "many": {(i, j) for i in range(60) for j in range(60)}})
    assert [orders(variant) for variant in rule_of(plan, "r").variants] == expected


def orders(variant):
    return tuple(step.literal.partition("(")[0] for step in variant.steps if step.is_atom)


def test_a_plan_has_a_version_for_each_recursive_atom():
    text = """
    .decl a(x: number, y: number)
    .decl b(x: number, y: number)
    .decl p(x: number, y: number)
    p(x, y) :- a(x, y).
    p(x, w) :- p(x, y), a(y, z), b(y, z), p(z, w), x < w. .plan 0:(1,3,2,4), 1:(4,3,2,1)
    """
    facts = {name: {(i, (i * k + 1) % 9) for i in range(9) for k in (1, 2)} for name in ("a", "b")}
    plan = explained(text, facts)
    assert [orders(variant) for variant in rule_of(plan, "p", 1).variants] == [
        ("p", "b", "a", "p"),
        ("p", "b", "a", "p"),
    ]
    program, without = engine.compile([text]), engine.compile([text.partition(".plan")[0]])
    found = [
        tables.decode(each, engine.evaluate(each, engine.facts(each, facts), threads=1), ["p"])
        for each in (program, without)
    ]
    assert found[0] == found[1] and found[0]["p"]
