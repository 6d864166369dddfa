"""Trees whose links, pipes and sizes lead out, wait, or do not end. Nothing outside of a tree is read."""

import os
import shutil
import socket
import subprocess

import pytest

from analyzer.configuration.config import Config
from analyzer.errors import AnalyzeError
from analyzer.evaluation.rulebook import files_in_tree
from analyzer.extraction.discovery import discover
from analyzer.scan import load_config
from analyzer.sources import safe_open
from analyzer.sources.trees import GitTree, WorkingTree

SECRET = b"secret = 1\n"


def git(path, *arguments):
    command = ["git", "-C", str(path), "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(params=[True, False], ids=["by steps", "resolved"])
def tree(request, monkeypatch, tmp_path):
    """A repository with a tracked directory, and a directory outside of the same layout; both ways of opening files."""
    monkeypatch.setattr(safe_open, "BY_STEPS", request.param)
    top, outside = tmp_path / "top", tmp_path / "outside"
    for place in (top, outside):
        (place / "sub/deep").mkdir(parents=True)
        for path in ("sub/app.py", "sub/deep/own.dl", "sub/deep/app.py"):
            (place / path).write_bytes(SECRET if place == outside else b"x = 1\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "all")
    return top


def swap(top, path="sub"):
    """Replace a directory by a link to the one outside."""
    shutil.rmtree(top / path)
    (top / path).symlink_to(top.parent / "outside" / path)


def refused(read):
    """What comes of reading: the code or the class of the error, or what was read."""
    try:
        return read()
    except AnalyzeError as error:
        return error.code
    except OSError:
        return "OSError"


@pytest.mark.parametrize("path", ["sub", "sub/deep"])
def test_a_directory_replaced_by_a_link_is_not_followed(tree, attack, path):
    swap(tree, path)
    working = WorkingTree(tree)
    kinds = {entry.path: entry.kind for entry in working.entries()}
    attack(f"{path} is a link out: {path}/app.py is listed", expected="symlink", got=kinds[f"{path}/app.py"])
    attack(f"{path} is a link out: read", expected="OSError", got=refused(lambda: working.read(f"{path}/app.py")))
    found = discover(working, Config())
    assert f"{path}/app.py" in found.skipped["symbolic link"]
    attack(f"{path} is a link out: list", expected="OSError", got=refused(lambda: working.list_top(path)))


@pytest.mark.parametrize("path", ["../outside/sub/app.py", "sub/../../outside/sub/app.py", "/etc/passwd"])
def test_paths_that_leave_the_tree_are_refused(tree, attack, path):
    attack(f"path {path}", expected="OSError", got=refused(lambda: WorkingTree(tree).read(path)))


def test_a_directory_replaced_after_it_was_listed_is_not_followed(tree, attack):
    working = WorkingTree(tree)
    assert "sub/deep/app.py" in {entry.path for entry in working.entries()}
    swap(tree)
    attack("swapped after listing", expected="OSError", got=refused(lambda: working.read("sub/deep/app.py")))


def test_a_directory_replaced_while_a_path_is_walked_is_not_followed(tree, attack, monkeypatch):
    name = "_step" if safe_open.BY_STEPS else "_must_be_itself"
    step = getattr(safe_open, name)

    def swapped(*arguments):
        taken = step(*arguments)
        if not (tree / "sub").is_symlink():
            swap(tree)
        return taken

    monkeypatch.setattr(safe_open, name, swapped)
    got = refused(lambda: WorkingTree(tree).read("sub/app.py"))
    attack("swapped between two steps", expected="OSError", got=got)


def settings(tree):
    """Load what a scan loads of settings."""
    config = load_config(tree)
    files = files_in_tree(tree, config.models, config.rules_dir)
    found = discover(tree, config)
    return config.fail_on, [file.text for file in files], [problem.message for problem in found.problems]


LINKED = {
    ".analyze": "R003",
    ".analyze/rules": "R003",
    ".analyze/rules/own.dl": "R003",
    ".analyze.toml": "C006",
    "pyproject.toml": ("warning", [], []),
    ".analyzeignore": ("warning", [], ["not applied: is a symbolic link, which is not followed"]),
}


@pytest.mark.parametrize("path", LINKED)
@pytest.mark.parametrize("revision", [None, "HEAD"])
def test_settings_behind_links_are_refused_and_said_so(tree, attack, path, revision):
    outside = tree.parent / "outside"
    (outside / "rules").mkdir()
    (outside / "rules/own.dl").write_bytes(SECRET)
    (outside / "settings").write_text('[tool.analyze]\nfail-on = "never"\n')
    target = {
        ".analyze": outside,
        ".analyze/rules": outside / "rules",
        ".analyze/rules/own.dl": outside / "rules/own.dl",
    }
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).symlink_to(target.get(path, outside / "settings"))
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "links")
    opened = GitTree.at(tree, revision) if revision else WorkingTree(tree)
    attack(f"{path} is a link ({revision or 'on disk'})", expected=LINKED[path], got=refused(lambda: settings(opened)))
    opened.close()


@pytest.mark.parametrize("path", [".analyze.toml", ".analyze/rules/own.dl", ".analyze/models/own.dl"])
@pytest.mark.parametrize("kind", ["pipe", "socket", "sparse"])
def test_settings_that_are_no_files_or_do_not_end_are_refused(tree, attack, path, kind, monkeypatch):
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir((tree / path).parent)  # Names of sockets are short.
    name = os.path.basename(path)
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(name)
    else:
        with open(name, "wb") as file:
            file.truncate(1 << 40)
    monkeypatch.setattr(safe_open, "MOST_BYTES", 1 << 20)
    expected = "C006" if path == ".analyze.toml" else "R003"
    attack(f"{path} is a {kind}", expected=expected, got=refused(lambda: settings(WorkingTree(tree))))


def test_sources_that_are_no_files_are_skipped(tree, attack):
    shutil.rmtree(tree / ".git")  # Git does not list pipes.
    os.mkfifo(tree / "pipe.py")
    with open(tree / "sparse.py", "wb") as file:
        file.truncate(1 << 40)
    found = discover(WorkingTree(tree), Config())
    expected = {"not a regular file": ["pipe.py"], "over 1 MB": ["sparse.py"]}
    attack("sources are a pipe, and a terabyte of nothing", expected=expected, got=found.skipped)


def test_a_work_tree_that_the_repository_says_is_elsewhere_is_refused(tree, attack):
    git(tree, "config", "core.worktree", str(tree.parent))
    (tree.parent / ".analyze.toml").write_text('fail-on = "never"\n')
    working = WorkingTree(tree)
    attack("core.worktree is the directory above", expected="warning", got=load_config(working).fail_on)
    assert "sub/app.py" in {entry.path for entry in working.entries()}
    attack("… of a commit", expected="G001", got=refused(lambda: GitTree.at(tree, "HEAD")))
