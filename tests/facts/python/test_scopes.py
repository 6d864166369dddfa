"""What names mean, against Python's own compiler (`symtable`), on modules of the standard library."""

import collections
import symtable
import sysconfig
import warnings
from pathlib import Path

import pytest

from facts.python import patterns
from facts.python.scopes import CLASS, FUNCTION, Scopes
from facts.python.tree import GRAMMAR
from facts.source_text import SourceText

MODULES = (
    "argparse",
    "ast",
    "asyncio/base_events",
    "bdb",
    "calendar",
    "cgitb",
    "codecs",
    "collections/__init__",
    "concurrent/futures/process",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "difflib",
    "dis",
    "doctest",
    "email/message",
    "enum",
    "fractions",
    "functools",
    "gettext",
    "heapq",
    "http/client",
    "http/server",
    "inspect",
    "json/encoder",
    "logging/__init__",
    "mailbox",
    "multiprocessing/pool",
    "optparse",
    "os",
    "pathlib",
    "pdb",
    "pickle",
    "pickletools",
    "platform",
    "plistlib",
    "pprint",
    "pydoc",
    "random",
    "shutil",
    "smtplib",
    "socket",
    "sqlite3/dump",
    "ssl",
    "statistics",
    "string",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "tokenize",
    "traceback",
    "types",
    "typing",
    "unittest/mock",
    "urllib/parse",
    "urllib/request",
    "uuid",
    "warnings",
    "weakref",
    "xml/dom/minidom",
    "zipfile",
)

COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")

SNIPPETS = {
    "comprehension in class": "class A:\n x = 1\n y = [x for x in x]\n z = [lambda: y for i in x]\n",
    "walrus in comprehension": "def f(a):\n return [b := c for c in a if (d := c)], b, d\n",
    "global in nested": "x = 1\ndef f():\n x = 2\n def g():\n  global x\n  x = 3\n  def h():\n   return x\n return x\n",
    "nonlocal": "def f():\n x = y = 1\n def g():\n  nonlocal x\n  x = y\n  class C:\n   y = x\n   def m(s): return y\n",
    "global class name": "def f():\n global A\n class A: pass\n import os as A2, a.b\n",
    "except and with": "def f():\n try: pass\n except E as e: pass\n with a as (b, [c]), d as e.f: pass\n",
    "match": "def f(s):\n match s:\n  case {'a': x, **y} | [x, *y]: 1\n  case P(a, b=c) as d: 2\n  case m.N: 3\n",
    "lambda default": "def f(a):\n return lambda b=a, *c, **d: (b, c, d, e, a)\n",
    "augmented": "def f():\n x += 1\n y.z += x\n w[v] -= 1\n for u.t in r: pass\n",
    "annotation": "def f(a: T = D, *b: U) -> R:\n x: V = 1\n (y): W = 2\n",
    "delete": "def f():\n del x, (y, [z]), a.b, c[d]\n",
    "decorator": "def f(a):\n @a\n def g(b=a): return g\n @g(a)\n class C(a): pass\n return C\n",
}


def ours(source):
    """Return, by function name, what its names are: own, outer, module or nothing in the file."""
    text = SourceText(source)
    scopes = Scopes(GRAMMAR.parser.parse(text.utf8).root_node, text.utf8)
    found = collections.Counter()
    for scope in scopes.of_node.values():
        if scope.kind == FUNCTION:
            own = frozenset(name for name in scope.bound if scope.resolve(name) is scope)
            outer = frozenset(
                variable.name
                for variable in scope.captures
                if any(variable is v for s in enclosing(scope) for v in s.variables.values())
            )
            found[own, outer] += 1
    return found


def enclosing(scope):
    while scope.parent is not None:
        scope = scope.parent
        if scope.kind not in ("module", CLASS):
            yield scope


def theirs(source):
    found = collections.Counter()
    work = [symtable.symtable(source.decode(), "x", "exec")]
    while work:
        table = work.pop()
        work += table.get_children()
        kind = str(getattr(table.get_type(), "value", table.get_type()))
        if kind == "function" and table.get_name() not in COMPREHENSIONS:
            symbols = table.get_symbols()
            found[
                frozenset(s.get_name() for s in symbols if s.is_local() and not s.is_free()),
                frozenset(s.get_name() for s in symbols if s.is_free()),
            ] += 1
    return found


def check(source):
    mine, true = ours(source), theirs(source)
    # Python's implicit __class__ is no name of the program's.
    assert sorted(map(plain, mine.elements())) == sorted(map(plain, true.elements()))


def plain(names):
    own, outer = names
    return sorted(own - {"__class__"}), sorted(outer - {"__class__"})


@pytest.mark.parametrize("source", SNIPPETS.values(), ids=SNIPPETS)
def test_snippets(source):
    check(source.encode())


PATHS = [path for module in MODULES if (path := Path(sysconfig.get_path("stdlib"), module + ".py")).exists()]


def test_the_standard_library_is_there():
    assert len(PATHS) >= 55


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_standard_library(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(path.read_bytes())


def test_patterns_of_match_have_handlers_of_their_own():
    assert {"class_pattern", "dict_pattern", "union_pattern", "as_pattern"} <= patterns._PATTERNS.keys()
