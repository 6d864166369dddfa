"""Files that are broken, odd or huge give facts of their sound parts, and say what they could not read."""

import random

import pytest

import facts
from facts.javascript.handler_tables import EXPRESSIONS, GRAMMARS
from facts.javascript.parse import parse
from facts.javascript.unit import Unit
from facts.render_facts import render
from facts.source_text import SourceText


def extract(source, language="javascript"):
    return facts.extract(source if isinstance(source, bytes) else source.encode(), language)


def names(source, language="javascript"):
    rows = render(extract(source, language)).get("call", ())
    return {callee.rpartition("/")[2].partition("#")[0] for _, _, callee in rows}


@pytest.mark.parametrize(
    ("source", "called"),
    [
        ("f();\nx = = 1;\ng();\n", {"f", "g"}),
        ("class A {\n  m() { f() }\n  x = = 2\n}\ng();\n", {"f", "g"}),
        ("if (x ==) { f() } else { g() }\n", {"f", "g"}),
        ("for (const of y) { f() }\ng();\n", {"g"}),
        ("try { f() } catch { g( }\nh();\n", {"f", "h"}),
        ("switch (x) { case 1 2: f(); case 3: g() }\nh();\n", {"f", "g", "h"}),
        ("const {a, b = f(), = g();\nh();\n", {"h"}),
        ("f('abc\ng()\n", set()),
        ("x = [1, f(2\n", set()),
        ("<<<<<<< HEAD\nf();\n=======\ng();\n>>>>>>> other\n", {"g"}),
        ("export default\n", set()),
    ],
)
def test_sound_parts_of_a_broken_file_give_facts(source, called):
    assert extract(source).unparsed_lines
    assert called <= names(source)


@pytest.mark.parametrize(
    ("language", "source", "row"),
    [
        ("javascript", "x = <a class='b' for={c}/>", ("store_attribute", ("object.class =", "object", "class", "'b'"))),
        ("javascript", "x = <a class='b' for={c}/>", ("store_attribute", ("object.for =", "object", "for", "c"))),
        ("javascript", "x = <p>{f} & {b}</p>", ("constant", ("' & '", "string", " & "))),
        ("javascript", "x = <a b={c} default />", ("store_attribute", ("object.b =", "object", "b", "c"))),
        ("tsx", "x = <p>Q & A <b>R &amp; B</b></p>", ("constant", ("'Q & A '", "string", "Q & A "))),
        ("tsx", "x = <p>Q & A</p>; y = a > b & c < d", ("operation", ("a > b & c < d", "&"))),
        ("tsx", "x = <p>Q && A</p>; y = a && <b/> && c", ("constant", ("'Q && A'", "string", "Q && A"))),
        ("tsx", 'x = <a b="/c?d=e&display=f"/>', ("constant", ("'/c?d=e&display=f'", "string", "/c?d=e&display=f"))),
        ("javascript", "x = <a b='&c=d' e={f & g}/>", ("constant", ("'&c=d'", "string", "&c=d"))),
        ("javascript", "x = <a b={::this.c}/>", ("load_attribute", ("this.c", "this", "c"))),
        ("javascript", "x = d ? ::this.c : e", ("load_attribute", ("this.c", "this", "c"))),
        ("typescript", "export type * from 'a'", ("exports_as", ("module", "*", "export a"))),
        ("typescript", "export type * as b from 'a'", ("exports_as", ("module", "b", "export a"))),
        ("typescript", "let b = await a<typeof import('c')>()", ("assign", ("b", "await a()"))),
        ("tsx", "let a: import('c').A<D> = b", ("assign", ("a", "b"))),
        ("typescript", "let b = a<import('c').D>()", ("assign", ("b", "a()"))),
        ("typescript", "interface A { b: import('c').D[] }\nlet a = b", ("assign", ("a", "b"))),
        ("typescript", "interface A {\n  c: string\n  in: 'd' | 'e'\n}\nlet a = b", ("assign", ("a", "b"))),
        ("typescript", "let b = await a.q<C[]>`d ${e}`", ("load_attribute", ("a.q", "a", "q"))),
        ("tsx", "let b = await q<{\n  c: D<E>;\n  f: 'g'\n}>`h`; let i = j", ("assign", ("i", "j"))),
        ("typescript", "class A { constructor(private readonly as: B) {} }\nlet a = b", ("assign", ("a", "b"))),
        ("tsx", "const b = q(a) <{ c: D }>`e`; let i = j", ("assign", ("i", "j"))),
        ("tsx", "type A = { b: (string) => void; c(d: (number) => string): E };\nlet a = b", ("assign", ("a", "b"))),
        (
            "typescript",
            "interface A {\n  (a: B): C[D]\n  // and\n  <T>(a: T): C<T>\n  <\n  T>(a: T): C\n}\nlet a = b",
            ("assign", ("a", "b")),
        ),
        ("typescript", "interface A {\n  in?: B\n  abstract?: C | null\n}\nlet a = b", ("assign", ("a", "b"))),
        ("typescript", "class A<in out T, out U> {}", ("type_parameter", ("class A", "1", "U", "U"))),
    ],
)
def test_what_a_grammar_does_not_know_is_mended(language, source, row):
    assert GRAMMARS[language].parser.parse(source.encode()).root_node.has_error
    found = extract(source, language)
    assert not found.unparsed_lines
    assert row[1] in render(found)[row[0]]


@pytest.mark.parametrize(
    "source",
    [
        "function f(a: string, b?: number): any { g(a) }",
        "const f = ({ a, b = {} }): any => { g(a) }",
        "function f<T>(a): T { g(a) }",
        "// @flow\nexport type A = {| +a: ?string, b: Map<string, *> |}; function f(a: ?A) { g(a) }",
        "// @flow\nopaque type A = string; function f(a: A): ?Promise<*> { g((a: any)) }",
        "class A { f(a: ?string, b: any[]): ?Promise<*> { g(a ? b : c) } }",
        "import { type A } from './a'; type B = {\n  ...$Exact<A>,\n  c: string,\n};\ng()",
        "import type { A } from './a';\nconst f = (b: { ...A, c?: string }) => g(b)",
    ],
)
def test_annotated_javascript_is_read_as_typescript(source):
    assert GRAMMARS["javascript"].parser.parse(source.encode()).root_node.has_error
    found = extract(source)
    assert not found.unparsed_lines
    assert "g" in names(source)


@pytest.mark.parametrize("source", ["", "\n", "// only a comment", "\ufeff", ";", "/* open", "#!/bin/node\n"])
@pytest.mark.parametrize("language", GRAMMARS)
def test_files_with_next_to_nothing(source, language):
    assert "call" not in extract(source, language).relations


def test_what_is_sound_in_a_broken_import_is_imported():
    found = extract('import { a, b\ne, c } from "m";\n', "tsx")
    assert {row[-1] for row in render(found)["import_member"]} >= {"a", "c"}
    assert found.unparsed_lines


def test_null_bytes_are_stated():
    assert extract(b"f()\nx = '\0'\ng()\n").unparsed_lines == [2]
    assert names(b"f()\nx = '\0'\ng()\n") == {"f", "g"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding):
    found = render(extract("f('é')".encode(encoding)))
    assert ("'é'", "string", "é") in found["constant"]


@pytest.mark.parametrize("language", GRAMMARS)
def test_binary_data_is_no_crash(language):
    source = random.Random(1)
    for size in (1, 100, 5000):
        assert extract(source.randbytes(size), language).entities.shape[0] == 3


DEEP = {
    "parentheses": ("x = " + "(" * 2000 + "f()" + ")" * 2000, 1),
    "arrays": ("x = " + "[" * 2000 + "f()" + "]" * 2000, 1),
    "objects": ("x = " + "{a: " * 1500 + "f()" + "}" * 1500, 1),
    "calls in calls": ("f(" * 2000 + "g()" + ")" * 2000, 2001),
    "calls of calls": ("f" + "()" * 3000, 3000),
    "members": ("f()" + ".a" * 5000, 1),
    "optional members": ("f()" + "?.a" * 3000, 1),
    "sum": (" + ".join(["f()"] * 5000), 5000),
    "and": (" && ".join(["f()"] * 5000), 5000),
    "if or": ("if (" + " || ".join(["f()"] * 3000) + ") ;", 3000),
    "not": ("x = " + "!" * 3000 + "f()", 1),
    "conditional": ("x = " + "f() ? g() : " * 1500 + "h()", 3001),
    "arrows": ("x = " + "() => " * 1500 + "f()", 1),
    "functions": ("function f() {" * 300 + "g()" + "}" * 300, 1),
    "blocks": ("{" * 2000 + "f()" + "}" * 2000, 1),
    "else if": ("if (f()) ;" + " else if (f()) ;" * 3000, 3001),
    "ifs in a row": ("x = 1;" + "if (f()) x = 2;\n" * 3000 + "g(x)", 3001),
    "nested ifs": ("if (f()) {" * 500 + "}" * 500, 500),
    "cases": ("switch (x) {" + "case f(): x = g();" * 2000 + "}", 4000),
    "targets": ("x = " * 3000 + "f()", 1),
    "patterns": ("let " + "[" * 1000 + "x" + "]" * 1000 + " = f()", 1),
    "sequence": (", ".join(["f()"] * 3000), 3000),
    "templates": ("x = " + "`${" * 500 + "f()" + "}`" * 500, 1),
    "classes": ("x = " + "class extends " * 500 + "f()" + " {}" * 500, 1),
    "jsx": ("x = " + "<a>" * 500 + "{f()}" + "</a>" * 500, 1),
    "labels": ("".join(f"l{i}: " for i in range(1000)) + "for (;;) f()", 1),
    "tries": ("try {" * 500 + "f()" + "} catch {}" * 500, 1),
}


@pytest.mark.parametrize(("source", "count"), DEEP.values(), ids=DEEP)
def test_deep_and_long_code_is_read(source, count):
    found = extract(source)
    assert not found.unparsed_lines
    assert found.relations["call"].shape[1] == count


def test_a_mistake_of_ours_costs_its_statement_only(monkeypatch):
    def fail(unit, node):
        raise AttributeError("no such field")

    table = EXPRESSIONS["javascript"]
    for kind in GRAMMARS["javascript"].kind_ids("regex"):
        monkeypatch.setitem(table, kind, fail)
    source = """function f(a) {
  while (g(a)) {
    try {
      h(/a/)
    } finally {
      k(a)
    }
  }
  {
    let y = /b/
    l(y)
  }
  return () => /c/
}
"""
    assert extract(source).unparsed_lines == [4, 10, 13]
    assert names(source) == {"g", "k", "l"}


SOUND = """\
import d, {a as b} from "./m";
@dec export class A extends B {
  #p = 1; static s = `x${d}`;
  constructor(q, ...rest) { super(q); this.q = q?.r ?? rest[0]; }
  get g() { return this.#p } static async *m({a, b: [c = 1]}) { for await (const x of a) yield* x }
}
outer: for (let i = 0; i < 3; i++) { for (const k in b) { if (k) continue outer; else break } }
switch (d) { case 1: b(); case 2: break; default: A.m() }
try { JSON.parse(d) } catch ({ message }) { throw new Error(message) } finally { done() }
const o = { a, b() { return super.b }, get c() { return 2 }, [d]: 3, ...b, e: async () => await 1, "f-g": /x+/g };
do { o.a ||= (1, 2) } while (typeof o !== "object");
export default function* () { yield delete o.a }
"""
TYPED = """\
abstract class C<T extends object = {}> extends D<T> implements E, F.G {
  private readonly x: number = 1; constructor(private y: T, z?: string) { super() }
  abstract m(): void; over(a: string): void; over(a: any) { return <T>a as any satisfies T }
}
interface I<T> extends C<T> { a: string; m(x: T): void; (y: number): string; [k: string]: unknown }
type U = string | I<U>[] | ((x: U) => x is string) | { [K in keyof U]?: U[K] } | (U extends infer V ? V : never);
enum N { P, Q = 2, R = "r" }
namespace S.T { export const u: typeof N = N }
declare module "w" { export function f(x: string): asserts x }
import y = require("y"); export = y;
"""


@pytest.mark.parametrize("seed", range(60))
def test_damaged_code(seed, monkeypatch):
    """Whatever is cut out or put in, nothing raises (`attempt` is disarmed here) and every error is stated."""
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    source = random.Random(seed)
    language = source.choice(["javascript", "typescript", "tsx"])
    data = ((SOUND if language == "javascript" else TYPED.replace("<T>a", "a") + SOUND) * 2).encode()
    for _ in range(source.randint(1, 6)):
        at = source.randrange(len(data) + 1)
        put = source.choice(
            [
                *(bytes([byte]) for byte in b"({[]}):;\n\"'`</> =>*@#\xff\0\r."),
                b"class ",
                b"else ",
                b"=> ",
                b"</a>",
                b"${",
            ]
            + [b"function ", b"case ", b"import ", b"export ", b"", data[at // 2 : at // 2 + 50]]
        )
        data = data[:at] + put + data[at + source.choice([0, 1, 20, 200]) :]
    found = extract(data, language)
    damaged = parse(language, SourceText(data).utf8).has_error
    assert damaged <= bool(found.unparsed_lines)


def test_what_is_damaged_is_sound_before():
    assert not extract(SOUND).unparsed_lines
    assert not extract(TYPED, "typescript").unparsed_lines
