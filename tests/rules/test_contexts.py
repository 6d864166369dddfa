"""Context policies on the programs that the literature tells them apart by, in each language.

Every program hands two values to `probe`, made as A and as B. A policy separates them, or gives both for both.
"""

import re

import pytest

from analyzer.context_policies import NAMES, POLICIES
from analyzer.evaluation.contexts.evaluate import InContexts
from analyzer.evaluation.program import compile_cached, evaluate_program
from analyzer.evaluation.rule_sources import bundled, fact_schema
from analyzer.extraction.machine import ThisMachine
from analyzer.findings.entities import Entities
from facts import extract, mount
from facts.languages import language_of
from rules import library

CALLS, OBJECTS, TYPES = {"1-call", "2-call"}, {"1-object", "2-object"}, {"1-type", "2-type"}

# What all programs of a language begin with.
HEADS = {
    "py": "class A: pass\nclass B: pass\n",
    "java": "class A {}\nclass B {}\n",
    "js": "class A {}\nclass B {}\n",
    "go": "package main\ntype A struct { n int }\ntype B struct { n int }\nfunc probe(name string, x interface{}) {}\n",
    "c": "void probe(const char *name, int *x);\n",
}
# A container whose method hands its argument on to another one: that one has a single call.
BOX = {
    "main.py": """
class Box:
    def set(self, x): self.put(x)
    def put(self, x): self.v = x
    def get(self): return self.v
""",
    "Main.java": """
class Box {
    Object v;
    void set(Object x) { this.put(x); }
    void put(Object x) { this.v = x; }
    Object get() { return this.v; }
}
""",
    "main.js": """
class Box {
  set(x) { this.put(x); }
  put(x) { this.v = x; }
  get() { return this.v; }
}
""",
}
# A function that gives back what it is given, through a container. It has no receiver: only its calls tell it apart.
IDENTITY = {
    "main.py": """
def same(x):
    held = [x]
    return held[0]
probe("first", same(A()))
probe("second", same(B()))
""",
    "Main.java": """
class Main {
    static Object same(Object x) { Object[] held = new Object[1]; held[0] = x; return held[0]; }
    static void probe(String name, Object x) {}
    public static void main(String[] args) {
        Object a = new A();
        Object b = new B();
        probe("first", same(a));
        probe("second", same(b));
    }
}
""",
    "main.js": """
function same(x) { const held = [x]; return held[0]; }
function main() { probe("first", same(new A())); probe("second", same(new B())); }
main();
""",
    "main.go": """
type holder struct { v interface{} }
func same(x interface{}) interface{} { h := &holder{}; h.v = x; return h.v }
func main() { probe("first", same(&A{})); probe("second", same(&B{})) }
""",
    "main.c": """
struct holder { int *v; };
static int *same(int *x) { struct holder h; h.v = x; return h.v; }
int main(void) { int A, B; probe("first", same(&A)); probe("second", same(&B)); return 0; }
""",
}
# Two such containers.
CONTAINERS = {
    "main.py": BOX["main.py"]
    + """
def main():
    one = Box()
    two = Box()
    one.set(A())
    two.set(B())
    probe("first", one.get())
    probe("second", two.get())
main()
""",
    "Main.java": BOX["Main.java"]
    + """
class Main {
    static void probe(String name, Object x) {}
    public static void main(String[] args) {
        Box one = new Box();
        Box two = new Box();
        one.set(new A());
        two.set(new B());
        probe("first", one.get());
        probe("second", two.get());
    }
}
""",
    "main.js": BOX["main.js"]
    + """
function main() {
  const one = new Box();
  const two = new Box();
  one.set(new A());
  two.set(new B());
  probe("first", one.get());
  probe("second", two.get());
}
main();
""",
    "main.go": """
type Box struct { v interface{} }
func (b *Box) set(x interface{}) { b.put(x) }
func (b *Box) put(x interface{}) { b.v = x }
func (b *Box) get() interface{} { return b.v }
func main() {
	one := &Box{}
	two := &Box{}
	one.set(&A{})
	two.set(&B{})
	probe("first", one.get())
	probe("second", two.get())
}
""",
}
# The same where the containers are made by two classes, and by one.
MADE_BY_TWO_CLASSES = {
    "main.py": BOX["main.py"]
    + """
class One:
    def run(self):
        box = Box()
        box.set(A())
        probe("first", box.get())
class Two:
    def run(self):
        box = Box()
        box.set(B())
        probe("second", box.get())
One().run()
Two().run()
""",
    "Main.java": BOX["Main.java"]
    + """
class One { void run() { Box box = new Box(); box.set(new A()); Main.probe("first", box.get()); } }
class Two { void run() { Box box = new Box(); box.set(new B()); Main.probe("second", box.get()); } }
class Main {
    static void probe(String name, Object x) {}
    public static void main(String[] args) { new One().run(); new Two().run(); }
}
""",
    "main.js": BOX["main.js"]
    + """
class One { run() { const box = new Box(); box.set(new A()); probe("first", box.get()); } }
class Two { run() { const box = new Box(); box.set(new B()); probe("second", box.get()); } }
new One().run();
new Two().run();
""",
}
# A factory behind a factory: what it makes is told apart where the call before the last one counts.
FACTORY = {
    "main.py": """
class Box: pass
def create():
    box = Box()
    return box
def make():
    box = create()
    box.n = 1
    return box
def main():
    one = make()
    two = make()
    one.v = A()
    two.v = B()
    probe("first", one.v)
    probe("second", two.v)
main()
""",
    "Main.java": """
class Box { Object v; int n; }
class Main {
    static Box create() { Box box = new Box(); return box; }
    static Box make() { Box box = create(); box.n = 1; return box; }
    static void probe(String name, Object x) {}
    public static void main(String[] args) {
        Box one = make();
        Box two = make();
        one.v = new A();
        two.v = new B();
        probe("first", one.v);
        probe("second", two.v);
    }
}
""",
    "main.js": """
class Box {}
function create() { const box = new Box(); return box; }
function make() { const box = create(); box.n = 1; return box; }
function fill(box, x) { box.v = x; }
function main() {
  const one = make();
  const two = make();
  fill(one, new A());
  fill(two, new B());
  probe("first", one.v);
  probe("second", two.v);
}
main();
""",
    "main.go": """
type Box struct { v interface{}; n int }
func create() *Box { box := &Box{}; return box }
func make_box() *Box { box := create(); box.n = 1; return box }
func main() {
	one := make_box()
	two := make_box()
	one.v = &A{}
	two.v = &B{}
	probe("first", one.v)
	probe("second", two.v)
}
""",
}
# A function that gives back what it is given, behind another one.
IDENTITY_BEHIND_ANOTHER = {
    "main.py": IDENTITY["main.py"]
    .replace("same(x)", "inner(x)", 1)
    .replace("probe", "def same(x):\n    y = inner(x)\n    z = [y]\n    return z[0]\nprobe", 1),
    "main.c": IDENTITY["main.c"]
    .replace("same(int", "inner(int", 1)
    .replace("int main", "static int *same(int *x) { struct holder h; h.v = inner(x); return h.v; }\nint main"),
}
# A function defined in one that is called twice keeps what that was given.
CLOSURE = {
    "main.py": """
def keep(x):
    def give():
        return x
    return give
def main():
    one = keep(A())
    two = keep(B())
    probe("first", one())
    probe("second", two())
main()
""",
    "main.js": """
function keep(x) { return function () { return x; }; }
function main() {
  const one = keep(new A());
  const two = keep(new B());
  probe("first", one());
  probe("second", two());
}
main();
""",
    "main.go": """
func keep(x interface{}) func() interface{} { return func() interface{} { return x } }
func main() {
	one := keep(&A{})
	two := keep(&B{})
	probe("first", one())
	probe("second", two())
}
""",
}
# An anonymous class is cloned with the method that it stands in.
CLOSURE["Main.java"] = """
interface Giver { Object give(); }
class Main {
    static Giver keep(final Object x) { return new Giver() { public Object give() { return x; } }; }
    static void probe(String name, Object x) {}
    public static void main(String[] args) {
        Giver one = keep(new A());
        Giver two = keep(new B());
        probe("first", one.give());
        probe("second", two.give());
    }
}
"""
# A function without a receiver, called by methods of two objects.
HELPER_OF_METHODS = {
    "main.py": """
def same(x):
    held = [x]
    return held[0]
class Box:
    def set(self, x): self.v = same(x)
def main():
    one = Box()
    two = Box()
    one.set(A())
    two.set(B())
    probe("first", one.v)
    probe("second", two.v)
main()
""",
    "Main.java": """
class Helper { static Object same(Object x) { Object[] held = new Object[1]; held[0] = x; return held[0]; } }
class Box { Object v; void set(Object x) { this.v = Helper.same(x); } }
class Main {
    static void probe(String name, Object x) {}
    public static void main(String[] args) {
        Box one = new Box();
        Box two = new Box();
        one.set(new A());
        two.set(new B());
        probe("first", one.v);
        probe("second", two.v);
    }
}
""",
}

CASES = {
    "identity": (IDENTITY, CALLS | {"hybrid"}),
    "containers": (CONTAINERS, {"2-call", "hybrid"} | OBJECTS),
    "made by two classes": (MADE_BY_TWO_CLASSES, {"2-call", "hybrid"} | OBJECTS | TYPES),
    "factory": (FACTORY, {"2-call"}),
    "identity behind another": (IDENTITY_BEHIND_ANOTHER, {"2-call"}),
    "closure": (CLOSURE, CALLS | {"hybrid"}),
    "helper of methods": (HELPER_OF_METHODS, {"2-call", "hybrid"} | OBJECTS),
}
SINGLE = [(name, file) for name, (programs, _) in CASES.items() for file in programs]


def folder(case, file):
    return f"{case}_{file.partition('.')[2]}".replace(" ", "_")


@pytest.fixture(scope="module")
def evaluated(shared_state):
    """All programs side by side: the results by policy, and that of the program on the facts as they are."""
    sources = [fact_schema(), *map(bundled, library.analysis())]
    wanted = ("points_to", "call_target", "passes", "resolved_call", "argument", "constant", "location")
    files = {}
    for case, file in SINGLE:
        at, text = folder(case, file), HEADS[file.partition(".")[2]] + CASES[case][0][file]
        files[f"{at}/{file}"] = f"package {at};\n{text}" if file.endswith(".java") else text
    mounted = mount((path, extract(text.encode(), language_of(path))) for path, text in files.items())
    program = compile_cached(sources, shared_state, wanted)
    evaluation = InContexts(program, sources, sources, wanted, mounted, ThisMachine(1), shared_state)
    results = {policy: evaluation.evaluate(policy) for policy in NAMES}
    return results, evaluate_program(program, mounted, ThisMachine(1), wanted)


def referred(result):
    """What the second arguments of `probe` refer to, of A and B, by file and by the names in the first ones."""
    entities, texts = Entities(result), result.symbols.texts
    names = dict(zip(result.relation("constant")[0].tolist(), texts(result.relation("constant")[2]), strict=True))
    sites = result.records["Object"][1]
    objects = {}
    for value, made in result.relation("points_to").T.tolist():
        label = entities.label(int(sites[made - 1])) if sites[made - 1] else ""
        objects.setdefault(value, set()).update(re.findall(r"\b[AB]\b", label))
    probes = {}
    arguments = result.relation("argument").T.tolist()
    second = {call: value for call, position, value in arguments if position == 1}
    for call, position, value in arguments:
        if position == 0 and names.get(value) in ("first", "second"):
            file = entities.place(call).file
            probes.setdefault(file, {}).setdefault(names[value], set()).update(objects.get(second[call], ()))
    return probes


@pytest.fixture(scope="module")
def probed(evaluated):
    return {policy: referred(result) for policy, result in evaluated[0].items()}


@pytest.mark.slow
@pytest.mark.parametrize(("case", "file"), SINGLE)
def test_policies_separate_what_they_are_known_to(case, file, probed):
    separating = CASES[case][1]
    found = {policy: files[f"{folder(case, file)}/{file}"] for policy, files in probed.items()}
    both = {"first": {"A", "B"}, "second": {"A", "B"}}
    apart = {"first": {"A"}, "second": {"B"}}
    assert found == {policy: apart if policy in separating else both for policy in NAMES}


def rows_by_content(result, name):
    """The rows of a relation of entities and objects; clones, and what they are clones of, are one."""
    entities = Entities(result)
    kinds, sites, symbols, receivers = (column.tolist() for column in result.records["Object"])

    def shown(made):
        if not made:
            return ()
        site = entities.chain(sites[made - 1])
        return (entities.text(kinds[made - 1]), site, entities.text(symbols[made - 1]), shown(receivers[made - 1]))

    rows = result.relation(name).T.tolist()
    if name == "points_to":
        return {(entities.chain(value), shown(made)) for value, made in rows}
    return {tuple(entities.chain(entity) for entity in row) for row in rows}


@pytest.mark.parametrize("relation", ["points_to", "call_target", "passes", "resolved_call"])
@pytest.mark.parametrize("policy", NAMES)
def test_what_contexts_find_is_found_without(policy, relation, evaluated):
    results, plain = evaluated
    with_contexts, without = rows_by_content(results[policy], relation), rows_by_content(plain, relation)
    assert with_contexts <= without
    assert policy in POLICIES or with_contexts == without
