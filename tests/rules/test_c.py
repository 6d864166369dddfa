"""C: the call graph and points-to of small programs, against what the language's definition makes of them.

`probe_NAME(p)` is a function of nobody: what its argument may point to is asked for under that name.
"""

import pytest

from analyzer.graphs import callgraph

CALLS = {
    "a function of another file": (
        {"a.c": "int f(void);\nint main(void) { return f(); }\n", "b.c": "int f(void) { return 1; }\n"},
        {"a.c.main": ["b.c.f"]},
    ),
    "a static function is its own file's": (
        {
            "a.c": "int f(void);\nint main(void) { return f(); }\n",
            "b.c": "static int f(void) { return 1; }\nint g(void) { return f(); }\n",
        },
        {"a.c.main": ["c.f"], "b.c.g": ["b.c.f"]},
    ),
    "a static function hides one of the same name": (
        {
            "a.c": "static int f(void) { return 1; }\nint main(void) { return f(); }\n",
            "b.c": "int f(void) { return 1; }\n",
        },
        {"a.c.main": ["a.c.f"]},
    ),
    "an inline function and a macro of a header": (
        {
            "a.c": '#include "h.h"\nint main(void) { return CALL(f); }\n',
            "h.h": "#define CALL(g) g()\nstatic inline int f(void) { return 1; }\n",
        },
        {"a.c.main": ["h.h.CALL"], "h.h.CALL": ["h.h.f"]},
    ),
    "a variable that holds a function": (
        {"a.c": "void f(void) {}\nvoid (*p)(void) = &f;\nint main(void) { p(); (*p)(); }\n"},
        {"a.c.main": ["a.c.f"]},
    ),
    "a variable of another file that holds a function": (
        {
            "a.c": "extern void (*p)(void);\nvoid f(void) {}\nint main(void) { p = f; g(); }\n",
            "b.c": "void (*p)(void);\nvoid g(void) { p(); }\n",
        },
        {"a.c.main": ["b.c.g"], "b.c.g": ["a.c.f"]},
    ),
    "a table of functions": (
        {
            "a.c": "static void f(void) {}\nstatic void g(void) {}\n"
            "static void (*table[])(void) = { f, g };\nint main(int n) { table[n](); }\n"
        },
        {"a.c.main": ["a.c.f", "a.c.g"]},
    ),
    "a structure of functions, by field": (
        {
            "a.c": "struct ops { void (*open)(void); void (*close)(void); };\n"
            "static void f(void) {}\nstatic void g(void) {}\n"
            "static const struct ops files = { f, .close = g };\n"
            "void run(const struct ops *o) { o->close(); }\nint main(void) { run(&files); }\n"
        },
        {"a.c.main": ["a.c.run"], "a.c.run": ["a.c.g"]},
    ),
    "a function that is passed": (
        {"a.c": "static void f(void) {}\nvoid run(void (*g)(void)) { g(); }\nint main(void) { run(f); }\n"},
        {"a.c.main": ["a.c.run"], "a.c.run": ["a.c.f"]},
    ),
    "a function of the library by its address": (
        {"a.c": "int main(void) { int (*p)(const char *) = puts; return p(0); }\n"},
        {"a.c.main": ["c.puts"]},
    ),
}

POINTS = {
    "addresses and copies": (
        "void f(void) { int a, b; int *p = &a; int *q = &b; probe_p(p); p = q; probe_q(p); }",
        {"p": "a", "q": "b"},
    ),
    "through a pointer to a pointer": (
        "void f(void) { int a, b; int *p = &a; int **pp = &p; *pp = &b; probe_p(*pp); }",
        {"p": "a b"},
    ),
    "fields of a variable, by dot and by arrow": (
        "struct s { int *x; int *y; };\n"
        "void f(void) { int a, b; struct s s; s.x = &a; s.y = &b; struct s *p = &s; probe_x(p->x); probe_y(p->y); }",
        {"x": "a", "y": "b"},
    ),
    "a pointer to a field": (
        "struct s { int *x; int *y; };\n"
        "void f(void) { int a; struct s s; int **p = &s.y; *p = &a; probe_x(s.x); probe_y(s.y); }",
        {"y": "a"},
    ),
    "nested structures are copied": (
        "struct i { int *x; int *y; }; struct o { int *z; struct i i; };\n"
        "void f(void) { int a, b; struct o s, t; s.i.x = &a; s.z = &b; t = s; struct i u = t.i;\n"
        "probe_x(u.x); probe_z(t.z); probe_y(t.i.y); }",
        {"x": "a", "z": "b"},
    ),
    "a structure that a function returns": (
        "struct s { int *x; int *y; }; int a, b;\n"
        "struct s make(void) { struct s r; r.x = &a; r.y = &b; return r; }\n"
        "void f(void) { struct s t = make(); probe_x(t.x); probe_y(make().y); }",
        {"x": "a", "y": "b"},
    ),
    "elements of an array are one": (
        "void f(int i) { int a, b; int *t[2]; t[0] = &a; t[1] = &b; probe_p(t[i]); probe_q(*(t + 1)); }",
        {"p": "a b", "q": "a b"},
    ),
    "initializers": (
        "int a, b, c; struct s { int *x; int *y[2]; }; struct s s = { &a, { &b } }; struct s t[] = { { .x = &c } };\n"
        "void f(int i) { probe_x(s.x); probe_y(s.y[0]); probe_t(t[i].x); }",
        {"x": "a", "y": "b", "t": "c"},
    ),
    "arithmetic and casts stay in the object": (
        "void f(int i) { char a[9]; char *p = a; p++; p += i; int *q = (int *)(p - 1); probe_p(q); }",
        {"p": "a"},
    ),
    "allocations are told apart by their place": (
        "void f(void) { void *p = malloc(1), *q = malloc(1); *(int **)p = (int *)q; probe_p(p); probe_q(*(int **)p); }",
        {"p": "malloc()", "q": "malloc()#1"},
    ),
    "a wrapper's allocations are told apart by its calls": (
        "void *get(int n) { void *p = malloc(n); if (!p) return 0; return p; }\n"
        "void f(void) { void *p = get(1), *q = get(2); probe_p(p); probe_q(q); }",
        {"p": "get()", "q": "get()#1"},
    ),
    "what a wrapper keeps is one object": (
        "void *last; void *get(int n) { void *p = malloc(n); last = p; return p; }\n"
        "void f(void) { void *p = get(1); probe_p(p); probe_q(last); }",
        {"p": "malloc()", "q": "malloc()"},
    ),
    "what a wrapper lists is an object a call": (
        "struct e { void *p; struct e *next; }; struct e *all;\n"
        "void *get(int n) { struct e *e = malloc(8); void *p = malloc(n);\n"
        "e->p = p; e->next = all; all = e; return p; }\n#define GET(n) get(n)\n"
        "void f(void) { void *p = GET(1); void *q = GET(2); probe_p(p); probe_q(q); }",
        {"p": "GET()", "q": "GET()#1"},
    ),
    "memory is moved": (
        "void f(void) { int a; int *s[1]; int *t[1]; s[0] = &a; memcpy(t, s, sizeof s); probe_p(t[0]); }",
        {"p": "a"},
    ),
    "from a field to its structure, by a macro": (
        "#define UP(p, type, field) ((type *)((char *)(p) - offsetof(type, field)))\n"
        "struct i { int n; }; struct a { int *x; struct i i; }; struct b { int *y; struct i j; };\n"
        "void f(void) { struct a s; struct b t; struct i *p = &s.i, *q = &t.j;\n"
        "struct a *a = UP(p, struct a, i); struct b *b = UP(q, struct b, j), *c = UP(p, struct b, j);\n"
        "probe_a(a); probe_b(b); probe_c(c); }",
        {"a": "s", "b": "t"},
    ),
    "from a field to its structure, by functions, macros of macros and addresses from zero": (
        "#define OFFSET(type, field) ((size_t)(&((type *)0)->field))\n"
        "#define UP(p, type, field) ((type *)((char *)(p) - OFFSET(type, field)))\n"
        "struct i { int n; }; struct a { int *x; struct i i; struct i k; };\n"
        "static struct a *of(struct i *p) { struct i *q = p; return UP(q, struct a, i); }\n"
        "void f(void) { struct a s, t; struct i *p = &t.k;\n"
        "probe_a(of(&s.i)); probe_k(of(p)); probe_b((char *)p - OFFSET(struct a, k)); }",
        {"a": "s", "b": "t"},
    ),
    "numbers lead nowhere": (
        "struct s { int n; long l; }; enum e { ONE };\n"
        "void f(struct s *o, enum e e) { int a; char *p = (char *)&a; o->n = p; o->l = p; int i = p; long m = p;\n"
        "char **all = &p; probe_n(o->n); probe_l(o->l); probe_i(i); probe_m(m); probe_c(**all); probe_p(*all); }\n"
        "int main(void) { struct s s; int b; f(&s, &b); }",
        {"l": "a", "m": "a", "p": "a"},
    ),
    "numbers that are made pointers again lead where they did": (
        "typedef char *text;\n"
        "void f(void) { int a, b; int n = (int)&a; int *q = (int *)n; unsigned m = (unsigned)&b;\n"
        "unsigned k = m; text t = (text)k; int other = (int)&a; probe_q(q); probe_t(t); probe_o(other); }",
        {"q": "a", "t": "b"},
    ),
    "from one field to the next": (
        "struct t { int *x; int *y; int *z; int n; int *u; };\nvoid f(int i) { int a, b, c, d; struct t s;\n"
        "s.x = &a; s.y = &b; s.z = &c; s.u = &d; int **p = &s.y;\n"
        "probe_p(*(p + 1)); probe_q(p[0]); probe_r(*(&s.x + i)); }",
        {"p": "b c", "q": "b", "r": "a b c"},
    ),
    "arguments that vary": (
        "void g(int n, ...) { va_list l; va_start(l, n); int *p = va_arg(l, int *); probe_p(p); }\n"
        "void f(void) { int a; g(1, &a); }",
        {"p": "a"},
    ),
}

ORDERED = {
    "the last store to a variable counts": (
        "int a, b, *p; static void g(void) {}\n"
        "void f(void) { p = &a; g(); p = &b; g(); probe_p(p); }\nint main(void) { f(); }",
        {"p": "b"},
    ),
    "a store through a pointer to one variable replaces": (
        "int main(void) { int a, b, *p = &a, **pp = &p; *pp = &b; probe_p(p); }",
        {"p": "b"},
    ),
    "what was read before the store is as it was": (
        "int main(void) { int a, b, *p = &a, **pp = &p, *q = *pp; *pp = &b; int *r = *pp; probe_q(q); probe_r(r); }",
        {"q": "a", "r": "b"},
    ),
    "a store through one of two pointers adds": (
        "int main(int n) { int a, b, *p = &a, *q = &a, **pp = n ? &p : &q; *pp = &b; probe_p(p); }",
        {"p": "a b"},
    ),
    "calls of one function do not mix": (
        "static void set(int **p, int *v) { *p = v; }\n"
        "int main(void) { int a, b, *p, *q; set(&p, &a); set(&q, &b); probe_p(p); probe_q(q); }",
        {"p": "a", "q": "b"},
    ),
    "what a called function changes is seen behind the call": (
        "int a, b, *p = &a; static void change(void) { p = &b; }\nint main(void) { probe_p(p); change(); probe_q(p); }",
        {"p": "a", "q": "b"},
    ),
    "ways that meet": (
        "int main(int n) { int a, b, *p, **pp = &p; if (n) { *pp = &a; probe_x(p); } else *pp = &b; probe_p(p); }",
        {"x": "a", "p": "a b"},
    ),
    "elements of an array are never replaced": (
        "int main(void) { int a, b, *t[2]; t[0] = &a; t[0] = &b; probe_p(t[0]); }",
        {"p": "a b"},
    ),
}

PROBES = """
.decl probed(name: symbol, object: symbol)
probed(substr(q, 8, strlen(q) - 8), n) :- probes(q, o), o = ["variable", _, n, _].
probed(substr(q, 8, strlen(q) - 8), n) :- probes(q, ["heap", [_, l, 0], _, _]), n = l.
probed(substr(q, 8, strlen(q) - 8), cat(l, cat("#", to_string(i)))) :- probes(q, ["heap", [_, l, i], _, _]), i > 0.
.decl probes(name: symbol, object: Object)
probes(q, o) :- calls_library(c, q), argument(c, 0, a), points_to(a, o), contains("probe_", q).
"""
IN_ORDER = PROBES.replace("points_to(a, o)", "may_refer(a, o)")
"""The same probes, answered with order and contexts."""


@pytest.mark.parametrize("name", CALLS)
def test_calls_lead_to_what_runs(rows, name):
    files, expected = CALLS[name]
    assert callgraph.render(rows("call_edge", files)) == expected


@pytest.mark.parametrize("name", POINTS)
def test_pointers_lead_to_what_they_may_point_to(rows, name):
    text, expected = POINTS[name]
    assert by_probe(rows("probed", {"a.c": text}, PROBES)) == expected


@pytest.mark.parametrize("name", ORDERED)
def test_order_and_contexts_tell_what_pointers_refer_to(rows, name):
    text, expected = ORDERED[name]
    assert by_probe(rows("probed", {"a.c": text}, IN_ORDER)) == expected


def by_probe(pairs):
    found = {}
    for probe, place in sorted(pairs):
        found.setdefault(probe, []).append(place)
    return {probe: " ".join(places) for probe, places in found.items()}
