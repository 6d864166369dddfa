"""The text report at several widths."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from analyzer.configuration.config import Config
from analyzer.report import Place, Problem, Step
from analyzer.scan import ScanResult
from cli.text import printable, render_text


def text_of(report, width, terminal=False):
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False, force_terminal=terminal)
    render_text(ScanResult(report, Config(), {"facts": 0.3, "analysis": 1.8}), console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_none_ends_in_spaces(sample_report, width):
    lines = text_of(sample_report, width, terminal=True).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_in_a_pipe_a_problem_is_one_line(sample_report):
    problem = Problem("cannot be read: Permission denied", "a/" * 60 + "secret.py")
    text = text_of(replace(sample_report, problems=(problem,)), 60)
    assert f"{problem.file} cannot be read: Permission denied" in text


def test_the_report_reads_from_findings_to_summary(sample_report):
    text = text_of(sample_report, 100)
    assert text.index("SQL query") < text.index("Unused import") < text.index(" Findings")
    for said in ("app/db.py:42:5", "● app/db.py:41", "▼ app/db.py:42", "81 parsed · 1 partly parsed · 1 not analysed"):
        assert said in text
    for said in ("1,204 resolved (76%) · 180 by name only · 200 unresolved", "1 error · 1 note   (1 suppressed)"):
        assert said in text
    assert "error: app/secret.py cannot be read: Permission denied" in text
    assert "app/bad.py:3 syntax errors: no facts from 2 lines (3, 4)" in text
    assert "7 more findings with --tier audit, by paths that prove less" in text
    assert "Incomplete" in text
    assert "app/z.py" not in text


def test_the_marks_stand_under_the_finding_also_in_long_lines_with_tabs(sample_report):
    source = "\tx = " + "'a' + " * 60 + "bad(1)"
    start = source.index("bad") + 1
    place = Place("a.py", 7, start, 7, start + 6)
    finding = replace(sample_report.findings[0], place=place, frame=(source,), frame_line=7, path=())
    lines = text_of(replace(sample_report, findings=(finding,)), 80).splitlines()
    code = next(i for i, line in enumerate(lines) if "▸    7 │" in line)
    first = lines[code + 1].index("~~~~~~")
    assert lines[code][first : first + 6] == "bad(1)"


def test_a_long_path_shows_its_beginning_and_end(sample_report):
    steps = tuple(Step(Place("a.py", n, 1, n, 5), "", f"step{n}") for n in range(1, 41))
    text = text_of(replace(sample_report, findings=(replace(sample_report.findings[0], path=steps),)), 100)
    assert "step1" in text and "step40" in text and "step20" not in text
    assert "28 more steps" in text


def test_of_many_findings_of_a_check_the_later_ones_take_one_line_each(sample_report):
    first = sample_report.findings[0]
    many = tuple(replace(first, place=replace(first.place, file=f"f{n:02}.py")) for n in range(30))
    lines = text_of(replace(sample_report, findings=many), 100).splitlines()
    assert sum("▸" in line for line in lines) == 10
    assert [sum(f"  f{n:02}.py:42:5" in line for line in lines) for n in range(30)] == [1] * 30


def test_a_problem_is_shown_with_its_line_and_what_to_do(sample_report):
    code = "\tp(x) :- cal(x)."
    wrong = Problem("left out: error[E010]: no 'cal'", "r.dl", 6, column=10, end_column=13, code=code, help="did you?")
    lines = text_of(replace(sample_report, problems=(wrong,)), 100).splitlines()
    at = lines.index(" error: r.dl:6:10 left out: error[E010]: no 'cal'")
    bar, first = lines[at + 1].index("│"), lines[at + 1].index("cal")
    assert lines[at + 2] == " " * bar + "│" + " " * (first - bar - 1) + "^^^"
    assert lines[at + 3] == "   help: did you?"


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\rb", "\x9b31m", "x\u202ey", "\x07", "\x08"])
def test_what_could_act_on_a_terminal_is_shown_harmlessly(hostile):
    shown = printable(hostile)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e" for c in shown)
    assert len(shown) == len(hostile)
