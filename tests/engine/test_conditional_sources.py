"""Rules of some sources hold for databases with a row that is named for them."""

from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import engine
from engine import tables
from engine.evaluation.semi_naive_variants import Variant
from engine.plan.outlined_program import OUTLINED_PROGRAM_CODEC

SHARED = """
.decl written_in(language: symbol)
.decl call(x: number, y: number)
.decl model(name: symbol, n: number) 
.decl reach(x: number, y: number)
reach(x, y) :- call(x, y).
.decl least(x: number)
least(min<x>) :- call(x, _).
"""
JAVA = """
model("java", 1).
model(cat(name, "!"), n) :- model(name, n), strlen(name) < 6.
reach(x, z) :- reach(x, y), call(y, z).
.decl unreached(x: number)
unreached(x) :- call(_, x), !reach(1, x).
least(9) :- call(_, _).
"""
GO = """
reach(y, x) :- reach(x, y), model("java!", _).
"""
LIBRARY = [engine.Source(name, text) for name, text in (("shared.dl", SHARED), ("java.dl", JAVA), ("go.dl", GO))]
WANTED = ["reach", "unreached", "model", "least"]
SYMBOLS = {"java.dl": "java", "go.dl": "go"}
CALLS = st.sets(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=8)
LANGUAGES = st.sets(st.sampled_from(["java", "go", "python"]))


def written_out():
    """The same program with the conditions as literals; `model` reads facts of the program alone."""
    java = JAVA.replace("call(y, z).", 'call(y, z), written_in("java").').replace(
        "x).\nleast", 'x), written_in("java").\nleast'
    )
    go = GO.replace("_).", '_), written_in("go").')
    return engine.compile([SHARED + java + go])


def conditional():
    program = engine.compile(LIBRARY)

    def evaluated(part, database, names):
        return engine.evaluate(part, database, threads=1, asked=names).relation

    folded = engine.fold_constants(
        engine.outlined(program), ["call", "written_in"], [source.name for source in LIBRARY], evaluated
    )
    return engine.conditional(folded, "written_in", SYMBOLS)


@given(CALLS, LANGUAGES)
def test_rows_are_those_of_the_program_with_the_condition_in_each_rule(calls, languages):
    facts = {"call": calls, "written_in": {(language,) for language in languages}}
    expected = evaluate(written_out(), facts)
    part, database = conditional().part_on(engine.facts(written_out(), facts), WANTED)
    found = tables.decode(part, engine.evaluate(part, database, threads=1), [n for n in WANTED if n in part.relations])
    assert found == {name: expected[name] for name in found}
    assert all(not expected[name] for name in set(WANTED) - found.keys())


def test_rules_without_their_row_are_left_out():
    for languages, sources in (["python"], {"shared.dl"}), (["java"], {"shared.dl", "java.dl"}):
        facts = {"call": {(1, 2)}, "written_in": {(language,) for language in languages}}
        part, _ = conditional().part_on(engine.facts(written_out(), facts), ["reach", "unreached"])
        assert {clause.span.source for clause in part.clauses if clause.body} == sources


def test_a_row_that_is_there_costs_no_literal(monkeypatch):
    facts = {"call": {(1, 2)}, "written_in": {("java",)}}
    part, database = conditional().part_on(engine.facts(written_out(), facts), ["reach"])
    read = []
    plan = Variant.plan
    monkeypatch.setattr(Variant, "plan", lambda self, epoch: read.extend(self.rule.relations()) or plan(self, epoch))
    result = engine.evaluate(part, database, threads=1)
    assert set(read) == {"call", "reach"}
    assert {rule.relation for stratum in result.statistics for rule in stratum.rules} == {"reach"}


@given(CALLS, LANGUAGES, st.lists(st.tuples(CALLS, LANGUAGES), max_size=4))
def test_a_view_of_it_follows_what_comes_and_goes(calls, languages, commits):
    program = conditional().whole
    facts = {"call": calls, "written_in": {(language,) for language in languages}}
    with engine.View(program, facts, policy="update", threads=1) as view:
        for new_calls, new_languages in commits:
            after = {"call": new_calls, "written_in": {(language,) for language in new_languages}}
            for name in after:
                view.insert(name, after[name] - facts[name])
                view.delete(name, facts[name] - after[name])
            view.commit()
            facts, expected = after, evaluate(written_out(), after)
            assert {name: view.tuples(name) for name in WANTED} == {name: set(expected[name]) for name in WANTED}


def test_it_is_read_as_it_was_written():
    program = conditional()
    found = OUTLINED_PROGRAM_CODEC.unpack(OUTLINED_PROGRAM_CODEC.pack(program))
    assert (found.strata, found.whole) == (program.strata, program.whole)
