"""States of commits in a directory: gone on from, shared, dropped, damaged, in use, half written."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import chdir
from itertools import pairwise

import numpy as np
import pytest

from analyzer.evaluation.program import compile_rulebook
from analyzer.extraction.machine import ThisMachine
from analyzer.history.commit_update import Follower, Reader
from analyzer.history.states import StateKey, States
from analyzer.scan import ScanRequest, load_config, load_rulebook
from analyzer.sources.trees import GitTree
from engine.incremental import UpdateOnly

KILLS = int(os.environ.get("KILLS", "20"))


@pytest.fixture(autouse=True)
def updating(monkeypatch):
    """Let nothing depend on what takes how long."""
    for module in ("states", "commit_update"):
        monkeypatch.setattr(f"analyzer.history.{module}.Predicted", UpdateOnly)


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


def places(findings):
    return [f"{finding['file']}:{finding['line']}" for finding in findings]


def kept(path):
    """The names of the states that there are."""
    return {place.name for place in path.glob("*/*")}


def contents(history, *commits):
    """The names of the states of commits."""
    return {GitTree.at(history.path, commit).content for commit in commits}


def test_a_state_is_kept_by_commit_and_gone_on_from(ci, history, tmp_path, monkeypatch):
    first = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    second = history.commit({"helper.py": HARMFUL})
    third = history.commit({"other.py": OTHER})
    ci(history.path, first, "--head", second, "--state", tmp_path / "states", code=1)
    assert kept(tmp_path / "states") == contents(history, second)
    monkeypatch.setattr(Follower, "begin", None)  # What is there is enough.
    ci(history.path, first, "--head", second, "--state", tmp_path / "states", code=1)
    assert kept(tmp_path / "states") == contents(history, first, second)
    since_second = ci(history.path, second, "--state", tmp_path / "states", code=1)
    assert (places(since_second["new"]), places(since_second["unchanged"])) == (["other.py:7"], ["app.py:7"])
    assert kept(tmp_path / "states") == contents(history, first, second, third)
    since_first = ci(history.path, first, "--state", tmp_path / "states", code=1)
    assert places(since_first["new"]) == ["app.py:7", "other.py:7"]


@pytest.mark.slow
def test_a_damaged_state_is_made_again_and_said_so(ci, history, tmp_path):
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    history.commit({"helper.py": HARMFUL})
    fresh = ci(history.path, base, "--state", tmp_path / "states", code=1)
    for file in (tmp_path / "states").glob("*/*/*.base"):
        os.truncate(file, 100)
    again = ci(history.path, base, "--state", tmp_path / "states", code=1)
    assert again["new"] == fresh["new"]
    assert [problem["level"] for problem in again["problems"]] == ["warning"]
    assert all("bytes instead of" in problem["message"] for problem in again["problems"])
    assert ci(history.path, base, "--state", tmp_path / "states", code=1)["problems"] == []


PRINTS = """\
// @id own/calls
// @name Call
// @severity warning
// @precision high
// @message {detail} calls it.
.decl called(call: Entity, body: symbol)
called(c, n) :- calls(c, "builtins.print"), place_in(c, b), qualified_name(b, n).
finding("own/calls", c, n) :- called(c, n).
"""
CALLS = "def f():\n    print(1)\n\ndef g():\n    return len([])\n"
OWN = ".analyze/rules/own.dl"


@pytest.fixture
def evaluated(analyze):
    """Compare commits, and return what the summary says of the evaluation, and new and fixed findings."""

    def run(path, base, states, *rules, by="base"):
        arguments = ("ci", path, "--base", base, "--state", states, "--config-from", by)
        arguments += ("--fail-on", "any", "--severity", "never", "--fail-on-weakened", "never")
        rules = [argument for rule in rules for argument in ("--rules", rule)]
        output = analyze(*arguments, *rules).output
        with chdir(path):
            compared = json.loads(analyze(*arguments, *rules, "--format", "json").output)
        (line,) = [line for line in output.splitlines() if line.strip().startswith("Evaluated")]
        return line, places(compared["new"]), places(compared["fixed"]), places(compared["unchanged"])

    return run


@pytest.mark.slow
def test_an_edited_check_is_evaluated_alone(evaluated, history, tmp_path, monkeypatch):
    """The other 780 strata and more go on from what was saved, by whatever rules that was. One commit judges both."""
    states, others = tmp_path / "states", tmp_path / "others"
    first = history.commit({"app.py": CALLS, "sink.py": OTHER, OWN: PRINTS})
    evaluated(history.path, first, others, "own/calls", "sql-injection")
    second = history.commit({"more.py": CALLS, OWN: PRINTS.replace("builtins.print", "builtins.len")})
    line, new, fixed, unchanged = evaluated(history.path, first, states, "own/calls", "sql-injection")
    assert "other rules" not in line
    assert (new, fixed, unchanged) == (["more.py:2"], [], ["app.py:2", "sink.py:7"])
    monkeypatch.setattr(Follower, "begin", None)  # What is there is enough.
    line, new, fixed, unchanged = evaluated(history.path, first, states, "own/calls", "sql-injection", by="head")
    assert "other rules" not in line  # It had been evaluated by its own, for a list of what these take away.
    assert (new, fixed, unchanged) == (["more.py:5"], [], ["app.py:5", "sink.py:7"])
    line, new, fixed, unchanged = evaluated(history.path, first, others, "own/calls", "sql-injection", by="head")
    # What the check derives, that as part of `finding`, and `finding`.
    assert re.search(r"update: other rules: 3 of \d+ strata evaluated anew; ", line)
    assert (new, fixed, unchanged) == (["more.py:5"], [], ["app.py:5", "sink.py:7"])
    third = history.commit({"app.py": None})
    line, new, fixed, unchanged = evaluated(history.path, second, states, "own/calls")
    assert "other rules" in line and (new, fixed, unchanged) == ([], ["app.py:5"], ["more.py:5"])
    line, *found = evaluated(history.path, second, states, "own/calls")
    assert "other rules" not in line and found == [new, fixed, unchanged]
    assert contents(history, first, second, third) < kept(states)  # Others are of commits under the settings of others.


@pytest.mark.slow
def test_commits_share_what_is_equal(ci, history, tmp_path):
    commits = [history.commit({"app.py": SINK, "helper.py": HARMLESS})]
    for text in (HARMFUL, HARMLESS + "# again\n", HARMFUL + "# again\n"):
        commits.append(history.commit({"helper.py": text}))
    states = tmp_path / "states"
    for base, head in pairwise(commits):
        ci(history.path, base, "--head", head, "--state", states, code=None)
    assert kept(states) == contents(history, *commits[1:])
    (base,) = {(file.name, file.stat().st_ino) for file in states.glob("*/*/*.base")}
    assert len({file.name for file in states.glob("*/*/*.log")}) == 2
    # A base stays as long as there is a state that has been reached from it.
    (first,) = states.glob(f"*/{contents(history, commits[1]).pop()}")
    shutil.rmtree(first)
    assert {(file.name, file.stat().st_ino) for file in states.glob("*/*/*.base")} == {base}
    found = ci(history.path, commits[2], "--head", commits[3], "--state", states, code=1)
    assert found["problems"] == [] and places(found["new"]) == ["app.py:7"]


@pytest.mark.slow
def test_states_are_shared_where_files_cannot_have_two_names(ci, history, tmp_path, monkeypatch):
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    head = history.commit({"helper.py": HARMFUL})
    monkeypatch.setattr(os, "link", refused)
    fresh, _ = (ci(history.path, base, "--state", tmp_path / "states", code=1) for _ in range(2))
    files = [*(tmp_path / "states").glob("*/*/*.base")]
    assert len(files) == 2 and len({file.read_bytes() for file in files}) == len({file.name for file in files}) == 1
    found = ci(history.path, base, "--head", head, "--state", tmp_path / "states", code=1)
    assert found["problems"] == [] and found["new"] == fresh["new"]


def refused(source, target, **more):
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.slow
def test_who_cannot_wait_for_a_state_works_without(ci, history, tmp_path, monkeypatch):
    """A process of its own holds the states of both commits."""
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    history.commit({"helper.py": HARMFUL})
    states = tmp_path / "states"
    fresh, _ = (ci(history.path, base, "--state", states, code=1) for _ in range(2))
    before = {file: file.stat().st_mtime_ns for file in states.glob("*/*/*")}
    monkeypatch.setattr(States.__init__, "__defaults__", (0.1,))
    program = "import filelock, sys; held = [filelock.FileLock(n).acquire() for n in sys.argv[1:]]; print(); input()"
    command = [sys.executable, "-c", program, *map(str, states.glob("*/*/lock"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        alone = ci(history.path, base, "--state", states, code=1)
        other.communicate(b"\n")
    assert alone["new"] == fresh["new"]
    messages = [problem["message"] for problem in alone["problems"]]
    assert all("another process has been using" in message for message in messages)
    assert [message.rpartition("; ")[2] for message in messages] == ["evaluated anew", "evaluated anew"]
    assert {file: file.stat().st_mtime_ns for file in states.glob("*/*/*")} == before
    assert ci(history.path, base, "--state", states, code=1)["problems"] == []


@pytest.mark.slow
def test_states_beyond_the_limit_are_dropped_the_oldest_first(state_directory, tmp_path):
    states = States(tmp_path, 250)
    for number, name in enumerate(["rules/old", "rules/used", "other/new"]):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "data").write_bytes(bytes(100))
        os.utime(tmp_path / name, (number, number))
    os.utime(tmp_path / "rules/old", (9, 9))
    states.evict()
    assert kept(tmp_path) == {"old", "new"}


@pytest.mark.slow
def test_what_states_share_counts_once_and_goes_with_the_last(state_directory, tmp_path):
    states = States(tmp_path, 300)
    for number in range(4):
        place = tmp_path / "rules" / str(number)
        place.mkdir(parents=True)
        (place / "log").write_bytes(bytes(50))
        if number:
            os.link(tmp_path / "rules/0/base", place / "base")
        else:
            (place / "base").write_bytes(bytes(100))
        os.utime(place, (number, number))
    states.evict()  # 100 and four times 50 bytes
    assert kept(tmp_path) == {"0", "1", "2", "3"}
    states.max_bytes = 199
    states.evict()
    assert kept(tmp_path) == {"3"}
    states.max_bytes = 149
    states.evict()
    assert kept(tmp_path) == set()


def test_the_report_comes_before_what_is_kept_and_what_is_not_is_said(analyze, history, tmp_path, monkeypatch):
    base = history.commit({"app.py": SINK, "helper.py": HARMLESS})
    history.commit({"helper.py": HARMFUL})
    report, states = tmp_path / "report", tmp_path / "states"
    save = States.save

    def saved(self, key, follower):
        assert report.exists()
        save(self, key, follower)

    monkeypatch.setattr(States, "save", saved)
    flags = ("--base", base, "--rules", "sql-injection", "--state", states, "-o", report)
    found = analyze("ci", history.path, *flags, "--max-state-mb", 0, code=1)
    assert re.search(r"warning: .* are not kept.* take 1 MB, and states may take 0; --max-state-mb", found.stderr)
    assert kept(states) == set()
    assert analyze("ci", history.path, *flags, code=1).stderr == ""
    assert kept(states)


# ---- kills


@pytest.fixture
def moves(history, state_directory):
    """The trees of two commits, their program, and who reads them."""
    flags = {"rules": ("sql-injection",)}
    commits = [history.commit({"app.py": SINK, "helper.py": text}) for text in (HARMLESS, HARMFUL)]
    trees = [GitTree.at(history.path, commit) for commit in commits]
    config = load_config(trees[0]).override(**flags)
    book = load_rulebook(trees[0], config, ScanRequest(history.path, None, flags))
    yield (
        trees,
        compile_rulebook(book, state_directory).whole,
        Reader(config, state_directory, ThisMachine(1), threads=1),
    )
    for tree in trees:
        tree.close()


def key(tree):
    return StateKey(tree.revision, "rules")


def tuples_of(follower):
    view = follower.view
    return {name: set(zip(*view.columns(name).tolist(), strict=True)) for name in view.relations}


def save_both(directory, follower, moves, line, told):
    """Save the first commit, go to the second, save that, and drop the first; die before a line of the saving code.

    Lines are counted as they are run; a process that lives on tells how many there were.
    """
    (first, second), _, reader = moves
    states, count = States(directory, 1 << 40), 0

    def trace(frame, event, _):
        nonlocal count
        saving = frame.f_code.co_filename.endswith(
            ("states.py", "saved_state.py", "block_file.py", "state_manifest.py", "file_lock.py")
        )
        if not saving:
            return None
        count += event == "line"
        if count == line:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    def traced(work, *arguments):
        sys.settrace(trace)
        work(*arguments)
        sys.settrace(None)

    traced(states.save, key(first), follower)
    follower.move(first, second, reader)
    traced(states.save, key(second), follower)
    os.utime(directory / "rules" / first.revision, (0, 0))
    states.max_bytes = sum(file.stat().st_size for file in directory.glob(f"*/{second.revision}/*"))
    traced(states.evict)
    os.write(told, count.to_bytes(4, "big"))


@pytest.mark.slow
def test_a_run_may_be_killed_while_it_saves_and_drops(tmp_path, moves):
    """What is there afterwards is right, is there in the order of saving, and needs nothing that is not there."""
    trees, program, reader = moves
    made, moved = (Follower.begin(program, trees[0], reader) for _ in range(2))
    expected = [tuples_of(moved)]
    moved.move(*trees, reader)
    expected.append(tuples_of(moved))
    stages = [(False, False), (True, False), (True, True), (False, True)]

    def outcome(line):
        """The stage of what is there after a run that ended at that line, and what the run told."""
        shutil.rmtree(tmp_path / "states", ignore_errors=True)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                save_both(tmp_path / "states", made, moves, line, writing)
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with open(reading, "rb") as pipe:
            n_lines = int.from_bytes(pipe.read(), "big")
        states = States(tmp_path / "states", 1 << 40)
        loaded = [states.load(key(tree), program, tree, reader) for tree in trees]
        assert states.warnings == []
        assert all(f is None or tuples_of(f) == rows for f, rows in zip(loaded, expected, strict=True))
        return stages.index(tuple(f is not None for f in loaded)), n_lines

    stage, n_lines = outcome(-1)
    assert stage == 3 and n_lines > 200
    # Most lines are those that write a base; dropping it takes few.
    lines = [*np.linspace(1, n_lines - 40, KILLS // 7), *np.linspace(n_lines - 30, n_lines - 1, KILLS // 7)]
    found = [outcome(int(line)) for line in lines]
    assert not any(told for _, told in found)
    reached = [stage for stage, _ in found]
    assert reached == sorted(reached) and {*reached} >= {0, 2, 3}
