"""The pipeline in order: a tree of files → facts → rules → findings → a report."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import facts
from analyzer.collect import Collected, Progress, collect, silent
from analyzer.config import Config, parse_config
from analyzer.errors import AnalyzeError
from analyzer.findings import CallCoverage, Findings, call_coverage
from analyzer.present import present
from analyzer.report import Coverage, Finding, Problem, Report, Suppression
from analyzer.rulebook import Rulebook, build_rulebook, files_in_tree, files_on_disk
from analyzer.state import StateDirectory, write_atomically
from analyzer.suppress import judged, parse_suppression
from analyzer.texts import Texts
from analyzer.trees import GitTree, Tree, WorkingTree, find_upwards


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What a user asked for on the command line; `flags` override the configuration of the scanned tree."""

    path: Path
    revision: str | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[Path, ...] = ()
    rules_dirs: tuple[Path, ...] = ()

    @classmethod
    def from_flags(cls, path: Path, revision: str | None, flags: Mapping[str, Any]) -> ScanRequest:
        """Take apart the options that commands share; lists may be given as repeated options or with commas."""
        rest = dict(flags)
        models, rules_dirs = rest.pop("models", ()), rest.pop("rules_dir", ())
        rest["rules"] = tuple(
            part.strip() for item in rest.get("rules", ()) for part in item.split(",") if part.strip()
        )
        return cls(path, revision, rest, tuple(models), tuple(rules_dirs))


@dataclass(slots=True)
class ScanResult:
    """A report, the configuration it was made under, and what it cost. Costs are in no report."""

    report: Report
    config: Config
    phases_s: dict[str, float] = field(default_factory=dict)
    strata: list[Any] = field(default_factory=list)
    extracted: int = 0

    @property
    def elapsed_s(self) -> float:
        return sum(self.phases_s.values())


def scan(request: ScanRequest, progress: Progress = silent) -> ScanResult:
    """Scan a working tree, or a commit where the request names one. Raises AnalyzeError."""
    tree = open_tree(request.path, request.revision)
    try:
        return scan_tree(tree, request, progress)
    finally:
        tree.close()


def open_tree(path: Path, revision: str | None) -> Tree:
    """Return the working tree at `path`, or a commit of its repository. Raises AnalyzeError."""
    return WorkingTree(path) if revision is None else GitTree.at(path, revision)


def default_jobs() -> int:
    return len(os.sched_getaffinity(0))


def scan_tree(
    tree: Tree, request: ScanRequest, progress: Progress = silent, only: Collection[str] | None = None
) -> ScanResult:
    """Scan any tree. With `only`, paths from the repository's top, the report speaks of these files alone."""
    from analyzer.program import compile_rulebook, evaluate_program

    clock = Clock()
    config = load_config(tree).override(**request.flags)
    jobs = config.jobs or default_jobs()
    state = StateDirectory()
    try:
        with clock("rules"):
            book = load_rulebook(tree, config, request)
            program = compile_rulebook(book, state.path)
        with clock("facts"):
            collected = collect(tree, config, state.path, jobs, progress)
            mounted = facts.mount((source.path, found) for source, found in collected.files)
        progress("Evaluating rules", 0, None)
        with clock("analysis"):
            result = evaluate_program(program, mounted, jobs)
        with clock("report"):
            texts = Texts(tree)
            found = Findings(result, book.checks, texts).collect()
            report = assemble(tree, texts, state, book, collected, found, call_coverage(result), only)
    finally:
        state.close()
    return ScanResult(report, config, clock.phases_s, result.statistics, collected.extracted)


class Clock:
    """Seconds by phase, in the order in which phases first began."""

    def __init__(self) -> None:
        self.phases_s: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.phases_s[phase] = self.phases_s.get(phase, 0.0) + time.perf_counter() - started


def load_config(tree: Tree) -> Config:
    """Return the configuration nearest to the scanned directory; `.analyze.toml` comes before `pyproject.toml`."""
    for name in (".analyze.toml", "pyproject.toml"):
        if found := find_upwards(tree, name):
            path, data = found
            try:
                config = parse_config(data.decode("utf-8-sig"), path)
            except UnicodeDecodeError:
                raise AnalyzeError("C001", "not valid TOML: it is not UTF-8", file=path) from None
            if config:
                return config
    return Config()


def load_rulebook(tree: Tree, config: Config, request: ScanRequest) -> Rulebook:
    user_files = files_in_tree(tree, config.models, config.rules_dir)
    user_files += files_on_disk(request.models, request.rules_dirs)
    return build_rulebook(user_files, config.rules)


def assemble(
    tree: Tree,
    texts: Texts,
    state: StateDirectory,
    book: Rulebook,
    collected: Collected,
    findings: Sequence[Finding],
    calls: CallCoverage,
    only: Collection[str] | None,
) -> Report:
    """Return the report of what was found and what was looked at."""

    def concerns(path: str) -> bool:
        return only is None or not path or tree.prefix + path in only

    ran = {check.id for check in book.checks}
    suppressions = [item for item in read_suppressions(collected) if concerns(item.file)]
    presented = present((finding for finding in findings if concerns(finding.place.file)), suppressions, texts)
    problems = [*book.problems, *(problem for problem in collected.problems if concerns(problem.file))]
    if state.warning:
        problems.append(Problem(state.warning, level="warning"))
    if not collected.files:
        problems.append(Problem("no file in a supported language was found", level="warning"))
    return Report(
        target=tree.target,
        revision=tree.revision,
        prefix=tree.prefix,
        checks=tuple(book.checks),
        findings=presented.findings,
        coverage=file_coverage(collected, calls, concerns),
        files=tuple(source for source, _ in collected.files),
        problems=tuple(problems),
        unused_suppressions=tuple(item for item in presented.unused if judged(item, ran, book.known)),
    )


def read_suppressions(collected: Collected) -> list[Suppression]:
    """Return the suppressions in the comments of all files, in order of files and lines."""
    found = []
    for source, file_facts in collected.files:
        rows = file_facts.relations.get("directive_comment")
        for line, text in sorted(rows.T.tolist()) if rows is not None else ():
            suppression = parse_suppression(source.path, line, file_facts.symbols[text])
            if suppression:
                found.append(suppression)
    return found


def file_coverage(collected: Collected, calls: CallCoverage, concerns: Callable[[str], bool]) -> Coverage:
    unparsed = {source.path: tuple(found.unparsed_lines) for source, found in collected.files if found.unparsed_lines}
    return Coverage(
        parsed=len(collected.files) - len(unparsed),
        lines=sum(source.lines for source, _ in collected.files),
        languages=Counter(source.language for source, _ in collected.files),
        unparsed={path: lines for path, lines in unparsed.items() if concerns(path)},
        skipped={reason: tuple(paths) for reason, paths in sorted(collected.skipped.items())},
        calls_resolved=calls.resolved,
        calls_by_name=calls.by_name,
        calls_unresolved=calls.unresolved,
    )


def save_statistics(result: ScanResult, path: Path) -> None:
    """Write what the scan cost as JSON: seconds by phase; seconds, rows and peak bytes by stratum and rule.

    Raises AnalyzeError A003.
    """
    document = {
        "phases_s": result.phases_s,
        "files": result.report.coverage.files,
        "files_extracted": result.extracted,
        "lines": result.report.coverage.lines,
        "strata": [asdict(stratum) for stratum in result.strata],
    }
    try:
        write_atomically(path, (json.dumps(document, indent=2) + "\n").encode())
    except OSError as error:
        raise AnalyzeError("A003", f"cannot write {path}: {error.strerror}") from None
