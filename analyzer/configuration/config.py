"""Configuration: `.analyze.toml`, or `[tool.analyze]` in `pyproject.toml`; command-line flags override it.

Unknown keys and bad values are errors that name the file and line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from analyzer.context_policies import INSENSITIVE, NAMES
from analyzer.errors import AnalyzeError, suggest
from analyzer.report import SEVERITIES
from rules.catalogue import TIERS

FORMATS = ("text", "json", "sarif")
FAIL_ON = (*SEVERITIES, "never")


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of a scan. A key is written with dashes in TOML and as `--key` on the command line.

    `rules` selects checks (see `analyzer.evaluation.rulebook`), `tier` adds tiers to the default one, `exclude` holds
    gitignore patterns, `models` and `rules_dir` are paths relative to the file that names them (or to the working
    directory, from the command line).
    """

    rules: tuple[str, ...] = ()
    tier: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fail_on: str = "warning"
    fail_on_weakened: str = "warning"
    format: str = "text"
    jobs: int = 0
    max_file_kb: int = 1024
    include_vendored: bool = False
    include_generated: bool = False
    models: tuple[str, ...] = ()
    rules_dir: tuple[str, ...] = ()
    extract_timeout_s: int = 120
    context: str = INSENSITIVE
    own_suppressions_only: bool = False

    def override(self, **flags: Any) -> Config:
        """Return this configuration, overridden by the flags that are neither None nor empty.

        Raises AnalyzeError C004 for an unknown context policy.
        """
        context = flags.get("context")
        if context is not None and context not in NAMES:
            raise AnalyzeError("C004", f"unknown context policy '{context}'", help=suggest(context, list(NAMES)))
        return replace(self, **{name: value for name, value in flags.items() if value not in (None, ())})


def _check_choice(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        return "" if value in choices else f"expected one of {', '.join(choices)}"

    return check


def _check_choices(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        ok = isinstance(value, list) and all(item in choices for item in value)
        return "" if ok else f"expected a list of {', '.join(choices)}"

    return check


def _check_strings(value: Any) -> str:
    ok = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return "" if ok else "expected a list of strings"


def _check_count(value: Any) -> str:
    ok = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return "" if ok else "expected a positive integer"


def _check_flag(value: Any) -> str:
    return "" if isinstance(value, bool) else "expected true or false"


CHECKS: dict[str, Callable[[Any], str]] = {
    "rules": _check_strings,
    "tier": _check_choices(TIERS),
    "exclude": _check_strings,
    "fail_on": _check_choice(FAIL_ON),
    "fail_on_weakened": _check_choice(FAIL_ON),
    "format": _check_choice(FORMATS),
    "jobs": _check_count,
    "max_file_kb": _check_count,
    "include_vendored": _check_flag,
    "include_generated": _check_flag,
    "models": _check_strings,
    "rules_dir": _check_strings,
    "extract_timeout_s": _check_count,
    "context": _check_choice(NAMES),
    "own_suppressions_only": _check_flag,
}
KEYS = [field.name.replace("_", "-") for field in fields(Config)]


def parse_config(text: str, file: str) -> Config | None:
    """Return the configuration that `file` holds, or None where a pyproject.toml has no `[tool.analyze]`.

    Raises AnalyzeError C001 (not TOML), C002 (unknown key) or C003 (bad value).
    """
    try:
        table: Any = tomllib.loads(text)
    except RecursionError:
        raise AnalyzeError("C001", "not valid TOML: nested too deeply", file=file) from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = int(line[1]) if line else len(text.splitlines())
        raise _error("C001", f"not valid TOML: {error}", file, text, where) from None
    for key in ("tool", "analyze") if file.endswith("pyproject.toml") else ():
        table = table.get(key)
        if table is None:
            return None
        if not isinstance(table, dict):
            raise _error("C003", f"bad value for '{key}': expected a table", file, text, _line_of(text, key))
    settings: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in CHECKS or "_" in key:
            raise _error("C002", f"unknown key '{key}'", file, text, _line_of(text, key), suggest(key, KEYS))
        if problem := CHECKS[name](value):
            raise _error("C003", f"bad value for '{key}': {problem}", file, text, _line_of(text, key))
        settings[name] = tuple(value) if isinstance(value, list) else value
    return Config(**settings)


def _line_of(text: str, key: str) -> int:
    """Return the line that sets `key` in the analyser's table, or 0."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*\[tool\.analyze", line)), 0)
    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.\]]|\s*\[.*\b{re.escape(key)}\b""")
    return next((i + 1 for i in range(start, len(lines)) if pattern.match(lines[i])), 0)


def _error(code: str, message: str, file: str, text: str, line: int, help: str = "") -> AnalyzeError:
    lines = text.splitlines()
    source = lines[line - 1] if 0 < line <= len(lines) else ""
    return AnalyzeError(code, message, file=file, line=line, source=source, help=help)
