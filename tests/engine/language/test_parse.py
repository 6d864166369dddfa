"""What the parser reads: terms and clauses written out parse to the same syntax, and notations mean what they say."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from engine.language.build_terms import PRECEDENCE
from engine.language.diagnostics import Report
from engine.language.parse import parse
from engine.language.surface_syntax import Component, ComponentType, Include, Init, Override, Pragma
from engine.language.syntax import (
    Aggregate,
    Atom,
    Attribute,
    Clause,
    Constant,
    Constraint,
    Declaration,
    Directive,
    Functor,
    HeadAggregate,
    Negation,
    RecordTerm,
    Truth,
    TypeDeclaration,
    Variable,
    Wildcard,
)


def items(text: str) -> list:
    report = Report({"test.dl": text})
    found = parse("test.dl", text, report)
    assert [diagnostic.render() for diagnostic in report.diagnostics] == []
    return found


def term(text: str):
    (clause,) = items(f"a({text}).")
    return clause.head.arguments[0]


def body(text: str) -> tuple:
    (clause,) = items(f"a() :- {text}.")
    return clause.body


# ---- writing syntax out


def write(node) -> str:
    """Return text that must parse to this node. Operators are put in parentheses throughout."""
    match node:
        case Variable(name):
            return name
        case Wildcard():
            return "_"
        case Constant(None):
            return "nil"
        case Constant(str(value)):
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
        case Constant(value, type):
            text = f"{value}u" if type == "unsigned" else f"{value:.6f}" if type == "float" else str(value)
            return f"({text})" if value < 0 else text
        case RecordTerm(arguments, None):
            return f"[{written(arguments)}]"
        case RecordTerm(arguments, branch):
            return f"${branch}({written(arguments)})"
        case Functor("as", (inner,), type):
            return f"as({write(inner)}, {type})"
        case Functor("neg", (inner,)):
            return f"(-{write(inner)})"
        case Functor(name, (left, right)) if name in PRECEDENCE:
            return f"({write(left)} {name} {write(right)})"
        case Functor(name, arguments):
            return f"{name}({written(arguments)})"
        case Aggregate(kind, target, literals):
            return f"({kind} {'' if target is None else write(target)} : {{ {written(literals)} }})"
        case Atom(relation, arguments):
            return f"{relation}({written(arguments)})"
        case Negation(atom):
            return "!" + write(atom)
        case Truth(value):
            return "true" if value else "false"
        case Constraint("match" | "contains" as op, left, right):
            return f"{op}({write(left)}, {write(right)})"
        case Constraint("not_match" | "not_contains" as op, left, right):
            return f"!{op.removeprefix('not_')}({write(left)}, {write(right)})"
        case Constraint(op, left, right):
            return f"{write(left)} {op} {write(right)}"
        case Clause(head, literals):
            return write(head) + (f" :- {written(literals)}." if literals else ".")
    raise AssertionError(node)


def written(nodes) -> str:
    return ", ".join(map(write, nodes))


NAMES = st.sampled_from(["x", "y1", "?z", "_long", "count_of", "minimum", "as_is", "input"])
RELATIONS = st.sampled_from(["edge", "c.edge", "matches", "output", "to_string_of"])
LEAVES = st.one_of(
    st.builds(Variable, NAMES),
    st.builds(Wildcard),
    st.builds(Constant, st.integers(-(1 << 31), (1 << 31) - 1), st.just("number")),
    st.builds(Constant, st.integers(0, (1 << 32) - 1), st.just("unsigned")),
    st.builds(Constant, st.integers(-1000, 1000).map(lambda n: n / 8), st.just("float")),
    st.builds(Constant, st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8), st.just("symbol")),
    st.just(Constant(None, "nil")),
)


def nested(terms):
    some = st.lists(terms, max_size=3).map(tuple)
    pairs = st.tuples(terms, terms)
    # A minus before a constant is read as a negative constant.
    operands = terms.filter(lambda term: not isinstance(term, Constant))
    literals = st.lists(literals_of(terms), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(RecordTerm, some),
        st.builds(RecordTerm, some, st.sampled_from(["Leaf", "c.Leaf"])),
        st.builds(Functor, st.sampled_from(sorted(PRECEDENCE)), pairs),
        st.builds(Functor, st.just("neg"), st.tuples(operands)),
        st.builds(
            Functor, st.sampled_from(["cat", "min", "substr"]), st.lists(terms, min_size=2, max_size=3).map(tuple)
        ),
        st.builds(Functor, st.just("as"), st.tuples(terms), st.just("c.T")),
        st.builds(Aggregate, st.just("count"), st.none(), literals),
        st.builds(Aggregate, st.sampled_from(["sum", "min", "max", "mean"]), terms, literals),
    )


def literals_of(terms):
    some = st.lists(terms, max_size=3).map(tuple)
    atoms = st.builds(Atom, RELATIONS, some)
    comparisons = ["=", "!=", "<", "<=", ">", ">=", "match", "contains", "not_match", "not_contains"]
    return st.one_of(
        atoms,
        st.builds(Negation, atoms),
        st.builds(Constraint, st.sampled_from(comparisons), terms, terms),
        st.builds(Truth, st.booleans()),
    )


TERMS = st.recursive(LEAVES, nested, max_leaves=6)
CLAUSES = st.builds(
    Clause,
    st.builds(Atom, RELATIONS, st.lists(TERMS, max_size=3).map(tuple)),
    st.lists(literals_of(TERMS), max_size=3).map(tuple),
)


@settings(max_examples=4 * settings.default.max_examples)
@given(st.lists(CLAUSES, max_size=3))
def test_written_clauses_parse_to_themselves(clauses):
    assert items("\n".join(map(write, clauses))) == clauses


# ---- notations


@pytest.mark.parametrize(
    "text, grouped",
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("2 ^ 3 ^ 4", "2 ^ (3 ^ 4)"),
        ("-x ^ 2", "-(x ^ 2)"),
        ("2 ^ -x", "2 ^ (-x)"),
        ("-x * y", "(-x) * y"),
        ("bnot x band y", "(bnot x) band y"),
        ("x bor y bxor z band w", "x bor (y bxor (z band w))"),
        ("x lor y lxor z land w", "x lor (y lxor (z land w))"),
        ("x land y bor z", "x land (y bor z)"),
        ("x bshl 1 + y", "x bshl (1 + y)"),
        ("x band y bshr 1", "x band (y bshr 1)"),
        ("x % y / z", "(x % y) / z"),
        ("- - x", "-(-x)"),
        ("lnot -x + 1", "(lnot (-x)) + 1"),
    ],
)
def test_precedence(text, grouped):
    assert term(text) == term(grouped)
    assert isinstance(term(text), Functor)


@pytest.mark.parametrize(
    "text, value, type",
    [
        ("0x1F", 31, "number"),
        ("0b101", 5, "number"),
        ("-7", -7, "number"),
        ("7u", 7, "unsigned"),
        ("0xFFu", 255, "unsigned"),
        ("1.50", 1.5, "float"),
        ("-0.5", -0.5, "float"),
        ("1.0e3", 1000.0, "float"),
        ("255.255.255.255", -1, "number"),
        ('"a\\n\\"b\\"\\\\"', 'a\n"b"\\', "symbol"),
        ("__LINE__", 1, "number"),
        ("__FILE__", "test.dl", "symbol"),
    ],
)
def test_constants(text, value, type):
    assert term(text) == Constant(value, type)


def test_disjunction_and_negation_become_alternatives():
    clauses = items("a(x), b(x) :- c(x), (d(x); !(e(x), x < 1)).")
    assert [clause.head.relation for clause in clauses] == ["a"] * 3 + ["b"] * 3
    x = Variable("x")
    c, d, e = (Atom(name, (x,)) for name in "cde")
    less = Constraint(">=", x, Constant(1, "number"))
    assert [clause.body for clause in clauses[:3]] == [(c, d), (c, Negation(e)), (c, less)]


def test_words_are_names_where_no_keyword_can_stand():
    (declaration, clause) = items(".decl count(min: number, input: symbol)\ncount(x, y) :- output.magic(x, y).")
    assert [attribute.name for attribute in declaration.attributes] == ["min", "input"]
    assert clause.head.relation == "count" and clause.body[0].relation == "output.magic"


def test_a_dot_ends_a_clause_also_without_space():
    assert items("a(x):-x=y.b(1).c.d(2).") == items("a(x) :- x = y.\nb(1).\nc.d(2).")


def test_comments_and_preprocessor_lines_are_layout():
    text = '// a(1).\n/* a(2).\n a(3). */ a(4). /* "*/ // "\n# 1 "file"\na("// no comment /* nor this").'
    assert items(text) == items('a(4). a("// no comment /* nor this").')


def test_declarations():
    found = items("""
        .decl r, s(x: number, p: c.Pair) brie inline choice-domain x, (x, p)
        .decl t() output
        .type A <: symbol
        .type B = A | c.A
        .type C = A
        .type R = [a: A, r: R]
        .type S = Leaf { value: number } | None {}
        .input r, s(IO=file, filename="x y.csv", headers=true)
        .pragma "key" "value"
    """)
    attributes = (Attribute("x", "number"), Attribute("p", "c.Pair"))
    qualifiers, choice = frozenset({"brie", "inline"}), (("x",), ("x", "p"))
    parameters = (("IO", "file"), ("filename", "x y.csv"), ("headers", "true"))
    assert found == [
        Declaration("r", attributes, qualifiers, choice),
        Declaration("s", attributes, qualifiers, choice),
        Declaration("t", ()),
        Directive("output", "t"),
        TypeDeclaration("A", "subset", ("symbol",)),
        TypeDeclaration("B", "union", ("A", "c.A")),
        TypeDeclaration("C", "equivalence", ("A",)),
        TypeDeclaration("R", "record", fields=(Attribute("a", "A"), Attribute("r", "R"))),
        TypeDeclaration("S", "adt", branches=(("Leaf", (Attribute("value", "number"),)), ("None", ()))),
        Directive("input", "r", parameters),
        Directive("input", "s", parameters),
        Pragma("key", "value"),
    ]


def test_components_and_includes():
    found = items("""
        .include "lib.dl"
        .comp Graph<T> : Base<T>, Other {
            .override edge
            .init inner = Graph<symbol>
            edge(1).
        }
    """)
    component = Component(
        ComponentType("Graph", ("T",)),
        (ComponentType("Base", ("T",)), ComponentType("Other")),
        (
            Override("edge"),
            Init("inner", ComponentType("Graph", ("symbol",))),
            Clause(Atom("edge", (Constant(1, "number"),)), ()),
        ),
    )
    assert found == [Include("lib.dl"), component]


def test_head_aggregates_and_plans():
    (clause,) = items("p(x, min<d>, sum<(k, v)>) :- q(x, d), r(k, v). .plan 0:(2,1), 1:()")
    d, k, v = map(Variable, "dkv")
    assert clause.head.arguments[1:] == (HeadAggregate("min", d), HeadAggregate("sum", v, (k,)))
    assert clause.plan == ((0, (2, 1)), (1, ()))


def test_spans_reach_from_the_first_to_the_last_character():
    text = 'a(x) :-\n  !b(x), x = count : { c(_, [1, x]) }, match("p", x).'
    clause = items(text)[0]
    lines = text.split("\n")
    spans = [literal.span for literal in clause.body]
    shown = [lines[s.line - 1][s.column - 1 : s.end_column - 1] for s in spans]
    assert shown == ["!b(x)", "x = count : { c(_, [1, x]) }", 'match("p", x)']
    assert clause.span.line == 1 and (clause.span.column, clause.span.end_column) == (1, 5)
