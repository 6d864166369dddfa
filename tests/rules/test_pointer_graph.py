"""C as a graph for CFL reachability: what may be the same memory in small programs, and where null may flow."""

import pytest

import engine
from analyzer.evaluation.rule_sources import bundled, fact_schema
from analyzer.graphs.pointer_graph import graph_of
from engine.cfl import parse_grammar, solve
from rules import library

ALIASES = {
    "two pointers to one variable": (
        "int x; int *p, *q; void f(void) { p = &x; q = &x; } void g(void) { *p = *q; }",
        {("*p", "*q"), ("*p", "x"), ("*q", "x")},
    ),
    "pointers to two variables": (
        "int x, y; int *p, *q; void f(void) { p = &x; q = &y; } void g(void) { *p = *q; }",
        {("*p", "x"), ("*q", "y")},
    ),
    "a store through a pointer to a pointer": (
        "int x; int *p, *q; int **pp; void f(void) { pp = &p; } void h(void) { *pp = &x; }"
        "void k(void) { q = p; } void l(void) { *q = 1; }",
        {("*pp", "p"), ("*q", "x")},
    ),
    "fields of one object are told apart by name": (
        "struct s { int *a; int *b; }; struct s *p, *q; void f(void) { q = p; } void h(void) { p->a = 0; }"
        "void k(void) { q->a = 0; q->b = 0; }",
        {("p->a", "q->a")},
    ),
    "an array is one element": (
        "int *a, *p; void f(void) { p = a + 1; } void h(void) { a[3] = p[2]; }",
        {("*a", "*p")},
    ),
    "a structure that has a structure": (
        "struct i { int *v; }; struct s { struct i i; }; struct s g, *p; int *v;"
        "void f(void) { p = &g; } void h(void) { p->i.v = 0; v = g.i.v; }",
        {("(&(&g)->i)->v", "(&p->i)->v"), ("(&g)->i", "p->i")},
    ),
    "an initializer by position and by name": (
        "int x, y; struct s { int *a; int *b; }; struct s g = { &x, .b = &y }; int f(void) { return *g.a + *g.b; }",
        {("*(&g)->a", "x"), ("*(&g)->b", "y")},
    ),
    "an argument and a result": (
        "int x; int *p; int *id(int *a) { return a; } void f(void) { p = id(&x); } void h(void) { *p = 1; }",
        {("*p", "x")},
    ),
    "what two calls of one function are given": (
        "int x, y; int *p, *q; int *id(int *a) { return a; } void f(void) { p = id(&x); q = id(&y); }"
        "void h(void) { *p = *q; }",
        {("*p", "x"), ("*q", "y")},
    ),
    "what two calls of a function read": (
        "int x, y; int *p, *q; int *at(int **a) { return *a; } int *r, *s;"
        "void f(void) { p = &x; q = &y; r = at(&p); s = at(&q); } void h(void) { *r = *s; }",
        {("*r", "x"), ("*s", "y")},
    ),
    "memory from a wrapper of an allocator": (
        "void *malloc(unsigned long); void *get(void) { return malloc(4); } int *p, *q;"
        "void f(void) { p = get(); q = get(); } void h(void) { *p = *q; }",
        set(),
    ),
    "a function behind a field": (
        "struct s { int *(*run)(int *); }; int x; int *p; static int *id(int *a) { return a; }"
        "struct s g = { id }; void f(struct s *s) { p = s->run(&x); } void h(void) { *p = 1; }",
        {("*p", "x")},
    ),
    "memcpy copies what is pointed to": (
        "int x; int *p, *q; void *memcpy(void *, const void *, unsigned long);"
        "void f(void) { p = &x; memcpy(&q, &p, sizeof p); } void h(void) { *q = 1; }",
        {("*q", "x")},
    ),
}


NULLS = {
    "through copies": ("int *p, *q; void f(void) { p = NULL; q = p; }", {"p", "q"}),
    "through memory that two expressions name": (
        "int *p, *q; int **pp; void f(void) { pp = &p; } void h(void) { *pp = NULL; q = p; }",
        {"*pp", "p", "q"},
    ),
    "into a field, and out of it through another pointer": (
        "struct s { int *a; int *b; }; struct s *p, *q; int *r, *t;"
        "void f(void) { q = p; p->a = NULL; r = q->a; t = q->b; }",
        {"p->a", "q->a", "r"},
    ),
    "into the call that it is given to": (
        "int x; int *p, *q; int *id(int *a) { return a; } void f(void) { p = id(NULL); q = id(&x); }",
        {"p"},
    ),
    "out of a function that a call enters": (
        "int *p; struct s { int *a; } *q; void clear(struct s *s) { s->a = NULL; }void f(void) { clear(q); p = q->a; }",
        {"q->a", "p"},
    ),
    "a number is no null": ("int *p, n; void f(void) { n = 0; p = &n; }", set()),
}


DEREFERENCES = {
    "of what holds null": ("int *p, *q; void f(void) { p = NULL; } void g(void) { *p = *q; }", {"*p"}),
    "of a field of what holds null": (
        "struct s { int a; int b; } *p, *q; void f(void) { p = NULL; } int g(void) { return p->a + q->b; }",
        {"p->a"},
    ),
    "of a field that holds null": (
        "struct s { int *a; int *b; } *p; void f(void) { p->a = NULL; } int g(void) { return *p->a + *p->b; }",
        {"*p->a"},
    ),
    "the address of a field, which is undefined for null, too": (
        "struct s { int a; } *p; int *q; void f(void) { p = NULL; } void g(void) { q = &p->a; }",
        {"p->a"},
    ),
    "of another name of the memory": (
        "int *p, **pp; void f(void) { pp = &p; } void g(void) { p = NULL; } int h(void) { return **pp; }",
        {"**pp"},
    ),
}


@pytest.fixture(scope="module")
def pairs(evaluate):
    """Return the pairs of a symbol that a grammar finds in a file of C."""
    program = engine.outlined(engine.compile([fact_schema(), bundled(library.pointer_graph())]))

    def found(grammar, symbol, code):
        parsed = parse_grammar(grammar, library.grammars()[grammar].read_text())
        graph = graph_of(evaluate(program, {"a.c": "#include <stddef.h>\n" + code}), parsed.labels)
        (answer,) = solve(parsed, graph, [symbol], threads=1).answers
        names = graph.vertices.texts()
        return {(names[x], names[y]) for x, y in answer.columns().T.tolist()}

    return found


def is_global(name):
    return "/" not in name and not name.startswith("&")


@pytest.mark.parametrize("name", ALIASES)
def test_expressions_that_may_name_one_memory(pairs, name):
    code, expected = ALIASES[name]
    found = pairs("pointer", "M", code)
    assert {(y, x) for x, y in found} == found
    assert {(x, y) for x, y in found if x < y and is_global(x) and is_global(y)} == expected


@pytest.mark.parametrize("name", NULLS)
def test_where_null_may_flow(pairs, name):
    code, expected = NULLS[name]
    assert {y for _, y in pairs("dataflow", "N", code) if is_global(y)} == expected


@pytest.mark.parametrize("name", DEREFERENCES)
def test_dereferences_of_null(pairs, name):
    code, expected = DEREFERENCES[name]
    assert {y for _, y in pairs("dataflow", "D", code) if is_global(y)} == expected


def test_a_hub_gives_back_its_own_parameters_and_no_more(pairs):
    """Eleven places call both functions: what one returns is its argument, what the other one reads is not followed."""
    places = range(11)
    calls = "".join(f"void f{i}(void) {{ p{i} = id(&x{i}); q{i} = at(&p{i}); }}" for i in places)
    uses = "".join(f"void u{i}(void) {{ *p{i} = *q{i}; }}" for i in places)
    names = ", ".join(f"x{i}, *p{i}, *q{i}" for i in places)
    code = f"int {names}; int *id(int *a) {{ return a; }} int *at(int **a) {{ return *a; }} {calls} {uses}"
    found = {(x, y) for x, y in pairs("pointer", "M", code) if x < y and is_global(x) and is_global(y)}
    assert found == {(f"*p{i}", f"x{i}") for i in places}
