"""`analyze facts`, and `analyze run` on what it writes."""

import os

import pytest

import engine
import facts
from facts import schema

TREE = {
    "pkg/__init__.py": "from .text import *\nfrom .text import C as C\n__all__ = ['C']\n",
    "pkg/text.py": """\
import asyncio, os.path  # analyze: ignore[x] a\ttab, "quotes" and \\ too
STRINGS = ["a\\tb\\n", "c\\r\\n", "\\\\t", 'x, [y] "z"', "", " nil ", "nil", "é\\x85\\u2028", "\\ud800"]
@decorated("a, b")
class C(Base, metaclass=Meta):
    x: int = 3
    def __init__(self, *a, k=1, **kw) -> None:
        super().__init__()
        self.x = a[1:2]; del self.x; del a[1:2]; del a[0]; a[0:1] = a
        with open(k, *a, mode="r", **kw) as f: assert f, (lambda: f)
        def inner():
            nonlocal k; k = [*a, {**kw}, {k: 1}]
        for i in a: first, *others = i
        match a:
            case C(y): raise ValueError(y)
def g(x: "T"):  # type: (str) -> int
    try: yield from (y async for y in x)
    except E as e: del e
    yield x
async def h(): return await (h() if STRINGS else g(1))
""",
    "broken.py": "x = = 1\ny = 2\n",
    "page.html": "<p title={{ a }}>{% autoescape off %}",
    "page.jsp": "<shop:title><%= title %></shop:title>",
    "a.js": """\
import * as m from "./b.js"; export * from "./b.js"; export const e = 1; export default m;
class A { get p() { return new A(<a b="c">{this.q}</a>) } set p(v) { [v] = [...arguments] } static s = 1 }
const re = /(a+)+$/, t = `x\\n${re}\\ty`; for (const k in {}) { t[k] = (function* () { yield k })() }
""",
    "b.js": "export let b = '\\u{1F600} \\ud800';\n",
    "a.c": """\
#define TWICE(x) ((x) * 2)
#define LEAVE return 0
struct s { int f; int a[4]; } *p; int n[10];
int f(int *q, struct s *r) {
  int u; if (!q) LEAVE; int *v = &u, *w = &q[1], *z = &r->f; *q = TWICE(*v); return (char) *w + *z + u; }
""",
    "a.go": """\
package a
type T struct { f int }
type L[E any] []E
func (t *T) m(c chan int) { defer close(c); go t.m(c); c <- 1; x := <-c; other = x; for k := range c { _ = k } }
""",
    "b.go": "package a\nvar other int\n",
    "A.java": """\
import java.util.*;
@Deprecated(since = "1, 2") abstract class A<T extends Comparable<T>> extends B {
  private int[] f = new int[3]; { f[0] = 1; }
  A(List<String> l) throws Exception { super(l); this.f = (int[]) null; hidden = 1; int y = hidden; }
  class I { int g() { return A.this.f[0] + fromOutside; } }
  int s(Color c) { switch (c) { case RED: return 1; default: return 2; } }
}
""",
    "card.vue": "<template><p>{{ title }}</p></template>\n<script>\nexport default { props: ['title'] }\n</script>\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("tree")
    for name, text in TREE.items():
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(text)
    return top


@pytest.fixture(scope="module")
def expected(tree):
    """The rows of every relation, as tuples of Python values."""
    names = sorted(TREE, key=os.fsencode)
    mounted = facts.mount((name, facts.extract(TREE[name].encode(), facts.language_of(name))) for name in names)
    return rows_of(mounted.relations, mounted.entities, mounted.symbols)


def rows_of(relations, entities, symbols):
    """Rows with an entity as (scope, label, ordinal), all the way up."""
    scopes, labels, ordinals = entities.tolist()

    def entity(record):
        return record and (entity(scopes[record - 1]), symbols[labels[record - 1]], ordinals[record - 1])

    read = {schema.ENTITY: entity, schema.SYMBOL: symbols.__getitem__, schema.NUMBER: int}
    return {
        name: {
            tuple(read[kind](value) for kind, value in zip(relation.kinds, row, strict=True))
            for row in relations[name].T.tolist()
        }
        for name, relation in schema.relations().items()
    }


def test_the_tree_has_rows_of_every_relation(expected):
    assert [name for name, rows in expected.items() if not rows] == []


def copying(parameters, suffix):
    """A program that reads every relation of the schema, and writes a copy of it."""
    lines = ['.include "facts/facts.dl"']
    for name, relation in schema.relations().items():
        columns = ", ".join(f"{column}: {kind}" for column, kind in zip(relation.columns, relation.kinds, strict=True))
        variables = ", ".join(relation.columns)
        lines.append(f".decl copy_{name}({columns})\ncopy_{name}({variables}) :- {name}({variables}).")
        lines.append(f'.output copy_{name}(filename="{name}{suffix}", {parameters})')
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("format", "parameters", "suffix"), [("tsv", "escapes=true", ".facts"), ("parquet", "IO=parquet", ".parquet")]
)
def test_run_reads_every_relation_as_facts_wrote_it(analyze, tree, expected, tmp_path, format, parameters, suffix):
    written, copied = tmp_path / "facts", tmp_path / "copied"
    analyze("facts", tree, "-o", written, "--format", format)
    program = tmp_path / "copy.dl"
    program.write_text(copying(parameters, suffix))
    analyze("run", program, "-F", written, "-D", copied)

    every = engine.compile([(written / "facts.dl").read_text() + "".join(f".output {name}\n" for name in expected)])
    for directory in (written, copied):
        database = engine.load(every, directory)
        texts = database.symbols.texts(range(len(database.symbols)))
        assert rows_of(database.relations, database.records["Entity"], texts) == expected


def test_a_plain_input_reads_facts_too(analyze, tree, expected, tmp_path):
    """But for characters that text between tabs cannot hold."""
    analyze("facts", tree, "-o", tmp_path / "facts")
    program = tmp_path / "plain.dl"
    program.write_text(facts.schema_text() + "".join(f".input {n}\n.printsize {n}\n" for n in expected))
    sizes = analyze("run", program, "-F", tmp_path / "facts", "-D", tmp_path).output
    assert dict(line.split("\t") for line in sizes.splitlines()) == {n: str(len(rows)) for n, rows in expected.items()}
