"""`analyze ci` on small histories: what is new, fixed, unchanged, and that an update leads where a scan does."""

import json
from itertools import pairwise

import pytest

from analyzer.evaluation.program import compile_rulebook
from analyzer.extraction.machine import ThisMachine
from analyzer.findings.assemble_report import assemble
from analyzer.findings.source_texts import Texts
from analyzer.history.commit_update import Follower, Reader
from analyzer.outputs.sarif import render_sarif
from analyzer.scan import ScanRequest, load_config, load_rulebook, scan
from analyzer.sources.trees import GitTree
from engine.incremental import UpdateOnly

CHECK = "sql-injection"
SINK = """\
import sqlite3
from flask import request
from helper import clean

def user():
    cursor = sqlite3.connect("users.db").cursor()
    cursor.execute("SELECT * FROM users WHERE name = '" + clean(request.args["name"]) + "'")
"""
HARMLESS = "def clean(value):\n    return 'x'\n"
HARMFUL = "def clean(value):\n    return value\n"
OTHER = SINK.replace("clean(", "str(").replace("user", "customer")
OVER_LINES = (
    SINK.replace("helper", "helper.part")
    .replace(
        "    cursor.execute(",
        "    print(  # analyze: ignore[sql-injection] a test\n        1,\n        cursor.execute(",
    )
    .replace(']) + "\'")', ']) + "\'"),\n    )')
)


def places(findings):
    return [f"{finding['file']}:{finding['line']}" for finding in findings]


def test_a_sink_that_another_file_makes_reachable_is_new_and_the_change_is_named(ci, history):
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    history.commit({"helper.py": HARMFUL})
    compared = ci(history.path, base, code=1)
    assert places(compared["new"]) == ["app.py:7"]
    assert compared["fixed"] == compared["unchanged"] == []
    assert (compared["new"][0]["cause"]["file"], compared["new"][0]["cause"]["line"]) == ("helper.py", 2)


@pytest.mark.slow
def test_what_a_finding_depends_on_is_named_though_its_path_does_not_show_it(ci, history):
    app = SINK.replace("from helper import clean", "from choice import chosen as clean")
    files = {"app.py": app, "choice.py": "from safe import clean as chosen\n", "safe.py": HARMLESS, "raw.py": HARMFUL}
    base = history.commit(files)
    history.commit({"choice.py": "# Not what it was.\nfrom raw import clean as chosen\n"})
    (new,) = ci(history.path, base, code=1)["new"]
    assert "choice.py" not in {step["file"] for step in new["path"]}
    assert (new["cause"]["file"], new["cause"]["line"]) == ("choice.py", 2)


@pytest.mark.slow
def test_renamed_files_and_moved_lines_bring_nothing_new_and_deleted_files_fix(ci, history):
    base = history.commit({"app.py": SINK, "helper.py": HARMFUL, "old.py": OTHER})
    history.commit({"app.py": None, "web.py": "# one\n# two\n\n" + SINK, "old.py": None})
    compared = ci(history.path, base, "--fail-on", "any", code=1)
    assert places(compared["unchanged"]) == ["web.py:10"]
    assert places(compared["fixed"]) == ["old.py:7"]
    assert compared["new"] == []


def test_sarif_says_what_is_new_and_what_it_is_new_by(analyze, history):
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS, "other.py": OTHER})
    head = history.commit({"helper.py": HARMFUL})
    arguments = ("--rules", CHECK, "--format", "sarif")
    run = json.loads(analyze("ci", history.path, "--base", base, *arguments, code=1).stdout)["runs"][0]
    states = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: r for r in run["results"]}
    assert {uri: result["baselineState"] for uri, result in states.items()} == {
        "app.py": "new",
        "other.py": "unchanged",
    }
    changed = states["app.py"]["relatedLocations"][-1]
    assert changed["physicalLocation"]["artifactLocation"]["uri"] == "helper.py"
    assert run["properties"] == {"revision": head, "baseRevision": base, "fixed": []}


def test_the_text_names_what_is_new_and_fixed(analyze, history, monkeypatch):
    monkeypatch.chdir(history.path)
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS, "other.py": OTHER})
    history.commit({"helper.py": HARMFUL, "other.py": None})
    output = analyze("ci", history.path, "--base", base, "--rules", CHECK, code=1).output
    assert "new by helper.py:2" in output
    assert "other.py:7:5" in output.partition(" fixed ")[2]
    assert " New        1 error" in output and " Unchanged  0" in output


@pytest.mark.slow
def test_the_base_decides_what_is_scanned_unless_the_head_is_to(analyze, history):
    base = history.commit({"a/app.py": OTHER, "b/app.py": OTHER})
    (history.path / ".analyze.toml").write_text('exclude = ["b/"]\n')
    history.commit()
    output = analyze("ci", history.path, "--base", base, "--rules", CHECK, code=1).output
    assert "b/app.py:7  not found with the head's own settings" in output and "Unchanged  2" in output
    output = analyze("ci", history.path, "--base", base, "--rules", CHECK, "--config-from", "head").output
    assert "Unchanged  1" in output and "Taken away none" in output


def test_a_file_that_does_not_parse_makes_the_answer_incomplete(ci, history):
    base = history.commit({"app.py": OTHER})
    history.commit({"bad.py": "def broken(:\n"})
    assert ci(history.path, base, code=3)["complete"] is False


@pytest.mark.slow
def test_objects_are_read_and_neither_the_working_tree_nor_the_index(ci, history):
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    history.commit({"helper.py": HARMFUL})
    bare = history.path.parent / "bare.git"
    history.git(history.path.parent, "clone", "-q", "--bare", str(history.path), str(bare))
    side = history.path.parent / "side"
    history.git(history.path, "worktree", "add", "-q", "--detach", str(side))
    (history.path / "helper.py").unlink()
    (side / "app.py").write_text("")
    assert [places(ci(path, base, code=1)["new"]) for path in (bare, side, history.path)] == [["app.py:7"]] * 3


def test_a_shallow_clone_works_as_far_as_it_goes(analyze, ci, history):
    missing = history.commit({"app.py": "x = 1\n"})
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    history.commit({"helper.py": HARMFUL})
    shallow = history.path.parent / "shallow"
    history.git(history.path.parent, "clone", "-q", "--depth=2", history.path.as_uri(), str(shallow))
    assert places(ci(shallow, base, code=1)["new"]) == ["app.py:7"]
    output = analyze("ci", shallow, "--base", missing, "--if-no-base", "error", code=2).output
    assert output.startswith("error[G002]") and "git fetch --deepen" in output


# Each is all there is at a commit; from one to the next files are renamed, moved, broken, resolved in other ways.
TREES = [
    {"app.py": SINK, "helper.py": HARMLESS, "old.py": OTHER},
    {"renamed.py": "import os\n\n\n" + SINK, "helper.py": HARMFUL, "old.py": OTHER},
    {"app.py": SINK, "helper/__init__.py": HARMFUL, "bad.py": "def broken(:\n", "binary.py": "\0"},
    {"pkg/__init__.py": "", "pkg/helper.py": HARMFUL, "pkg/app.py": SINK, "bad.py": OTHER},
    {"helper/part.py": HARMFUL, "app.py": SINK.replace("helper", "helper.part").replace("user", "first_user")},
    {"helper/part.py": HARMFUL, "app.py": OVER_LINES},
]


@pytest.mark.slow
def test_relations_that_follow_commits_report_what_scans_do(history, state_directory):
    flags = {"rules": (CHECK,)}
    commits = []
    for before, files in pairwise([{}, *TREES]):
        commits.append(history.commit(dict.fromkeys(before) | files))
    trees = [GitTree.at(history.path, commit) for commit in commits]
    config = load_config(trees[0]).override(**flags)
    book = load_rulebook(trees[0], config, ScanRequest(history.path, None, flags))
    reader = Reader(config, state_directory, ThisMachine(1), threads=1)
    follower = Follower.begin(compile_rulebook(book, state_directory).whole, trees[0], reader, UpdateOnly())
    for before, tree in pairwise(trees):
        move = follower.move(before, tree, reader)
        found = render_sarif(assemble(Texts(tree), config, book, follower.collected(), follower.view.result()), "")
        assert found == render_sarif(scan(ScanRequest(history.path, tree.revision, flags)).report, "")
        assert move.outcome.strategy == "update"
    for tree in trees:
        tree.close()
