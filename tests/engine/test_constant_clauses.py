"""Rows that follow from facts of a program alone are made once, and are those that it derives."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import engine
from engine import tables
from engine.language.syntax import Atom
from engine.plan.outlined_program import OUTLINED_PROGRAM_CODEC

MODELS = """
.decl seen(name: symbol, n: number)
.decl model(name: symbol, n: number)
model("a", 1). model("b", 2). model("c", -3).
.decl next(n: number, m: number)
next(1, 2). next(2, 5).
.decl reach(n: number, m: number)
reach(n, m) :- next(n, m).
reach(n, m) :- reach(n, k), next(k, m).
.decl named(name: symbol, x: float)
named(cat(name, ".call"), 0.5) :- model(name, n), reach(n, _).
named(name, 1.5) :- model(name, n), !reach(n, _), n < 0.
.decl many(n: number)
many(n) :- n = count : { reach(_, _) }.
.decl none(name: symbol)
none(name) :- model(name, n), n > 9.
"""
MIXED = """
.decl open_model(name: symbol)
open_model(name) :- named(name, _).
.decl found(name: symbol, x: float)
found(name, x) :- seen(name, _), named(name, x).
found(name, 0.0) :- open_model(name), none(name).
.decl quiet(name: symbol)
quiet(name) :- seen(name, n), !none(name), many(n).
"""
PROGRAM = engine.compile([engine.Source("models.dl", MODELS), engine.Source("mixed.dl", MIXED)])
WANTED = ["found", "quiet", "reach", "none", "open_model"]
FACTS = ["seen", "open_model"]


def folded(program, given=FACTS, sources=("models.dl", "mixed.dl", "<text>")):
    def evaluated(part, database, names):
        return engine.evaluate(part, database, threads=1, asked=names).relation

    return engine.fold_constants(engine.outlined(program), given, sources, evaluated)


def rules_of(part):
    return {clause.head.relation for clause in part.clauses if clause.body}


def rows_of(part, database, wanted=WANTED):
    return tables.decode(part, engine.evaluate(part, database, threads=1), [n for n in wanted if n in part.relations])


SINGLE = """
.decl seen(name: symbol, n: number)
.decl model(name: symbol, n: number)
model("a", 1). model("b", 2).
.decl bar(name: symbol)
bar("b").
.decl held(name: symbol, n: number)
held("fact", 0).
held(name, n + 1) :- model(name, n).
held(name, n) :- model(name, n), !bar(name).
held(name, n) :- seen(name, n), n > 1.
held(cat(name, "!"), n) :- held(name, n), n < 2, strlen(name) < 6.
held(name, n) :- model(name, n), held(_, n).
.decl empty(name: symbol)
empty(name) :- model(name, n), n > 9.
empty(name) :- seen(name, 3).
"""
SINGLES = engine.compile([engine.Source("single.dl", SINGLE)])


@given(st.sets(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from([1, 2, 3]))))
def test_clauses_that_read_constants_are_folded_beside_others_of_their_relation(seen):
    facts, wanted = {"seen": seen}, ["held", "empty"]
    expected = evaluate(SINGLES, facts)
    part, database = folded(SINGLES, ["seen"], ["single.dl"]).part_on(engine.facts(SINGLES, facts), wanted)
    read = [{atom.relation for atom in clause.body if isinstance(atom, Atom)} for clause in part.clauses]
    assert all(not names <= {"model", "bar"} for names in read)
    found = rows_of(part, database, wanted)
    assert found == {name: expected[name] for name in found}
    assert found["held"]


def test_clauses_of_sources_that_nobody_vouches_for_are_not_folded():
    other = engine.Source("other.dl", 'held(cat("x", name), 7) :- model(name, _).')
    program = engine.compile([engine.Source("single.dl", SINGLE), other])
    part, database = folded(program, ["seen"], ["single.dl"]).part_on(engine.Database(), ["held"])
    assert {clause.span.source for clause in part.clauses if clause.body and len(clause.body) == 1} == {"other.dl"}
    expected = engine.evaluate(program, engine.Database(), threads=1)
    assert rows_of(part, database, ["held"]) == tables.decode(program, expected, ["held"])


@given(
    st.sets(st.tuples(st.sampled_from(["a", "a.call", "b.call", "c", "d"]), st.sampled_from([1, 2, 3]))),
    st.sets(st.tuples(st.sampled_from(["c", "e"]))),
)
def test_rows_are_what_the_rules_derive(seen, models):
    facts = {"seen": seen, "open_model": models}
    expected = evaluate(PROGRAM, facts)
    part, database = folded(PROGRAM).part_on(engine.facts(PROGRAM, facts), WANTED)
    assert rules_of(part) <= {"found", "quiet"}
    found = rows_of(part, database)
    assert found == {name: expected[name] for name in found}
    assert all(not expected[name] for name in set(WANTED) - found.keys())


def test_what_databases_may_have_rows_of_is_no_constant():
    rules = rules_of(folded(PROGRAM, ["seen", "next"]).part_on(engine.facts(PROGRAM, {"seen": {("c", 3)}}), WANTED)[0])
    assert {"reach", "named"} <= rules


def test_rules_of_other_sources_and_what_reads_their_facts_are_not_run():
    other = engine.Source(
        "other.dl", 'next(7, 8).\n.decl huge(x: number)\nhuge(x) :- x = range(1, 3), model("a", 1).\n'
    )
    program = engine.compile([engine.Source("models.dl", MODELS), engine.Source("mixed.dl", MIXED), other])
    part, _ = folded(program).part_on(engine.facts(program, {"seen": {("c", 3)}}), [*WANTED, "huge"])
    assert {"reach", "named", "huge"} <= rules_of(part)
    assert "none" not in rules_of(part)


def test_nothing_else_is_evaluated():
    """`held` has no rules, but stands in a recursion: so does what a program without contexts has no rows of."""
    text = """
    .decl held(x: number)
    .decl counter(x: number)
    counter(0).
    counter(x + 1) :- counter(x).
    counter(x) :- held(x).
    """
    program = engine.outlined(engine.compile([engine.Source("models.dl", MODELS), engine.Source("other.dl", text)]))
    joined = next(at for at, stratum in enumerate(program.strata) if program.names[stratum.relations[0]] == "counter")
    stratum = program.strata[joined]._replace(
        relations=(*program.strata[joined].relations, program.names.index("held"))
    )
    program = replace(program, strata=(*program.strata[:joined], stratum, *program.strata[joined + 1 :]))
    asked = []

    def evaluated(part, database, names):
        asked.extend(relation for stratum in part.strata for relation in stratum.relations)
        return engine.evaluate(part, database, threads=1, asked=names).relation

    engine.fold_constants(program, FACTS, ["models.dl"], evaluated)
    assert "reach" in asked
    assert "counter" not in asked


def test_without_some_sources_what_remains_is_as_if_nothing_were_folded():
    facts = engine.facts(PROGRAM, {"seen": {("c", 3), ("d", 1)}})
    for sources in (["mixed.dl"], ["models.dl"], ["models.dl", "mixed.dl"]):
        part, database = folded(PROGRAM).only_sources(sources).part_on(facts, WANTED)
        plain, plain_database = engine.outlined(PROGRAM).only_sources(sources).part_on(facts, WANTED)
        found, expected = rows_of(part, database), rows_of(plain, plain_database)
        assert found == {name: rows for name, rows in expected.items() if name in found}
        assert not any(rows for name, rows in expected.items() if name not in found)


def test_a_folded_program_is_read_as_it_was_written():
    program = folded(PROGRAM)
    found = OUTLINED_PROGRAM_CODEC.unpack(OUTLINED_PROGRAM_CODEC.pack(program))
    assert (found.folded, found.texts, found.whole) == (program.folded, program.texts, PROGRAM)
    assert found.folded.strata and found.folded.clauses


LEFT = """
.decl arc(x: number, y: number)
arc(1, 2). arc(2, 3).
.type Pair = [a: number, b: number]
.decl pair(p: Pair)
pair([x, y]) :- arc(x, y).
.decl same(x: number, y: number) eqrel
same(x, y) :- arc(x, y).
.decl least(x: number)
least(min<x>) :- arc(x, _).
.decl numbered(x: number, i: number)
numbered(x, autoinc()) :- arc(x, _).
.decl chosen(x: number, y: number) choice-domain x
chosen(1, y) :- arc(_, y).
.decl some(x: number)
some(x) :- arc(x, _).
.limitsize some(n=1)
"""


def test_what_no_table_can_hold_is_left():
    program = engine.compile([LEFT])
    names = ["pair", "same", "least", "numbered", "chosen", "some"]
    assert not folded(program, []).folded.strata
    part, database = folded(program, []).part_on(engine.Database(), names)
    expected = engine.evaluate(program, engine.Database(), threads=1)
    assert {name: rows_of(part, database, names)[name] for name in names} == tables.decode(program, expected, names)
