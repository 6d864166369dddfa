"""Go that is broken, odd or huge gives facts of its sound parts, and says what it could not read."""

import random
from pathlib import Path

import pytest

import facts
from facts.go import tree
from facts.go.unit import Unit
from facts.render_facts import render

SOURCES = [
    source.partition("\n")[2].partition("\n--\n")[0]
    for path in sorted((Path(__file__).parent / "cases").glob("*.txt"))
    for source in ("\n" + path.read_text(encoding="utf-8")).split("\n== ")[1:]
]
WHOLE = "package p\n" + "\n".join(source.replace("package p\n", "") for source in SOURCES)


def extract(source):
    return facts.extract(source if isinstance(source, bytes) else source.encode(), "go")


def called(source):
    return {callee.rpartition("/")[2] for _, _, callee in render(extract(source)).get("call", ())}


@pytest.mark.parametrize(
    ("source", "lines", "names"),
    [
        ("package p\nfunc f() {\n\tg()\n\tx := = 1\n\th()\n}\n", [4], {"g", "h"}),
        ("package p\nfunc f() {\n\tg()\n\tif x {\n\t\th()\n}\nfunc m() { n() }\n", None, {"g", "h", "n"}),
        ("package p\nfunc f() {\n\tg()\n", None, {"g"}),
        ("package p\nfunc f() {\n\tg(1, , 2)\n\th()\n}\n", None, {"h"}),
        ("<<<<<<< HEAD\nfunc f() { g() }\n=======\nfunc f() { h() }\n>>>>>>> x\n", None, {"g", "h"}),
        ("package p\n}\nfunc f() { g() }\n", [2], {"g"}),
        ('package p\nfunc f() { g("abc) }\nfunc m() { h() }\n', None, {"h"}),
        ("package p\nfunc f() { switch x { case 1: g(); case: h() } }\n", None, {"g"}),
        ("package p\nfunc f(a int b) { g() }\nfunc h() { k() }\n", [2], {"k"}),
    ],
)
def test_sound_parts_of_a_broken_file_give_facts(source, lines, names):
    found = extract(source)
    assert found.unparsed_lines if lines is None else found.unparsed_lines == lines
    assert names <= called(source)


@pytest.mark.parametrize("source", ["", "\n", "// only a comment", "\ufeffpackage p", ";", "package p", "/**/"])
def test_files_with_next_to_nothing(source):
    assert not extract(source).unparsed_lines


@pytest.mark.parametrize(
    "source",
    [
        "new(uint64(1))",
        "new(1)",
        'new("x")',
        "new(-a)",
        "new(a.b(c))",
        "new(a.b.c)",
        "new(*a > 0)",
        'new(T{a: "b"})',
        'new([]string{"a"}), new(map[string][]int{})',
        "new(T), new([]int), new(func() int), new(map[string]int), new(uint64(2))",
    ],
)
def test_new_of_a_value(source):
    found = extract(f"package p\nfunc f() {{ g({source}) }}\n")
    assert not found.unparsed_lines
    assert {"g", "new"} <= called(f"package p\nfunc f() {{ g({source}) }}\n")


def test_other_encodings():
    source = 'package p\nfunc f() { g("é") }\n'
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        found = render(extract(source.encode(encoding)))
        assert ("def f/'é'", "string", "é") in found["constant"], encoding


def test_null_bytes_and_binary_data():
    assert extract(b"package p\nvar a = '\0'\nfunc f() { g() }\n").unparsed_lines
    source = random.Random(1)
    for size in (1, 100, 5000):
        assert extract(source.randbytes(size)).entities.shape[0] == 3


DEEP = {
    "parentheses": ("g(" + "(" * 2000 + "f()" + ")" * 2000 + ")", 2),
    "calls in calls": ("f(" * 2000 + "g()" + ")" * 2000, 2001),
    "calls of calls": ("f" + "()" * 3000, 3000),
    "attributes": ("f()" + ".a" * 5000 + ".b()", 2),
    "sum": ("x = " + " + ".join(["f()"] * 5000), 5000),
    "and": ("x = " + " && ".join(["f()"] * 3000), 3000),
    "if and": ("if " + " && ".join(["f()"] * 3000) + " {}", 3000),
    "not": ("x = " + "!" * 3000 + "f()", 1),
    "closures": ("x = " + "func() int { return " * 500 + "f()" + " }" * 500, 1),
    "literals": ("x = " + "T{" * 1000 + "f()" + "}" * 1000, 1),
    "else if": ("if f() {}" + " else if f() {}" * 2000, 2001),
    "ifs in a row": ("x := 1\n" + "if f() { x = 2 }\n" * 2000 + "g(x)\n", 2001),
    "nested blocks": ("{" * 1000 + "f()" + "}" * 1000, 1),
    "types": ("var x " + "[]" * 2000 + "int; f()", 1),
    "pointers": ("x = " + "*" * 2000 + "f()", 1),
}


@pytest.mark.parametrize(("source", "count"), DEEP.values(), ids=DEEP)
def test_deep_and_long_code_is_read(source, count):
    found = extract(f"package p\nfunc main() {{\n{source}\n}}\n")
    assert not found.unparsed_lines
    assert found.relations["call"].shape[1] == count


def test_a_mistake_of_ours_costs_its_statement_only(monkeypatch):
    def fail(unit, node):
        raise AttributeError("no such field")

    for kind in tree.kind_ids("index_expression"):
        monkeypatch.setitem(tree.EXPRESSIONS, kind, fail)
    source = """package p
func f(a []int) {
	for g(a) {
		switch k() {
		case a[0]:
			h()
		}
	}
	l()
	m(func() int {
		return a[1]
	})
}
"""
    assert extract(source).unparsed_lines == [4, 5, 6, 7, 11]
    assert called(source) == {"g", "k", "l", "m"}


PIECES = [*(bytes([octet]) for octet in b'(]}{"`\n*\xff\0'), b"func ", b"case ", b"select {", b"/*", b""]


@pytest.mark.parametrize("seed", range(40))
def test_damaged_code(seed, monkeypatch):
    """Whatever is cut out or put in, nothing raises (`attempt` is disarmed here) and every error is stated."""
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    source = random.Random(seed)
    data = WHOLE.encode()
    if seed % 4 == 0:
        data = data[: source.randrange(len(data))]
    for _ in range(source.randint(1, 5)):
        at = source.randrange(len(data) + 1)
        piece = source.choice([*PIECES, data[at // 2 : at // 2 + 50]])
        data = data[:at] + piece + data[at + source.choice([0, 1, 20]) :]
    found = extract(data)
    assert tree.GRAMMAR.parser.parse(data.replace(b"\0", b" ")).root_node.has_error <= bool(found.unparsed_lines)


def test_the_undamaged_code_is_read_whole(monkeypatch):
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    assert not extract(WHOLE).unparsed_lines
