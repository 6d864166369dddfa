"""Queries and further rules on a program: the same as the program written out with them."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import ANSWERS

RULES = """
.type Name <: symbol
.type Pair = [a: Name, b: Name]
.decl arc(x: Name, y: Name)
.decl tc(x: Name, y: Name)
.decl pair(p: Pair)
.decl size(x: Name, n: number)
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
pair([x, y]) :- arc(x, y).
size(x, n) :- arc(x, _), n = count : { tc(x, _) }.
"""
PROGRAM = engine.compile(RULES)
NAMES = "abcd"
TERMS = st.sampled_from(["x", "y", "z", "_", '"a"', '"b"'])
ATOMS = st.one_of(
    st.tuples(st.sampled_from(["arc", "tc"]), TERMS, TERMS).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
    st.tuples(TERMS, TERMS).map(lambda t: f"pair([{t[0]}, {t[1]}])"),
    st.tuples(TERMS, st.sampled_from(["n", "_", "2"])).map(lambda t: f"size({t[0]}, {t[1]})"),
)
FILTERS = st.sampled_from(["x != y", "!arc(x, y)", "!tc(y, _)", "x = y", "m = count : { arc(_, x) }", "y < z"])
BODIES = st.tuples(st.lists(ATOMS, min_size=1, max_size=3), st.lists(FILTERS, max_size=1)).map(
    lambda parts: ", ".join((*parts[0], *parts[1]))
)
ARCS = st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8)


def written_out(text, columns, facts, more=""):
    """The answers by a program that declares them."""
    declared = ", ".join(f"{column.name}: {column.type.name}" for column in columns)
    head = ", ".join(column.name for column in columns)
    whole = f"{RULES}\n{more}\n.decl answers({declared})\nanswers({head}) :- {text}."
    return engine.evaluate(engine.compile(whole), facts).tuples("answers")


@given(BODIES, ARCS)
def test_answers_are_those_of_the_rule_written_into_the_program(text, arcs):
    facts = {"arc": arcs}
    try:
        extension = engine.question(PROGRAM, text)
    except engine.ProgramError as error:
        with pytest.raises(engine.ProgramError) as whole:
            engine.compile(f"{RULES}\n.decl answers()\nanswers() :- {text}.")
        assert [each.code for each in error.diagnostics] == [each.code for each in whole.value.diagnostics]
        return
    columns = extension.relations[ANSWERS].columns
    expected = written_out(text, columns, facts)
    assert engine.ask(PROGRAM, text, facts).tuples(ANSWERS) == expected
    assert engine.evaluate(PROGRAM.extended(extension), facts).tuples(ANSWERS) == expected
    outlined = engine.outlined(PROGRAM).extended(extension)
    part, database = outlined.part_on(engine.facts(PROGRAM, facts), [ANSWERS])
    assert engine.evaluate(part, database).tuples(ANSWERS) == expected


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("tc(x, y)", ["x: Name", "y: Name"]),
        ("tc(y, x), x != y.", ["y: Name", "x: Name"]),
        ("size(_, n), m = n + 1 ?", ["n: number", "m: number"]),
        ("tc(x, _y)", ["x: Name"]),
        ("arc(x, y); tc(y, x)", ["x: Name", "y: Name"]),
        ("arc(x, y); tc(x, z)", ["x: Name"]),
        ("pair(p)", ["p: Pair"]),
        ("n = count : { arc(a, b) }", ["n: number"]),
        ('arc("a", "b")', []),
        ("false", []),
    ],
)
def test_columns_are_the_variables_of_every_alternative(text, columns):
    declared = engine.question(PROGRAM, text).relations[ANSWERS].columns
    # A type that is a part of a primitive one is another name for that.
    kinds = {"Name": "symbol"}
    told = [f"{column.name}: {column.type.name}" for column in declared]
    assert told == [f"{name}: {kinds.get(type, type)}" for name, type in (each.split(": ") for each in columns)]


def test_further_rules_may_recur_and_are_asked_together():
    rules = engine.Source(
        "own.dl", ".decl back(x: symbol, y: symbol)\nback(y, x) :- arc(x, y).\nback(x, z) :- back(x, y), back(y, z)."
    )
    arcs = {("a", "b"), ("b", "c")}
    found = engine.ask(PROGRAM, 'back(x, "a"), !arc(x, _)', {"arc": arcs}, [rules])
    assert found.tuples(ANSWERS) == {("c",)}


def test_components_of_further_sources_are_expanded():
    rules = engine.Source("own.dl", ".comp C { .decl r(x: symbol)\nr(x) :- arc(x, _). }\n.init c = C")
    assert engine.ask(PROGRAM, "c.r(x)", {"arc": [("a", "b")]}, [rules]).tuples(ANSWERS) == {("a",)}


M = ".decl seen(x: number) public\n.decl own(x: number)\nown(1).\nseen(x) :- own(x)."
N = ".decl own(x: number)\n.decl said(x: number) public inline\nsaid(x) :- seen(x), own(x)."
MODULES = [engine.Source("m.dl", M, module="lib.m"), engine.Source("n.dl", N, module="n")]


def test_relations_of_modules_are_read_with_and_without_their_module():
    program = engine.compile(MODULES)
    assert engine.ask(program, "lib.m::own(x), seen(x), !n::own(x)", {}).tuples(ANSWERS) == {(1,)}


@pytest.mark.parametrize(
    ("text", "code", "place", "help"),
    [
        ("sen(x)", "E010", (1, 1), "did you mean 'seen'?"),
        ("seen(x),\n  own(x)", "E080", (2, 3), "write 'lib.m::own' or 'n::own'"),
        ("lib.m::ow(x)", "E010", (1, 1), "did you mean 'lib.m::own'?"),
        ("said(x)", "E010", (1, 1), "remove the qualifier 'inline' from its declaration"),
        ("seen(x, y)", "E012", (1, 1), "it is declared as seen(x: number)"),
        ("seen(x), !seen(y)", "E014", (1, 16), "add a positive atom that binds 'y'"),
        ("seen(x), y < 2", "E014", (1, 10), "add a positive atom that binds 'y'"),
        ("seen(x", "E001", (1, 7), ""),
        ("seen(x) & seen(y)", "E001", (1, 9), "write ',' for 'and'"),
        ("", "E001", (1, 1), ""),
    ],
)
def test_errors_tell_where_in_the_query(text, code, place, help):
    with pytest.raises(engine.ProgramError) as caught:
        engine.question(engine.compile(MODULES), text)
    first = caught.value.diagnostics[0]
    assert (first.code, (first.span.line, first.span.column)) == (code, place)
    assert help in first.help


def test_the_relations_of_the_program_take_no_further_rules():
    for text in ('arc("a", "b").', "tc(x, x) :- arc(x, _).", ".limitsize tc(n=3)"):
        with pytest.raises(engine.ProgramError, match="E082"):
            engine.extend(PROGRAM, [engine.Source("own.dl", text)])
    with pytest.raises(engine.ProgramError, match="E011"):
        engine.extend(PROGRAM, [engine.Source("own.dl", ".decl tc(x: symbol)")])
    with pytest.raises(engine.ProgramError, match="E006"):
        engine.extend(PROGRAM, [engine.Source("own.dl", ".decl r(x: symbol)\n.output r")])


def test_variables_of_several_types_are_an_error():
    with pytest.raises(engine.ProgramError, match="E025"):
        engine.question(PROGRAM, "size(_, x); arc(x, _)")


def test_algebraic_types_are_known_to_queries():
    program = engine.compile('.type T = A { x: number } | B { s: symbol }\n.decl t(t: T)\nt($A(1)). t($B("b")).')
    assert engine.ask(program, "t($A(n))", {}).tuples(ANSWERS) == {(1,)}
    assert engine.ask(program, 't($B(s)), contains("b", s)', {}).tuples(ANSWERS) == {("b",)}


def test_a_query_with_a_constant_derives_less():
    arcs = {(f"{c}{i}", f"{c}{i + 1}") for c, i in product(NAMES, range(30))}
    narrow = engine.ask(PROGRAM, 'tc("a0", y), !arc(y, _)', {"arc": arcs})
    assert narrow.tuples(ANSWERS) == {("a30",)}
    derived = sum(stratum.rows for stratum in narrow.statistics if "arc" not in stratum.relations)
    assert derived < 30 * 31 / 2


BEYOND = ["size(x, n), tc(x, y)", "pair([x, y])", "tc(x, y); pair([y, x])"]


@given(ARCS, st.sets(st.sampled_from(["arc", "tc", "pair"])), st.sampled_from(BEYOND))
def test_what_lies_beyond_held_relations_derives_the_rest(arcs, held, text):
    """Whatever relations are held: the rules of the others are there, and theirs are not."""
    outlined, extension = engine.outlined(PROGRAM), engine.question(PROGRAM, text)
    beyond = outlined.beyond(extension, held)
    assert held.isdisjoint(clause.head.relation for clause in beyond.clauses)
    whole = engine.evaluate(PROGRAM, {"arc": arcs})
    facts = {name: whole.relation(name) for name in {"arc", *held} if name in beyond.relations}
    database = engine.Database(whole.symbols, whole.records, facts)
    assert engine.evaluate(beyond, database).tuples(ANSWERS) == engine.ask(PROGRAM, text, {"arc": arcs}).tuples(ANSWERS)
