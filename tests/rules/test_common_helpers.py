"""A flow is found however many other callers its helpers have, and however many places make its objects."""

import textwrap
from pathlib import Path

import pytest

from analyzer.report import Report
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

CALLERS = 130

HEAD = "import os\nfrom flask import Flask, request\napp = Flask(__name__)\n"
PYTHON = {
    "reads a request": (
        "def get(request, name):\n    return request.form.get(name)",
        "q = get(request, 'x{n}')",
        "os.system(get(request, 'cmd'))  # reported",
    ),
    "reads a field": (
        "class Box:\n    def __init__(self, v):\n        self.v = v\ndef unwrap(box):\n    return box.v",
        "os.system(unwrap(Box('k{n}')))",
        "os.system(unwrap(Box(request.args['q'])))  # reported",
    ),
    "a getter": (
        "class Cup:\n    def __init__(self, v):\n        self.v = v\n    def get(self):\n        return self.v",
        "os.system(Cup('k{n}').get())",
        "os.system(Cup(request.args['q']).get())  # reported",
    ),
    "gives its argument back": (
        "def same(x):\n    return x",
        "os.system(same(['{n}'])[0])",
        "os.system(same([request.args['q']])[0])  # reported",
    ),
    "gives an object back": (
        "class Jar:\n    def __init__(self, v):\n        self.v = v\ndef identity(x):\n    return x",
        "os.system(identity(Jar('{n}')).v)",
        "os.system(identity(Jar(request.args['q'])).v)  # reported",
    ),
    "calls a method": (
        "class Command:\n    def __init__(self, c):\n        self.c = c\n    def go(self):\n"
        "        os.system(self.c)  # reported\ndef start(command):\n    return command.go()",
        "start(Command('x{n}'))",
        "start(Command(request.args['q']))",
    ),
    "reads under a key": (
        "def pick(table, key):\n    return table[key]",
        "os.system(pick({{'a': 'x{n}'}}, 'a'))",
        "os.system(pick({{'a': request.args['q']}}, 'a'))  # reported",
    ),
    "passes it on by key": (
        "def shell(options):\n    os.system(options['c'])  # reported",
        "shell({{'c': 'x{n}'}})",
        "shell({{'c': request.args['q']}})",
    ),
    "calls what it gets": (
        "def call(f, x):\n    return f(x)\ndef run(c):\n    os.system(c)  # reported",
        "call(len, 'a{n}')",
        "call(run, request.args['q'])",
    ),
    "takes the rest": (
        "def first(*rest):\n    os.system(rest[0])  # reported",
        "first('x{n}')",
        "first(request.args['q'])",
    ),
    "takes keywords": (
        "def named(**options):\n    os.system(options['c'])  # reported",
        "named(c='x{n}')",
        "named(c=request.args['q'])",
    ),
    "stores into its argument": (
        "class Slot:\n    pass\ndef put(slot, v):\n    slot.v = v",
        "slot = Slot()\n    put(slot, 'a{n}')\n    os.system(slot.v)",
        "slot = Slot()\n    put(slot, request.args['q'])\n    os.system(slot.v)  # reported",
    ),
    "adds to its argument": (
        "def append(items, v):\n    items.append(v)",
        "items = []\n    append(items, 'a{n}')\n    os.system(items[0])",
        "items = []\n    append(items, request.args['q'])\n    os.system(items[0])  # reported",
    ),
}


def program(callers: int) -> str:
    """Return a program in which that many functions call each helper, and then one with tainted data."""
    parts = [HEAD]
    for at, (helper, ordinary, tainted) in enumerate(PYTHON.values()):
        parts.append(helper + "\n")
        parts += [f"@app.route('/{at}/{n}')\ndef h{at}_{n}():\n    {ordinary.format(n=n)}\n" for n in range(callers)]
        parts.append(f"@app.route('/{at}')\ndef h{at}():\n    {tainted.format()}\n")
    return "".join(parts)


def scanned(files: dict[str, bytes]) -> Report:
    request = ScanRequest(Path("."), None, {"rules": ("command-injection",)})
    return scan_tree(MemoryTree(files, "memory"), request).report


def findings(path: str, text: str) -> list[int]:
    report = scanned({path: text.encode()})
    assert not report.problems
    return sorted({finding.place.line for finding in report.findings})


def expected(text: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# reported")]


@pytest.mark.parametrize("callers", [1, CALLERS])
def test_a_flow_is_found_through_helpers_with_many_callers(callers):
    text = program(callers)
    assert findings("app.py", text) == expected(text)


LANGUAGES = {
    "app.js": (
        """\
        const express = require("express"); const { exec } = require("child_process");
        const app = express();
        function get(request, name) { return request.query[name]; }
        function unwrap(box) { return box.value; }
        """,
        'app.get("/{n}", (req, res) => {{ res.json(get(req, "a{n}")); exec(unwrap({{ value: "ls {n}" }})); }});\n',
        """\
        app.get("/x", (req, res) => {
          exec(get(req, "command")); // # reported
        });
        app.get("/y", (req, res) => {
          exec(unwrap({ value: req.query.q })); // # reported
        });
        """,
    ),
    "App.java": (
        """\
        import javax.servlet.http.*;
        class Helper {
          static String get(HttpServletRequest request, String name) { return request.getParameter(name); }
          static String unwrap(Box box) { return box.value; }
        }
        class Box { String value; Box(String value) { this.value = value; } }
        """,
        """\
        class H{n} extends HttpServlet {{
          public void doGet(HttpServletRequest q, HttpServletResponse r) throws java.io.IOException {{
            String s = Helper.get(q, "a{n}");
            Runtime.getRuntime().exec(Helper.unwrap(new Box("ls {n}")));
          }}
        }}
        """,
        """\
        class X extends HttpServlet {
          public void doGet(HttpServletRequest q, HttpServletResponse r) throws java.io.IOException {
            Runtime.getRuntime().exec(Helper.get(q, "command")); // # reported
            Runtime.getRuntime().exec(Helper.unwrap(new Box(q.getParameter("q")))); // # reported
          }
        }
        """,
    ),
    "main.go": (
        """\
        package main
        import (
            "net/http"
            "os/exec"
        )
        type Box struct { value string }
        func get(r *http.Request, name string) string { return r.FormValue(name) }
        func unwrap(b *Box) string { return b.value }
        """,
        """\
        func h{n}(w http.ResponseWriter, r *http.Request) {{
            _ = get(r, "a{n}")
            exec.Command("sh", "-c", unwrap(&Box{{"ls {n}"}})).Run()
        }}
        """,
        """\
        func x(w http.ResponseWriter, r *http.Request) {
            exec.Command("sh", "-c", get(r, "command")).Run() // # reported
            exec.Command("sh", "-c", unwrap(&Box{r.FormValue("q")})).Run() // # reported
        }
        """,
    ),
}


@pytest.mark.parametrize("path", LANGUAGES)
def test_helpers_with_many_callers_in_every_language(path):
    head, ordinary, tainted = map(textwrap.dedent, LANGUAGES[path])
    text = head + "".join(ordinary.format(n=n) for n in range(CALLERS)) + tainted
    assert findings(path, text) == expected(text)


def unrelated(classes: int, readers: int) -> str:
    """A program in which each of many functions may get an instance of each of many classes."""
    lines = ["REGISTRY = []"]
    for n in range(classes):
        lines += [f"class C{n}:", f"    def act{n % 7}(self):", f"        return C{(n * 7) % classes}()"]
        lines += [f"REGISTRY.append(C{n}())"]
    for n in range(readers):
        lines += [f"def reader{n}():", "    for item in REGISTRY:", f"        print(item.act{n % 7}())"]
    return "\n".join(lines)


@pytest.mark.parametrize(("classes", "readers"), [(1500, 300), (400, 1300)])
def test_a_flow_is_found_beside_code_that_points_to_analysis_cannot_follow(classes, readers):
    text = program(callers=40)
    files = {"app.py": text.encode(), "other.py": unrelated(classes, readers).encode()}
    report = scanned(files)
    (problem,) = report.problems
    assert problem.message.startswith("points-to analysis was cut")
    assert sorted({finding.place.line for finding in report.findings}) == expected(text)
