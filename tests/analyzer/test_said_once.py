"""A check tells of one line and one source once."""

from pathlib import Path

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

FILES = """\
from flask import request


def view():
    one = request.args["one"]
    two = request.args["two"]
    return open(one), open(one, "w"), open(two)


def other():
    three = request.args["three"]
    return open(three), eval(three)
"""


def test_findings_of_one_line_with_data_from_one_place_are_one():
    tree = MemoryTree({"files.py": FILES.encode()}, "memory")
    selected = {"rules": ("path-traversal", "code-injection")}
    report = scan_tree(tree, ScanRequest(Path("."), None, selected)).report
    assert [(finding.place.line, finding.place.column, finding.check) for finding in report.findings] == [
        (7, 12, "path-traversal"),
        (7, 39, "path-traversal"),
        (12, 12, "path-traversal"),
        (12, 25, "code-injection"),
    ]
