"""`analyze scan --engine spark`: the bytes of a scan on this machine."""

import subprocess

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

APP = """
import sqlite3, subprocess
from flask import request
from helper import run

def view():
    name = request.args["name"]
    sqlite3.connect("db").execute("SELECT * FROM t WHERE n='" + name + "'")
    run(name)
"""
HELPER = """
import os

def run(command):
    os.system("ls " + command)
"""

ENDLESS = """// @id own
// @name own
// @severity note
// @precision low
// @message m
.decl n(x: number)
n(0).
n(x + 1) :- n(x).
suspect("own", c, "") :- call(c, _, _), n(_).
"""


@pytest.fixture
def run(analyze):
    def run(*arguments, code):
        done = subprocess.run(**analyze(*arguments))
        assert done.returncode == code, done.stderr
        return done

    return run


def test_a_scan_on_spark_gives_the_same_bytes(run, tmp_path, state_directory):
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "app.py").write_text(APP)
    (repository / "helper.py").write_text(HELPER)
    (repository / "broken.py").write_text("def f(:\n  x = \n")
    (repository / ".analyze" / "rules").mkdir(parents=True)
    (repository / ".analyze" / "rules" / "own.dl").write_text(ENDLESS)
    arguments = ("scan", repository, "--rule-rows", "1000", "--format", "sarif", "-o")
    run(*arguments, tmp_path / "spark.sarif", "--engine", "spark", "--master", "local[2]", code=3)
    assert any((state_directory / "facts").rglob("*"))
    run(*arguments, tmp_path / "here.sarif", code=3)
    assert (tmp_path / "spark.sarif").read_bytes() == (tmp_path / "here.sarif").read_bytes()
    assert b"they derive more than 1,000 rows" in (tmp_path / "here.sarif").read_bytes()
    assert b"sql-injection" in (tmp_path / "here.sarif").read_bytes()
    assert b"command-injection" in (tmp_path / "here.sarif").read_bytes()


def test_a_master_goes_with_spark(run, tmp_path):
    assert "--master goes only with --engine spark" in run("scan", tmp_path, "--master", "yarn", code=2).stderr
    told = run("scan", tmp_path, "--engine", "spark", "--master", "nowhere", code=2).stderr
    assert "error[V001]: 'nowhere' is not a Spark master" in told
