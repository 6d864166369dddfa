"""Context policies through the commands: findings, each once, call graphs, and what is told of a wrong one."""

import json

import pytest

CODE = """import os
from flask import request

class Job:
    def take(self, text):
        self.keep(text)
    def keep(self, text):
        self.text = text

def bad():
    job = Job()
    job.take(request.args["a"])
    os.system(job.text)

def good():
    job = Job()
    job.take("ls")
    os.system(job.text)
"""
BAD_LINE, GOOD_LINE = 13, 18
ARGUMENTS = ("--rules", "command-injection")


@pytest.fixture
def jobs(tmp_path):
    (tmp_path / "app.py").write_text(CODE)
    return tmp_path


def lines(report):
    return [finding["line"] for finding in report["findings"]]


@pytest.mark.slow
def test_a_policy_by_flag_or_configuration_reports_each_finding_once_with_its_path(scan, jobs):
    by_flag = scan(jobs, *ARGUMENTS, "--context", "1-object", code=1)
    assert lines(by_flag) == [BAD_LINE]
    (finding,) = by_flag["findings"]
    assert [step["line"] for step in finding["path"]][-1] == BAD_LINE
    (jobs / ".analyze.toml").write_text('context = "1-object"\n')
    assert scan(jobs, *ARGUMENTS, code=1) == by_flag


@pytest.mark.slow
def test_a_check_may_ask_for_a_policy(scan, jobs):
    own = jobs / ".analyze/rules"
    own.mkdir(parents=True)
    header = (
        "// @id {id}\n// @name Argument\n// @severity error\n// @precision high\n// @message {{detail}}\n{more}"
        ".decl {id}(call: Entity, n: symbol)\n"
        '{id}(c, "made") :- calls(c, "app.probe"), argument(c, 0, a), instance_of(a, "app.A").\n'
        'finding("{id}", c, n) :- {id}(c, n).\n'
    )
    (own / "plain.dl").write_text(header.format(id="plain", more=""))
    (own / "apart.dl").write_text(header.format(id="apart", more="// @context 1-call\n"))
    (jobs / "app.py").write_text(
        "class A: pass\nclass B: pass\ndef probe(x): pass\ndef same(x):\n    held = [x]\n    return held[0]\n"
        "probe(same(A()))\nprobe(same(B()))\n"
    )
    report = scan(jobs, "--rules", "plain,apart", code=1)
    found = [(finding["rule"], finding["line"]) for finding in report["findings"]]
    assert sorted(found) == [("apart", 7), ("plain", 7), ("plain", 8)]


@pytest.mark.slow
def test_a_call_graph_under_a_policy_has_no_call_that_it_rules_out(spawn, tmp_path):
    (tmp_path / "app.py").write_text(
        "def f(): pass\ndef g(): pass\ndef same(x):\n    held = [x]\n    return held[0]\n"
        "def one(): same(f)()\ndef two(): same(g)()\n"
    )
    plain, apart = (json.loads(spawn("callgraph", tmp_path, "--context", p).stdout) for p in ("insensitive", "1-call"))
    assert plain["app.one"] == ["app.f", "app.g", "app.same"]
    assert apart == {"app.one": ["app.f", "app.same"], "app.two": ["app.g", "app.same"]}


@pytest.mark.slow
def test_commits_are_scanned_anew_under_a_policy(spawn, history):
    history.commit({"app.py": CODE})
    history.commit({"app.py": CODE.replace('job.take("ls")', 'job.take(request.args["b"])')})
    done = spawn("ci", history.path, "--base", "HEAD~1", "--context", "1-object", "--format", "json", *ARGUMENTS)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert [finding["line"] for finding in report["new"]] == [GOOD_LINE]
    assert [finding["line"] for finding in report["unchanged"]] == [BAD_LINE]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--context", "1-calls"], ["error[C004]", "1-calls", "did you mean '1-call'?"]),
        (["--context", "1-call", "--engine", "spark"], ["error[C005]", "1-call", "Spark"]),
    ],
)
def test_what_cannot_be_asked_for_is_told(spawn, jobs, arguments, words):
    done = spawn("scan", jobs, *ARGUMENTS, *arguments)
    assert done.returncode == 2
    assert all(word in done.stderr for word in words)


def test_a_wrong_policy_of_the_configuration_is_told_with_its_line(spawn, jobs):
    (jobs / ".analyze.toml").write_text('fail-on = "never"\ncontext = "3-call"\n')
    done = spawn("scan", jobs)
    assert done.returncode == 2
    assert "C003" in done.stderr and ".analyze.toml:2" in done.stderr and "2-call" in done.stderr
