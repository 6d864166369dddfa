"""Files that are broken, odd or huge give facts of their sound parts, and say what they could not read."""

import random
import sysconfig
from pathlib import Path

import pytest

import facts
from facts.python import tree
from facts.python.unit import Unit
from facts.render_facts import render
from facts.source_text import SourceText


def extract(source):
    return facts.extract(source if isinstance(source, bytes) else source.encode(), "python")


def calls(source):
    return {callee for _, _, callee in render(extract(source)).get("call", ())}


def names(found):
    return {name.rpartition("/")[2] for name in found}


@pytest.mark.parametrize(
    ("source", "lines", "called"),
    [
        ("f()\nx = = 1\ng()\n", [2], {"f", "g"}),
        ("def a(:\n    f()\ng()\n", [1], {"f", "g"}),
        ("class A\n    def m(self):\n        f()\ng()\n", None, {"f", "g"}),
        ("x = f(1, g(2)\ny = h()\n", None, {"g", "h"}),
        ("if x ==:\n    f()\nelse:\n    g()\n", [1], {"f", "g"}),
        ("for in y:\n    f()\ng()\n", None, {"f", "g"}),
        ("try:\n    f()\nexcept A B:\n    g()\nh()\n", None, {"f", "h"}),
        ("f('abc\ng()\n", None, set()),
        ("x = [1, 2\n", None, set()),
        ("match x:\n    case 1 2:\n        f()\n    case 3:\n        g()\n", None, {"g"}),
        ("lambda x y: f()\ng()\n", None, {"g"}),
        ("@\ndef f():\n    g()\n", None, {"g"}),
        ("<<<<<<< HEAD\nf()\n=======\ng()\n>>>>>>> other\n", None, {"f", "g"}),
    ],
)
def test_sound_parts_of_a_broken_file_give_facts(source, lines, called):
    found = extract(source)
    assert found.unparsed_lines if lines is None else found.unparsed_lines == lines
    assert called <= names(calls(source))


@pytest.mark.parametrize(
    "source",
    [
        "def f[T = int](x):\n    g(f())\n",
        "class A[T: B = C, *U = *tuple[int, str]](D[T]):\n    x = g(f())\n",
        "type A[T = list[int]] = dict[T, str]\ng(f())\n",
    ],
)
def test_what_the_grammar_does_not_know_is_mended(source):
    assert tree.GRAMMAR.parser.parse(source.encode()).root_node.has_error
    assert not extract(source).unparsed_lines
    assert {"f", "g"} <= names(calls(source))


@pytest.mark.parametrize(
    "parameters", ["T = Default", "T: B = Default", "T: (int, str) = list[Default]", "*U = Default, **P = [int]"]
)
def test_defaults_of_type_parameters_are_read(parameters):
    rows = render(facts.extract(f"class A[{parameters}]: pass\n".encode(), "python"))
    assert "Default" in {name for _, _, name in rows["load_name"]}


@pytest.mark.parametrize("source", ["", "\n", "# only a comment", "\ufeff", "\f", "pass", "\\\n"])
def test_files_with_next_to_nothing(source):
    found = extract(source)
    assert not found.unparsed_lines
    assert "call" not in found.relations


def test_null_bytes_are_stated():
    found = extract(b"f()\nx = '\0'\ng()\n")
    assert found.unparsed_lines == [2]
    assert names(calls(b"f()\nx = '\0'\ng()\n")) == {"f", "g"}


def test_binary_data_is_no_crash():
    source = random.Random(1)
    for size in (1, 100, 5000):
        assert extract(source.randbytes(size)).entities.shape[0] == 3


DEEP = {
    "parentheses": ("x = " + "(" * 2000 + "f()" + ")" * 2000, 1),
    "lists": ("x = " + "[" * 2000 + "f()" + "]" * 2000, 1),
    "calls in calls": ("f(" * 2000 + "g()" + ")" * 2000, 2001),
    "calls of calls": ("f" + "()" * 3000, 3000),
    "attributes": ("f()" + ".a" * 5000, 1),
    "subscripts": ("f()" + "[0]" * 3000, 1),
    "sum": (" + ".join(["f()"] * 5000), 5000),
    "and": (" and ".join(["f()"] * 5000), 5000),
    "if and": ("if " + " and ".join(["f()"] * 3000) + ": pass", 3000),
    "comparisons": (" < ".join(["f()"] * 3000), 3000),
    "not": ("x = " + "not " * 3000 + "f()", 1),
    "minus": ("x = " + "-" * 3000 + "f()", 1),
    "conditional": ("x = " + "f() if g() else " * 1500 + "h()", 3001),
    "lambdas": ("x = " + "lambda: " * 1500 + "f()", 1),
    "dictionaries": ("x = " + "{1: " * 1500 + "f()" + "}" * 1500, 1),
    "comprehensions": ("x = " + "[f() for x in " * 300 + "y" + "]" * 300, 300),
    "elif": ("if f(): pass\n" + "elif f(): pass\n" * 3000, 3001),
    "ifs in a row": ("x = 1\n" + "if f(): x = 2\n" * 3000 + "g(x)\n", 3001),
    "nested ifs": ("".join(" " * i + "if f():\n" for i in range(90)) + " " * 90 + "pass\n", 90),
    "nested functions": ("".join(" " * i + "def f():\n" for i in range(90)) + " " * 90 + "g()\n", 1),
    "strings": ("x = " + " + ".join(["'a'"] * 5000) + " + f()", 1),
    "decorators": ("@f\n" * 2000 + "def g(): pass\n", 2000),
    "targets": ("x = " * 3000 + "f()", 1),
    "unpacking": ("(" * 1000 + "x,)" + ",)" * 999 + " = f()", 1),
    "patterns": ("match f():\n    case " + "[" * 500 + "x" + "]" * 500 + ": g()\n", 2),
    "with": ("with " + ", ".join(["f()"] * 2000) + ": pass", 2000),
    "f-strings": ("x = f'{f()}'" + " f'{f()}'" * 2000, 2001),
}


@pytest.mark.parametrize(("source", "count"), DEEP.values(), ids=DEEP)
def test_deep_and_long_code_is_read(source, count):
    found = extract(source)
    assert not found.unparsed_lines
    assert found.relations["call"].shape[1] == count


def test_a_mistake_of_ours_costs_its_statement_only(monkeypatch):
    def fail(unit, node):
        raise AttributeError("no such field")

    for kind in tree.kind_ids("subscript"):
        monkeypatch.setitem(tree.EXPRESSIONS, kind, fail)
    source = """def f(a):
    x = 1
    while g(a):
        try:
            h(a[0])
        finally:
            k(x)
    class A:
        y = a[1]
        z = l(x)
    return lambda: a[2]
"""
    found = extract(source)
    assert found.unparsed_lines == [5, 9, 11]
    assert names(calls(source)) == {"g", "k", "l"}


STANDARD_LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_real_code(seed, monkeypatch):
    """Whatever is cut out or put in, nothing raises (`attempt` is disarmed here) and every error is stated."""
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    source = random.Random(seed)
    data = source.choice(STANDARD_LIBRARY).read_bytes()[:30_000]
    for _ in range(source.randint(1, 5)):
        at = source.randrange(len(data) + 1)
        put = source.choice(
            [
                *b"(]:\n\"' \t=*@\xff\0\r",
                b"class ",
                b"else:",
                b"'''",
                b"lambda ",
                b"if ",
                b"match x:\n case ",
                b"",
                data[at // 2 : at // 2 + 50],
            ]
        )
        put = bytes([put]) if isinstance(put, int) else put
        data = data[:at] + put + data[at + source.choice([0, 1, 20]) :]
    found = extract(data)
    damaged = tree.GRAMMAR.parser.parse(SourceText(data).utf8).root_node.has_error
    assert damaged <= bool(found.unparsed_lines)


@pytest.mark.parametrize("path", STANDARD_LIBRARY[::3], ids=lambda path: path.stem)
def test_sound_real_code_is_read_whole(path, monkeypatch):
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    data = path.read_bytes()
    assert not tree.GRAMMAR.parser.parse(data).root_node.has_error
    assert not extract(data).unparsed_lines
