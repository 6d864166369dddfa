"""Queries: magic sets against the full result, and that they derive less."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import engine
from engine import tables
from engine.language.clause_text import clause_text
from engine.language.parse_query import read_query
from engine.plan.magic_sets import demand
from engine.queries import evaluate_outputs

DECLARED = ".decl arc(x: number, y: number)\n.decl tc(x: number, y: number)\ntc(x, y) :- arc(x, y).\n"
CLOSURES = {
    "left": "tc(x, y) :- tc(x, z), arc(z, y).",
    "right": "tc(x, y) :- arc(x, z), tc(z, y).",
    "both": "tc(x, y) :- tc(x, z), tc(z, y).",
    "mixed": "tc(x, y) :- arc(x, z), tc(z, y).\ntc(x, y) :- tc(x, z), arc(z, y).",
}
SG = """
.decl arc(p: number, c: number)
.decl sg(x: number, y: number)
sg(x, y) :- arc(p, x), arc(p, y), x != y.
sg(x, y) :- arc(a, x), sg(a, b), arc(b, y).
"""


def answers(program, text, facts, **options):
    result = engine.query(program, text, engine.facts(program, facts), threads=1, **options)
    name = text.split("(")[0]
    return tables.decode(program, result, [name])[name], result


def reachable_from(start, arcs):
    """The nodes that paths of one arc or more lead to from a node."""
    found, pending = set(), [start]
    while pending:
        node = pending.pop()
        new = {b for a, b in arcs if a == node} - found
        found |= new
        pending += new
    return found


@pytest.mark.parametrize("closure", CLOSURES)
def test_closures_from_and_to_a_node(closure):
    arcs = {(int(a), int(b)) for a, b in np.random.default_rng(3).integers(0, 40, (55, 2))}
    program = engine.compile([DECLARED + CLOSURES[closure]])
    reversed_arcs = {(b, a) for a, b in arcs}
    for node in (0, 7, 23):
        forwards, backwards = reachable_from(node, arcs), reachable_from(node, reversed_arcs)
        assert answers(program, f"tc({node}, y)", {"arc": arcs})[0] == {(node, y) for y in forwards}
        assert answers(program, f"tc(x, {node})", {"arc": arcs})[0] == {(x, node) for x in backwards}
        assert answers(program, f"tc({node}, 9)", {"arc": arcs})[0] == ({(node, 9)} if 9 in forwards else set())
        assert answers(program, f"tc({node}, {node})?", {"arc": arcs})[0] == (
            {(node, node)} & {(node, y) for y in forwards}
        )
    cycles = {(x, x) for x in range(40) if x in reachable_from(x, arcs)}
    assert answers(program, "tc(x, x)", {"arc": arcs})[0] == cycles


@pytest.mark.parametrize(("closure", "query"), [("left", "tc(0, y)"), ("right", "tc(0, y)"), ("left", "tc(x, 0)")])
def test_a_query_on_one_of_many_chains_derives_the_rows_of_that_chain(closure, query):
    n, chains = 30, 50
    arcs = {(c * 1000 + i, c * 1000 + i + 1) for c in range(chains) for i in range(n)}
    if query == "tc(x, 0)":
        arcs = {(b, a) for a, b in arcs}
    found, result = answers(engine.compile([DECLARED + CLOSURES[closure]]), query, {"arc": arcs})
    assert len(found) == n
    # The demand and the answers, each at most one row for a node of the chain; the closure has chains · n (n + 1) / 2.
    assert sum(stratum.rows for stratum in result.statistics) - len(arcs) <= 2 * (n + 1)


CHAINED = [".decl tc(x: number, y: number)\ntc(x, y) :- arc(x, y).\n" + rule for rule in CLOSURES.values()]


@pytest.mark.parametrize("rules", CHAINED[:2])
@pytest.mark.parametrize("text", ["tc({}, y), y > 0", "tc(y, {}), y > 0", "y > 0, tc(y, {}), !arc(y, y)"])
def test_bodies_that_ask_for_one_value_derive_the_rows_of_that_value(rules, text):
    n, chains, node = 30, 20, 7015
    arcs = {(c * 1000 + i, c * 1000 + i + 1) for c in range(chains) for i in range(n)}
    expected = {(y,) for y in range(7000, 7031) if (y > node if "tc({}" in text else y < node)}
    program, source = engine.compile([DECLARED.split(".decl tc")[0]]), engine.Source("rules.dl", rules)
    once = engine.ask(program, text.format(node), {"arc": arcs}, [source], threads=1)
    assert once.tuples(engine.ANSWERS) == expected
    # The demand, the answers, those of the query, and the tests of y; the closure has chains · n (n + 1) / 2.
    assert sum(stratum.rows for stratum in once.statistics) - len(arcs) <= 4 * (n + 1)
    with engine.View(program, {"arc": arcs}, threads=1) as view:
        with view.query(text.format("k"), [source], {"k": "number"}) as query:
            for asked in (3, node):
                found = query.answers(asked)
            assert found.tuples(engine.ANSWERS) == expected


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12), st.sampled_from(CHAINED), st.data())
def test_values_asked_for_at_several_places_are_not_mixed_up(arcs, rules, data):
    """Two atoms, two alternatives, a value for each row of a relation: each has the answers for its own value."""
    node = st.integers(0, 5)
    a, b = data.draw(node), data.draw(node)
    to = {n: reachable_from(n, arcs) for n in range(6)}
    cases = {
        f"tc({a}, y), tc({b}, z)": {(y, z) for y in to[a] for z in to[b]},
        f"tc({a}, y), tc({a}, z)": {(y, z) for y in to[a] for z in to[a]},
        f"tc({a}, y); tc({b}, y)": {(y,) for y in to[a] | to[b]},
        f"tc({a}, y), tc(y, z)": {(y, z) for y in to[a] for z in to[y]},
        f"arc({a}, x), tc(x, y)": {(x, y) for c, x in arcs if c == a for y in to[x]},
        f"tc(y, {a}), tc({b}, y)": {(y,) for y in range(6) if a in to[y] and y in to[b]},
        f"tc({a}, {b})": {()} if b in to[a] else set(),
        f"tc({a}, y), tc(y, {a})": {(y,) for y in to[a] if a in to[y]},
    }
    program, source = engine.compile([DECLARED.split(".decl tc")[0]]), engine.Source("rules.dl", rules)
    for text, expected in cases.items():
        found = engine.ask(program, text, {"arc": arcs}, [source], threads=1)
        assert found.tuples(engine.ANSWERS) == expected, text


def test_same_generation_asks_upwards_and_answers_downwards():
    # Two binary trees of four levels side by side: 15 nodes each, numbered 1 … 15 and 101 … 115.
    arcs = {(t + p, t + c) for t in (0, 100) for p in range(1, 8) for c in (2 * p, 2 * p + 1)}
    program = engine.compile([SG])
    assert answers(program, "sg(9, y)", {"arc": arcs})[0] == {(9, y) for y in range(8, 16) if y != 9}
    assert answers(program, "sg(y, 104)", {"arc": arcs})[0] == {(y, 104) for y in (105, 106, 107)}
    derived = answers(program, "sg(9, y)", {"arc": arcs})[1].statistics
    # Demand: 9, 4, 2, 1. Answers: those of 9, 4 and 2.
    assert {s.relations[0]: s.rows for s in derived} == {"arc": 28, "sg": 0, "sg@bf?": 4, "sg@bf": 7 + 3 + 1}


def test_facts_given_for_a_derived_relation_count():
    program = engine.compile([DECLARED + CLOSURES["right"]])
    assert answers(program, "tc(1, y)", {"arc": {(1, 2)}, "tc": {(2, 9), (1, 8), (3, 7)}})[0] == {
        (1, 2),
        (1, 9),
        (1, 8),
    }


def test_values_that_functors_make_are_not_demanded():
    text = """
    .decl n(x: number) .decl below(x: number, y: number)
    n(1). n(2). n(3).
    below(x, x) :- n(x).
    below(x, y) :- below(z, y), n(z), n(y), x = z + 1, x < 6.
    """
    program = engine.compile([text])
    # Demanding z = x - 1 for x = 5, 4, 3, … would never end.
    assert answers(program, "below(4, y)", {})[0] == {(4, y) for y in (1, 2, 3)}


def test_what_is_negated_or_aggregated_is_derived_in_full():
    text = (
        DECLARED
        + CLOSURES["left"]
        + """
    .decl apart(x: number, y: number)
    apart(x, y) :- arc(x, _), arc(_, y), !tc(x, y).
    .decl reach(x: number, n: number)
    reach(x, n) :- arc(x, _), n = count : { tc(x, _) }.
    """
    )
    program = engine.compile([text])
    arcs = {(1, 2), (2, 3), (7, 8)}
    assert answers(program, "apart(1, y)", {"arc": arcs})[0] == {(1, 8)}
    assert answers(program, "reach(x, 1)", {"arc": arcs})[0] == {(2, 1), (7, 1)}
    clauses = [clause_text(c) for c in demand(program, read_query("apart(1, y)", program)).program.clauses]
    assert "tc(x, y) :- tc(x, z), arc(z, y)." in clauses, "unguarded"


def test_equivalences_and_choices_are_derived_in_full():
    text = ".decl a(x: number, y: number)\n.decl eq(x: number, y: number) eqrel\neq(x, y) :- a(x, y).\n"
    text += ".decl t(x: number, y: number) choice-domain y\nt(x, y) :- a(x, y)."
    program = engine.compile([text])
    facts = {"a": {(1, 2), (2, 3), (5, 6), (4, 2)}}
    assert answers(program, "eq(3, y)", facts)[0] == {(3, y) for y in (1, 2, 3, 4)}
    assert answers(program, "t(4, y)", facts)[0] == set(), "2 went to 1, the lesser"


SAME_GENERATION = SG + ".decl query()\n.output query\nquery() :- sg(256, 511).\n"


def test_a_pragma_asks_for_magic_sets():
    """On a binary tree of depth 8 all leaves are of one generation: 4⁸ pairs, of which one is asked for."""
    facts = {"arc": {(n // 2, n) for n in range(2, 512)}}
    sizes = []
    for pragma in ("", '.pragma "magic-transform" "*"\n'):
        program = engine.compile([pragma + SAME_GENERATION])
        result = evaluate_outputs(program, lambda _: engine.facts(program, facts), threads=1)  # noqa: B023
        assert result.relation("query").shape == (0, 1)
        sizes.append(sum(stratum.rows for stratum in result.statistics))
    assert sizes[0] > 4**8 > 100 * sizes[1]


def test_a_pragma_changes_nothing_where_there_are_several_outputs():
    program = engine.compile(['.pragma "magic-transform" "*"\n' + SAME_GENERATION + ".output sg\n"])
    result = evaluate_outputs(program, lambda _: engine.facts(program, {"arc": {(1, 256), (1, 511)}}), threads=1)
    assert result.relation("sg").shape == (2, 2) and result.relation("query").shape == (0, 1)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("tc(1)", "E012"),
        ("ct(1, x)", "E010"),
        ('tc("a", x)', "E026"),
        ("tc(1 + 2, x)", "E016"),
        ("tc(1, x), tc(x, 2)", "E001"),
        ("", "E001"),
        (".decl r(x: number)", "E001"),
    ],
)
def test_wrong_queries_are_rejected_with_a_code(text, code):
    program = engine.compile([DECLARED])
    with pytest.raises(engine.ProgramError) as raised:
        read_query(text, program)
    assert raised.value.diagnostics[0].code == code


def test_constants_have_the_types_of_their_columns():
    text = ".type R = [x: number]\n.decl e(s: symbol, u: unsigned, f: float, n: number, r: R)\n"
    program = engine.compile([text])
    facts = {"e": {("a b", 7, 2.0, -3, None), ("a b", 7, 2.5, -3, None), ("", 7, 2.0, -3, (1,))}}
    assert answers(program, 'e("a b", 7, 2, -3, nil)', facts)[0] == {("a b", 7, 2.0, -3, None)}
    assert answers(program, "e(_, u, 2.0, -3, r)", facts)[0] == {r for r in facts["e"] if r[2] == 2.0}


def test_a_view_answers_queries_as_of_its_last_commit():
    arcs = {(i, i + 1) for i in range(50)}
    program = engine.compile([DECLARED + CLOSURES["left"]])
    with engine.View(engine.compile([DECLARED]), {"arc": arcs}, threads=1) as view:
        rules = [
            engine.Source(
                "closure.dl",
                ".decl path(x: number, y: number)\npath(x, y) :- arc(x, y).\npath(x, z) :- path(x, y), arc(y, z).\n",
            )
        ]
        for gone in (set(), {(20, 21)}):
            view.delete("arc", gone)
            view.commit()
            expected = {row[1:] for row in engine.query(program, "tc(7, y)", {"arc": arcs - gone}).tuples("tc")}
            assert view.ask("path(7, y)", rules).tuples(engine.ANSWERS) == expected
