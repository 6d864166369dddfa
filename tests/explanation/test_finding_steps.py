"""Findings of working trees are explained: from source to sink, with reasons, folded and in full."""

import json
import re
from contextlib import chdir

import pytest

from analyzer.explanation.folded import COLUMN, words
from analyzer.explanation.tree_questions import opened, scanned
from engine.provenance import Explainer
from rules import catalogue

APP = """\
import hashlib
import html
import sqlite3

from flask import Flask, request

app = Flask(__name__)


def clean(text):
    return text.strip()


@app.route("/login")
def login():
    cursor = sqlite3.connect("users.db").cursor()
    name = clean(request.args["name"])
    cursor.execute("SELECT * FROM users WHERE name = '" + html.escape(name) + "'")
    return hashlib.md5(name.encode()).hexdigest()
"""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


@pytest.fixture
def explain(analyze, tree):
    def run(what, *arguments, code=0):
        with chdir(tree):
            return analyze("explain", what, *arguments, code=code)

    return run


def test_a_finding_is_explained_from_its_source_to_its_sink(explain):
    lines = explain("app.py:18").stdout.splitlines()
    assert re.fullmatch(r"sql-injection  app.py:18:5  [0-9a-f]{20}", lines[0])
    steps = [re.sub(r"^ *\d+ +", "", line) for line in lines if re.match(r" *\d+  ", line)]
    assert steps[0] == "app.py:17  'request.args'  (source)"
    assert "app.py:10  'text'  (passed into the called function)" in steps
    assert steps[-1].endswith("  (sink)")


@pytest.mark.parametrize(
    "reason",
    [
        """'request.args' (app.py:17) is data under the label 'http': someone else chooses it""",
        """  model: source_value("http", "flask.request.args")  (rules/models/python/flask.dl:""",
        """'clean(request.args["name"])' (app.py:17) runs 'def clean' (app.py:10)""",
        """'html.escape(name)' (app.py:18) is a sanitizer, but not of this kind""",
        """'text.strip()' (app.py:11) is no sanitizer""",
        """  model: sink_argument("sql", "sqlite3.Cursor.execute", "0")  (rules/models/python/databases.dl:""",
        """no test shows that 'name' (app.py:17) is harmless there""",
    ],
)
def test_the_reasons_are_told_in_words(explain, reason):
    assert reason in explain("app.py:18").stdout


def test_a_finding_without_tainted_data_is_explained_by_what_the_check_looks_at(explain):
    shown = explain("app.py:19").stdout
    assert shown.startswith("weak-hash  app.py:19") and "'hashlib.md5(name.encode())' (app.py:19) is a call of" in shown


def test_a_finding_with_places_of_its_own_shows_them_and_the_rule(explain, tree):
    (tree / "main.c").write_text("void f(char *p, int n) {\n    if (n) free(p);\n    puts(p);\n}\n")
    shown = explain("main.c:3").stdout
    assert "main.c:2  'free(p)'  (freed here)" in shown
    assert 'suspect("use-after-free", ' in shown and "(rules/checks/memory/use_after_free.dl:" in shown


def test_a_finding_is_asked_for_by_its_fingerprint_too(explain):
    by_line = explain("app.py:18").stdout
    assert explain(by_line.splitlines()[0].split()[-1][:8]).stdout == by_line


def test_the_whole_derivation_goes_down_to_facts(explain, tree):
    shown = explain("app.py:18", "--full").stdout
    assert 'finding("sql-injection", \'cursor.execute(' in shown and "by taint_path(k, c, v, n) :-" in shown
    assert "'name' (app.py:17)" in shown and shown.count("    fact") > 20
    explain("app.py:18", "--format", "dot", "-o", tree / "why.dot")
    assert (tree / "why.dot").read_text().startswith("digraph derivation {")


def test_the_steps_are_json(explain):
    (found,) = json.loads(explain("app.py:18", "--format", "json").stdout)["findings"]
    assert (found["check"], found["line"], found["steps"][0]["step"]) == ("sql-injection", 18, "source")
    assert found["steps"][0]["because"][0]["because"][0]["rule"].startswith("rules/models/python/flask.dl:")


def test_tuples_of_the_analysis_are_explained(explain):
    assert "by sink(kind, place, value) :-" in explain('sink("sql", _, _)').stdout
    assert "is not there" in explain('sink("ldap", _, _)').stdout


@pytest.mark.parametrize(("what", "code"), [("app.py:3", "A010"), ("abcdef", "A010"), ("app.py", "A007")])
def test_what_is_not_found_is_told(explain, what, code):
    assert f"error[{code}]" in explain(what, code=2).output


def test_explanations_after_an_edit_are_those_of_a_fresh_process(tree):
    with opened(tree, {}) as repository:
        held = scanned(repository)
        (tree / "app.py").write_text(
            APP.replace("text.strip()", "text.lower()").replace("import html\n", "import html\n\n")
        )
        report = held.repository.report(held.repository.frozen()).report
        after = documents(held.repository.view, report)
    with opened(tree, {}) as repository:
        held = scanned(repository)
        assert held.report.findings == report.findings
        assert documents(held.repository.view, held.report) == after


def documents(view, report):
    assert report.findings
    explainer = Explainer(view, most_tuples=0)
    return [explainer.why(fact) for fact in explainer.matches("finding(_, _, _)")[1]]


def test_words_are_about_relations_that_there_are(tree):
    with opened(tree, {}) as repository:
        held = scanned(repository)
        columns = held.steps.folder.columns
    told = words()
    for texts in (told.told, told.told_absence):
        for relation, text in texts.items():
            assert set(COLUMN.findall(text)) <= set(columns[relation]), relation
    vocabulary = next(file.text for file in catalogue.library() if file.name == "rules/lib/model_vocabulary.dl")
    assert told.models <= set(re.findall(r"^\.decl (\w+)\(", vocabulary, re.MULTILINE))
    assert told.closed <= columns.keys()
