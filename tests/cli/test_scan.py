"""`analyze scan` from the command line to its outputs."""

import json
import os
import sqlite3
import subprocess
from pathlib import Path

import jsonschema
import pytest

SCHEMA = json.loads((Path(__file__).parents[1] / "analyzer/data/sarif-2.1.0-rtm.5.json").read_text())
SINK_LINE = 11


def test_a_finding_is_reported_with_its_path_and_fails_the_run(scan, repository):
    report = scan(repository, code=1)
    (finding,) = report["findings"]
    assert (finding["rule"], finding["file"], finding["line"]) == ("sql-injection", "app.py", SINK_LINE)
    assert finding["path"][0]["message"] == "source"
    assert finding["path"][-1]["line"] == SINK_LINE
    assert report["complete"]
    assert report["coverage"]["calls"]["resolved"] >= 4


def test_text_shows_frame_reason_path_and_coverage(analyze, repository):
    text = analyze("scan", repository, "--rules", "sql-injection", code=1).output
    assert f"app.py:{SINK_LINE}:5" in text
    assert "▸   11 │     cursor.execute(" in text
    assert "● app.py:11" in text or "~~~~" in text
    assert "CWE-89" in text
    assert "1 error" in text
    assert "1 parsed" in text


def test_a_scan_keeps_to_a_memory_limit_or_says_what_it_needs(spawn, repository):
    """In processes of their own: this one holds what other tests have left."""
    unlimited = spawn("scan", repository, "--format", "sarif")
    assert spawn("scan", repository, "--format", "sarif", "--memory-limit", "2G").stdout == unlimited.stdout
    refused = spawn("scan", repository, "--memory-limit", "10M")
    assert refused.returncode == 2
    assert "error[V002]: not enough memory: the memory limit of 10.5 MB is too small" in refused.stderr


def test_the_text_is_free_of_terminal_codes_in_a_pipe(spawn, repository):
    done = spawn("scan", repository, "--rules", "sql-injection")
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_control_characters_of_scanned_files_do_not_reach_the_terminal(analyze, repository, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    source = (repository / "app.py").read_text().replace('"\'")', '"\x1b]0;owned\x07\u202e\'")')
    (repository / "app.py").write_text(source)
    text = analyze("scan", repository, "--rules", "sql-injection", code=1).output
    assert "owned" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_sarif_is_valid_and_the_same_for_any_number_of_jobs(analyze, repository, tmp_path):
    for number in range(12):
        (repository / f"more{number}.py").write_text((repository / "app.py").read_text() * (number % 3 + 1))
    for jobs in (1, 2):
        analyze("scan", repository, "--format", "sarif", "-o", tmp_path / f"{jobs}.sarif", "--jobs", jobs, code=1)
    first, second = ((tmp_path / f"{jobs}.sarif").read_bytes() for jobs in (1, 2))
    assert first == second
    jsonschema.validate(json.loads(first), SCHEMA)
    assert len(json.loads(first)["runs"][0]["results"]) >= 13


def test_a_second_scan_extracts_nothing(analyze, repository, tmp_path):
    extracted = []
    for _ in range(2):
        analyze("scan", repository, "--rules", "sql-injection", "--stats", tmp_path / "stats.json", code=1)
        extracted.append(json.loads((tmp_path / "stats.json").read_text())["files_extracted"])
    assert extracted == [1, 0]


def test_statistics_name_seconds_rows_and_bytes_of_strata_and_rules(analyze, repository, tmp_path):
    analyze("scan", repository, "--rules", "sql-injection", "--stats", tmp_path / "stats.json", code=1)
    statistics = json.loads((tmp_path / "stats.json").read_text())
    stratum = next(stratum for stratum in statistics["strata"] if "finding" in stratum["relations"])
    assert stratum["rows"] >= 1 and stratum["peak_bytes"] > 0 and stratum["elapsed_s"] >= 0
    assert {"rule", "elapsed_s", "produced", "added"} <= stratum["rules"][0].keys()
    assert statistics["phases_s"].keys() == {"rules", "facts", "analysis", "report"}


def test_findings_files_and_runs_go_into_a_database(analyze, repository, tmp_path):
    for _ in range(2):
        analyze("scan", repository, "--rules", "sql-injection", "--db", tmp_path / "findings.db", code=1)
    rows = sqlite3.connect(tmp_path / "findings.db")
    assert rows.execute("SELECT run, rule, line FROM findings ORDER BY run").fetchall() == [
        (1, "sql-injection", SINK_LINE),
        (2, "sql-injection", SINK_LINE),
    ]
    assert rows.execute("SELECT path, status FROM files WHERE run = 2").fetchall() == [("app.py", "parsed")]


def git(path, *arguments):
    identity = {f"GIT_{role}_{key}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    command = ["git", "-C", str(path), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | identity).stdout


def test_a_revision_is_scanned_without_touching_the_working_tree(scan, repository):
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "vulnerable")
    (repository / "app.py").write_text("fixed = True\n")
    before = git(repository, "status", "--porcelain=v2")
    assert scan(repository)["findings"] == []
    report = scan(repository, "--rev", "HEAD", code=1)
    assert [finding["line"] for finding in report["findings"]] == [SINK_LINE]
    assert report["revision"] == git(repository, "rev-parse", "HEAD").strip()
    assert git(repository, "status", "--porcelain=v2") == before


def test_a_fingerprint_survives_moved_lines_and_a_renamed_file(scan, repository):
    (first,) = scan(repository, code=1)["findings"]
    moved = "# a comment\n\nUNRELATED = 1\n" + (repository / "app.py").read_text()
    (repository / "app.py").unlink()
    (repository / "renamed.py").write_text(moved)
    (second,) = scan(repository, code=1)["findings"]
    assert second["line"] == SINK_LINE + 3
    assert second["fingerprint"] == first["fingerprint"]


def test_equal_findings_have_fingerprints_of_their_own(scan, repository):
    (repository / "copy.py").write_text((repository / "app.py").read_text())
    findings = scan(repository, code=1)["findings"]
    assert len({finding["fingerprint"] for finding in findings}) == len(findings) == 2


def test_one_file_can_be_scanned(scan, repository):
    (repository / "other.py").write_text((repository / "app.py").read_text())
    assert {finding["file"] for finding in scan(repository / "app.py", code=1)["findings"]} == {"app.py"}


@pytest.mark.parametrize(("flag", "code"), [("error", 1), ("warning", 1), ("never", 0)])
def test_the_threshold_decides_the_exit_code(scan, repository, flag, code):
    assert len(scan(repository, "--fail-on", flag, code=code)["findings"]) == 1


def test_nothing_to_scan_is_said(analyze, tmp_path):
    assert "no file in a supported language" in analyze("scan", tmp_path, "--rules", "sql-injection").output


def test_a_language_that_no_check_looks_at_is_said(analyze, repository):
    (repository / "page.js").write_text("eval(location.hash)\n")
    report = json.loads(analyze("scan", repository, "--rules", "double-free", "--format", "json").stdout)
    messages = [problem["message"] for problem in report["problems"]]
    assert "no check that ran looks at javascript: 1 file, from which there are facts only" in messages
