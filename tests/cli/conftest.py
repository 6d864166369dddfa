"""The command as a test calls it."""

import json
from contextlib import chdir
from pathlib import Path

import pytest

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
CHECK = "sql-injection"


def inside(path):
    """Work in the scanned directory, which the paths of a report are relative to then."""
    return chdir(path if Path(path).is_dir() else Path(path).parent)


@pytest.fixture
def scan(analyze):
    """Scan for the one check, and return the JSON report."""

    def run(path, *arguments, code=0):
        with inside(path):
            result = analyze("scan", Path(path).absolute(), "--rules", CHECK, "--format", "json", *arguments, code=code)
        return json.loads(result.stdout)

    return run


@pytest.fixture
def repository(tmp_path):
    """A directory with one vulnerable file."""
    top = tmp_path / "repo"
    top.mkdir()
    (top / "app.py").write_text(VULNERABLE)
    return top


@pytest.fixture
def ci(analyze):
    """Compare commits for the one check; return the JSON."""

    def run(path, base, *arguments, code=0):
        with inside(path):
            options = ("--base", base, "--rules", CHECK, "--format", "json", *arguments)
            result = analyze("ci", Path(path).absolute(), *options, code=code)
        return json.loads(result.stdout)

    return run
