"""Warnings about users' rules and settings that probably have no or another effect; the exit code is unaffected."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from analyzer.report import Problem
from analyzer.sources.trees import Tree

REPORTS = re.compile(r"(?:^|\.[ \t]+)(?:finding|suspect|taint_check)\(\s*\"([^\"\n]*)\"", re.MULTILINE)
SINK = r"sink_(?:argument|method|returned|attribute|index|first_element)"
SINKS = re.compile(rf"(?:^|\.[ \t]+){SINK}\(\s*\"([^\"\n]*)\"", re.MULTILINE)
READS = re.compile(r"\"([^\"\n]*)\"")
OWN_TABLE = re.compile(rb"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*analyze\b", re.MULTILINE)
RULES = re.compile(r"(?:^|/)\.analyze/(?:rules|models)/.+\.dl$")
LOADED = re.compile(r"\.analyze/(?:rules|models)/[^/]+\.dl$")
MAX_BYTES = 1 << 20
MAX_TOLD = 10


def other_ids(file: str, text: str, check: str) -> Iterator[Problem]:
    """Yield rules of a check's file that report under another id than its header's."""
    for match in REPORTS.finditer(text):
        if match[1] != check:
            help = f"report '{check}', or write '// @id {match[1]}'"
            yield _at(file, text, match, f"this reports '{match[1]}', but the header's @id is '{check}'", help)


def kinds_read(texts: Iterable[str]) -> set[str]:
    """Return all string literals of checks, any of which may be a kind that they read."""
    return {literal for text in texts for literal in READS.findall(text)}


def unread_kinds(file: str, text: str, read: Collection[str]) -> Iterator[Problem]:
    """Yield the sinks whose kind no check reads."""
    for match in SINKS.finditer(text):
        if match[1] not in read:
            near = get_close_matches(match[1], read, n=1)
            help = f"did you mean '{near[0]}'?" if near else f'write a check: taint_check("ID", "{match[1]}")'
            yield _at(file, text, match, f"no check reads the kind '{match[1]}'", help)


def _at(file: str, text: str, match: re.Match[str], message: str, help: str) -> Problem:
    begin = text.rfind("\n", 0, match.start(1)) + 1
    line, column = text.count("\n", 0, begin) + 1, match.start(1) - begin + 1
    code = text[begin:].split("\n", 1)[0]
    return Problem(message, file, line, "warning", column, column + max(1, len(match[1])), code, help)


def unheeded_settings(tree: Tree, paths: Iterable[str], configured: Collection[str]) -> Iterator[Problem]:
    """Yield settings, rules and models without effect: below the scanned directory, and not configured."""
    within = tuple(path.rstrip("/") + "/" for path in configured)
    named = {*configured}
    found = [
        path
        for path in paths
        if _is_unheeded(tree, path) and not (tree.prefix + path in named or (tree.prefix + path).startswith(within))
    ]
    for path in found[:MAX_TOLD]:
        yield Problem("ignored: it lies below the scanned directory", path, level="warning", help=_way(path))
    if found[MAX_TOLD:]:
        yield Problem(f"{len(found) - MAX_TOLD} more files with settings or rules are ignored", level="warning")


def _is_unheeded(tree: Tree, path: str) -> bool:
    directory, name = posixpath.split(path)
    if RULES.search(path):
        return not LOADED.match(path)
    if not directory or name not in (".analyze.toml", "pyproject.toml"):
        return False
    if name == ".analyze.toml":
        return True
    try:
        return bool(OWN_TABLE.search(tree.read(path)[:MAX_BYTES]))
    except OSError:
        return False


def _way(path: str) -> str:
    if RULES.search(path):
        return "name its directory in the configuration: rules-dir = […], models = […]"
    return f"move its contents to the scanned directory, or scan {posixpath.dirname(path)} separately"
