"""The call graph of small programs, each against the edges that running it takes."""

import pytest

from analyzer.graphs import callgraph

PROGRAMS = {
    "a parameter is called": (
        {"main.py": "def f(g):\n    g()\ndef h():\n    pass\nf(h)\n"},
        {"main": ["main.f"], "main.f": ["main.h"]},
    ),
    "a method is found by linearisation": (
        {
            "main.py": "class A:\n    def m(self): pass\nclass B(A): pass\n"
            "class C(A):\n    def m(self): pass\nclass D(B, C): pass\nD().m()\n"
        },
        {"main": ["main.C.m"]},
    ),
    "super reaches the next class": (
        {
            "main.py": "class A:\n    def __init__(self): pass\n"
            "class B(A):\n    def __init__(self):\n        super().__init__()\nB()\n"
        },
        {"main": ["main.B.__init__"], "main.B.__init__": ["<builtin>.super", "main.A.__init__"]},
    ),
    "a decorator replaces a function": (
        {"main.py": "def d(f):\n    def inner():\n        f()\n    return inner\n@d\ndef g(): pass\ng()\n"},
        {"main": ["main.d", "main.d.inner"], "main.d.inner": ["main.g"]},
    ),
    "a dict holds functions by key": (
        {"main.py": "def f(): pass\ndef g(): pass\nd = {'a': f, 'b': g}\nd['b']()\n"},
        {"main": ["main.g"]},
    ),
    "the last store to a key counts": (
        {"main.py": "def f(): pass\ndef g(): pass\nd = {'a': f}\nd['a'] = g\nd['a']()\n"},
        {"main": ["main.g"]},
    ),
    "a star import and a re-export lead to the definition": (
        {"main.py": "from p import *\nf()\n", "p/__init__.py": "from .m import f\n", "p/m.py": "def f(): pass\n"},
        {"main": ["p.m.f"]},
    ),
    "a package imports its own modules": (
        {
            "main.py": "from p import m, n\nimport p\nm.f()\nn.f()\np.m.g()\n",
            "p/__init__.py": "from . import m\nfrom p import n\n",
            "p/m.py": "def f(): pass\ndef g(): pass\n",
            "p/n.py": "from p import m\ndef f(): m.g()\n",
        },
        {"main": ["p.m.f", "p.m.g", "p.n.f"], "p.n.f": ["p.m.g"]},
    ),
    "a branch that is never taken calls nothing": (
        {"main.py": "def f(): pass\ndef g(): pass\nif 1 + 1 == 3:\n    f()\nelse:\n    g()\n"},
        {"main": ["main.g"]},
    ),
    "an instance is iterated through its methods": (
        {
            "main.py": "class A:\n    def __iter__(self): return self\n    def __next__(self): pass\n"
            "for x in A():\n    pass\n"
        },
        {"main": ["main.A.__iter__", "main.A.__next__"]},
    ),
    "a library's names are qualified": (
        {"main.py": "import os.path as p\nfrom json import loads as l\np.join('a')\nl('1')\n"},
        {"main": ["json.loads", "os.path.join"]},
    ),
    "a function of C's library has one name, whatever headers there are": (
        {
            "main.c": "#include <stdio.h>\n#include <stdlib.h>\n#include <unknown.h>\n"
            'static int f(void) { return puts("x"); }\nint main(void) { return f(); }\n'
        },
        {"main.c.f": ["c.puts"], "main.c.main": ["main.c.f"]},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_call_graph_has_the_edges_that_run(rows, name):
    files, expected = PROGRAMS[name]
    assert callgraph.render(rows("call_edge", files)) == expected
