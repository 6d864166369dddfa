"""Collect the facts of a tree's files: from the cache, or by extraction in worker processes."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import facts
from analyzer.configuration.config import Config
from analyzer.errors import AnalyzeError
from analyzer.extraction.cache_locks import Claims
from analyzer.extraction.discovery import (
    discover,
    is_binary,
    is_bundled,
    is_editor_part,
    is_minified,
    is_released,
    size_reason,
)
from analyzer.extraction.fact_cache import FactCache
from analyzer.extraction.machine import Machine
from analyzer.extraction.pool import Task
from analyzer.report import Problem, SourceFile
from analyzer.sources.git import blob_hash
from analyzer.sources.trees import Tree
from facts import FileFacts

NO_TIME = "no facts: the scan timed out"

Progress = Callable[[str, int, int | None], None]


def silent(phase: str, done: int, total: int | None) -> None:
    """Ignore progress: `done` of `total` units of `phase` are finished."""


@dataclass(slots=True)
class Collected:
    """`files` ordered by path, and their facts; `extracted` counts the blobs that were not found in the cache."""

    files: list[SourceFile]
    mounted: facts.Mounted
    skipped: dict[str, list[str]]
    problems: list[Problem]
    extracted: int = 0


@dataclass(slots=True)
class Gathered:
    """The files of a list that have facts, in its order, with their facts.

    The others are in `skipped`, which maps a path to the reason, or in `problems`.
    """

    files: list[SourceFile]
    facts: dict[tuple[str, str], FileFacts]
    skipped: dict[str, str]
    problems: list[Problem]
    extracted: int = 0

    def by_path(self) -> Iterator[tuple[str, FileFacts]]:
        return ((source.path, self.facts[key_of(source)]) for source in self.files)


def collect(tree: Tree, config: Config, directory: Path, machine: Machine, progress: Progress = silent) -> Collected:
    """Return the facts of every file of `tree` to analyse, and the skipped files."""
    found = discover(tree, config)
    gathered = gather(tree, found.files, config, directory, machine, progress)
    for path, reason in gathered.skipped.items():
        found.skip(reason, path)
    problems = found.problems + gathered.problems
    return Collected(gathered.files, facts.mount(gathered.by_path()), found.skipped, problems, gathered.extracted)


def gather(
    tree: Tree,
    files: Sequence[tuple[str, str]],
    config: Config,
    directory: Path,
    machine: Machine,
    progress: Progress = silent,
    cache: FactCache | None = None,
) -> Gathered:
    """Return the facts of these files of `tree`: (path, language). Raises AnalyzeError S002.

    Facts are kept in the state directory, or in a `cache` of the caller's own.
    """
    cache = cache or FactCache(directory, facts.version())
    return _Gatherer(tree, files, config, directory, progress, cache).run(machine)


@dataclass(slots=True)
class _Gatherer:
    tree: Tree
    files: Sequence[tuple[str, str]]
    config: Config
    directory: Path
    progress: Progress
    cache: FactCache
    claims: Claims = field(init=False)
    sources: list[SourceFile] = field(default_factory=list)
    facts: dict[tuple[str, str], FileFacts] = field(default_factory=dict)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    put_off: list[Task] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def run(self, machine: Machine) -> Gathered:
        self.claims = Claims(self.directory)
        try:
            extracted = self.extract(machine, self.missing(machine)) + self.extract(machine, self.left_by_others())
        except ChildProcessError as error:
            raise AnalyzeError("S002", f"facts cannot be extracted: {error}", help="run 'analyze doctor'") from None
        finally:
            self.claims.close()
        self.progress("Reading files", len(self.files), len(self.files))
        if n := self.cache.n_damaged:
            entries = "1 entry" if n == 1 else f"{n} entries"
            damage = f"facts in {self.directory} were damaged ({entries}); extracted anew"
            self.problems.append(Problem(damage, level="warning"))
        return Gathered(self.analysed(), self.facts, self.skipped, self.problems, extracted)

    def extract(self, machine: Machine, tasks: Iterator[Task]) -> int:
        """Extract the tasks and return their number. This process writes the cache; workers do not."""
        n_extracted = 0
        with (
            ThreadPoolExecutor(1) as saving,
            closing(machine.extract(tasks, self.config.extract_timeout_s)) as outcomes,
        ):
            for outcome in outcomes:
                n_extracted += 1
                if outcome.error:
                    self.failed[outcome.key] = outcome.error
                    self.claims.release(outcome.key)
                else:
                    saving.submit(self.save, outcome.key, outcome.value)
                    self.facts[outcome.key] = facts.load(outcome.value)
        return n_extracted

    def save(self, key: tuple[str, str], payload: bytes) -> None:
        """Cache facts if possible, and release the claim on them."""
        with suppress(OSError):
            self.cache.save(*key, payload)
        self.claims.release(key)

    def missing(self, machine: Machine) -> Iterator[Task]:
        """Read every file, load cached facts, and yield the rest as tasks, equal content once.

        Content that other processes are extracting is put off. When time is up, the remaining files have no facts.
        """
        asked = set()
        for number, (path, language) in enumerate(self.files):
            self.progress("Reading files", number, len(self.files))
            if not machine.left_s:
                self.problems += [Problem(NO_TIME, file=path) for path, _ in self.files[number:]]
                return
            data = self.read(path, language)
            if data is None:
                continue
            source = SourceFile(path, language, blob_hash(data), data.count(b"\n") + (not data.endswith(b"\n")))
            self.sources.append(source)
            key = key_of(source)
            if key in asked:
                continue
            asked.add(key)
            if self.cached(key):
                continue
            task = Task(key, (language, data), len(data))
            if not self.claims.claim(key):
                self.put_off.append(task)
            elif not self.cached(key):  # Whoever had claimed it may have made it since.
                yield task
            else:
                self.claims.release(key)

    def left_by_others(self) -> Iterator[Task]:
        """Wait for content that other processes were extracting, and yield as tasks what they did not finish."""
        for task in self.put_off:
            self.claims.wait(task.key)
            if not self.cached(task.key):
                yield task

    def cached(self, key: tuple[str, str]) -> bool:
        """Load facts from the cache. Return True if it has them."""
        payload = self.cache.load(*key)
        if payload:
            self.facts[key] = facts.load(payload)
        return bool(payload)

    def read(self, path: str, language: str) -> bytes | None:
        """Return the bytes of a file, or None after recording the reason."""
        try:
            data = self.tree.read(path)
        except OSError as error:
            if error.errno == errno.EFBIG:
                self.skipped[path] = size_reason(self.config)
                return None
            self.problems.append(Problem(f"cannot be read: {error.strerror or error}", file=path))
            return None
        if len(data) > self.config.max_file_kb * 1024:
            self.skipped[path] = size_reason(self.config)
        elif is_binary(data):
            self.skipped[path] = "binary"
        elif is_minified(path, data):
            self.skipped[path] = "minified"
        elif is_bundled(path, data):
            self.skipped[path] = "bundled"
        elif not self.config.include_vendored and (is_released(path, data) or is_editor_part(path, data)):
            self.skipped[path] = "vendored"
        elif (content := facts.other_content(data, language)) is not None:
            self.skipped[path] = content
        else:
            return data
        return None

    def analysed(self) -> list[SourceFile]:
        """Return the files that have facts; for the others, the reason is recorded."""
        for source in self.sources:
            if error := self.failed.get(key_of(source)):
                self.problems.append(Problem(f"no facts: {error}", file=source.path))
        return [source for source in self.sources if key_of(source) in self.facts]


def key_of(source: SourceFile) -> tuple[str, str]:
    """Return the cache key of a file's facts."""
    return source.language, source.blob
