"""A report says what it did not see: what was cut makes it incomplete, what is coarser is counted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.evaluation import recursion_bounds
from analyzer.evaluation.scan_limits import Limits
from analyzer.findings import taint_paths
from analyzer.outputs.json_report import render_json
from analyzer.outputs.sarif import render_sarif
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

VULNERABLE = """\
import sqlite3
from flask import request

def user():
    sqlite3.connect("users.db").execute("SELECT '" + request.args["name"] + "'")
"""
DISPATCH = "\n".join(
    [*(f"def f{n}(x):\n    return x\n" for n in range(30)), "TABLE = {"]
    + [f"    '{n}': f{n}," for n in range(30)]
    + ["}", "def run(name, x):", "    return TABLE[name](x)"]
)
CALLED_OFTEN = "def often(x):\n    return x\n" + "often(1)\n" * 61
MADE_OFTEN = "class Point:\n    pass\n" + "Point()\n" * 13


def scan(limits=None, tier=(), **files):
    tree = MemoryTree({f"{name}.py": text.encode() for name, text in files.items()}, "memory")
    request = ScanRequest(Path("."), None, {"rules": ("sql-injection",), "tier": tier}, limits=limits or Limits())
    return scan_tree(tree, request).report


@pytest.fixture
def small_bound(monkeypatch):
    """Points-to analysis is cut beyond ten rows."""
    bound = replace(recursion_bounds.POINTS_TO, rows_per_entity=0.0, least_rows=10)
    monkeypatch.setattr(recursion_bounds, "RECURSIONS", (bound, recursion_bounds.TAINT))


def test_values_that_lose_their_objects_make_a_report_incomplete(small_bound):
    report = scan(app=VULNERABLE, table=DISPATCH)
    (problem,) = report.problems
    assert problem.level == "error" and report.exit_code() == 3
    assert problem.message.startswith("points-to analysis was cut; ") and len(problem.places) == 10
    assert "table.py" in {place.file for place in problem.places}
    assert problem.message in json.loads(render_json(report, "1"))["problems"][0]["message"]
    (run,) = json.loads(render_sarif(report, ""))["runs"]
    assert problem.message in [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]]


def test_a_search_for_a_path_that_is_abandoned_makes_a_report_incomplete(monkeypatch):
    monkeypatch.setattr(taint_paths, "MAX_STATES", 0)
    report = scan(app=VULNERABLE)
    assert not report.findings
    assert [finding.path for finding in scan(tier=("audit",), app=VULNERABLE).findings] == [()]
    (problem,) = report.problems
    assert problem.message == "path search was abandoned; findings without a path: 1"
    assert list(map(str, problem.places)) == ["app.py:5:5"]
    assert report.exit_code() == 3


def test_what_is_coarser_is_counted_and_changes_no_exit_code():
    report = scan(app=VULNERABLE, often=MADE_OFTEN)
    coarsened = report.coverage.coarsened["maker"]
    assert coarsened.count == 1 and [(p.file, p.line) for p in coarsened.places] == [("often.py", 1)]
    assert report.exit_code() == 1 and not report.problems
    assert json.loads(render_json(report, "1"))["coverage"]["coarsened"]["maker"]["count"] == 1
    fewer = MADE_OFTEN.rsplit("\n", 2)[0] + "\n"
    assert not scan(app=VULNERABLE, often=fewer).coverage.coarsened


def test_functions_that_are_called_often_are_coarser_only_where_points_to_is_cut(small_bound):
    (place,) = scan(app=VULNERABLE, table=DISPATCH, often=CALLED_OFTEN).coverage.coarsened["hub"].places
    assert (place.file, place.line) == ("often.py", 1)
    fewer = CALLED_OFTEN.rsplit("\n", 2)[0] + "\n"
    assert not scan(app=VULNERABLE, table=DISPATCH, often=fewer).coverage.coarsened


def test_a_small_program_has_no_hubs():
    assert not scan(app=VULNERABLE, table=DISPATCH, often=CALLED_OFTEN).coverage.coarsened


def test_only_ten_places_are_told(small_bound):
    """Twelve functions that are called from sixty-one places each."""
    many = "".join(f"def often{n}(x):\n    return x\n" + f"often{n}(1)\n" * 61 for n in range(12))
    coarsened = scan(often=many, table=DISPATCH).coverage.coarsened["hub"]
    assert coarsened.count == 12 and len(coarsened.places) == 10


def test_a_scan_that_runs_out_of_time_says_what_is_missing():
    report = scan(Limits(timeout_s=1e-9), app=VULNERABLE, more=VULNERABLE)
    assert [(problem.file, problem.message) for problem in report.problems[:2]] == [
        ("app.py", "no facts: the scan timed out"),
        ("more.py", "no facts: the scan timed out"),
    ]
    assert report.exit_code() == 3
