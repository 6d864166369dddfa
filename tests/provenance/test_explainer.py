"""Explanations of atoms: what the documentation of Soufflé's provenance shows, and every kind of relation."""

import json

import pytest

import engine
from engine.incremental.bounded_recursion import Bound
from engine.incremental.maintained_program import MaintainedProgram
from engine.provenance import Explainer, as_dot, as_text

PATHS = """.decl edge, path(x: number, y: number)
edge(1, 2). edge(2, 3). edge(3, 4). edge(4, 5).
path(x, y) :- edge(x, y).
path(x, z) :- edge(x, y), path(y, z).
"""


def explainer(text, facts=None, **options):
    program = engine.compile([engine.Source("p.dl", text)])
    database = engine.facts(program, facts or {})
    view = MaintainedProgram(program, database, threads=1, **options)
    view.bootstrap(database.relations)
    return Explainer(view)


def why(explainer, text, number=1, depth=None):
    _, (fact,) = explainer.matches(text)
    return as_text(explainer.why(fact, number, depth))


def why_not(explainer, text):
    return as_text(explainer.why_not(explainer.reader.read(text)))


def test_a_proof_is_a_tree_of_rules_down_to_facts():
    assert why(explainer(PATHS), "path(1, 3)") == [
        "path(1, 3)    height 2",
        "  by path(x, z) :- edge(x, y), path(y, z).  (p.dl:4)",
        "  edge(1, 2)    fact of the program  (p.dl:2)",
        "  path(2, 3)",
        "    by path(x, y) :- edge(x, y).  (p.dl:3)",
        "    edge(2, 3)    fact of the program  (p.dl:2)",
    ]


def test_a_depth_leaves_sub_proofs_out_that_can_be_asked_for():
    paths = explainer(PATHS)
    assert why(paths, "path(1, 4)", depth=1)[-1] == "  path(2, 4)    left out: deeper than asked for"
    assert why(paths, "path(2, 4)")[0] == "path(2, 4)    height 2"


def test_what_is_not_there_is_explained_by_the_rule_that_gets_furthest():
    assert why_not(explainer(PATHS), "path(1, 6)") == [
        "path(1, 6)    is not there; nearest: path(1, 2)",
        "  not by path(x, y) :- edge(x, y).  (p.dl:3)",
        "    ✗ edge(1, 6)    missing: not there; nearest: edge(1, 2), which differs in y",
        "  not by path(x, z) :- edge(x, y), path(y, z).  (p.dl:4)",
        "    ✓ edge(1, 2)",
        "    ✗ path(2, 6)    missing: not there; nearest: path(2, 3), which differs in y",
    ]


def test_a_tuple_is_derived_once_in_a_proof():
    text = PATHS + ".decl both(x: number)\nboth(x) :- path(x, 3), path(x, y), y = 3.\n"
    assert why(explainer(text), "both(1)")[-2:] == ["  path(1, 3)    as above", "  3 = 3"]


def test_other_derivations_come_in_the_order_of_their_heights():
    two = explainer(PATHS, {"edge": [(1, 3)]})
    assert why(two, "path(1, 3)")[:2] == ["path(1, 3)    height 1", "  by path(x, y) :- edge(x, y).  (p.dl:3)"]
    assert why(two, "path(1, 3)", number=2)[0] == "path(1, 3)    height 2"
    _, (fact,) = two.matches("path(1, 3)")
    assert two.why(fact, 3) is None


def test_patterns_match_tuples_in_the_order_of_their_texts():
    _, found = explainer(PATHS).matches("path(x, 3)")
    assert [row for _, row in found] == [(1, 3), (2, 3)]
    _, none = explainer(PATHS).matches("path(x, x)")
    assert none == []


@pytest.mark.parametrize(
    ("rules", "atom", "expected"),
    [
        (
            ".decl alone(x: number)\nalone(x) :- edge(x, _), !path(_, x).",
            "alone(1)",
            "  !path(_, 1)    not among the 10",
        ),
        (
            ".decl out(x: number, n: number)\nout(x, n) :- edge(x, _), n = count : { path(x, _) }.",
            "out(1, 4)",
            "    path(1, 5)",
        ),
        (
            ".decl total(x: number, n: number)\ntotal(x, sum<y>) :- path(x, y).",
            "total(3, 9)",
            "  total(3, 5)  from  path(3, 5)  (p.dl:6)",
        ),
        (
            ".decl far(x: number, d: number)\nfar(1, min<0>). far(y, min<d + 1>) :- far(x, d), edge(x, y).",
            "far(2, 1)",
            "    by far(1, min<0>).  (p.dl:6)",
        ),
        (
            ".decl same(x: number, y: number) eqrel\nsame(x, y) :- edge(x, y).",
            "same(3, 1)",
            "    by same(x, y) :- edge(x, y).  (p.dl:6)",
        ),
        (
            ".decl one(x: number, y: number) choice-domain x\none(x, y) :- path(x, y).",
            "one(1, 2)",
            "  path(1, 2)",
        ),
        (
            ".decl step(x: number, i: number)\nstep(x, i) :- edge(x, y), i = range(0, y).",
            "step(2, 1)",
            "  1 = range(0, 3)",
        ),
        (
            ".type L = [head: number, tail: L]\n.decl list(l: L)\nlist([1, nil]). list([y, [x, t]]) :- edge(x, y), "
            "list([x, t]).",
            "list([2, [1, nil]])",
            "  list([1, nil])",
        ),
        (
            '.decl word(s: symbol)\nword(cat("a", to_string(x))) :- edge(x, 5).',
            'word("a4")',
            "  edge(4, 5)    fact of the program  (p.dl:2)",
        ),
        (".decl counted(x: number, n: number)\ncounted(x, autoinc()) :- edge(x, 5).", "counted(4, 0)",
         "  edge(4, 5)    fact of the program  (p.dl:2)"),
    ],
)  # fmt: skip
def test_every_kind_of_relation_is_explained(rules, atom, expected):
    assert expected in why(explainer(PATHS + rules), atom)


def test_an_equivalence_is_a_chain():
    text = PATHS + ".decl same(x: number, y: number) eqrel\nsame(x, y) :- edge(x, y)."
    lines = why(explainer(text), "same(1, 3)")
    assert lines[0] == "same(1, 3)    equivalence: a chain of    height 1"
    assert [line for line in lines if line.startswith("  same")] == ["  same(1, 2)", "  same(2, 3)"]


def test_a_large_aggregate_is_cut():
    text = ".decl a(x: number)\n.decl n(x: number)\nn(x) :- x = count : { a(_) }.\n"
    assert why(explainer(text, {"a": [(x,) for x in range(9)]}), "n(9)")[-1] == "    … and 4 more"


def test_what_was_chosen_to_bound_a_recursion_is_told():
    text = """.decl arc, reach(x: number, y: number)
    .decl wide(x: number)
    reach(x, y) :- arc(x, y).
    reach(x, z) :- reach(x, y), arc(y, z), !wide(x).
    """
    ring = [(x, (x + 1) % 60) for x in range(60)]
    bound = Bound("reach", [500], "wide", [lambda rows: rows[:1, :1]])
    bounded = explainer(text, {"arc": ring}, bounds=[bound])
    _, (fact, *_) = bounded.matches("wide(_)")
    assert as_text(bounded.why(fact))[0].endswith("fact that keeps the recursion within its bound    height 0")
    assert any("✗ !wide(" in line for line in why_not(bounded, f"reach({fact[1][0]}, {(fact[1][0] + 5) % 60})"))


def test_an_aggregate_that_has_another_value_says_which():
    text = PATHS + ".decl out(x: number, n: number)\nout(x, n) :- edge(x, _), n = count : { path(x, _) }."
    lines = why_not(explainer(text), "out(1, 9)")
    assert "    ✗ 9 = count : { path(1, _) }    missing: the value is 4" in lines
    total = PATHS + ".decl total(x: number, n: number)\ntotal(x, sum<y>) :- path(x, y)."
    assert "    it holds, and gave another row: the relation aggregates, or was full" in why_not(
        explainer(total), "total(3, 7)"
    )


def test_a_document_is_json_and_a_graph():
    paths = explainer(PATHS)
    document = paths.why(paths.matches("path(1, 3)")[1][0])
    assert json.loads(json.dumps(document)) == document
    assert document["rule"] == {"text": "path(x, z) :- edge(x, y), path(y, z).", "file": "p.dl", "line": 4}
    graph = as_dot(document)
    assert graph.startswith("digraph") and '"edge(1, 2)" -> "path(1, 3) by";' in graph


@pytest.mark.parametrize(
    ("text", "code"),
    [("path(1, 2", "E001"), ("paht(1, 2)", "E010"), ("path(1)", "E012"), ('path("a", 2)', "E026"),
     ("path(1, 2), edge(1, 2)", "E001"), ("path(1 + 1, 2)", "E016")],
)  # fmt: skip
def test_atoms_that_do_not_fit_are_errors(text, code):
    with pytest.raises(engine.ProgramError) as error:
        explainer(PATHS).matches(text)
    assert error.value.diagnostics[0].code == code
