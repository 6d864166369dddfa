"""Attacks on the tool, each with what has to come of it; a run of this folder prints them as a table.

A test asks for `attack`, runs the attack, and says `attack(title, expected=…, got=…)`: the two are compared, and the
row is printed whether they are equal or not. `expected` and `got` are short texts or numbers, such as an exit code,
that a reader of the table understands without the test. A test may record several rows.
"""

import pytest

ROW = "attack"
FOLDER = "tests/hostile/"


@pytest.fixture
def attack(record_property):
    """Record a row of the table, and fail where what was got is not what was expected."""

    def compare(title, *, expected, got):
        record_property(ROW, (title, str(expected), str(got)))
        assert got == expected, title

    return compare


def pytest_terminal_summary(terminalreporter):
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
    rows = [row for report in reports if FOLDER in report.nodeid for key, row in report.user_properties if key == ROW]
    if rows:
        table = [("attack", "expected", "got"), *sorted(map(tuple, rows))]
        widths = [max(len(row[column]) for row in table) for column in range(3)]
        terminalreporter.section("hostile input")
        for row in table:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            terminalreporter.write_line("  ".join(cells).rstrip())
