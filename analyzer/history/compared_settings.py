"""Settings of a tree, and the findings that a change of settings may lose.

Settings are a configuration, ignore files, rules and models. A change of them can hide findings, so a review uses
those of the base (`analyzer/history/ci.py`), and lists what the change would disable.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from analyzer.configuration.config import FAIL_ON, Config
from analyzer.evaluation.rulebook import Rulebook, UserFile, build_rulebook, files_given, files_in_tree, names_in_tree
from analyzer.extraction.discovery import IGNORE_FILE, discover
from analyzer.report import SEVERITIES, Check, Weakening
from analyzer.scan import CONFIG_FILES, ScanRequest, configured
from analyzer.sources.trees import GitTree, Tree, path_from_scanned, upwards

TAKES_AWAY = re.compile(r"\b(sanitizer\w*|guard_\w+|no_flow|\w*exempt\w*)\s*\(")
"""The relations of models that remove findings."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a tree: patterns by the ignore file that has them, rules and models by their names."""

    config: Config
    ignored: Mapping[str, tuple[str, ...]]
    files: Mapping[str, UserFile]
    book: Rulebook

    @classmethod
    def of(cls, tree: Tree, request: ScanRequest) -> Settings:
        """Return the settings of a tree. Raises AnalyzeError if they are invalid."""
        config = configured(tree, request)
        found = files_in_tree(tree, config.models, config.rules_dir)
        book = build_rulebook([*found, *files_given(request.models, request.rules_dirs)], config.rules, config.tier)
        return cls(config, dict(ignore_files(tree)), {path_from_scanned(tree, file.name): file for file in found}, book)

    def find_as(self, other: Settings) -> bool:
        """Return True if both settings give the same findings."""
        config, others = (
            replace(settings.config, jobs=0, format="", fail_on="", fail_on_weakened="") for settings in (self, other)
        )
        return (config, self.ignored, self.files) == (others, other.ignored, other.files)

    @property
    def checks(self) -> dict[str, Check]:
        return {check.id: check for check in self.book.checks}


def ignore_files(tree: Tree) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the path and the lines of each ignore file."""
    for entry in tree.entries():
        if entry.kind == "file" and posixpath.basename(entry.path) == IGNORE_FILE:
            with suppress(OSError):  # What cannot be read is not heeded, and the report says so.
                lines = tree.read(entry.path).decode("utf-8", "replace").splitlines()
                yield entry.path, tuple(line for line in lines if line.strip() and not line.startswith("#"))


def governed(tree: GitTree, judge: GitTree, config: Config) -> GitTree:
    """Return `tree` with the settings files of `judge`, whose configuration is `config`."""
    return tree.with_files_of(judge, governing_paths(tree, config) | governing_paths(judge, config))


def governing_paths(tree: GitTree, config: Config) -> set[str]:
    """Return the paths, from the repository's top, of all files that hold settings."""
    named = {name for name, _ in names_in_tree(tree, config.models, config.rules_dir)}
    pages = {name.removesuffix(".dl") + ".md" for name in named}
    configs = {posixpath.join(directory, name) for directory in upwards(tree.prefix) for name in CONFIG_FILES}
    ignore = {tree.prefix + entry.path for entry in tree.entries() if posixpath.basename(entry.path) == IGNORE_FILE}
    return named | pages | configs | ignore


def weakenings(old: Settings, new: Settings) -> list[Weakening]:
    """Return the weakenings visible in the new settings themselves."""
    return [
        *(Weakening("configuration", "warning", message) for message in weaker_keys(old.config, new.config)),
        *(Weakening("ignored", "warning", f"{file} leaves out '{line}'", file) for file, line in added(old, new)),
        *weaker_checks(old.checks, new.checks),
        *weaker_files(old.files, new.files),
    ]


def additions(old: Settings, new: Settings) -> list[str]:
    """Return the additions of new settings, as messages."""
    return [
        *(f"configuration: {message}" for message in weaker_keys(new.config, old.config, backwards=True)),
        *(f"{file} no longer leaves out '{line}'" for file, line in added(new, old)),
        *(f"the check {check} runs" for check in sorted(new.checks.keys() - old.checks.keys())),
    ]


def weaker_keys(old: Config, new: Config, *, backwards: bool = False) -> Iterator[str]:
    """Yield the changes of keys from `old` to `new` that report, analyse or fail less; `backwards` swaps them."""
    arrow = "{new} → {old}" if backwards else "{old} → {new}"
    for name in ("fail_on", "fail_on_weakened"):
        before, after = getattr(old, name), getattr(new, name)
        if FAIL_ON.index(after) > FAIL_ON.index(before):
            yield f"{_key(name)}: {arrow.format(old=before, new=after)}"
    for name in ("max_file_kb", "extract_timeout_s", "include_vendored", "include_generated", "own_suppressions_only"):
        before, after = getattr(old, name), getattr(new, name)
        if after < before:
            yield f"{_key(name)}: {arrow.format(old=_toml(before), new=_toml(after))}"
    for pattern in (Counter(new.exclude) - Counter(old.exclude)).elements():
        yield f"exclude {'no longer ' * backwards}leaves out '{pattern}'"


def _key(name: str) -> str:
    return name.replace("_", "-")


def _toml(value: object) -> str:
    return str(value).lower()


def added(old: Settings, new: Settings) -> Iterator[tuple[str, str]]:
    """Yield (file, pattern) for each pattern that the new ignore files add."""
    for file, lines in sorted(new.ignored.items()):
        yield from ((file, line) for line in (Counter(lines) - Counter(old.ignored.get(file, ()))).elements())


def weaker_checks(old: Mapping[str, Check], new: Mapping[str, Check]) -> Iterator[Weakening]:
    for id in sorted(old):
        if id not in new:
            yield Weakening("check", "warning", f"the check {id} no longer runs", rule=id)
        elif SEVERITIES.index(new[id].severity) < SEVERITIES.index(old[id].severity):
            message = f"the severity of {id}: {old[id].severity} → {new[id].severity}"
            yield Weakening("check", "warning", message, rule=id)


def weaker_files(old: Mapping[str, UserFile], new: Mapping[str, UserFile]) -> Iterator[Weakening]:
    """Yield changed rules and models: as a warning if one is gone, or a new line may remove findings; else a note."""
    for name in sorted(old.keys() | new.keys()):
        before, after = (files[name].text if name in files else "" for files in (old, new))
        if before == after:
            continue
        became = "is gone" if name not in new else "is changed" if name in old else "is added"
        lines = Counter(after.splitlines()) - Counter(before.splitlines())
        takes_away = name not in new or any(TAKES_AWAY.search(line) for line in lines)
        yield Weakening("rules", "warning" if takes_away else "note", f"{name} {became}", name)


def left_out(under_old: Tree, tree: Tree, old: Settings, new: Settings) -> Iterator[Weakening]:
    """Yield the files analysed under the old settings, those of `under_old`, but not under the new ones."""
    found = discover(tree, new.config)
    after = {path for path, _ in found.files}
    why = {path: reason for reason, paths in found.skipped.items() for path in paths}
    for path, _ in discover(under_old, old.config).files:
        if path not in after:
            yield Weakening("file", "warning", f"is left out: {why.get(path, 'it is not listed')}", path)
