"""`analyze ci` as pipelines call it: the first push of a branch, a force push, a shallow clone."""

import pytest

SINK = """\
import sqlite3
from flask import request

def user():
    cursor = sqlite3.connect("users.db").cursor()
    cursor.execute("SELECT * FROM users WHERE name = '" + request.args["name"] + "'")
"""
OTHER = SINK.replace("user()", "customer()")
ZEROS = "0" * 40


def outcome(compared):
    new, unchanged = (sorted(finding["file"] for finding in compared[part]) for part in ("new", "unchanged"))
    return new, unchanged, [problem["message"] for problem in compared["problems"]]


@pytest.fixture
def cloned(history):
    """A clone with a branch that was never pushed, and its commits: main's, main's first one, the branch's."""
    first = history.commit({"old.py": SINK})
    main = history.commit({"README": "more\n"})
    clone = type(history)(history.path.parent / "clone")
    clone.git(clone.path, "remote", "add", "origin", history.path.as_uri())
    clone.git(clone.path, "fetch", "-q", "origin")
    clone.git(clone.path, "checkout", "-q", "-b", "topic", "origin/main")
    return clone, first, main, clone.commit({"new.py": OTHER})


@pytest.mark.parametrize("base", [ZEROS, "1" * 40], ids=["first push", "force push"])
def test_a_base_that_is_not_there_is_where_the_branch_began(ci, cloned, base):
    clone, _, main, _ = cloned
    new, unchanged, (said,) = outcome(ci(clone.path, base, code=1))
    assert (new, unchanged) == (["new.py"], ["old.py"])
    assert f"compared with {main[:12]}, the merge base with refs/remotes/origin/main" in said


@pytest.mark.slow
def test_on_the_default_branch_itself_all_is_new_unless_told(ci, analyze, cloned):
    clone, *_ = cloned
    clone.git(clone.path, "checkout", "-q", "--detach", "origin/main")
    new, unchanged, (said,) = outcome(ci(clone.path, ZEROS, code=1))
    assert (new, unchanged) == (["old.py"], []) and "all findings count as new" in said
    new, unchanged, (said,) = outcome(ci(clone.path, ZEROS, "--if-no-base", "unchanged", code=0))
    assert (new, unchanged) == ([], ["old.py"]) and "all findings count as unchanged" in said
    output = analyze("ci", clone.path, "--base", ZEROS, "--if-no-base", "error", code=2).output
    assert output.startswith("error[G002]")


@pytest.mark.slow
def test_a_shallow_clone_without_the_base_says_that_all_is_new(ci, history):
    first = history.commit({"old.py": SINK})
    history.commit({"new.py": OTHER})
    shallow = history.path.parent / "shallow"
    history.git(history.path.parent, "clone", "-q", "--depth=1", history.path.as_uri(), str(shallow))
    new, unchanged, (said,) = outcome(ci(shallow, first, code=1))
    assert (new, unchanged) == (["new.py", "old.py"], []) and first[:12] in said
    history.git(shallow, "fetch", "-q", "--depth=1", "origin", first)
    assert outcome(ci(shallow, first, code=1)) == (["new.py"], ["old.py"], [])


def test_a_name_that_is_not_there_is_a_mistake(analyze, cloned):
    clone, *_ = cloned
    assert analyze("ci", clone.path, "--base", "mian", code=2).output.startswith("error[G002]")
    named = analyze(
        "ci", clone.path, "--base", ZEROS, "--default-branch", "origin/main", "--rules", "sql-injection", code=1
    )
    assert "merge base with origin/main" in " ".join(named.output.split())


def test_outside_of_git_there_is_no_talk_of_other_commands_options(analyze, tmp_path):
    output = analyze("ci", tmp_path, "--base", "HEAD", code=2).output
    assert output.startswith("error[G001]") and "leave --rev out" not in output
