"""The command as a test calls it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli

TOP = Path(__file__).resolve().parents[2]
VULNERABLE = """\
import sqlite3

from flask import Flask, request

app = Flask(__name__)


@app.route("/user")
def user():
    cursor = sqlite3.connect("users.db").cursor()
    cursor.execute("SELECT * FROM users WHERE name = '" + request.args["name"] + "'")
    return str(len(cursor.fetchall()))
"""
IDENTITY = {f"GIT_{role}_{key}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
SINK_LINE = 11
CHECK = "sql-injection"


@pytest.fixture
def analyze(state_directory):
    """Run a command in this process, and return its result; its exit code must be `code`."""

    def run(*arguments, code=0):
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        assert code in (None, result.exit_code), result.output
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def scan(analyze):
    """Scan for the one check, and return the JSON report."""

    def run(path, *arguments, code=0):
        result = analyze("scan", path, "--rules", CHECK, "--format", "json", *arguments, code=code)
        return json.loads(result.stdout)

    return run


@pytest.fixture
def spawn(state_directory):
    """Run a command in a process of its own."""

    def run(*arguments, cwd=None, env=None):
        command = [sys.executable, "-P", "-c", "from cli import main; main()", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(TOP)} | (env or {})
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)

    return run


@pytest.fixture
def repository(tmp_path):
    """A directory with one vulnerable file."""
    top = tmp_path / "repo"
    top.mkdir()
    (top / "app.py").write_text(VULNERABLE)
    return top


def git(path, *arguments):
    command = ["git", "-C", str(path), *arguments]
    environment = os.environ | IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


class History:
    """A repository to which commits are added: each sets files, None removing one."""

    git = staticmethod(git)

    def __init__(self, path):
        self.path = path
        git(path.parent, "init", "-q", "-b", "main", path.name)

    def commit(self, files=None):
        """Commit what is in the working tree, with these files; return the commit."""
        for name, text in (files or {}).items():
            path = self.path / name
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        git(self.path, "add", "-A")
        git(self.path, "commit", "-q", "--allow-empty", "-m", "next")
        return git(self.path, "rev-parse", "HEAD")


@pytest.fixture
def history(tmp_path):
    (tmp_path / "repo").mkdir()
    return History(tmp_path / "repo")


@pytest.fixture
def ci(analyze):
    """Compare commits for the one check; return the JSON."""

    def run(path, base, *arguments, code=0):
        result = analyze("ci", path, "--base", base, "--rules", CHECK, "--format", "json", *arguments, code=code)
        return json.loads(result.stdout)

    return run
