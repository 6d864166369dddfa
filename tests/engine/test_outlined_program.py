"""Programs with outlines: what they are cut to for some facts derives what the whole program does."""

from dataclasses import replace
from itertools import product

import pytest
from reference import evaluate

import engine
from engine import tables
from engine.plan.outlined_program import OUTLINED_PROGRAM_CODEC, outlined

RULES = """
.decl language(file: number, name: symbol)
.decl flow(x: number, y: number)
.decl wild(x: number, y: number)
.decl reach(x: number, y: number)
.decl quiet(x: number)
.decl named(x: number, name: symbol)
.decl least(x: number, n: number)
.decl first(x: number, y: number) choice-domain x
.decl same(x: number, y: number) eqrel
.decl weight(x: number, w: float, u: unsigned)
.decl heavy(x: number, w: float, u: unsigned)
reach(x, y) :- language(x, "c"), flow(x, y).
reach(x, y) :- reach(x, z), flow(z, y).
reach(x, y) :- wild(x, y), named(y, "wild").
quiet(x) :- flow(x, _), !reach(x, x).
named(x, "from a rule") :- wild(_, x).
least(x, min<y>) :- flow(x, y).
least(7, min<3>).
first(7, 7).
first(x, y) :- flow(x, y), x = y.
same(1, 2).
same(x, y) :- flow(x, y).
heavy(x, w, u) :- weight(x, w, u), named(x, _).
"""
MODELS = """
named(1, "one"). named(2, "tw\u00f6"). named(2, "tw\u00f6"). flow(9, 9). weight(1, -0.5, 4294967295). weight(2, 2, 0).
"""
MORE = 'named(3, "wild"). named(2, cat("t", "wo")).'
SOURCES = [engine.Source(name, text) for name, text in (("rules", RULES), ("models", MODELS), ("more", MORE))]
PROGRAM = engine.compile(SOURCES)
DERIVED = ("reach", "quiet", "named", "least", "first", "same", "heavy")
ROWS = {
    "language": ({(1, "c"), (2, "go")}, {(2, "go")}, set()),
    "flow": ({(1, 2), (2, 1), (3, 3)}, set()),
    "wild": ({(5, 3), (5, 4)}, set()),
    "named": ({(4, "given")}, set()),
}


def read_back(program):
    return OUTLINED_PROGRAM_CODEC.unpack(OUTLINED_PROGRAM_CODEC.pack(program))


@pytest.fixture(scope="module", params=[lambda program: program, read_back], ids=["made", "read"])
def outlines(request):
    return request.param(outlined(PROGRAM))


def found(program, facts, wanted):
    part, database = program.part_on(engine.facts(PROGRAM, facts), wanted)
    return tables.decode(part, engine.evaluate(part, database, threads=1), wanted), part


@pytest.mark.parametrize("rows", list(product(*ROWS.values())))
def test_a_part_derives_what_the_whole_program_does(outlines, rows):
    facts = dict(zip(ROWS, rows, strict=True))
    expected = evaluate(PROGRAM, facts)
    assert found(outlines, facts, DERIVED)[0] == {name: expected[name] for name in DERIVED}


def test_the_whole_program_is_what_it_was_with_the_places_of_its_clauses(outlines):
    assert outlines.whole == PROGRAM
    assert [clause.span for clause in outlines.whole.clauses] == [clause.span for clause in PROGRAM.clauses]


def test_what_cannot_derive_rows_is_not_decoded(outlines):
    _, part = found(outlines, {"flow": {(1, 2)}, "language": {(1, "go")}, "wild": set()}, ("reach", "quiet"))
    assert {clause.head.relation for clause in part.clauses} == {"quiet"}
    assert "heavy" not in part.relations and "weight" not in part.relations


@pytest.mark.parametrize("read", [lambda program: program, read_back], ids=["made", "read"])
@pytest.mark.parametrize(("greatest", "expected"), [(1, ["big", "known"]), (9, ["big", "behind", "last", "known"])])
def test_a_clause_is_decoded_once_and_where_what_it_needs_has_rows(read, greatest, expected):
    declared = "".join(f".decl {name}(x: number)\n" for name in ("given", "big", "behind", "last", "known"))
    rules = "big(x) :- given(x), x > 5. behind(x) :- big(x). last(x) :- behind(x). known(x) :- given(x), !last(x)."
    program = read(outlined(engine.compile([engine.Source("rules", declared + rules)])))
    decoded = []

    def clause_at(at):
        decoded.append(program.clause_at(at))
        return decoded[-1]

    watched = replace(program, clause_at=clause_at)
    given = engine.facts(watched.declarations, {"given": {(1,), (greatest,)}})
    part, database = watched.part_on(given, ("last", "known"))
    assert decoded == []
    result = engine.evaluate(part, database, threads=1)
    assert [clause.head.relation for clause in decoded] == expected
    assert tables.decode(part, result, ["last", "known"]) == {
        "last": {(x,) for x in (greatest,) if x > 5},
        "known": {(1,)},
    }


def test_clauses_and_facts_of_other_sources_are_left_out(outlines):
    kept = outlines.only_sources({"rules", "models"})
    program = engine.compile(SOURCES[:2])
    facts = {"flow": {(1, 2)}, "wild": {(5, 3)}}
    expected = evaluate(program, facts)
    assert found(kept, facts, DERIVED)[0] == {name: expected[name] for name in DERIVED}
    assert [clause.span.source for clause in kept.whole.clauses].count("more") == 0


def test_facts_are_no_rules_that_a_source_writes(outlines):
    assert outlines.written_by({"models", "more"}) == {}
    assert outlines.written_by({"rules", "more"}) == {name: {"rules"} for name in DERIVED}
    assert outlines.only_sources({"models"}).written_by({"rules"}) == {}


def test_facts_that_all_agree_with_are_given_with_the_database(outlines):
    part, database = outlines.part_on(engine.facts(PROGRAM, {"named": {(4, "given")}}), ("named",))
    names = database.symbols.texts(database.relations["named"][1])
    assert list(zip(database.relations["named"][0].tolist(), names, strict=True)) == [
        *((4, "given"), (1, "one"), (2, "tw\u00f6"), (2, "tw\u00f6"), (3, "wild"))
    ]
    assert [clause.is_fact for clause in part.clauses].count(True) == 1
