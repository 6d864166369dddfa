"""Modules: names of their own, what they offer, and what they import. Their errors are in errors.txt."""

import pytest

import engine
from engine import Source
from engine.language.compiler import check_sources

GRAPH = """
.decl edge(x: number, y: number) open
edge(1, 2).
.decl step(x: number, y: number)
step(x, y) :- edge(x, y).
.decl path(x: number, y: number) public
path(x, y) :- step(x, y).
path(x, z) :- path(x, y), step(y, z).
"""


def rows(*sources, wanted):
    program = engine.compile(sources)
    return set(map(tuple, engine.evaluate(program, engine.Database(), threads=1).relation(wanted).T.tolist()))


def test_private_relations_of_one_name_are_apart():
    own = ".use graph\nedge(2, 3).\n.decl step(x: number)\nstep(x) :- path(x, 3).\n.output step\n"
    sources = Source("g", GRAPH, module="graph"), Source("o", own, module="own")
    assert rows(*sources, wanted="own.step") == {(1,), (2,)}
    assert rows(*sources, wanted="graph.step") == {(1, 2), (2, 3)}


def test_an_instance_may_have_the_name_of_what_another_module_keeps():
    """Else a true error in a third module is reported as one of these two, where all are checked together."""
    copy = Source("c", ".comp Copy {\n.decl row(x: number)\nrow(1).\n}\n", module="copy")
    own = Source("o", ".init copied = Copy\n.decl r(x: number) public\nr(x) :- copied.row(x).\n", module="own")
    text = ".decl copied(x: number)\ncopied(2).\n.decl s(x: number) public\ns(x) :- copied(x).\n"
    kept = Source("k", text, module="kept")
    other = Source("p", ".init copied = Copy\n.decl t(x: number) public\nt(x) :- copied.row(x).\n", module="other")
    for sources in ((copy, own, kept, other), (kept, copy, own)):
        assert rows(*sources, wanted="r") == {(1,)}
        assert rows(*sources, wanted="s") == {(2,)}


def test_an_instance_has_no_name_of_its_own_module():
    text = ".comp Copy {\n.decl row(x: number)\n}\n.decl copied(x: number)\n.init copied = Copy\n"
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([Source("o", text, module="own")])
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["E011"]


def test_a_relation_of_ones_own_hides_one_that_is_offered():
    own = ".decl path(x: number)\npath(7).\n.decl r(x: number) public\nr(x) :- path(x).\n"
    assert rows(Source("g", GRAPH, module="graph"), Source("o", own, module="own"), wanted="r") == {(7,)}


def test_a_relation_that_all_see_is_not_hidden():
    schema = Source("s", ".decl fact(x: number)\nfact(2).\n")
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([schema, Source("o", ".decl fact(x: number)\n", module="own")])
    assert [(d.code, d.span.source) for d in caught.value.diagnostics] == [("E011", "o")]


def test_a_source_that_is_no_module_sees_everything_and_is_seen():
    schema = Source("s", ".decl fact(x: number)\nfact(2).\n")
    question = Source("q", ".decl r(x: number)\nr(x) :- graph.step(x, y), own.fact_here(y).\n")
    own = Source("o", ".use graph\nedge(x, 1) :- fact(x).\n.decl fact_here(x: number)\nfact_here(x) :- fact(x).\n",
                 module="own")  # fmt: skip
    assert rows(schema, question, own, Source("g", GRAPH, module="graph"), wanted="r") == {(1,)}


def test_names_in_a_component_mean_what_they_mean_where_it_is_initialised():
    closure = ".comp Closure {\n.decl reach(x: number, y: number)\nreach(x, y) :- step(x, y).\n"
    closure += "reach(x, z) :- reach(x, y), step(y, z).\n}\n"
    own = ".decl step(x: number, y: number)\nstep(5, 6). step(6, 7).\n.init c = Closure\n"
    sources = Source("c", closure, module="closures"), Source("o", own, module="own")
    assert rows(*sources, Source("g", GRAPH, module="graph"), wanted="own.c.reach") == {(5, 6), (6, 7), (5, 7)}


def test_an_included_file_is_part_of_the_module_that_includes_it():
    own = Source("o", '.decl step(x: number)\n.include "more.dl"\n', module="own")
    program = engine.compile([own], resolve=lambda path, _: Source(path, "step(1).\n"))
    assert set(program.relations) == {"own.step"}


def test_inlined_relations_are_private_too():
    inlined = ".decl twice(x: number, y: number) inline\ntwice(x, y) :- y = 2 * x.\n"
    one = Source("a", f"{inlined}.decl r(x: number) public\nr(y) :- twice(1, y).\n", module="a")
    two = Source("b", ".decl twice(x: number, y: number) public\ntwice(x, y) :- r(x), r(y).\n", module="b")
    assert rows(one, two, wanted="twice") == {(2, 2)}


def test_a_module_beside_units_is_the_same_as_with_their_sources():
    graph = Source("g", GRAPH, module="graph")
    units = dict(zip([graph], check_sources([graph]).units, strict=True))
    for text in (
        ".use graph\nedge(2, 3).\n.decl step(x: number)\nstep(x) :- path(x, 3).\n",
        ".decl r(x: number)\nr(x) :- step(x, _).\n",
        ".use graph\npath(1, 1).\n",
    ):
        sources = [graph, Source("o", text, module="own")]
        assert outcome(sources, units) == outcome(sources, {})


def outcome(sources, units):
    try:
        return engine.compile(sources, units=units)
    except engine.ProgramError as error:
        return error.render()
