"""Where tainted data flows in JavaScript, and where it does not, program by program."""

import pytest

MODEL = 'source_call("test", "flows.source"). sink_argument("test", "flows.sink", "0").\n'
HEADER = 'import { sink, source } from "flows";\n\n'
PROGRAMS = {
    "a map keeps keys apart": """
const m = new Map(); m.set("a", source()); m.set("b", "x");
sink(m.get("a")); // found
sink(m.get("b"));
m.set("a", "x");
sink(m.get("a"));
""",
    "what is deleted from a map is gone": """
const m = new Map(); m.set("a", source()); m.set("b", source()); m.delete("a");
sink(m.get("a"));
sink(m.get("b")); // found
""",
    "a map that is cleared is empty": """
const m = new Map(); m.set("a", source());
sink(m.get("a")); // found
m.clear();
sink(m.get("a"));
""",
    "a set gives what was added, until it is cleared": """
const s = new Set(); const t = new Set(["x"]); s.add(source());
for (const e of s) { sink(e); } // found
for (const e of t) { sink(e); }
s.clear();
for (const e of s) { sink(e); }
s.add(source());
for (const e of s) { sink(e); } // found
""",
    "a property that is deleted is gone": """
const o = { a: source(), b: source(), c: source() }; delete o.a; Reflect.deleteProperty(o, "b");
sink(o.a);
sink(o.b);
sink(o.c); // found
""",
    "a method is bound to its object, whoever calls it": """
import { register } from "framework";
class Jobs {
  constructor(prefix) { this.prefix = prefix; register("start", this.start.bind(this)); }
  start() { this.run(source()); this.show(source()); }
  run(text) { sink(this.prefix + text); } // found
  show(text) { sink(this.prefix); }
}
new Jobs("a");
""",
    "destructuring takes parts": """
const { a, ...rest } = { a: "x", b: source() }; const [c, d] = ["x", source()];
sink(a);
sink(rest.b); // found
sink(c);
sink(d); // found
""",
    "spreading copies properties and elements": """
const o = { ...{ a: source() }, b: "x" }; const l = ["x", ...[source()]];
sink(o.a); // found
sink(o.b);
sink(l.join(",")); // found
""",
    "text is built of text": """
sink(`a${source()}`); // found
sink("a".concat(source())); // found
sink(source().trim().slice(1)); // found
sink([source()].join("")); // found
sink(source().length);
sink(source() === "a");
sink(source() || "a"); // found
sink(parseInt(source(), 10));
""",
    "a closure stores to the variable around": """
let x = "a"; const set = (v) => { x = v; };
sink(x);
set(source());
sink(x); // found
""",
    "accessors read and write a private field": """
class Box { #t = ""; set text(t) { this.#t = t; } get text() { return this.#t; } }
const a = new Box(); const b = new Box(); a.text = source();
sink(a.text); // found
sink(b.text);
""",
    "a promise hands on what it is fulfilled with": """
async function get() { return source(); }
async function clean() { return "a"; }
export async function run() {
  sink(await get()); // found
  sink(await clean());
  get().then((v) => sink(v)); // found
  clean().then((v) => sink(v));
}
""",
    "a default is taken where nothing is passed": """
function f(a = source()) {
  sink(a); // found
}
function g(a = source(), b = "y") {
  sink(b);
}
f();
g("x");
""",
    "optional chaining reads": """
const o = { a: { b: source(), c: "x" } };
sink(o?.a?.b); // found
sink(o?.a?.c);
""",
    "callbacks get the elements": """
[source()].map((v) => v + "a").forEach((v) => sink(v)); // found
["x"].map((v) => v + "a").forEach((v) => sink(v));
""",
    "a generator yields": """
function* g() { yield source(); }
function* h() { yield "x"; }
for (const v of g()) { sink(v); } // found
for (const v of h()) { sink(v); }
""",
    "rest parameters collect by position": """
function f(...all) {
  sink(all[0]);
  sink(all[1]); // found
}
f("x", source());
""",
    "call, apply and bind hand on arguments": """
function f(a) {
  sink(a); // found
}
function g(a, b) {
  sink(b); // found
}
function h(a, b) {
  sink(a);
  sink(b); // found
}
f.call(null, source());
g.apply(null, ["x", source()]);
h.bind(null, "x")(source());
""",
    "objects are merged and listed": """
const o = Object.assign({}, { a: source(), b: "x" });
sink(o.a); // found
sink(o.b);
for (const [k, v] of Object.entries({ a: source() })) {
  sink(k);
  sink(v); // found
}
sink(Object.values({ a: source() })[0]); // found
""",
    "what is written as JSON is read again": """
sink(JSON.parse(JSON.stringify({ a: source() })).a); // found
""",
    "an exception carries what it is made of": """
try {
  throw new Error(source());
} catch (e) {
  sink(e.message); // found
}
""",
}
FILES = {f"p{n}/main.js": HEADER + code for n, code in enumerate(PROGRAMS.values())}
"""Each program is a module of its own."""


@pytest.fixture(scope="module")
def found(flows):
    return flows(MODEL, FILES)


@pytest.mark.parametrize("file", FILES, ids=PROGRAMS)
def test_taint_flows_where_the_language_lets_it(found, marked, file):
    assert found[file] == marked(FILES[file])


def test_the_depth_of_a_path_is_the_number_of_its_keys(rows):
    """Paths are kept short by their depth: if it were too small, what calls itself would make longer ones for ever."""
    script = """
const o = { a: { b: source() } };
sink(Object.values(Object.fromEntries(Object.entries(o)))[0].b);
const m = new Map([["a", { b: [source()] }]]);
sink(new Map(m.entries()).get("a").b);
sink(Object.fromEntries(Object.entries(o).map(([k, v]) => [k, v])).a.b);
"""
    rules = f"""
.use findings, model_vocabulary, taint
text_kind("test"). taint_check("test", "test"). {MODEL}
.decl wrong(key: symbol)
wrong(key) :- tainted(_, _, [_, [key, rest, depth], _]), rest = [_, _, other_depth], depth != other_depth + 1.
wrong(key) :- tainted(_, _, [_, [key, nil, depth], _]), depth != 1.
.decl deep(key: symbol)
deep(key) :- tainted(_, _, [_, [key, [_, [_, _, _], _], _], _]).
"""
    assert rows("wrong", {"a.js": HEADER + script}, rules) == []
    assert rows("deep", {"a.js": HEADER + script}, rules)
