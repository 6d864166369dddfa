"""Where objects refer to each other in every way, paths are cut to their first keys: in time, and without losses."""

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.evaluation import recursion_bounds
from analyzer.live.live_repository import LiveRepository
from analyzer.scan import ScanRequest, scan, scan_tree
from analyzer.sources.trees import MemoryTree

N_OBJECTS, N_KEYS = 5, 200
KNOT = "\n".join(
    ["const { exec } = require('child_process');", "class Knot {", "  link(other) {"]
    + [f"    this.f{key} = other;" for key in range(N_KEYS)]
    + ["  }", "}", "const app = require('express')();", "app.get('/', (req, res) => {"]
    + [f"  const k{i} = new Knot();" for i in range(N_OBJECTS)]
    + ["  k0.data = req.query.name;"]
    + [f"  k{i}.link(k{j});" for i in range(N_OBJECTS) for j in range(N_OBJECTS) if i != j]
    + ["  k1.link(k0);", "  exec('ls ' + k1.f1.data);", "  exec('ls ' + process.pid);", "});", ""]
)
PLAIN = """\
import os
from flask import request

class Form:
    def __init__(self, fields):
        self.fields = fields

class Page:
    def __init__(self, form):
        self.form = form
        self.title = "page"

def view():
    page = Page(Form({"name": request.args["name"], "size": "1"}))
    os.system("ls " + page.form.fields["name"])
    os.system("ls " + page.title)
"""
SESSION = """\
const { exec } = require("child_process");
const app = require("express")();

function keep(req) {
  req.session.agent = req.query.agent;
  const made = { agent: req.query.agent };
  req.log({ made });
}

app.get("/", (req, res) => {
  keep(req);
  exec("ls " + req.session.user);
  exec("ls " + req.session.agent);
});
"""


def bounded(monkeypatch, least_rows):
    bound = replace(recursion_bounds.TAINT, rows_per_entity=0.0, least_rows=least_rows)
    monkeypatch.setattr(recursion_bounds, "RECURSIONS", (recursion_bounds.POINTS_TO, bound))


def scanned(name, text, **flags):
    tree = MemoryTree({name: text.encode()}, "memory")
    return scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("command-injection",), **flags}))


def lines(report):
    return [finding.place.line for finding in report.findings]


def line_of(text, part):
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_knot_of_objects_is_bounded_and_its_flaw_found():
    result = scanned("knot.js", KNOT)
    (taint,) = [stratum for stratum in result.strata if "tainted" in stratum.relations]
    assert taint.restarts == 1 and taint.rows < 20_000_000
    assert lines(result.report) == [line_of(KNOT, "k1.f1.data")]
    assert result.report.coverage.coarsened["path"].count


@pytest.mark.parametrize("jobs", [1, 2])
def test_short_paths_find_what_long_ones_do(monkeypatch, jobs):
    precise = scanned("app.py", PLAIN, jobs=jobs).report
    bounded(monkeypatch, 5)
    short = scanned("app.py", PLAIN, jobs=jobs).report
    assert lines(precise) == lines(short) == [line_of(PLAIN, "page.form")]
    assert short.coverage.coarsened["path"].count and not precise.coverage.coarsened


def test_what_a_session_holds_keeps_its_name(monkeypatch):
    precise = scanned("app.js", SESSION).report
    bounded(monkeypatch, 1)
    short = scanned("app.js", SESSION).report
    assert lines(precise) == lines(short) == [line_of(SESSION, "session.agent)")]
    assert short.coverage.coarsened["path"].count and not precise.coverage.coarsened


def test_an_update_has_short_paths_where_a_scan_has(monkeypatch, tmp_path, state_directory):
    bounded(monkeypatch, 20)
    file = tmp_path / "app.py"
    file.write_text(PLAIN)
    flags = {"rules": ("command-injection",)}
    repository = LiveRepository(tmp_path, flags, max_state_bytes=1 << 30)
    for text in (
        PLAIN,
        PLAIN.replace('"1"', 'request.args["size"]'),
        PLAIN.replace("request.args", "os.environ"),
        PLAIN,
    ):
        file.write_text(text)
        assert repository.report(repository.frozen()).report == scan(ScanRequest(tmp_path, flags=flags)).report
    repository.close()
