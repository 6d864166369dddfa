"""Documented commands install this project from where it is, not by a name that anybody may take on a package index."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PAGES = [TOP / "README.md", TOP / ".pre-commit-hooks.yaml", *sorted((TOP / "docs").rglob("*.md"))]
SOURCES = sorted(path for package in ("analyzer", "cli", "engine", "facts") for path in (TOP / package).rglob("*.py"))
INSTALL = re.compile(
    r"\b(?:pip3?|pipx|uv|uvx|poetry|conda)\s+(?:pip\s+)?(?:install|add|tool|run)?\b[^\n`]*\bdatalyze\b[^\n`]*"
    r"|\binstall\s+['\"]?datalyze\b[^\n`]*"
)
FROM_HERE = re.compile(r"\bdatalyze(?:\[[\w,]+\])? @ (?P<where>\S+)")
PINNED = re.compile(r"git\+https://\S+@(?:<commit>|[0-9a-f]{40})|https://\S+\.whl#sha256=(?:<hash>|[0-9a-f]{64})")


def loose(text):
    """The installations of a text that may bring another project."""
    variables = dict(re.findall(r"\b([A-Z]+): \"?(\S+?)\"?[,}\s]", text))
    found = []
    for line in INSTALL.findall(text):
        at = FROM_HERE.search(line)
        where = at["where"].strip("'\"") if at else ""
        if not PINNED.fullmatch(variables.get(where.removeprefix("$"), where)):
            found.append(line)
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TOP)))
def test_what_is_installed_is_named_by_url_and_hash_or_commit(path):
    assert loose(path.read_text()) == []


def test_hints_of_the_commands_name_no_index_either():
    assert {str(path): found for path in SOURCES if (found := loose(path.read_text()))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "pip install datalyze",
        "pip install 'datalyze[spark]'",
        "pipx install datalyze",
        "uv tool install datalyze",
        "pip install 'datalyze @ git+https://example.com/datalyze'",
        "pip install 'datalyze @ git+https://example.com/datalyze@v1.0'",
        "pip install 'datalyze @ https://example.com/datalyze-1-py3-none-any.whl'",
        'pip install "datalyze @ $UNKNOWN"',
    ],
)
def test_other_ways_are_told(line):
    assert loose(line) == [line]


def test_pre_commit_names_a_commit():
    (block,) = re.findall(r"```yaml\n(repos:.*?)```", (TOP / "docs/ci.md").read_text(), re.S)
    assert re.findall(r"rev: (\S+)", block) == ["<commit>"]
