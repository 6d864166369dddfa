"""SARIF output: valid against the standard's schema, and within what GitHub accepts."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from analyzer.outputs import sarif
from analyzer.report import Finding, Place, Problem, Step

SCHEMA = json.loads((Path(__file__).parent / "data/sarif-2.1.0-rtm.5.json").read_text())


def log_of(report):
    log = json.loads(sarif.render_sarif(report, "1.2.3"))
    jsonschema.validate(log, SCHEMA)
    return log["runs"][0]


def test_a_result_carries_what_code_scanning_requires(sample_report):
    run = log_of(sample_report)
    rule, result = run["tool"]["driver"]["rules"][0], run["results"][0]
    assert rule["id"] == "sql-injection"
    assert rule["properties"]["tags"] == ["security", "external/cwe/cwe-089"]
    assert rule["properties"]["security-severity"] == "8.8"
    assert rule["defaultConfiguration"]["level"] == "error"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "sub/app/db.py"
    assert location["region"] == {"startLine": 42, "startColumn": 5, "endLine": 42, "endColumn": 53}
    assert result["partialFingerprints"]["primaryLocationLineHash"] == "a:1"
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow] == [41, 42]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_weakness_alone_is_not_shown_as_one_of_security(sample_report):
    check = replace(sample_report.checks[0], security_severity="", tags=("maintainability",))
    rule = log_of(replace(sample_report, checks=(check, *sample_report.checks[1:])))["tool"]["driver"]["rules"][0]
    assert rule["properties"]["tags"] == ["maintainability", "external/cwe/cwe-089"]
    assert "security-severity" not in rule["properties"]


def test_paths_are_percent_encoded(sample_report):
    uri = log_of(sample_report)["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "sub/app/%C3%A9%20%5Bx%5D.py"


def test_suppressed_findings_are_there_and_marked(sample_report):
    results = log_of(sample_report)["results"]
    assert ["suppressions" in result for result in results] == [False, False, True]
    assert results[2]["suppressions"] == [{"kind": "inSource", "justification": "kept for users"}]


def test_what_was_not_analysed_is_named_and_the_run_is_no_success(sample_report):
    invocation = log_of(sample_report)["invocations"][0]
    assert invocation["executionSuccessful"] is False
    named = {
        notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: notification["level"]
        for notification in invocation["toolExecutionNotifications"]
    }
    assert named == {"sub/app/secret.py": "error", "sub/app/bad.py": "error", "sub/app/db.py": "note"}
    coverage = invocation["properties"]["coverage"]
    assert coverage["skipped"] == {"over 1 MB": 1, "vendored": 2}
    assert coverage["generated"] == {"files": 1, "findingsLeftOut": 3}
    assert coverage["leftToAudit"] == 7


def test_a_problem_names_its_columns_and_what_to_do(sample_report):
    wrong = Problem("no 'cal'", "r.dl", 6, column=10, end_column=13, code="\tp(x) :- cal(x).", help="did you mean it?")
    told = log_of(replace(sample_report, problems=(wrong,)))["invocations"][0]["toolExecutionNotifications"][0]
    assert told["message"]["text"] == "no 'cal'\ndid you mean it?"
    region = told["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 6, "startColumn": 10, "endColumn": 13}


def test_a_complete_run_is_a_success(sample_report):
    clean = replace(sample_report, problems=(), coverage=replace(sample_report.coverage, unparsed={}))
    assert log_of(clean)["invocations"][0]["executionSuccessful"] is True


def test_long_paths_keep_their_beginning_and_end(sample_report):
    steps = tuple(Step(Place("a.py", n, 1, n, 2), "") for n in range(1, 3001))
    finding = replace(sample_report.findings[0], path=steps)
    flow = log_of(replace(sample_report, findings=(finding,)))["results"][0]["codeFlows"][0]["threadFlows"][0]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow["locations"]]
    assert len(lines) == sarif.MAX_FLOW_STEPS
    assert (lines[0], lines[-1]) == (1, 3000)


@pytest.mark.parametrize(("results", "kept"), [(25_000, 25_000), (25_001, 25_000)])
def test_no_more_results_than_accepted_and_the_least_severe_go_first(sample_report, results, kept):
    notes = [Finding("unused-import", "m", Place("a.py", n, 1, n, 2)) for n in range(1, results)]
    report = replace(sample_report, findings=(*notes, sample_report.findings[0]))
    run = json.loads(sarif.render_sarif(report, "1"))["runs"][0]
    assert len(run["results"]) == kept
    assert run["results"][-1]["ruleId"] == "sql-injection"
    texts = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert any("1 of 25001 results" in text for text in texts) == (results > kept)


def test_a_file_that_compresses_badly_is_cut_to_the_size_limit(sample_report, monkeypatch):
    monkeypatch.setattr(sarif, "MAX_GZIPPED_BYTES", 40_000)
    rows = [replace(sample_report.findings[1], message=f"{n * 7919:x}" * 9, fingerprint=str(n)) for n in range(5_000)]
    text = sarif.render_sarif(replace(sample_report, findings=tuple(rows)), "1")
    assert len(gzip.compress(text.encode())) <= 40_000
    assert 0 < len(json.loads(text)["runs"][0]["results"]) < 5_000


def test_descriptions_and_tags_stay_within_their_limits(sample_report):
    check = replace(sample_report.checks[0], summary="long " * 1000, tags=tuple(f"tag{n}" for n in range(40)))
    rule = log_of(replace(sample_report, checks=(check, *sample_report.checks[1:])))["tool"]["driver"]["rules"][0]
    assert len(rule["fullDescription"]["text"]) <= 1024
    assert len(rule["properties"]["tags"]) <= 20
