"""What the terminal and the page say of a batch."""

import io
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from analyzer.batch import result_database, result_files
from analyzer.batch.batch_plan import Target
from analyzer.batch.batch_summary import summarise
from analyzer.batch.summary_page import render_page
from analyzer.report import SourceFile
from cli.batch_progress import BatchBars, print_summary
from cli.terminal import console

EVIL = "<script>alert(1)</script>[bold]\x1b[2J"


@pytest.fixture
def summary(sample_report, tmp_path):
    """Three repositories: one with the sample's findings, one sound with a file in common, one that failed."""
    sound = replace(
        sample_report,
        findings=sample_report.findings[1:2],
        problems=(),
        coverage=replace(sample_report.coverage, unparsed={}, parsed=1, lines=120),
        files=sample_report.files[:1] + (SourceFile("copy.py", "python", "0" * 40, 120),),
    )
    targets = [Target(name, f"repos/{name}", commit="c" * 40) for name in ("sample", "sound")]
    for target, report in zip(targets, (sample_report, sound), strict=True):
        publish(tmp_path, target, lambda directory, t=target, r=report: result_files.write(r, t, "note", directory))
    failed = Target("failed", "repos/" + EVIL)
    publish(tmp_path, failed, lambda directory: result_files.write_failure(failed, f"crashed {EVIL}", directory))
    result_database.merge(tmp_path, ["failed", "sample", "sound"])
    costs = {"elapsed_s": 2.5, "peak_bytes": 300 << 20, "attempts": 2, "extracted": 2}
    run = {"elapsed_s": 10.0, "tasks_s": 5.0, "slots": 2, "busy_s": 9.0, "scanned": 3}
    return summarise(tmp_path, Path("out"), {"run": run, "repositories": {"sample": costs}})


def publish(workspace, target, write):
    attempt = workspace / "attempt"
    attempt.mkdir(exist_ok=True)
    write(attempt)
    result_files.publish(attempt, target.name, workspace)


def test_it_counts_open_findings_by_rule_and_by_repository(summary):
    assert [(rule.rule, rule.findings, rule.repositories) for rule in summary.rules] == [
        *[("sql-injection", 1, 1), ("unused-import", 2, 2)]
    ]
    counts = {item.name: (item.status, item.error, item.warning, item.note) for item in summary.repositories}
    assert counts == {"failed": ("failed", 0, 0, 0), "sample": ("incomplete", 1, 0, 1), "sound": ("complete", 0, 0, 1)}
    # Two files of the sample and one of the other, which has it twice: three, of which two differ.
    assert (summary.contents, summary.distinct_contents, summary.extracted) == (3, 2, 2)
    assert summary.exit_code == 3
    assert [item.exit_code for item in summary.repositories] == [3, 3, 1]


def test_the_terminal_shows_all_of_it_and_is_not_moved_by_names(summary):
    out = io.StringIO()
    print_summary(summary, console(file=out, width=120))
    text = out.getvalue()
    for words in ("sql-injection", "sample", "crashed <script>alert(1)</script>[bold]", "2.5", "90% busy"):
        assert words in text
    assert "3: 1 complete, 1 incomplete, 1 failed" in text
    assert "3, 2 different; 2 extracted (1 extraction saved by sharing" in text
    assert "\x1b" not in text


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_is_well_formed_and_runs_nothing(summary):
    page = Page(render_page(summary))
    assert page.open == []
    assert not page.tags & {"script", "img", "link", "iframe"}
    assert f"crashed {EVIL}" in page.words
    assert {"sql-injection", "sample", "sound"} <= set(page.words)


def test_what_is_running_is_shown_with_how_long_it_has_been(monkeypatch):
    bars = BatchBars()
    out = io.StringIO()
    monkeypatch.setattr("cli.batch_progress.time.time", lambda: 100.0)
    running = {f"r{i}": 90.0 + i / 10 for i in range(10)}
    console(file=out, width=100).print(bars._shown(3, 20, running))
    assert "3 of 20" in out.getvalue()
    assert "10 s  r0" in out.getvalue() and "and 2 more" in out.getvalue()
