"""Paths in reports: from the working directory in text and JSON, from the repository's top in SARIF; several PATHs."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.errors import AnalyzeError
from analyzer.evaluation.line_query import Question
from analyzer.history.causes import Cause
from analyzer.history.comparison import Comparison
from analyzer.outputs.relative_paths import comparison_from_here, from_here, shown_path
from analyzer.outputs.sarif import render_sarif
from analyzer.report import Problem, Weakening
from analyzer.sources.trees import SeveralPaths

CHECK = "sql-injection"
VULNERABLE = """\
import sqlite3
from flask import request

def show():
    sqlite3.connect("x").cursor().execute("SELECT " + request.args["name"])
"""
BROKEN = """\
// @id own
// @name Own
// @severity error
// @precision high
// @message no.
finding(x) :- nothing(x).
"""


@pytest.mark.parametrize(
    "path, here, shown",
    [
        ("/w/repo/app.py", "/w", "repo/app.py"),
        ("/w/repo/app.py", "/w/repo", "app.py"),
        ("/w/repo/app.py", "/w/repo/sub", "../app.py"),
        ("/w/repo/app.py", "/w/other", "../repo/app.py"),
        ("/w/repo/app.py", "/home/me", "/w/repo/app.py"),
        ("/w/repo/app.py", "/", "/w/repo/app.py"),
    ],
)
def test_a_path_is_shown_from_the_working_directory(path, here, shown):
    assert shown_path(path, here) == shown


def test_all_paths_of_a_report_are_from_the_working_directory(sample_report, tmp_path, monkeypatch):
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path)
    place = sample_report.findings[0].place
    problems = (Problem("a", "../own.dl"), Problem("b", "/etc/own.dl"), Problem("c"), Problem("d", places=(place,)))
    before = replace(sample_report, target="repo", problems=problems)
    report = from_here(before)
    assert report.findings[0].place == replace(place, file="repo/app/db.py")
    assert {step.place.file for step in report.findings[0].path} == {"repo/app/db.py"}
    assert report.findings[2].suppression.file == "repo/app/z.py"
    assert report.coverage.unparsed == {"repo/app/bad.py": (3, 4)}
    assert report.coverage.skipped["vendored"] == ("repo/vendor/a.py", "repo/vendor/b.py")
    assert report.coverage.generated == {"repo/app/api_pb2.py": 3}
    assert [file.path for file in report.files] == ["repo/app/db.py", "repo/app/bad.py"]
    assert [problem.file for problem in report.problems] == ["own.dl", "/etc/own.dl", "", ""]
    assert report.problems[3].places[0].file == "repo/app/db.py"
    assert report.unused_suppressions[0].file == "repo/app/db.py"
    # Nothing else differs, and no path is forgotten.
    assert "app/" not in repr(report).replace("repo/app/", "")
    assert from_here(replace(report, target=".")) == replace(report, target=".")

    weakened = (Weakening("file", "note", "is gone", "app/db.py"), Weakening("check", "note", "does not run"))
    causes = {"f1": Cause("app/db.py", 3, "the line has changed")}
    comparison = Comparison("", before, before.findings, (), before.findings, causes=causes, weakened=weakened)
    found = comparison_from_here(comparison)
    assert (found.head, found.new, found.fixed) == (report, report.findings, report.findings)
    assert found.causes["f1"].file == "repo/app/db.py"
    assert [item.file for item in found.weakened] == ["repo/app/db.py", ""]


def test_sarif_has_paths_from_the_top(sample_report):
    problems = (Problem("a", "own.dl"), Problem("b", "../.analyze/own.dl"), Problem("c", "/etc/own.dl"))
    log = json.loads(render_sarif(replace(sample_report, prefix="sub/", problems=problems), ""))
    notifications = log["runs"][0]["invocations"][0]["toolExecutionNotifications"][:3]
    found = [each["locations"][0]["physicalLocation"]["artifactLocation"] for each in notifications]
    assert [each["uri"] for each in found] == ["sub/own.dl", ".analyze/own.dl", "file:///etc/own.dl"]
    assert ["uriBaseId" in each for each in found] == [True, True, False]


@pytest.mark.slow
def test_a_scan_of_a_sub_directory(analyze, history, tmp_path, monkeypatch):
    """Findings, and problems of rules from above, from the command line and of the sub-directory."""
    history.commit({"sub/app.py": VULNERABLE, ".analyze/rules/own.dl": BROKEN, "sub/.analyze/rules/own.dl": BROKEN})
    (tmp_path / "mine.dl").write_text(BROKEN)
    options = ("--rules", f"{CHECK},own", "--models", "mine.dl", "--format")
    monkeypatch.chdir(tmp_path)
    document = json.loads(analyze("scan", "repo/sub", *options, "json", code=3).stdout)
    assert [finding["file"] for finding in document["findings"]] == ["repo/sub/app.py"]
    above, own = "repo/.analyze/rules/own.dl", "repo/sub/.analyze/rules/own.dl"
    assert {problem["file"] for problem in document["problems"]} == {above, own, "mine.dl"}
    assert "repo/sub/app.py:5:" in analyze("scan", "repo/sub", *options, "text", code=3).output
    log = json.loads(analyze("scan", "repo/sub", *options, "sarif", code=3).stdout)
    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/app.py"
    notifications = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    found = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in notifications}
    mine = (tmp_path / "mine.dl").as_uri()
    assert found == {".analyze/rules/own.dl", "sub/.analyze/rules/own.dl", mine}


# ---- several PATHs


@pytest.fixture
def tree(tmp_path):
    for path in ("a/app.py", "a/sub/deep.py", "a/.analyze.toml", "b/app.py", "b/left.py", "c/other.py", "single.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / "b/.gitignore").write_text("left.py\n")
    return tmp_path


def listed(top, *paths):
    found = SeveralPaths([top / path for path in paths])
    return [entry.path for entry in found.entries() if entry.path.endswith(".py")], found


def test_several_paths_are_one_tree_below_what_they_have_in_common(tree):
    paths, found = listed(tree, "a", "b", "single.py", "a/sub")
    assert paths == ["a/app.py", "a/sub/deep.py", "b/app.py", "single.py"]
    assert found.read("a/sub/deep.py") == b"x = 1\n" and Path(found.target) == tree
    assert listed(tree, "a/sub", "a/app.py")[0] == ["app.py", "sub/deep.py"]
    assert listed(tree, "b", "b/left.py")[0] == ["app.py", "left.py"]  # What is named is not left out.


def test_several_paths_in_a_repository(history):
    history.commit({"x/a/app.py": "x = 1\n", "x/b/app.py": "x = 1\n", "x/c.py": "x = 1\n"})
    paths, found = listed(history.path, "x/b", "x/a")
    assert paths == ["a/app.py", "b/app.py"] and found.prefix == "x/"
    assert found.read_top("x/c.py") == b"x = 1\n"


def test_a_path_that_is_not_there_is_told(tree):
    with pytest.raises(AnalyzeError, match="no such file or directory"):
        listed(tree, "a", "none")


def test_what_cannot_be_listed_is_told_by_its_path_from_the_common_directory(tree, monkeypatch):
    from analyzer.sources import trees

    def refused(root, directory):
        if directory == "sub":
            raise PermissionError(13, "Permission denied")
        return known(root, directory)

    known = trees.list_beneath
    monkeypatch.setattr(trees, "list_beneath", refused)
    _, found = listed(tree, "a", "b")
    assert found.problems() == [Problem("cannot list directory: Permission denied", file="a/sub")]


@pytest.mark.slow
def test_data_is_followed_between_paths_and_the_rest_is_not_scanned(analyze, tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    (tmp_path / "app").mkdir()
    (tmp_path / "lib/store.py").write_text("def find(db, name):\n    db.cursor().execute('SELECT ' + name)\n")
    (tmp_path / "app/views.py").write_text(
        "import sqlite3\nfrom flask import request\nfrom lib.store import find\n\n"
        "def show():\n    find(sqlite3.connect('x'), request.args['name'])\n"
    )
    (tmp_path / "app/other.py").write_text(VULNERABLE)
    monkeypatch.chdir(tmp_path / "lib")
    options = ("--rules", CHECK, "--format", "json")
    document = json.loads(analyze("scan", "../app/views.py", ".", *options, code=1).stdout)
    (finding,) = document["findings"]
    assert finding["file"] == "store.py" and finding["path"][0]["file"] == "../app/views.py"
    assert document["coverage"]["filesParsed"] == 2


def test_a_commit_is_scanned_at_one_path(analyze):
    assert "--rev takes one PATH" in analyze("scan", "cli", "facts", "--rev", "HEAD", code=2).output


def test_a_question_names_its_file_as_reports_do(tmp_path, monkeypatch):
    (tmp_path / "repo/sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert Question.parse("repo/sub/app.py:3", Path("repo")) == Question("sub/app.py", 3)
    assert Question.parse(os.path.join(tmp_path, "repo/app.py:3"), Path("repo")) == Question("app.py", 3)
