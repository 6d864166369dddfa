"""The call graph of small Go programs, each against the edges that running it takes."""

import pytest

from analyzer.graphs import callgraph

PROGRAMS = {
    "a method is found by the type of its receiver": (
        {"main.go": "package main\ntype T struct{}\nfunc (t *T) m() {}\nfunc main() { var t T; t.m() }\n"},
        {"main.main": ["main.T.m"]},
    ),
    "an interface calls the method of what it holds": (
        {
            "main.go": "package main\ntype I interface{ m() }\ntype A struct{}\ntype B struct{}\nfunc (A) m() {}\n"
            "func (B) m() {}\nfunc run(i I) { i.m() }\nfunc main() { run(&B{}) }\n"
        },
        {"main.main": ["main.run"], "main.run": ["main.B.m"]},
    ),
    "a method is promoted from what a struct embeds, unless the struct has its own": (
        {
            "main.go": "package main\ntype A struct{}\nfunc (A) m() {}\nfunc (A) n() {}\ntype B struct{ A }\n"
            "func (B) n() {}\nfunc main() { b := B{}; b.m(); b.n() }\n"
        },
        {"main.main": ["main.A.m", "main.B.n"]},
    ),
    "an interface holds a struct that promotes the method": (
        {
            "main.go": "package main\ntype I interface{ m() }\ntype A struct{}\nfunc (A) m() {}\ntype B struct{ *A }\n"
            "func main() { var i I = B{&A{}}; i.m() }\n"
        },
        {"main.main": ["main.A.m"]},
    ),
    "functions and closures are values": (
        {
            "main.go": "package main\nfunc f() {}\nfunc apply(g func()) { g() }\n"
            'func main() { h := f; apply(h); m := map[string]func(){"a": f}; m["a"]() }\n'
        },
        {"main.main": ["main.apply", "main.f"], "main.apply": ["main.f"]},
    ),
    "files of a package know each other, and others import it": (
        {
            "cmd/main.go": 'package main\nimport "example.com/x/p"\nfunc main() { p.F() }\n',
            "p/a.go": "package p\nfunc F() { _g() }\n",
            "p/b.go": "package p\nfunc _g() {}\n",
        },
        {"cmd/main.main": ["p/a.F"], "p/a.F": ["p/b._g"]},
    ),
    "a package may have another name than its directory": (
        {
            "cmd/main.go": 'package main\nimport ("example.com/x/core"; "example.com/x/p")\n'
            "func run(t *store.T) { t.M() }\nfunc main() { run(store.New()); p.F() }\n",
            "core/a.go": "package store\ntype T struct{}\nfunc New() *T { return &T{} }\nfunc (t *T) M() {}\n",
            "p/a.go": "package p\nfunc F() { store.New() }\n",
        },
        {"cmd/main.main": ["cmd/main.run", "core/a.New", "p/a.F"], "cmd/main.run": ["core/a.T.M"]},
    ),
    "a library's names come from declared types": (
        {
            "main.go": 'package main\nimport "net/http"\n'
            'func h(w http.ResponseWriter, r *http.Request) { r.FormValue("x") }\n'
        },
        {"main.h": ["net/http.Request.FormValue"]},
    ),
    "what is sent through a channel is received": (
        {
            "main.go": "package main\nfunc f() {}\n"
            "func main() { c := make(chan func(), 1); go func() { c <- f }(); g := <-c; g() }\n"
        },
        {"main.main": ["builtin.make", "main.f", "main.main.<lambda1>"]},
    ),
    "results, fields and elements have types": (
        {
            "main.go": "package main\ntype T struct{ next *T }\nfunc (t *T) m() {}\n"
            "func two() (int, []*T) { return 0, nil }\n"
            "func main() { _, all := two(); all[0].next.m(); for _, t := range all { t.m() } }\n"
        },
        {"main.main": ["main.T.m", "main.two"]},
    ),
    "a pointer leads to the variable": (
        {"main.go": "package main\nfunc f() {}\nfunc main() { var g func(); p := &g; *p = f; h := *p; h() }\n"},
        {"main.main": ["main.f"]},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_call_graph_has_the_edges_that_run(rows, name):
    files, expected = PROGRAMS[name]
    assert callgraph.render(rows("call_edge", files)) == expected
