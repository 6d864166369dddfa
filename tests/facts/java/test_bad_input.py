"""Files that are broken, odd or huge give facts of their sound parts, and say what they could not read."""

import random
from pathlib import Path

import pytest

import facts
from facts.java import tree
from facts.java.unit import Unit
from facts.render_facts import render
from facts.source_text import SourceText

SOURCES = sorted((Path(__file__).parent / "sources").glob("*.java"))


def extract(source):
    return facts.extract(source if isinstance(source, bytes) else source.encode(), "java")


def called(source):
    return {callee.rpartition("/")[2] for _, _, callee in render(extract(source)).get("call", ())}


def method(code):
    return f"class K {{ void m() {{\n{code}\n}} }}\n"


@pytest.mark.parametrize(
    ("source", "lines", "calls"),
    [
        (method("f();\nint x = = 1;\ng();"), [3], {"f", "g"}),
        (method("f();\nif (x) { g(;\n} h();"), None, {"f", "h"}),
        ("class A { void m( { f(); } }\nclass B { void n() { g(); } }\n", None, {"g"}),
        ("class A {\n  int = 3;\n  void m() { f(); }\n}\n", [2], {"f"}),
        ("class A {\n  void m() { f(); }\n", None, {"f"}),
        ("import ;\nclass A { void m() { f(); } }\n", [1], {"f"}),
        (method("switch (x) { case 1: f(); case : g(); }"), None, {"f", "g"}),
        (method("try { f(); } catch { g(); }\nh();"), None, {"f", "h"}),
        (method("int o = 1 +;\ng();"), [2], {"g"}),
        (method("x -> ;\ng(y -> h(y));"), None, {"g", "h"}),
        ("<<<<<<< HEAD\nclass A { void m() { f(); } }\n=======\n>>>>>>> other\n", None, {"f"}),
        (method('f("abc);\ng();'), None, set()),
        ("record R(int a,) { int m() { return f(); } }\n", None, {"f"}),
        ("@A( class K { int x = f(); }\n", None, set()),
    ],
)
def test_sound_parts_of_a_broken_file_give_facts(source, lines, calls):
    found = extract(source)
    assert found.unparsed_lines if lines is None else found.unparsed_lines == lines
    assert calls <= called(source)


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        (method("if (x instanceof A.B(int n)) { f(n); }"), {"f"}),
        (method("switch (x) { case A.B(var n) -> f(n); default -> g(); }"), {"f", "g"}),
        (
            method("switch (x) { case A(B.C(int n), D.E(var m, var k)) when n > 1 -> f(n); default -> g(h.I(1)); }"),
            {"f"},
        ),
        ("import module java.base;\nclass K { int x = f(); }\n", {"f"}),
        ("class K extends L { K(int n) { f(n); /* then */ super(n); g(this); } }\n", {"f", "super", "g"}),
        ("class K { K() { int n = f(); g(n);\n // (n)\n this(n); } K(int n) { } }\n", {"f", "g", "this"}),
    ],
)
def test_what_the_grammar_does_not_know_is_mended(source, calls):
    assert tree.GRAMMAR.parser.parse(source.encode()).root_node.has_error
    assert not extract(source).unparsed_lines
    assert calls <= called(source)


@pytest.mark.parametrize("source", ["", "\n", "// only a comment", "\ufeff", ";", "class A {}", "package a;"])
def test_files_with_next_to_nothing(source):
    found = extract(source)
    assert not found.unparsed_lines
    assert "call" not in found.relations


def test_null_bytes_are_stated():
    source = method("f();\nx = '\0';\ng();").encode()
    assert extract(source).unparsed_lines == [3]
    assert called(source) == {"f", "g"}


def test_encodings_are_told_by_what_decodes():
    rows = [
        render(extract('class K { String s = "é"; }'.encode(encoding)))["constant"] for encoding in ("utf-8", "latin-1")
    ]
    assert rows[0] == rows[1] == [("class K/def <initializer>/'é'", "string", "é")]
    assert render(extract("class K { int é = 1; }".encode("utf-16")))["field"] == [("class K/field é", "class K", "é")]


def test_binary_data_is_no_crash():
    source = random.Random(1)
    for size in (1, 100, 5000):
        assert extract(source.randbytes(size)).entities.shape[0] == 3


DEEP = {
    "parentheses": (method("x = " + "(" * 2000 + "f()" + ")" * 2000 + ";"), 1),
    "calls in calls": (method("f(" * 1000 + "g()" + ")" * 1000 + ";"), 1001),
    "calls of calls": (method("f()" + ".g()" * 2000 + ";"), 2001),
    "fields": (method("x = f()" + ".a" * 3000 + ";"), 1),
    "elements": (method("x = f()" + "[0]" * 2000 + ";"), 1),
    "sum": (method("x = " + " + ".join(["f()"] * 3000) + ";"), 3000),
    "and": (method("x = " + " && ".join(["f()"] * 3000) + ";"), 3000),
    "if or": (method("if (" + " || ".join(["f()"] * 2000) + ") {}"), 2000),
    "not": (method("x = " + "!" * 2000 + "f();"), 1),
    "conditional": (method("x = " + "f() ? g() : " * 1000 + "h();"), 2001),
    "lambdas": (method("x = " + "() -> " * 1000 + "f();"), 1),
    "arrays": (method("int[] x = " + "{" * 1000 + "f()" + "}" * 1000 + ";"), 1),
    "else if": (method("if (f()) ;" + " else if (f()) ;" * 1500), 1501),
    "ifs in a row": (method("int x = 1;\n" + "if (f()) x = 2;\n" * 1500 + "g(x);"), 1501),
    "blocks": (method("{" * 1000 + "f();" + "}" * 1000), 1),
    "nested ifs": (method("if (f())\n" * 500 + "g();"), 501),
    "nested classes": ("class A { " * 200 + "int x = f();" + "}" * 200, 1),
    "anonymous classes": (method("new A() { Object m() { return " * 100 + "f()" + "; } }" * 100 + ";"), 101),
    "labels": (method("".join(f"l{i}: " for i in range(500)) + "f();"), 1),
    "cases": (method("switch (x) {" + "".join(f"case {i}: f(); " for i in range(1000)) + "}"), 1000),
    "generics": ("class A { " + "A<" * 300 + "A" + ">" * 300 + " a; int x = f(); }", 1),
    "resources": (method("try (" + ";".join(f"A a{i} = f()" for i in range(200)) + ") {}"), 400),
}


@pytest.mark.parametrize(("source", "count"), DEEP.values(), ids=DEEP)
def test_deep_and_long_code_is_read(source, count):
    found = extract(source)
    assert not found.unparsed_lines
    assert found.relations["call"].shape[1] == count


def test_a_mistake_of_ours_costs_its_statement_only(monkeypatch):
    def fail(unit, node):
        raise AttributeError("no such field")

    for kind in tree.kind_ids("array_access"):
        monkeypatch.setitem(tree.EXPRESSIONS, kind, fail)
    source = """class K {
    int x = a[0];
    int y = f();
    static int z = a[1];
    int m(int[] a) {
        while (g(a)) {
            try (A b = i()) {
                h(a[2]);
            } finally {
                k();
            }
        }
        Runnable r = () -> l(a[3]);
        Runnable s = new A() {
            { n(); }
            int q = a[4];
        };
        return 1;
    }
}
"""
    found = extract(source)
    assert found.unparsed_lines == [2, 4, 8, 13, 16]
    assert called(source) == {"f", "g", "i", "b.close", "k", "n", "<anonymous>"}


@pytest.mark.parametrize("seed", range(60))
def test_damaged_code(seed, monkeypatch):
    """Whatever is cut out or put in, nothing raises (`attempt` is disarmed here) and every error is stated."""
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    source = random.Random(seed)
    data = source.choice(SOURCES).read_bytes()
    for _ in range(source.randint(1, 5)):
        at = source.randrange(len(data) + 1)
        pieces = [
            b"(",
            b"]",
            b"{",
            b"}",
            b";",
            b'"',
            b"'",
            b"=",
            b"@",
            b"\xff",
            b"\0",
            b"->",
            b"::",
            b"/*",
            b"<",
            b"class ",
        ]
        pieces += [b"if (", b"case ", b"record R(", b"switch (x) {", b"try (", b"", data[at // 2 : at // 2 + 50]]
        data = data[:at] + source.choice(pieces) + data[at + source.choice([0, 1, 20]) :]
    found = extract(data)
    damaged = tree.parse(SourceText(data).utf8).has_error
    assert damaged <= bool(found.unparsed_lines)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_sound_code_is_read_whole(path, monkeypatch):
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    data = path.read_bytes()
    assert not tree.parse(data).has_error
    assert not extract(data).unparsed_lines
