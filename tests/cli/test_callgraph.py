"""`analyze callgraph`: which functions are reachable and which are dead, language by language."""

import json
import xml.etree.ElementTree as ET

import pytest

PYTHON = """\
import threading
from flask import Flask
app = Flask(__name__)
@app.route("/")
def index():
    return _helper()
def _helper():
    return _Shape().area
def _dead():
    return _only_by_dead()
def _only_by_dead():
    pass
def _in_thread():
    pass
class _Shape:
    def __str__(self):
        return self._text()
    def _text(self):
        return ""
    def _never(self):
        pass
    @property
    def area(self):
        return _square()
def _square():
    pass
def main():
    threading.Thread(target=_in_thread).start()
def _by_name(x):
    pass
def _calls_unknown(x):
    x._method()
class _Other:
    def _method(self):
        pass
class _Alias:
    def _fail(self):
        pass
    __setitem__ = _fail
class _Ours(Flask):
    def _declared_by_the_library(self):
        pass
    def __ours(self):
        pass
def api(callback=_by_name):
    _calls_unknown(callback)
"""
JAVA = """\
package p;
import org.junit.Test;
public class A {
  public static void main(String[] args) { new A().run(); }
  void run() { helper(); }
  private void helper() {}
  private void dead() { onlyByDead(); }
  private void onlyByDead() {}
  public void api() {}
  @Override public String toString() { return text(); }
  private String text() { return ""; }
  @Test void works() {}
}
"""
JAVASCRIPT = """\
const express = require('express');
const app = express();
app.get('/', handler);
function handler(req, res) { helper(); }
function helper() {}
function dead() { onlyByDead(); }
function onlyByDead() {}
module.exports = { api };
function api() { inner(); }
function inner() {}
"""
GO = """\
package main
import "net/http"
func main() { http.HandleFunc("/", handle) }
func handle(w http.ResponseWriter, r *http.Request) { helper() }
func helper() {}
func init() { setup() }
func setup() {}
func dead() { onlyByDead() }
func onlyByDead() {}
func Api() { inner() }
func inner() {}
"""
C = """\
struct ops { int (*open)(void); };
static int opened(void) { return 1; }
static struct ops table = { .open = opened };
static void helper(void) {}
static void only_by_dead(void) {}
static void dead(void) { only_by_dead(); }
int main(int argc, char **argv) { helper(); return 0; }
int api(void) { return 1; }
"""
LANGUAGES = {
    # file: source, dead with all entry points, dead besides where only main functions, tests and handlers are.
    "m.py": (PYTHON, {"_dead", "_only_by_dead", "_Shape._never", "_Ours.__ours"}, set()),
    "A.java": (JAVA, {"A.dead", "A.onlyByDead"}, {"A.api", "A.toString", "A.text"}),
    "m.js": (JAVASCRIPT, {"dead", "onlyByDead"}, set()),
    "m.go": (GO, {"dead", "onlyByDead"}, {"Api", "inner"}),
    "m.c": (C, {"dead", "only_by_dead"}, {"api"}),
}
MODULES = {"m.py": "m.", "A.java": "p.", "m.js": "m.", "m.go": "m.", "m.c": "m.c."}


@pytest.fixture
def dead(analyze, tmp_path):
    def run(name, source, *options):
        (tmp_path / name).write_text(source)
        rows = json.loads(analyze("callgraph", tmp_path, "--dead", "--format", "json", *options).output)
        assert [row["file"] for row in rows] == [name] * len(rows)
        assert [row["line"] for row in rows] == sorted(row["line"] for row in rows)
        return {row["name"].removeprefix(MODULES[name]) for row in rows}

    return run


@pytest.mark.parametrize("name", LANGUAGES)
def test_functions_that_nothing_leads_to_are_dead(dead, name):
    source, expected, _ = LANGUAGES[name]
    assert dead(name, source) == expected


@pytest.mark.parametrize("name", ["A.java", "m.go", "m.c"])
def test_entry_points_can_be_chosen(dead, name):
    source, always, more = LANGUAGES[name]
    assert dead(name, source, "--entry-points", "main,test", "--entry-points", "handler") == always | more


def test_the_part_that_is_reachable_from_a_function(analyze, tmp_path):
    (tmp_path / "m.go").write_text(GO)
    graph = json.loads(
        analyze("callgraph", tmp_path, "--reachable-from", "m.main", "--reachable-from", "m.dead").output
    )
    assert graph == {"m.dead": ["m.onlyByDead"], "m.handle": ["m.helper"], "m.main": ["net/http.HandleFunc"]}
    graph = json.loads(analyze("callgraph", tmp_path, "--reachable-from", "entry-points").output)
    assert graph.keys() == {"m.main", "m.handle", "m.init", "m.Api"}
    output = analyze("callgraph", tmp_path, "--reachable-from", "m.mian", code=2).output
    assert "error[A006]" in output and "did you mean 'm.main'?" in output


PYTHON_CONTAINERS = """\
def first(): pass
def second(): pass
steps = {"a": first}
steps["a"]()
steps.values()
later = []
later.append(second)
later[0]()
"""
JAVA_CONTAINERS = """\
import java.util.ArrayList;
import java.util.List;
interface Step { void run(); }
class First implements Step { public void run() {} }
class Second implements Step { public void run() {} }
class A {
    static void all() {
        List<Step> steps = new ArrayList<>();
        steps.add(new First());
        steps.get(0).run();
    }
}
"""


@pytest.mark.parametrize(
    ("name", "source", "caller", "called", "others"),
    [
        ("m.py", PYTHON_CONTAINERS, "m", {"<**PyDict**>.values", "<**PyList**>.append", "m.first", "m.second"}, set()),
        ("A.java", JAVA_CONTAINERS, "A.all", {"First.run"}, {"Second.run"}),
    ],
    ids=["python", "java"],
)
def test_what_containers_hold_is_called(analyze, tmp_path, name, source, caller, called, others):
    (tmp_path / name).write_text(source)
    found = set(json.loads(analyze("callgraph", tmp_path).output)[caller])
    assert called <= found and not others & found


def test_graphs_for_other_tools(analyze, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / 'src/we"ird & <b>.py').write_text("def f():\n    g()\ndef g():\n    print(lambda: 1)\nf()\n")
    top = ET.fromstring(analyze("callgraph", tmp_path / "src", "--format", "graphml").output)
    edges = {(e.get("source"), e.get("target")) for e in top.iter("{http://graphml.graphdrawing.org/xmlns}edge")}
    module = 'we"ird & <b>'
    assert {(module, f"{module}.f"), (f"{module}.f", f"{module}.g"), (f"{module}.g", "builtins.print")} <= edges
    analyze("callgraph", tmp_path / "src", "--format", "dot", "-o", tmp_path / "graph.dot")
    assert '  "we\\"ird & <b>.f" -> "we\\"ird & <b>.g";\n' in (tmp_path / "graph.dot").read_text()


def test_options_that_do_not_go_together(analyze, tmp_path):
    assert "not with --dead" in analyze("callgraph", tmp_path, "--dead", "--format", "dot", code=2).output
    assert "only with --dead" in analyze("callgraph", tmp_path, "--format", "text", code=2).output
    assert "not 'tests'" in analyze("callgraph", tmp_path, "--entry-points", "tests", code=2).output
