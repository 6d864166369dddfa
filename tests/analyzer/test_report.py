"""Exit codes, JSON and SQLite of a report."""

import json
import sqlite3
from dataclasses import replace

import pytest

from analyzer.errors import AnalyzeError
from analyzer.outputs.json_report import render_json
from analyzer.outputs.sqlite import save_to_database


@pytest.fixture
def complete(sample_report):
    return replace(sample_report, problems=(), coverage=replace(sample_report.coverage, unparsed={}))


@pytest.mark.parametrize(
    ("kept", "fail_on", "code"),
    [
        (slice(0), "note", 0),
        (slice(0, 1), "error", 1),
        (slice(0, 1), "never", 0),
        (slice(1, 2), "warning", 0),
        (slice(1, 2), "note", 1),
        (slice(2, 3), "note", 0),
    ],
)
def test_open_findings_at_the_threshold_fail(complete, kept, fail_on, code):
    assert replace(complete, findings=complete.findings[kept]).exit_code(fail_on) == code


def test_incomplete_wins_over_findings(sample_report):
    assert sample_report.exit_code("error") == 3
    assert sample_report.exit_code("never") == 3


def test_json_holds_findings_with_paths_and_coverage(sample_report):
    document = json.loads(render_json(sample_report, "1.2.3"))
    assert [finding["rule"] for finding in document["findings"]] == [f.check for f in sample_report.findings]
    assert [step["line"] for step in document["findings"][0]["path"]] == [41, 42]
    assert document["findings"][2]["suppression"]["reason"] == "kept for users"
    assert document["coverage"]["unparsed"] == {"app/bad.py": [3, 4]}
    assert document["coverage"]["generatedFiles"] == {"app/api_pb2.py": 3}
    assert document["complete"] is False


def test_runs_add_up_in_a_database(sample_report, tmp_path):
    path = tmp_path / "findings.db"
    save_to_database(sample_report, path, 1.5)
    save_to_database(sample_report, path, 2.5)
    rows = sqlite3.connect(path)
    assert rows.execute("SELECT id, findings, suppressed, complete, elapsed_s FROM runs").fetchall() == [
        (1, 2, 1, 0, 1.5),
        (2, 2, 1, 0, 2.5),
    ]
    assert rows.execute("SELECT count(*) FROM findings WHERE run = 2 AND suppressed IS NULL").fetchone() == (2,)
    statuses = dict(rows.execute("SELECT path, status FROM files WHERE run = 1"))
    assert statuses == {
        "app/db.py": "parsed",
        "app/bad.py": "partly parsed",
        "app/secret.py": "failed: cannot be read: Permission denied",
        "big.py": "skipped: over 1 MB",
        "vendor/a.py": "skipped: vendored",
        "vendor/b.py": "skipped: vendored",
    }


def test_a_file_that_is_no_database_is_an_error_with_a_code(sample_report, tmp_path):
    (tmp_path / "notes.txt").write_text("no database " * 100)
    with pytest.raises(AnalyzeError, match="cannot write the database") as caught:
        save_to_database(sample_report, tmp_path / "notes.txt", 1.0)
    assert caught.value.code == "S001"
