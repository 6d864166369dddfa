"""Why nothing is reported: the reason is right if what it names makes the finding appear.

Programs say in a comment, at the line that is asked about, how the reason is worded.
"""

import json
import re
from contextlib import chdir

import pytest

from analyzer.evaluation.line_query import Question
from analyzer.explanation.obstacles import Search
from analyzer.explanation.questions import Silence
from analyzer.explanation.tree_questions import opened, scanned
from analyzer.explanation.trial import Trial
from analyzer.explanation.why_not import obstacles, searchable, told, why_silent
from analyzer.scan import ScanRequest, scan
from engine.incremental import CannotUpdate

CHECK = "command-injection"
PYTHON = """\
import os
import zlib

import unknownlib
from flask import request


class Box:
    pass


def sanitized():
    size = int(request.args["n"])
    os.system("x" + str(size))  # why: 'int(request.args["n"])' makes data harmless for 'command': a sanitizer


def tested():
    name = request.args["n"]
    if name in ("a", "b"):
        os.system(name)  # why: a test shows that 'name' is harmless at 'os.system(name)'


def no_sink():
    unknownlib.launch(request.args["n"])  # why: no model says that unknownlib.launch does harm with


def no_source():
    os.system(unknownlib.fetch("x"))  # why: no model says that unknownlib.fetch gives data that someone else


def modelled():
    os.system(os.path.getsize(request.args["n"]))  # why: a model says what os.path.getsize passes on


def infeasible():
    name = request.args["n"]
    if 1 > 2:
        os.system(name)  # why: no feasible path leads to 'os.system(name)'


def stored(other):
    box = Box()
    box.name = request.args["n"]
    os.system(other.name)  # why: is stored as 'name'; 'other.name' is not known to read it from the same object


def differs():
    names = {request.args["n"], "a"}
    os.system((names - {"b"}).pop())  # why: is not known to pass 'names' on


def indirect(callee):
    def end(text):
        os.system(text)  # why: data comes as far as|callers of end

    callee(request.args["n"], end)
"""
JAVASCRIPT = """\
const { exec } = require("child_process");
const unknown = require("unknown");

function sanitized(req) {
  exec("x" + Number(req.query.n)); // why: 'Number(req.query.n)' makes data harmless
}
function noSink(req) {
  unknown.launch(req.query.n); // why: no model says that unknown.launch does harm
}
function stored(req, other) {
  const box = {};
  box.name = req.query.n;
  exec(other.name); // why: is stored as 'name'; 'other.name' is not known to read it
}
const express = require("express");
const app = express();
app.get("/a", sanitized);
app.get("/b", noSink);
app.get("/c", (req, res) => stored(req, {}));
"""
JAVA = """\
import javax.servlet.http.HttpServletRequest;

class Commands {
    String name;

    void number(HttpServletRequest request) throws Exception {
        int n = Integer.parseInt(request.getParameter("n"));
        Runtime.getRuntime().exec("x" + n); // why: 'n' is not known to pass 'Integer.parseInt
    }

    void stored(HttpServletRequest request, Commands other) throws Exception {
        this.name = request.getParameter("n");
        Runtime.getRuntime().exec(other.name); // why: is stored as 'name'; 'other.name' is not known to read it
    }

    void tested(HttpServletRequest request) throws Exception {
        String name = request.getParameter("n");
        if (name.equals("a")) {
            Runtime.getRuntime().exec(name); // why: a test shows that 'name' is harmless
        }
    }
}
"""
GO = """\
package main

import (
	"net/http"
	"os/exec"
	"strconv"
)

type Box struct{ name string }

func number(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	exec.Command("sh", "-c", strconv.Itoa(n)).Run() // why: makes data harmless for 'command': a sanitizer
}

func stored(w http.ResponseWriter, r *http.Request, other *Box) {
	box := &Box{}
	box.name = r.FormValue("n")
	exec.Command("sh", "-c", other.name).Run() // why: is stored as 'name'; 'other.name' is not known to read it
}
"""
C = """\
#include <stdlib.h>
#include <stdio.h>

void number(void) {
    char text[8];
    int n = atoi(getenv("N"));
    snprintf(text, 8, "%c", n);
    system(text); // why: 'atoi(getenv("N"))'|data comes as far as
}

void launched(void) {
    launch(getenv("N")); // why: it is not known what|no model says that
}
"""
FILES = {"app.py": PYTHON, "app.js": JAVASCRIPT, "Commands.java": JAVA, "main.go": GO, "main.c": C}
CASES = [
    (file, line, marked[1])
    for file, text in FILES.items()
    for line, code in enumerate(text.splitlines(), 1)
    if (marked := re.search(r"(?:#|//) why: (.*)", code))
]


@pytest.fixture(scope="module")
def held(tmp_path_factory, shared_state):
    tree = tmp_path_factory.mktemp("tree")
    for name, text in FILES.items():
        (tree / name).write_text(text)
    with opened(tree, {}) as repository:
        found = scanned(repository)
        with searchable(found):
            yield tree, found


def entities(found, file, line):
    return Question(file, line).entities(found.repository.follower.collected().mounted)[0]


@pytest.mark.parametrize(("file", "line", "words"), CASES)
def test_a_reason_in_words_names_a_tuple_that_makes_the_finding_appear(held, file, line, words):
    """What was tried is gone in the end."""
    _, there = held
    view = there.repository.view
    before = {name: view.columns(name).shape for name in ("tainted", "finding", "in_question")}
    (symbol,) = view.symbols.intern([CHECK]).tolist()
    with Trial(there.steps, symbol, entities(there, file, line)) as trial:
        found = Search(trial, []).obstacles()
        texts = [re.sub(r" \([^() ]*:\d+\)", "", told(there, trial, each).words) for each in found]
        assert any(part in text for text in texts for part in words.split("|")), texts
        assert not trial.is_found()
        for obstacle in found:
            assert trial.would_find(obstacle.all)
            assert not trial.is_found()
    assert {name: view.columns(name).shape for name in before} == before


def test_the_models_that_are_named_make_findings_appear(held, tmp_path):
    tree, there = held
    models, lines = set(), set()
    for file, line, _ in CASES:
        for together in obstacles(there, CHECK, Question(file, line), None):
            if together[-1].model:
                models.add(together[-1].model)
                lines.add((file, line))
    (tmp_path / "named.dl").write_text("\n".join(sorted(models)))
    request = ScanRequest.from_flags(tree, None, {"rules": (CHECK,), "models": (tmp_path / "named.dl",)})
    report = scan(request).report
    assert len(lines) >= 4
    assert lines <= {(finding.place.file, finding.place.line) for finding in report.findings}


def test_data_from_a_line_is_followed_whether_it_is_a_source_or_not(held):
    _, there = held
    number = next(at for at, code in enumerate(PYTHON.splitlines(), 1) if "unknownlib.fetch(" in code)
    question = Question("app.py", number)
    (reason, *_) = obstacles(there, CHECK, question, question)
    assert reason[-1].kind == "source"


def test_data_from_a_line_that_does_not_come_is_followed_as_far_as_it_goes(held):
    _, there = held
    codes = PYTHON.splitlines()
    begin = codes.index('    name = request.args["n"]') + 1
    sink = next(at for at, code in enumerate(codes, 1) if "unknownlib.fetch(" in code)
    (reason,) = obstacles(there, CHECK, Question("app.py", sink), Question("app.py", begin))
    assert reason[-1].kind == "flow" and "data comes as far as" in reason[-1].words


def test_answers_after_edits_are_those_of_a_fresh_process(tmp_path, state_directory):
    """Rows and entities have other numbers then."""
    asked = [Silence(CHECK, f"{file}:{line}", Question(file, line)) for file, line, _ in CASES[::3]]
    for name in sorted(FILES, reverse=True):
        (tmp_path / name).write_text("")
    with opened(tmp_path, {}) as repository:
        for name, text in FILES.items():
            (tmp_path / name).write_text(text)
            scanned(repository)
        after = [why_silent(repository, each) for each in asked]
    with opened(tmp_path, {}) as repository:
        assert [why_silent(repository, each) for each in asked] == after
    assert all(each.reasons for each in after)


# ---- the command


@pytest.fixture
def why_not(analyze, tmp_path):
    def run(text, line, *arguments, check=CHECK, file="app.py", code=0):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
        with chdir(tmp_path):
            return analyze("explain", "--why-not", check, f"{file}:{line}", *arguments, code=code)

    return run


VULNERABLE = "import os\nfrom flask import request\n\n\ndef run():\n    os.system(request.args['n'])\n"


def test_what_is_reported_is_said_to_be(why_not):
    assert why_not(VULNERABLE, 6).stdout == "command-injection is reported at app.py:6\n"


@pytest.mark.parametrize(
    ("text", "line", "options", "words"),
    [
        (VULNERABLE.replace("['n'])", "['n'])  # analyze: ignore[command-injection] trusted"), 6, {}, "suppressed by"),
        (VULNERABLE, 6, {"file": "tests/test_app.py"}, "the file is test code: "),
        (VULNERABLE, 6, {"file": "app.txt"}, "the file is not among those analysed"),
        (VULNERABLE, 6, {"check": "sql-injection"}, "no model says that os.system does harm"),
    ],
)
def test_what_keeps_a_finding_from_the_report_is_told(why_not, text, line, options, words):
    assert words in why_not(text, line, **options).stdout


def test_a_check_that_does_not_run_is_told_so(why_not):
    text = "import os\n\n\ndef run(name):\n    os.system(name)\n"
    assert "the check is of the tier 'audit'" in why_not(text, 5, check="started-command").stdout


def test_another_kind_of_check_names_the_atom_that_is_missing(why_not):
    text = "from Crypto.Cipher import AES\n\nAES.new(b'k' * 16, AES.MODE_GCM)\n"
    shown = why_not(text, 3, check="weak-cipher").stdout
    assert "needs one thing more: denotes('AES.MODE_GCM'" in shown and "AES.MODE_ECB" in shown


def test_reasons_are_json(why_not):
    text = "import os\nimport unknownlib\n\nos.system(unknownlib.fetch())\n"
    found = json.loads(why_not(text, 4, "--format", "json").stdout)
    assert (found["reported"], found["reasons"][0][0]["kind"]) == (False, "source")


def test_arguments_that_do_not_fit_are_errors(why_not):
    assert "R002" in why_not(VULNERABLE, 6, check="no-such-check", code=2).output
    assert "A007" in why_not(VULNERABLE, "x", code=2).output
    assert "--why-not goes without" in why_not(VULNERABLE, 6, "--full", code=2).output


@pytest.mark.parametrize("method", ["insert", "would_find"])
def test_what_outgrows_a_bound_is_told_or_left_out(tmp_path, monkeypatch, method):
    """Where no update takes in what is tried, that is the answer; where it is one reason, that is not told."""
    (tmp_path / "app.py").write_text(PYTHON)
    line = 1 + next(at for at, text in enumerate(PYTHON.splitlines()) if "getsize" in text)
    update, tried_by = Trial.update, getattr(Trial, method)

    def outgrown(trial, inserted, deleted):
        if inserted and within:
            raise CannotUpdate("tainted has come to have more than 9 rows")
        update(trial, inserted, deleted)

    def within_it(trial, *rest):
        within.append(trial)
        try:
            return tried_by(trial, *rest)
        finally:
            within.pop()

    within = []
    monkeypatch.setattr(Trial, "update", outgrown)
    monkeypatch.setattr(Trial, method, within_it)
    with chdir(tmp_path), opened(tmp_path, {}) as repository:
        found = why_silent(repository, Silence.parse(tmp_path, CHECK, f"app.py:{line}", None))
    words = [each.words for together in found.reasons for each in together]
    if method == "insert":
        assert len(words) == 1 and "tainted has come to have more than 9 rows" in words[0]
    else:
        assert words == []
