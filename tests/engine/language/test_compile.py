"""What the front end makes of right programs."""

from unittest.mock import patch

import hypothesis.strategies as st
import reference
from hypothesis import given

import engine
from engine.language.check import ClauseChecker
from engine.language.checked_program import CheckedClause, Type
from engine.language.syntax import Aggregate, Constant, Constraint, Functor, Variable
from engine.language.traverse import literal_terms, variables_of


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


def answer(*texts: str, relation: str = "result") -> set[tuple]:
    return reference.evaluate(engine.compile(texts))[relation]


def only_clause(text: str, head: str = "result") -> CheckedClause:
    (clause,) = (clause for clause in compiled(text).clauses if clause.head.relation == head)
    return clause


# ---- what evaluators may rely on


def test_functors_are_lifted_out_of_positive_atoms():
    clause = only_clause("""
        .decl a(x: number, y: number)
        .decl result(x: number)
        result(x) :- a(x + 1, x).
    """)
    atom, equation = clause.body
    lifted = atom.arguments[0]
    assert isinstance(lifted, Variable) and clause.variables[lifted.name].kind == "number"
    one = Constant(1, "number")
    assert equation == Constraint("=", lifted, Functor("+", (Variable("x"), one), kind="number"), "number")


def test_conversions_become_monomorphic():
    clause = only_clause("""
        .decl a(n: number, u: unsigned, f: float, s: symbol)
        .decl result(x: symbol)
        result(cat(to_string(n), to_string(u), to_string(f), to_string(s))) :- a(n, u, f, s).
    """)
    n, u, f, s = map(Variable, "nufs")
    texts = (
        Functor("itos", (n,), kind="number"),
        Functor("utos", (u,), kind="unsigned"),
        Functor("ftos", (f,), kind="float"),
        s,
    )
    assert clause.head.arguments == (Functor("cat", texts, kind="symbol"),)


def test_untyped_constants_take_the_kind_of_their_place():
    program = compiled("""
        .decl a(n: number, u: unsigned, f: float)
        a(1, 1, 1).
        a(n, u + 1, f / 2) :- a(n, u, f), n < 3, u < 3, f < 3.
    """)
    fact = next(clause for clause in program.clauses if clause.is_fact)
    assert [argument.type for argument in fact.head.arguments] == ["number", "unsigned", "float"]
    rule = next(clause for clause in program.clauses if not clause.is_fact)
    tests = [literal for literal in rule.body if isinstance(literal, Constraint)]
    assert [test.right.type for test in tests] == ["number", "unsigned", "float"]
    assert [test.kind for test in tests] == ["number", "unsigned", "float"]


def test_aggregates_stand_alone_with_variables_of_their_own():
    clause = only_clause("""
        .decl a(x: number, y: number)
        .decl result(x: number, n: number)
        result(x, 1 + sum y + 1 : { a(x, y) }) :- a(x, _), 2 < count : { a(_, y) }.
    """)
    equations = [literal for literal in clause.body if isinstance(getattr(literal, "right", None), Aggregate)]
    assert all(isinstance(equation.left, Variable) for equation in equations)
    first, second = (equation.right for equation in equations)
    assert second.target is not None and isinstance(second.target, Variable)
    inner = [set(variables_of(term for literal in a.body for term in literal_terms(literal))) for a in (first, second)]
    assert inner[0] & inner[1] == set()
    assert "x" in inner[1] and "x" not in inner[0]


def test_branches_become_tagged_records_of_equal_width():
    program = compiled("""
        .type Shape = Square { side: number } | Empty {} | Box { a: number, b: number }
        .decl shape(s: Shape)
        shape($Square(3)). shape($Empty()). shape($Box(1, 2)).
    """)
    assert [(branch.name, branch.tag) for branch in program.records["Shape"].branches] == [
        ("Box", 0),
        ("Empty", 1),
        ("Square", 2),
    ]
    rows = {tuple(a.value for a in clause.head.arguments[0].arguments) for clause in program.clauses}
    assert rows == {(2, 3, 0), (1, 0, 0), (0, 1, 2)}


def test_needed_relations_are_those_that_outputs_depend_on():
    text = """
        .decl a(x: number)
        .decl b(x: number)
        .decl c(x: number)
        .decl d(x: number)
        b(x) :- a(x), !d(x).
        c(x) :- b(x).
    """
    assert compiled(text).needed == {"a", "b", "c", "d"}
    assert compiled(text + ".output b").needed == {"a", "b", "d"}
    assert compiled(text + ".printsize d").needed == {"d"}


def test_sources_are_one_program_in_any_order():
    parts = (".decl a(x: number)", "a(1).", ".decl result(x: number)", "result(x) :- a(x).")
    assert answer(*parts) == answer(*reversed(parts)) == {(1,)}


def test_numbers_of_64_bits_on_request():
    text = ".decl result(x: number)\nresult(2147483647 + 1).\nresult(9223372036854775807)."
    program = engine.compile([text], number_bits=64)
    assert reference.evaluate(program)["result"] == {(2147483648,), (9223372036854775807,)}


# ---- components, inlining, records without a type


def test_component_with_a_type_parameter_and_a_base():
    text = """
        .comp Base<T> {
            .decl edge(x: T, y: T)
        }
        .comp Reach<T> : Base<T> {
            .decl path(x: T, y: T)
            path(x, y) :- edge(x, y).
            path(x, z) :- path(x, y), edge(y, z).
        }
        .init numbers = Reach<number>
        .init names = Reach<symbol>
        numbers.edge(1, 2). numbers.edge(2, 3).
        names.edge("a", "b").
    """
    assert answer(text, relation="numbers.path") == {(1, 2), (2, 3), (1, 3)}
    assert answer(text, relation="names.path") == {("a", "b")}


def test_override_drops_the_clauses_of_the_base_only():
    text = """
        .comp Base {
            .decl r(x: number) overridable
            .decl s(x: number) overridable
            r(1). s(1).
        }
        .comp Middle : Base { r(2). s(2). }
        .comp Derived : Middle {
            .override r
            r(3). s(3).
        }
        .init d = Derived
    """
    assert answer(text, relation="d.r") == {(3,)}
    assert answer(text, relation="d.s") == {(1,), (2,), (3,)}


def test_names_inside_a_component_mean_its_own_first():
    text = """
        .decl r(x: number)
        .decl outer(x: number)
        r(1). outer(10).
        .comp Inner {
            .decl own(x: number)
            own(x) :- r(x).
            own(x) :- outer(x).
        }
        .comp Outer {
            .decl r(x: number)
            r(2).
            .init inner = Inner
        }
        .init o = Outer
        .init top = Inner
    """
    assert answer(text, relation="o.inner.own") == {(2,), (10,)}
    assert answer(text, relation="top.own") == {(1,), (10,)}


def test_types_and_branches_of_a_component_are_qualified():
    text = """
        .comp Lists<T> {
            .type List = Cons { head: T, tail: List } | Nil {}
            .decl list(l: List)
            list($Nil()).
            list($Cons(x, $Nil())) :- seed(x).
            .decl seed(x: T)
        }
        .init a = Lists<number>
        .init b = Lists<symbol>
        a.seed(1).
        .decl result(l: a.List)
        result(l) :- a.list(l), l = $a.Cons(_, _).
    """
    assert answer(text) == {((0, 1, (1, 0, 0)),)}


def test_inlined_relation_may_leave_its_arguments_to_its_user():
    text = """
        .decl between(x: number, low: number, high: number) inline
        between(x, low, high) :- low <= x, x < high.
        .decl n(x: number)
        n(x) :- x = range(0, 10).
        .decl result(how: symbol, x: number)
        result("positive", x) :- n(x), between(x, 3, 5).
        result("negated", x) :- n(x), !between(x, 1, 10).
        result("counted", c) :- c = count : { n(x), between(x, 2, 9) }.
    """
    assert answer(text) == {("positive", 3), ("positive", 4), ("negated", 0), ("counted", 7)}


def test_inlined_relation_with_variables_of_its_own_can_be_negated():
    text = """
        .decl has_child(x: symbol) inline
        has_child(x) :- parent(x, _).
        has_child(x) :- adopted(_, x).
        .decl parent(x: symbol, y: symbol)
        .decl adopted(x: symbol, by: symbol)
        .decl person(x: symbol)
        parent("a", "b"). adopted("c", "d"). person("a"). person("b"). person("d").
        .decl result(x: symbol)
        result(x) :- person(x), !has_child(x).
    """
    assert answer(text) == {("b",)}


def test_records_without_a_type_are_taken_apart():
    text = """
        .decl a(x: number, y: symbol)
        a(1, "p"). a(2, "q").
        .decl result(x: number)
        result(x) :- a(x, y), r = [y, [x, 5]], r = ["p", _].
        result(x + 10) :- a(x, y), [x, y] != [1, "p"].
        result(99) :- [1, 2] = [1].
    """
    assert answer(text) == {(1,), (12,)}


FACTS_OF = """
.type Name <: symbol
.type Age <: number
.type Either = Name | symbol
.decl p(name: Name, age: Age)
.decl q(text: symbol, n: number)
.decl r(either: Either, u: unsigned)
.decl s(x: float, l: Pair)
.type Pair = [a: number, b: symbol]
"""
NUMBERS = ["0", "-1", "2147483647", "2147483648", "-2147483648", "4294967296", "1.5"]
CONSTANTS = st.sampled_from([*NUMBERS, '"a"', '"b\\\\"c"', "nil", '[1, "a"]', "x"])


def outcome(text):
    """The program, with the places of its clauses, or what is wrong with it."""
    try:
        program = engine.compile([text])
    except engine.ProgramError as error:
        return [diagnostic.render() for diagnostic in error.diagnostics]
    return program, [clause.span for clause in program.clauses]


@given(st.lists(st.tuples(st.sampled_from("pqrst"), st.lists(CONSTANTS, min_size=1, max_size=3)), max_size=4))
def test_plain_facts_are_checked_as_all_clauses_are(facts):
    text = FACTS_OF + "".join(f"{name}({', '.join(terms)}).\n" for name, terms in facts)
    found = outcome(text)
    with patch.object(ClauseChecker, "plain_fact", return_value=None):
        assert outcome(text) == found
