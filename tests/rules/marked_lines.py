"""Programs whose lines say by a comment at the end whether tainted data does harm there: `harmful`, `harmless`."""

import re
from pathlib import Path

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

MARK = re.compile(r"(?:#|//) (harmless|harmful)$")


def marked_lines(programs):
    """Return the file, number, mark and text of each line that is marked."""
    return [
        (name, number, mark[1], line.strip())
        for name, text in programs.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (mark := MARK.search(line))
    ]


def lines_with_findings(programs, checks="injection"):
    """Return the file and line of each finding of an injection, or of other checks."""
    tree = MemoryTree({name: text.encode() for name, text in programs.items()}, "guards")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": (checks,)})).report
    assert not [problem for problem in report.problems if problem.level == "error"]
    return {(finding.place.file, finding.place.line) for finding in report.findings}
