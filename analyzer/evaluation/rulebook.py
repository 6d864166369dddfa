"""The Datalog sources of a scan: the bundled library and models, the user's, and the selected checks.

Rules found in a scanned tree are not trusted: they may not name files, and an invalid one disables only itself.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

import engine
import facts
from analyzer.configuration.advice import kinds_read, other_ids, unread_kinds
from analyzer.errors import AnalyzeError, suggest
from analyzer.evaluation.rule_sources import bundled, fact_schema, own
from analyzer.report import Check, Problem
from analyzer.sources.trees import Tree, upwards
from rules import catalogue

USER_DIRECTORY = ".analyze"
N_CHECKS_KEPT = 1024
"""Checks whose metadata a process keeps, those of the user's in all their versions."""


@dataclass(slots=True)
class Rulebook:
    """Sources to compile, and the checks among them by source. `user` names the sources that are not bundled.

    `languages` are those that the checks cover: the languages of their examples, or all for a check without examples.
    """

    sources: list[engine.Source] = field(default_factory=list)
    by_source: dict[str, Check] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    user: set[str] = field(default_factory=set)
    languages: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    @property
    def checks(self) -> list[Check]:
        """The checks that run, by id."""
        return sorted(self.by_source.values(), key=lambda check: check.id)

    @property
    def analysis(self) -> list[engine.Source]:
        """The sources without checks."""
        return [source for source in self.sources if source.name not in self.by_source]

    def policies(self, default: str) -> list[str]:
        """Return the default context policy, then those that checks request."""
        return list(dict.fromkeys([default, *(check.context or default for check in self.checks)]))

    def warn(self, message: str) -> None:
        self.problems.append(Problem(message, level="warning"))

    def add_own(self, name: str, text: str) -> None:
        """Add a source of the user."""
        self.sources.append(own(name, text, {source.module for source in self.sources}))
        self.user.add(name)

    def leave_out(self, names: set[str]) -> None:
        """Remove sources, and the checks among them."""
        self.sources = [source for source in self.sources if source.name not in names]
        self.by_source = {name: check for name, check in self.by_source.items() if name not in names}
        self.user -= names


@dataclass(frozen=True, slots=True)
class UserFile:
    """A rule or model file that is not bundled; `help` is the check's Markdown page."""

    name: str
    text: str
    is_check: bool
    help: str = ""


def build_rulebook(user_files: Iterable[UserFile], selectors: Sequence[str], tiers: Collection[str] = ()) -> Rulebook:
    """Return the sources of the library, all models and the selected checks of the default tier and `tiers`.

    Raises AnalyzeError R002 (selector).
    """
    book = Rulebook()
    book.sources += [fact_schema(), *map(bundled, (*catalogue.library(), *catalogue.models()))]
    checks = list(catalogue.checks())
    user_files = list(user_files)
    for file in user_files:
        if file.is_check:
            checks += _read_user_check(file, {check.id for check in checks}, book)
        else:
            book.add_own(file.name, file.text)
    book.known = {check.id for check in checks}
    read = kinds_read(check.file.text for check in checks)
    for file in user_files:
        book.problems += unread_kinds(file.name, file.text, read)
    for check in select(checks, selectors, tiers):
        if check.file.name in book.user:
            book.add_own(check.file.name, check.file.text)
        else:
            book.sources.append(bundled(check.file))
        book.by_source[check.file.name] = as_report_check(check)
        book.languages.update(book.by_source[check.file.name].languages)
    return book


def _languages(check: catalogue.Check) -> set[str]:
    """Return the languages that a check looks at: those of its examples, all without one; templates are one.

    A check of scripts looks at files that hold some.
    """
    found = facts.LANGUAGES.keys() & check.languages or set(facts.LANGUAGES)
    templates = {name for name, language in facts.LANGUAGES.items() if language.is_template}
    found |= templates if found & templates else set()
    return found | {name for name, language in facts.LANGUAGES.items() if language.holds & found}


def _read_user_check(file: UserFile, taken: set[str], book: Rulebook) -> list[catalogue.Check]:
    """Return the check, or nothing after recording the reason. Its id must not be `taken`."""
    try:
        check = catalogue.read_check(file.name, file.text, file.help)
        if check.id in taken:
            raise catalogue.HeaderError(f"another check has the id '{check.id}'", 1)
    except catalogue.HeaderError as error:
        line = (file.text.splitlines() or [""])[error.line - 1]
        book.problems.append(Problem(f"check left out: {error}", file.name, error.line, code=line, help=error.help))
        return []
    book.user.add(file.name)
    book.problems += other_ids(file.name, file.text, check.id)
    return [check]


@lru_cache(N_CHECKS_KEPT)
def as_report_check(check: catalogue.Check) -> Check:
    return Check(
        id=check.id, name=check.name, severity=check.severity, precision=check.precision, message=check.message,
        help=check.help, summary=check.summary, cwe=check.cwe, security_severity=check.security_severity,
        tags=check.tags, context=check.context, tier=check.tier, max_calls=check.max_calls,
        max_returns=check.max_returns, calls_down=check.calls_down, also=check.also,
        languages=tuple(sorted(_languages(check))),
    )  # fmt: skip


def select(
    checks: Sequence[catalogue.Check], selectors: Sequence[str], tiers: Collection[str] = catalogue.TIERS
) -> list[catalogue.Check]:
    """Return the checks that some selector matches and no `-selector` does; without positive selectors, all others.

    Checks are of the default tier or of `tiers`, but for those selected by their ids.
    Raises AnalyzeError R002 for a selector that matches no check.
    """
    wanted = [selector for selector in selectors if not selector.startswith("-")]
    unwanted = [selector[1:] for selector in selectors if selector.startswith("-")]
    for selector in (*wanted, *unwanted):
        if not any(fits(check, selector) for check in checks):
            help = suggest(selector, [check.id for check in checks])
            raise AnalyzeError("R002", f"no check matches the selector '{selector}'", help=help)
    chosen = [
        check
        for check in checks
        if check.id in wanted
        or check.tier in ("default", *tiers)
        and (not wanted or any(fits(check, selector) for selector in wanted))
    ]
    return [check for check in chosen if not any(fits(check, selector) for selector in unwanted)]


def fits(check: catalogue.Check, selector: str) -> bool:
    """Return True if a selector (id or pattern, tag, `cwe-N`, `severity:NAME`, `tier:NAME`) matches the check."""
    words = {
        *check.tags,
        f"severity:{check.severity}",
        f"tier:{check.tier}",
        *(f"cwe-{number}" for number in check.cwe),
    }
    return selector in words or fnmatchcase(check.id, selector)


def files_in_tree(tree: Tree, models: Sequence[str], rules_dirs: Sequence[str]) -> list[UserFile]:
    """Return the rules and models of the scanned tree. Raises AnalyzeError R003 where one cannot be read."""
    return [_tree_file(tree, name, is_check) for name, is_check in names_in_tree(tree, models, rules_dirs)]


def names_in_tree(tree: Tree, models: Sequence[str], rules_dirs: Sequence[str]) -> list[tuple[str, bool]]:
    """Return (path, is a check) of all files in `.analyze/`, there and upwards, and in configured paths."""
    found: list[tuple[str, bool]] = []
    for directory in upwards(tree.prefix):
        base = posixpath.join(directory, USER_DIRECTORY)
        found += _tree_directory(tree, f"{base}/rules", True) + _tree_directory(tree, f"{base}/models", False)
    for path in models:
        found += [(path, False)] if path.endswith(".dl") else _tree_directory(tree, path, False)
    for path in rules_dirs:
        found += _tree_directory(tree, path, True)
    return found


def _tree_directory(tree: Tree, directory: str, is_check: bool) -> list[tuple[str, bool]]:
    try:
        names = tree.list_top(directory.rstrip("/"))
    except OSError as error:
        raise _unreadable(directory, error) from None
    return [(name, is_check) for name in names if name.endswith(".dl")]


def _unreadable(name: str, error: OSError) -> AnalyzeError:
    return AnalyzeError(
        "R003", f"cannot read {name}: {error.strerror or error}", help="--models and --rules-dir take any path"
    )


def _tree_file(tree: Tree, name: str, is_check: bool) -> UserFile:
    """Raises AnalyzeError R003 where the file cannot be read."""
    if name.startswith("/") or ".." in name.split("/"):
        raise AnalyzeError("R003", f"{name} lies outside the scanned repository", help="use --models or --rules-dir")
    try:
        text = tree.read_top(name).decode("utf-8", "replace")
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        page = tree.read_top(name.removesuffix(".dl") + ".md").decode("utf-8", "replace")
    except OSError:
        page = ""
    return UserFile(name, text, is_check, page)


def files_on_disk(models: Iterable[Path], rules_dirs: Iterable[Path]) -> list[UserFile]:
    """Return the rules and models that the command line names. Raises AnalyzeError R003."""
    found = [_disk_file(path, False) for given in models for path in _datalog_files(given)]
    return found + [_disk_file(path, True) for given in rules_dirs for path in _datalog_files(given)]


def files_given(models: Iterable[Path], rules_dirs: Iterable[Path]) -> list[UserFile]:
    """Return the files of `files_on_disk` with absolute names, unlike paths of a tree."""
    return [replace(file, name=os.path.abspath(file.name)) for file in files_on_disk(models, rules_dirs)]


def _datalog_files(given: Path) -> list[Path]:
    if given.is_dir():
        return sorted(given.rglob("*.dl"))
    if given.is_file():
        return [given]
    raise AnalyzeError("R003", f"no such file or directory: {given}")


def _disk_file(path: Path, is_check: bool) -> UserFile:
    page = path.with_suffix(".md")
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        help = page.read_text(encoding="utf-8", errors="replace") if is_check and page.is_file() else ""
    except OSError as error:
        raise AnalyzeError("R003", f"cannot read {path}: {error.strerror}") from None
    return UserFile(str(path), text, is_check, help)


def all_checks(rules_dirs: Iterable[Path] = ()) -> list[catalogue.Check]:
    """Return the bundled checks and those of `rules_dirs`, ordered by id. Raises AnalyzeError R004 (header)."""
    checks = list(catalogue.checks())
    for file in files_on_disk((), rules_dirs):
        try:
            checks.append(catalogue.read_check(file.name, file.text, file.help))
        except catalogue.HeaderError as error:
            raise AnalyzeError("R004", str(error), file=file.name, line=error.line, help=error.help) from None
    return sorted(checks, key=lambda check: check.id)


def find_check(check_id: str, rules_dirs: Iterable[Path] = ()) -> catalogue.Check:
    """Return the check of that id. Raises AnalyzeError R002."""
    checks = {check.id: check for check in all_checks(rules_dirs)}
    if check_id not in checks:
        raise AnalyzeError("R002", f"no check '{check_id}'", help=suggest(check_id, list(checks)))
    return checks[check_id]
