"""The files of a commit and their status, from git's objects; only changed files are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import facts
from analyzer.configuration.config import Config
from analyzer.extraction.collect_facts import Gathered, key_of
from analyzer.extraction.discovery import Discovery, discover
from analyzer.report import Problem, SourceFile
from analyzer.sources.trees import NamedTree

Modules = tuple[tuple[str, tuple[tuple[int, str], ...]], ...]
"""The modules of a file: the language of each, and its imports as (level, name)."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The status of a file: it has facts (`source`, its modules, its number of entities), or was left out.

    `object` is its blob hash.
    """

    object: str
    source: SourceFile | None = None
    modules: Modules = ()
    n_entities: int = 0
    skipped: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Snapshot:
    """The files of a commit that an extractor reads, ordered by path; `found` has those left out.

    `n_directories` counts the directories that are modules without a file of their own.
    """

    commit: str
    found: Discovery
    looked: dict[str, Looked] = field(default_factory=dict)
    n_directories: int = 0

    @property
    def n_entities(self) -> int:
        return self.n_directories + sum(looked.n_entities for looked in self.looked.values())

    @property
    def objects(self) -> dict[str, str]:
        return {path: looked.object for path, looked in self.looked.items()}

    @property
    def files(self) -> list[SourceFile]:
        return [looked.source for looked in self.looked.values() if looked.source]

    @property
    def modules(self) -> dict[str, Modules]:
        """Return the modules of files by path."""
        return {path: looked.modules for path, looked in self.looked.items() if looked.source}

    @property
    def skipped(self) -> dict[str, list[str]]:
        skipped = {reason: list(paths) for reason, paths in self.found.skipped.items()}
        for path, looked in self.looked.items():
            if looked.skipped:
                skipped.setdefault(looked.skipped, []).append(path)
        return skipped

    @property
    def problems(self) -> list[Problem]:
        """Problems in the order of a scan: of listing, of reading, of extraction."""
        listed = [problem for looked in self.looked.values() for problem in looked.problems]
        unread = [problem for problem in listed if not problem.message.startswith("no facts: ")]
        return [*self.found.problems, *unread, *(problem for problem in listed if problem not in unread)]


@dataclass(slots=True)
class Change:
    """The files to read for an update from one snapshot to the next, as (path, language).

    `gone` had facts in the old one; `come` may have facts in the new one.
    """

    gone: list[tuple[str, str]]
    come: list[tuple[str, str]]


def plan(tree: NamedTree, config: Config, old: Snapshot | None) -> tuple[Snapshot, Change]:
    """Return the snapshot of a commit, with known files taken from `old`, and the files to read.

    A file is known if git has the same object for its path and it was read without a problem.
    """
    found = discover(tree, config)
    new = Snapshot(tree.revision, found)
    known: Mapping[str, Looked] = old.looked if old else {}
    come = []
    for path, language in found.files:
        before, name = known.get(path), tree.object(path)
        if before and before.object == name and not before.problems:
            new.looked[path] = before
        else:
            new.looked[path] = Looked(name)
            come.append((path, language))
    kept = {path for path, looked in new.looked.items() if known.get(path) is looked}
    gone = [(path, looked.source.language) for path, looked in known.items() if looked.source and path not in kept]
    return new, Change(gone, come)


def enter(snapshot: Snapshot, come: Iterable[tuple[str, str]], gathered: Gathered) -> None:
    """Record the status of the files that were read."""
    sources = {source.path: source for source in gathered.files}
    problems: dict[str, list[Problem]] = defaultdict(list)
    for problem in gathered.problems:
        problems[problem.file].append(problem)
    for path, _ in come:
        source = sources.get(path)
        extracted = gathered.facts[key_of(source)] if source else None
        snapshot.looked[path] = Looked(
            snapshot.looked[path].object,
            source,
            _settled(facts.modules_of(extracted)) if extracted else (),
            extracted.entities.shape[1] if extracted else 0,
            gathered.skipped.get(path, ""),
            tuple(problems[path]),
        )


def recorded(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot as plain data, without the files left out by name, which are discovered again."""
    looked = {path: asdict(looked) for path, looked in snapshot.looked.items()}
    return {"commit": snapshot.commit, "looked": looked}


def restored(record: Mapping[str, Any]) -> Snapshot:
    """Return the snapshot that `recorded` stored."""
    snapshot = Snapshot(record["commit"], Discovery())
    for path, looked in record["looked"].items():
        source = SourceFile(**looked["source"]) if looked["source"] else None
        problems = tuple(Problem(**problem | {"places": ()}) for problem in looked["problems"])
        more = {"source": source, "modules": _settled(looked["modules"]), "problems": problems}
        snapshot.looked[path] = Looked(**looked | more)
    return snapshot


def _settled(modules: Iterable[tuple[str, Iterable[tuple[int, str]]]]) -> Modules:
    """Return modules as they are compared: a list that was read from JSON is a tuple."""
    return tuple((language, tuple((level, name) for level, name in imports)) for language, imports in modules)
