"""Modules as plain Soufflé: what it says is what it said, by our own engine where that reads it."""

import pytest

import engine
from engine import Source
from engine.language.compiler import flatten
from engine.language.to_souffle import souffle_text
from engine.tables import decode

GRAPH = """
.type Node = [name: symbol, count: number]
.type Id <: number
.type Either = One { n: number } | Two { n: number, s: symbol }
.decl edge(x: number, y: number) open
edge(1, 2). edge(2, 3).
.decl step(range: number, y: number) inline
step(x, y) :- edge(x, y), x != y.
.decl path(x: number, y: number) public
path(x, y) :- step(x, y).
path(x, z) :- path(x, y), step(y, z).
.decl named(node: Node, text: symbol) public
named([n, c], t) :- n = "a\\"b\\\\", c = 2 + 3 * 4, t = cat(n, to_string(c)), !path(c, c).
.decl total(n: number) public choice-domain n
total(n) :- n = count : { path(_, _) }.
.decl either(e: Either, x: Id) public
either($Two(1, "t"), as(x, Id)) :- edge(x, _), match("[a-c]+", "abc").
"""
OWN = ".use graph\n.decl step(x: number)\nstep(x) :- path(x, 3), min x2 : { path(x2, _) } <= x.\nedge(3, 4).\n"
SOURCES = [Source("g", GRAPH, module="graph"), Source("o", OWN, module="own.more")]


def rows(program, name):
    return decode(program, engine.evaluate(program, engine.Database(), threads=1), [name])[name]


@pytest.mark.parametrize("name", ["path", "named", "total", "either", "own.more.step"])
def test_a_flattened_program_derives_the_same(name):
    text = souffle_text(flatten(SOURCES))
    derived = rows(engine.compile(SOURCES), name)
    assert derived and derived == rows(engine.compile([text]), name.replace(".", "__"))


def test_qualified_names_have_no_dots_and_attributes_are_no_keywords():
    text = souffle_text(flatten(SOURCES))
    assert "own__more__step(x) :- " in text and ".decl graph__step(range_: number, y: number) inline" in text
    assert "public" not in text and "open" not in text and ".use" not in text


def test_a_least_value_in_a_head_becomes_a_subsumptive_clause():
    text = """.decl near(x: number, d: number)
near(x, min<d>) :- x = 1, d = 2.
.decl far(d: number, x: number)
far(max<d>, x) :- near(x, d).
"""
    assert souffle_text(flatten([Source("p", text)])).splitlines()[-2:] == [
        "near(x0, a) <= near(x0, b) :- b < a.",
        "far(a, x1) <= far(b, x1) :- b > a.",
    ]


def test_patterns_that_ignore_case_have_both():
    text = '.decl a(x: symbol)\na(x) :- x = "q", match("(?i)ab[^c-e]\\\\s", x).\n'
    assert 'match("[aA][bB][^c-eC-E]\\\\s", x)' in souffle_text(flatten([Source("p", text)]))


@pytest.mark.parametrize("head", ["r(sum<x>)", "r(min<x>, max<x>)"])
def test_aggregates_that_subsumption_cannot_express_are_an_error(head):
    columns = ", ".join(f"c{i}: number" for i in range(head.count("<")))
    with pytest.raises(engine.ProgramError) as caught:
        souffle_text(flatten([Source("p", f".decl r({columns})\n{head} :- x = 1.\n")]))
    assert [(d.code, d.span.line) for d in caught.value.diagnostics] == [("E060", 2)]
