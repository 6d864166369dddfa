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
SINK_LINE = 11
CHECK = "py/sql-injection"


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
