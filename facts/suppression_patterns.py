"""Patterns of comments that suppress findings: ours (`analyze: ignore[…] reason`), and other tools' that name rules."""

import re

_OURS = re.compile(r"(?:#|//|/\*+|<!--)\s*analyze:")
FOREIGN = (
    re.compile(r"#\s*noqa\s*:\s*([A-Z]+\d+(?:[\s,]+[A-Z]+\d+)*)", re.IGNORECASE),
    re.compile(r"#\s*(noqa)\b(?!\s*:\s*[A-Z]+\d)", re.IGNORECASE),
    re.compile(r"#\s*(?:flake8|ruff)\s*[:=]\s*noqa\s*:\s*([A-Z]+\d+(?:[\s,]+[A-Z]+\d+)*)", re.IGNORECASE),
    re.compile(r"#\s*(?:flake8|ruff)\s*[:=]\s*(noqa)\b(?!\s*:)", re.IGNORECASE),
    re.compile(r"#\s*nosec[\s:]+([BG]\d+(?:[\s,]+[BG]\d+)*)", re.IGNORECASE),
    re.compile(r"\bnosem(?:grep)?\s*:\s*([\w.-]+(?:\s*,\s*[\w.-]+)*)"),
    re.compile(r"\bnolint\s*:\s*([\w-]+(?:\s*,\s*[\w-]+)*)"),
    re.compile(r"\bNOLINT(?:NEXTLINE)?\(([^)]*)\)"),
    re.compile(r"\beslint-disable-(?:next-)?line\s+([@\w/-]+(?:\s*,\s*[@\w/-]+)*)"),
    re.compile(r"\bbiome-ignore\s+([\w/]+)"),
    re.compile(r"#\s*pylint:\s*disable=([\w-]+(?:\s*,\s*[\w-]+)*)"),
    re.compile(r"/\*\s*eslint-disable\s+([@\w/-]+(?:\s*,\s*[@\w/-]+)*)"),
)
"""Comments of flake8 and Ruff, Bandit and gosec, Semgrep, golangci-lint, clang-tidy, ESLint, Biome, pylint.

Group 1 names their rules.
"""
OF_STATEMENTS = (*FOREIGN[:2], FOREIGN[4])
"""Those of tools that report where a statement begins: flake8, Ruff, Bandit and gosec."""
OF_FILES = FOREIGN[2:4]
"""Those that, alone on a line, hold for the whole file."""
OF_BLOCKS = {
    FOREIGN[-2]: re.compile(r"^\s*#\s*pylint:\s*enable\b"),
    FOREIGN[-1]: re.compile(r"/\*\s*eslint-enable\b"),
}
"""Those that, alone on a line, hold up to a comment that the pattern matches, or to the end of the block."""
_WORDS = re.compile(rb"analyze:|(?i:noqa)|nosec|nosem|NOLINT|nolint|eslint-disable|biome-ignore|pylint:")


def may_suppress(source: bytes) -> bool:
    """Return True if a text may hold a comment that suppresses findings."""
    return _WORDS.search(source) is not None


def suppresses(comment: str) -> bool:
    """Return True if a comment may suppress findings: one of ours, or another tool's that names rules."""
    return bool(_OURS.match(comment)) or any(pattern.search(comment) for pattern in FOREIGN)
