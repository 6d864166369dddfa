"""What loads of fields may refer to, in small programs, against what they refer to when they run.

Where the analysis cannot tell what runs would, the case says so.
"""

import pytest

PROBES = """
// The classes of what the argument of `probe` may refer to.
.decl probed(class: symbol)
probed(n) :- call(c, _, f), load_name(f, _, "probe"), argument(c, 0, a), may_refer(a, o),
    instance_class(o, k), class(k, _, n).
probed(n) :- call(c, _, f), load_cell(f, x), cell(x, _, "probe"), argument(c, 0, a), may_refer(a, o),
    instance_class(o, k), class(k, _, n).
probed(n) :- call(c, _, f), load_attribute(f, _, "probe"), argument(c, 0, a), may_refer(a, o),
    instance_class(o, k), class(k, _, n).
"""
PYTHON = "class A: pass\nclass B: pass\nclass Box: pass\n"
JAVA = (
    "class A {}\nclass B {}\n"
    "class Box { Object f; Box() {} Box(Object f) { this.f = f; } void set(Object f) { this.f = f; } }\n"
    "class Main { void probe(Object x) {}\nvoid run() { %s } }\n"
)
IN_PYTHON = {
    "a second store overwrites the first": (
        "def run():\n    b = Box()\n    b.f = A()\n    b.f = B()\n    probe(b.f)\n", {"B"},
    ),
    "a store on one way only leaves the other": (
        "def run(x):\n    b = Box()\n    b.f = A()\n    if x:\n        b.f = B()\n    probe(b.f)\n", {"A", "B"},
    ),
    "a store behind the load comes too late": (
        "def run():\n    b = Box()\n    b.f = A()\n    c = b.f\n    b.f = B()\n    probe(c)\n", {"A"},
    ),
    "in a loop the store comes round": (
        "def run(n):\n    b = Box()\n    b.f = A()\n    for i in n:\n        probe(b.f)\n        b.f = B()\n",
        {"A", "B"},
    ),
    "another name of the object stores, too": (
        "def run():\n    b = Box()\n    c = b\n    b.f = A()\n    c.f = B()\n    probe(b.f)\n", {"B"},
    ),
    "a function overwrites what its caller stored": (
        "def put(x):\n    x.f = A()\ndef run():\n    b = Box()\n    b.f = B()\n    put(b)\n    probe(b.f)\n", {"A"},
    ),
    "what somebody else stores who keeps the object": (
        "kept = []\ndef put():\n    for x in kept:\n        x.f = A()\n"
        "def run():\n    b = Box()\n    kept.append(b)\n    b.f = B()\n    put()\n    probe(b.f)\n", {"A", "B"},
    ),
}  # fmt: skip
IN_JAVA = {
    "a method overwrites what the constructor stored": (
        "Box b = new Box(new A()); b.set(new B()); probe(b.f);", {"B"},
    ),
    "a load between the two": (
        "Box b = new Box(new A()); Object c = b.f; b.set(new B()); probe(c);", {"A"},
    ),
    "two objects of a class: the method's parameter stands for what all calls pass": (
        "Box b = new Box(); Box c = new Box(); b.set(new A()); c.set(new B()); probe(b.f);", {"A", "B"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PYTHON)
def test_loads_in_python(rows, name):
    text, expected = IN_PYTHON[name]
    assert set(rows("probed", {"a.py": PYTHON + text}, PROBES)) == {(probed,) for probed in expected}


@pytest.mark.parametrize("name", IN_JAVA)
def test_loads_in_java(rows, name):
    text, expected = IN_JAVA[name]
    assert set(rows("probed", {"Main.java": JAVA % text}, PROBES)) == {(probed,) for probed in expected}
