"""A question about a line has the findings of a whole scan there, with their paths, and takes less."""

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.errors import AnalyzeError
from analyzer.evaluation.line_query import Question
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree
from rules.catalogue import checks

SUFFIXES = {"python": ".py", "javascript": ".js", "go": ".go"}
PAGES = ("sql-injection", "command-injection", "log-injection")


@pytest.fixture(scope="module")
def files():
    """The examples of some pages, each in a directory of its own."""
    return {
        f"{check.id}{number}/app{SUFFIXES[language]}": code.encode()
        for check in checks()
        if check.id in PAGES
        for number, (language, code) in enumerate(check.examples)
        if language in SUFFIXES
    }


@pytest.fixture(scope="module")
def whole(files):
    return scan_tree(MemoryTree(files, "examples"), ScanRequest(Path(".")))


def ask(files, file, line):
    request = ScanRequest(Path("."), question=Question(file, line))
    return scan_tree(MemoryTree(files, "examples"), request)


def without_ordinal(finding):
    """Equal findings of a scan are numbered in their fingerprints."""
    return replace(finding, fingerprint=finding.fingerprint.partition("-")[0])


def on_taint(finding):
    return bool(finding.path) and finding.path[-1].message.endswith("sink")


def rows(result):
    return sum(stratum.rows for stratum in result.strata)


@pytest.mark.slow
@pytest.mark.parametrize("language", SUFFIXES)
def test_a_question_has_the_findings_of_the_line(files, whole, language):
    tainted = [f for f in whole.report.findings if on_taint(f) and f.place.file.endswith(SUFFIXES[language])]
    place = tainted[len(tainted) // 2].place
    expected = [f for f in tainted if (f.place.file, f.place.line) == (place.file, place.line)]
    answer = ask(files, place.file, place.line)
    assert list(map(without_ordinal, answer.report.findings)) == list(map(without_ordinal, expected))
    assert len(answer.strata) < len(whole.strata) and rows(answer) < rows(whole)


def test_where_no_sink_stands_taint_starts_nowhere(files):
    answer = ask(files, "sql-injection0/app.py", 1)
    assert answer.report.findings == ()
    assert not any("tainted" in stratum.relations and stratum.rows for stratum in answer.strata)


@pytest.mark.parametrize("text", ["app.py", "app.py:", ":3", "app.py:x"])
def test_what_is_no_line_is_told(text):
    with pytest.raises(AnalyzeError, match="is not FILE:LINE"):
        Question.parse(text, Path())


def test_a_file_that_is_not_scanned_is_told(files):
    with pytest.raises(AnalyzeError, match="not among the scanned files"):
        ask(files, "other.py", 1)
