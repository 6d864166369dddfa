"""The hook goes on from saved relations, and reports what a scan of the index does, whatever has become of them."""

import json
import os
import shutil
import subprocess

import pytest
from filelock import FileLock

import analyzer.history.hook
from analyzer import VERSION
from analyzer.history.commit_update import CannotFollow, Follower
from analyzer.outputs.sarif import render_sarif
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.git import Repository
from analyzer.sources.trees import GitTree

IDENTITY = {f"GIT_{role}_{key}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
CHECK = "sql-injection"
SINK = """\
import sqlite3
from flask import request
from helper import clean


def user():
    sqlite3.connect("users.db").execute("SELECT " + clean(request.args["name"]))
"""
OTHER = SINK.replace("from helper import clean", "clean = str")
HARMLESS, HARMFUL = "def clean(x):\n    return 1\n", "def clean(x):\n    return x\n"


def git(path, *arguments, check=True, **more):
    command = ["git", "-c", "protocol.file.allow=always", "-C", str(path), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | IDENTITY, **more)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def staging(tmp_path, monkeypatch):
    """A repository: a call sets files (None removes one) and stages them."""
    top = tmp_path / "repo"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    monkeypatch.chdir(top)

    def stage(files, commit=False):
        for name, text in files.items():
            if text is None:
                (top / name).unlink()
            else:
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                (top / name).write_text(text)
        git(top, "add", "-A")
        if commit:
            git(top, "commit", "-q", "-m", "next")
        return top

    return stage


@pytest.fixture
def hook(analyze):
    def run(*arguments, code=None):
        return analyze("hook", "--rules", CHECK, "--format", "sarif", *arguments, code=code).stdout

    return run


@pytest.fixture
def going_on(monkeypatch):
    """From here on relations are gone on from, never made."""

    def on(name="begin"):
        monkeypatch.setattr(Follower, name, None)

    return on


def scanned(top):
    """What a scan of the index says of the staged files, as SARIF."""
    request = ScanRequest(top, None, {"rules": (CHECK,)})
    repository = Repository(top, in_hook=True)
    tree = GitTree(repository, repository.index(), str(top), "")
    only = repository.staged_paths() or None
    try:
        return render_sarif(scan_tree(tree, request, only=only).report, VERSION)
    finally:
        tree.close()


def uris(sarif):
    results = json.loads(sarif)["runs"][0]["results"]
    return sorted(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results)


def results(sarif):
    return json.loads(sarif)["runs"][0]["results"]


def warnings(sarif):
    said = json.loads(sarif)["runs"][0]["invocations"][0].get("toolExecutionNotifications", [])
    return [notification["message"]["text"] for notification in said]


@pytest.mark.slow
def test_edits_are_gone_on_to_and_reported_as_a_scan_of_the_index_does(hook, staging, going_on):
    top = staging({"app.py": SINK, "helper.py": HARMLESS, "other.py": OTHER})
    assert uris(hook()) == ["other.py"]  # Before the first commit all is staged.
    staging({}, commit=True)
    going_on()
    expected = [
        ({"helper.py": HARMFUL}, []),  # It makes app.py wrong, which is not staged.
        ({"app.py": "# moved\n" + SINK}, ["app.py"]),
        ({"new/part.py": OTHER, "other.py": None}, ["app.py", "new/part.py"]),
        ({"broken.py": "def broken(:\n"}, ["app.py", "new/part.py"]),
    ]
    for files, found in expected:
        staging(files)
        sarif = hook()
        assert (sarif, uris(sarif)) == (scanned(top), found)


@pytest.mark.slow
def test_what_was_dear_is_found_again_when_it_has_been_committed(hook, staging, going_on, monkeypatch):
    staging({"app.py": SINK, "helper.py": HARMLESS}, commit=True)
    hook()
    monkeypatch.setattr(analyzer.history.hook, "DEAR_S", 0.0)
    top = staging({"helper.py": HARMFUL})
    hook()
    staging({}, commit=True)
    going_on(), going_on("move")
    sarif = hook()
    assert (sarif, uris(sarif)) == (scanned(top), ["app.py"])


def test_the_relations_that_ci_leaves_are_gone_on_from(analyze, hook, staging, going_on):
    top = staging({"app.py": SINK, "helper.py": HARMLESS}, commit=True)
    staging({"helper.py": HARMFUL}, commit=True)
    analyze("ci", "--base", "HEAD~1", "--rules", CHECK, code=1)
    going_on()
    staging({"app.py": SINK + "\n"})
    assert hook() == scanned(top) != ""


@pytest.mark.slow
def test_a_state_that_another_process_uses_stops_nobody(hook, staging, state_directory, monkeypatch):
    top = staging({"app.py": OTHER}, commit=True)
    hook()
    monkeypatch.setattr(analyzer.history.hook, "WAIT_S", 0.1)
    (lock,) = (state_directory / "commits").glob("*/*/lock")
    with FileLock(lock):
        sarif = hook()
    assert uris(sarif) == uris(scanned(top)) == ["app.py"]
    assert any("another process has been using" in text for text in warnings(sarif))


@pytest.mark.slow
def test_states_that_cannot_be_written_stop_nobody(analyze, hook, staging, state_directory):
    top = staging({"app.py": OTHER}, commit=True)
    (state_directory / "commits").write_text("not a directory")
    assert uris(hook()) == uris(scanned(top)) == ["app.py"]
    assert "are not saved" in analyze("hook", "--rules", CHECK, code=1).stderr


def test_a_damaged_state_is_told_and_made_again(hook, staging, state_directory):
    top = staging({"app.py": OTHER}, commit=True)
    hook()
    for base in (state_directory / "commits").glob("*/*/*.base"):
        base.write_bytes(base.read_bytes()[:100])
    sarif = hook()
    assert uris(sarif) == uris(scanned(top)) == ["app.py"]
    assert any("is damaged" in text for text in warnings(sarif))
    assert (hook(), warnings(hook())) == (scanned(top), [])


@pytest.mark.slow
def test_another_configuration_or_other_rules_are_heeded(hook, staging):
    top = staging({"app.py": OTHER}, commit=True)
    hook()
    staging({".analyze.toml": 'exclude = ["app.py"]\n'})
    staging({"app.py": OTHER + "\n"})
    found = hook()
    assert (results(found), uris(found)) == (results(scanned(top)), [])
    told = ["exclude leaves out 'app.py'", "is left out: ignored"]
    assert warnings(found)[1:] == [f"weaker staged settings: {text}" for text in told]
    staging({".analyze.toml": None, ".analyze/models/own.dl": 'source_parameter_name("http", "taint_me").\n'})
    found = hook()
    assert results(found) == results(scanned(top))
    assert warnings(found) == ["weaker staged settings: .analyze/models/own.dl is added"]


@pytest.mark.slow
def test_where_relations_cannot_be_gone_on_from_the_index_is_scanned(hook, staging, monkeypatch):
    top = staging({"app.py": OTHER}, commit=True)
    hook()
    staging({"app.py": "# one more line\n" + OTHER})

    def cannot(*_):
        raise CannotFollow("for a test")

    monkeypatch.setattr(Follower, "move", cannot)
    assert (hook(), uris(hook())) == (scanned(top), ["app.py"])


@pytest.mark.slow
def test_objects_that_are_gone_are_not_gone_on_from(hook, staging):
    """What was staged once, and never committed, git removes in time: nobody knows what its facts were then."""
    top = staging({"app.py": SINK, "helper.py": HARMFUL})
    hook()
    shutil.rmtree(top / ".git/objects")
    git(top, "init", "-q")
    (top / ".git/index").unlink()
    staging({"app.py": "# another line\n" + SINK})
    assert (hook(), uris(hook())) == (scanned(top), ["app.py"])


def test_of_a_conflict_our_side_is_analysed(hook, staging, going_on):
    top = staging({"app.py": SINK, "helper.py": HARMLESS}, commit=True)
    git(top, "checkout", "-q", "-b", "theirs")
    staging({"helper.py": HARMLESS + "# theirs\n"}, commit=True)
    git(top, "checkout", "-q", "main")
    staging({"helper.py": HARMFUL}, commit=True)
    hook()
    going_on()
    git(top, "merge", "theirs", check=False)
    assert "UU helper.py" in git(top, "status", "--short")
    staged = git(top, "ls-files", "--unmerged").splitlines()
    assert len(staged) == 3
    assert hook() == scanned(top)


@pytest.mark.slow
def test_a_file_that_is_only_meant_to_be_added_holds_nothing_yet(hook, staging, going_on):
    top = staging({"app.py": OTHER}, commit=True)
    hook()
    going_on()
    (top / "later.py").write_text(OTHER)
    git(top, "add", "--intent-to-add", "later.py")
    assert (hook(), uris(hook())) == (scanned(top), ["app.py"])


@pytest.mark.slow
def test_submodules_are_not_looked_into(hook, staging, going_on, tmp_path):
    top = staging({"app.py": OTHER}, commit=True)
    hook()
    going_on()
    git(tmp_path, "clone", "-q", top, "other")
    git(top, "submodule", "--quiet", "add", tmp_path / "other", "part.py")
    sarif = hook()
    assert (sarif, uris(sarif)) == (scanned(top), [])


@pytest.mark.slow
def test_variables_of_a_hook_in_a_worktree_name_its_index(hook, staging, going_on, monkeypatch, tmp_path):
    top = staging({"app.py": OTHER}, commit=True)
    hook()
    going_on()
    git(top, "worktree", "add", "-q", tmp_path / "side", "-b", "side")
    (tmp_path / "side/more.py").write_text(OTHER)
    git(tmp_path / "side", "add", ".")
    directory = git(tmp_path / "side", "rev-parse", "--absolute-git-dir")
    monkeypatch.chdir(tmp_path / "side")
    monkeypatch.setenv("GIT_DIR", directory)
    monkeypatch.setenv("GIT_INDEX_FILE", f"{directory}/index")
    assert (hook(), uris(hook())) == (scanned(tmp_path / "side"), ["more.py"])
