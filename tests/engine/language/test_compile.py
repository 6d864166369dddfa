"""What the front end makes of right programs."""

import engine
from engine.language.program import Type


def compiled(text: str) -> engine.CheckedProgram:
    return engine.compile([engine.Source("test.dl", text)])


def test_strata_follow_dependencies():
    program = compiled("""
        .decl edge(x: number, y: number)
        .decl path(x: number, y: number)
        .decl unreachable(x: number, y: number)
        .decl node(x: number)
        unreachable(x, y) :- node(x), node(y), !path(x, y).
        path(x, y) :- edge(x, y).
        path(x, z) :- path(x, y), edge(y, z).
        node(x) :- edge(x, _).
        node(y) :- edge(_, y).
    """)
    order = [stratum.relations for stratum in program.strata]
    assert order.index(("edge",)) < order.index(("path",)) < order.index(("unreachable",))
    assert [stratum.recursive for stratum in program.strata if "path" in stratum.relations] == [True]
    assert [stratum.recursive for stratum in program.strata if "node" in stratum.relations] == [False]


def test_variables_have_resolved_types():
    program = compiled("""
        .type Name <: symbol
        .type Pair = [first: Name, second: number]
        .decl named(name: Name, pair: Pair)
        .decl result(name: Name, value: number)
        result(n, v + 1) :- named(n, p), p = [_, v].
    """)
    (clause,) = (clause for clause in program.clauses if clause.head.relation == "result")
    assert clause.variables == {
        "n": Type("Name", "symbol"),
        "p": Type("Pair", "record", "Pair"),
        "v": Type("number", "number"),
    }
