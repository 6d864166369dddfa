"""A path of many steps proves little: its finding is for the audit tier."""

from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree
from rules.catalogue import MAX_STEPS

HEADER = "import logging, sqlite3\nfrom flask import request\n\n"


def handed_on(calls: int, end: str) -> str:
    """Return a program whose data passes through so many functions, two steps each, to the end."""
    functions = [f"def f{n}(x):\n    return f{n + 1}(x)\n\n" for n in range(calls)]
    return HEADER + "".join(functions) + f"def f{calls}(x):\n    {end}\n\ndef view():\n    f0(request.args['q'])\n"


QUERY = "sqlite3.connect('a').execute('select ' + x)"
LOG = "logging.info('asked for ' + x)"


def found(code: str, *tiers: str) -> list[str]:
    tree = MemoryTree({"app.py": code.encode()}, "memory")
    flags = {"rules": ("sql-injection", "log-injection"), "tier": tiers}
    return [finding.check for finding in scan_tree(tree, ScanRequest(Path("."), None, flags)).report.findings]


@pytest.mark.parametrize(("end", "check", "short", "long"), [
    (QUERY, "sql-injection", 5, MAX_STEPS), (LOG, "log-injection", 0, 8),
])  # fmt: skip
def test_long_paths_are_for_the_audit_tier(end, check, short, long):
    assert found(handed_on(short, end)) == [check]
    assert found(handed_on(long, end)) == []
    assert found(handed_on(long, end), "audit") == [check]
