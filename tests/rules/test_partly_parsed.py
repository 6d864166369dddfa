"""In files that syntax errors leave lines of without facts, nothing is known to be unused or unreachable."""

from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

CHECKS = ("unused-import", "unused-variable", "dead-store", "unreachable-code")
PYTHON = """import os

def f(x):
    y = x
    z = g(x)
    z = g(z)
    return z
    g(x)
"""
SCRIPT = """import { a } from "./b.js";

export function f(x) {
  const y = x;
  return g(x);
  g(y + 1);
}
"""


@pytest.mark.parametrize(
    ("name", "text", "broken"), [("a.py", PYTHON, "def (:\n"), ("a.js", SCRIPT, "f(x: ?(A | B);\n")]
)
def test_partly_parsed_files_have_no_unused_or_unreachable_code(name, text, broken):
    def found(source):
        tree = MemoryTree({name: source.encode()}, "memory")
        report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": CHECKS})).report
        return {finding.check for finding in report.findings}

    assert {"unused-import", "unreachable-code"} <= found(text)
    assert found(text + broken) == set()
