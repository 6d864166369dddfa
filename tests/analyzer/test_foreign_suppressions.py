"""Which findings the suppression comments of other tools suppress."""

from pathlib import Path

import pytest

from analyzer.configuration.foreign_suppressions import ForeignNames
from analyzer.report import Check
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree


def check(id, *also):
    return Check(id, id, "error", "high", "", also=also)


NAMES = ForeignNames(
    [
        check("command", "B602", "S602", "G204", "*subprocess-shell-true*"),
        check("null", "clang-analyzer-core.NullDereference"),
        check("code", "no-eval", "eval-used", "*noglobaleval"),
        check("import", "F401"),
    ]
)


@pytest.mark.parametrize(
    ("comment", "checks"),
    [
        ("# noqa: S602", {"command"}),
        ("# noqa", {"import"}),
        ("# NoQA: F401", {"import"}),
        ("# noqa needed by plugins", {"import"}),
        ("# noqa: needed by plugins", {"import"}),
        ("# noqa:S602,F401 needed by plugins", {"command", "import"}),
        ("# type: ignore # noqa: E501 F401", {"import"}),
        ("# nosec B602", {"command"}),
        ("#nosec: B101, B602", {"command"}),
        ("// #nosec G204 -- the name is a constant", {"command"}),
        ("//nolint:gosec // checked", {"command"}),
        ("// NOLINT(clang-analyzer-core.NullDereference)", {"null"}),
        ("// NOLINTNEXTLINE(foo, clang-analyzer-core.NullDereference)", {"null"}),
        ("// nosemgrep: python.lang.security.audit.subprocess-shell-true.subprocess-shell-true", {"command"}),
        ("/* eslint-disable-next-line no-eval */", {"code"}),
        ("// biome-ignore lint/security/noGlobalEval: a page of our own", {"code"}),
        ("# pylint: disable=line-too-long, eval-used", {"code"}),
    ],
)
def test_a_comment_that_names_a_known_rule_suppresses_its_checks(comment, checks):
    (found,) = NAMES.suppressions("a", 3, comment, ["", "", comment])
    assert set(found.rules) == checks and found.foreign and found.line == 3 and found.reason in comment


@pytest.mark.parametrize(
    "comment",
    [
        "# nosec",
        "# nosec because",
        "# noqa: E501",
        "// NOLINT",
        "// nolint",
        "// nolint:lll",
        "// eslint-disable-line",
        "// biome-ignore lint/style/useConst: clearer",
    ],
)
def test_a_comment_without_a_known_rule_suppresses_nothing(comment):
    assert not list(NAMES.suppressions("a", 3, comment, ["", "", comment]))


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("from a import (  # noqa: F401\n    b,\n\n    c,\n)\nd()", [1, 2, 3, 4, 5]),
        ("x = {  # noqa: F401\n    1: 2\n}", [1, 2, 3]),
        ("f(  # noqa: F401\n    1", [1]),
        ("f(1)  # noqa: F401\ng(\n)", [1]),
        ("f(  # pylint: disable=eval-used\n    1)\ng()", [1]),
    ],
)
def test_a_comment_of_a_statement_covers_what_its_bracket_holds(text, covered):
    lines = text.split("\n")
    comment = lines[0][lines[0].index("#") :]
    assert [found.line for found in NAMES.suppressions("a", 1, comment, lines)] == covered


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("# pylint: disable=eval-used\na()\nb()", [1, 2, 3]),
        ("# pylint: disable=eval-used\na()\n# pylint: enable=eval-used\nb()", [1, 2]),
        ("    # pylint: disable=eval-used\n    a()\n\n    b()\nc()", [1, 2, 3, 4]),
        ("a()  # pylint: disable=eval-used\nb()", [1]),
        ("# flake8: noqa: F401\na()\n\nb()", [1, 2, 3, 4]),
        ("# ruff: noqa\na()\nb()", [1, 2, 3]),
        ("# flake8: noqa: E501\na()", []),
        ("a()  # flake8: noqa: F401\nb()", []),
        ("/* eslint-disable no-eval, no-new-func */\na()\nb()", [1, 2, 3]),
        ("/* eslint-disable no-eval */\na()\n/* eslint-enable no-eval */\nb()", [1, 2]),
    ],
)
def test_a_comment_alone_on_a_line_covers_its_block(text, covered):
    lines = text.split("\n")
    comment = lines[0].lstrip("a() ").removesuffix("*/").rstrip()
    assert [found.line for found in NAMES.suppressions("a", 1, comment, lines)] == covered


FILES = {
    "a.py": "import subprocess\nsubprocess.call(input(), shell=True)  {}\n",
    "a.js": "const {{ exec }} = require('child_process');\n{}\nexports.run = (req, res) => exec(req.query.run);\n",
    "a.go": 'package main\nimport ("os"; "os/exec")\nfunc main() {{\nexec.Command("sh", "-c", os.Args[1]).Run() {}\n}}',
    "a.c": "#include <stdlib.h>\nint main(int c, char **v) {{\n  {}\n  return system(v[1]);\n}}\n",
}


def suppressed(path, comment, **flags):
    tree = MemoryTree({path: FILES[path].format(comment).encode()}, "memory")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("command-injection",), **flags})).report
    assert not report.unused_suppressions and not report.problems
    (finding,) = report.findings
    return finding.suppression is not None


@pytest.mark.parametrize(
    ("path", "comment", "other"),
    [
        ("a.py", "# noqa: S602", "# noqa: F401"),
        ("a.js", "// eslint-disable-next-line security/detect-child-process", "// eslint-disable-next-line no-eval"),
        ("a.go", "// #nosec G204", "// #nosec G104"),
        ("a.c", "// nosemgrep: c.lang.security.command-injection", "// nosemgrep: c.lang.security.gets"),
    ],
)
def test_such_a_comment_suppresses_a_finding_unless_only_our_own_count(path, comment, other):
    assert suppressed(path, comment)
    assert not suppressed(path, comment, own_suppressions_only=True)
    assert not suppressed(path, other)


def test_an_unneeded_one_is_not_called_unused():
    assert not suppressed("a.py", "# noqa: F401")


@pytest.mark.parametrize("path", FILES)
def test_our_own_comments_count_in_every_language(path):
    start = "#" if path.endswith(".py") else "//"
    assert suppressed(path, f"{start} analyze: ignore[command-injection] checked", own_suppressions_only=True)
