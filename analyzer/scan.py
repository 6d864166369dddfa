"""The pipeline of a scan: a tree of files → facts → rules → findings → a report."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.cache_entries import write_atomically
from analyzer.configuration.config import Config, parse_config
from analyzer.context_policies import INSENSITIVE, ContextCosts
from analyzer.errors import INSTALL_SPARK, AnalyzeError
from analyzer.evaluation.line_query import Question
from analyzer.evaluation.rulebook import Rulebook, build_rulebook, files_given, files_in_tree
from analyzer.evaluation.scan_limits import Limits, leaving_out
from analyzer.extraction.collect_facts import Progress, collect, silent
from analyzer.extraction.machine import READ, Machine, ThisMachine
from analyzer.findings.assemble_report import assemble
from analyzer.findings.source_texts import Texts
from analyzer.report import Problem, Report
from analyzer.sources.trees import GitTree, SeveralPaths, Tree, WorkingTree, common_directory, find_upwards
from analyzer.state_directory import StateDirectory
from engine import compiling_kernels
from engine.operating_system import n_cores

if TYPE_CHECKING:
    import engine
    import facts

SHARED_CONFIG = "pyproject.toml"
"""It has settings of other tools, too: errors in it are ours only if it has our table."""
OURS = re.compile(rb"\btool\b[^\n]*\banalyze\b|^\s*\[\s*[\"']?tool[\"']?\s*\]|^\s*[\"']?tool[\"']?\s*=", re.MULTILINE)
"""Matches every file with a table `tool.analyze`, in any TOML spelling."""
CONFIG_FILES = (".analyze.toml", SHARED_CONFIG)
"""Configuration files of a tree; the first takes precedence."""


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """The user's request; `flags` override the configuration of the scanned tree.

    The paths in `beside` are scanned together with `path`. `config` replaces that of the tree. `master` is the Spark
    master to scan on (None: this machine), `conf` its settings. A `question` restricts the findings to one line.
    `limits` bound the scan's resources.
    """

    path: Path
    revision: str | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[Path, ...] = ()
    rules_dirs: tuple[Path, ...] = ()
    master: str | None = None
    question: Question | None = None
    config: Config | None = None
    limits: Limits = Limits()
    conf: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[Path, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, *self.beside)

    @classmethod
    def from_flags(cls, path: Path, revision: str | None, flags: Mapping[str, Any]) -> ScanRequest:
        """Parse the options that commands share; lists may be given as repeated options or with commas."""
        rest = dict(flags)
        at, beside = rest.pop("at", None), rest.pop("beside", ())
        target = common_directory((path, *beside)) if beside else path
        question = Question.parse(at, target) if at is not None else None
        models, rules_dirs, master = rest.pop("models", ()), rest.pop("rules_dir", ()), rest.pop("master", None)
        conf = rest.pop("conf", {})
        given = {name: rest.pop(name, None) for name in ("rule_rows", "rule_s", "timeout_s", "memory_bytes")}
        limits = Limits(**{name: value for name, value in given.items() if value is not None})
        rest["rules"] = tuple(
            part.strip() for item in rest.get("rules", ()) for part in item.split(",") if part.strip()
        )
        config = None
        if (file := rest.pop("config", None)) is not None:
            config = read_config(file)
            models = (*models, *(file.parent / name for name in config.models))
            rules_dirs = (*rules_dirs, *(file.parent / name for name in config.rules_dir))
            config = replace(config, models=(), rules_dir=())
        files = tuple(models), tuple(rules_dirs)
        return cls(path, revision, rest, *files, master, question, config, limits, conf, beside)


@dataclass(slots=True)
class ScanResult:
    """A report, its configuration, and the costs of the scan, which are not part of the report."""

    report: Report
    config: Config
    phases_s: dict[str, float] = field(default_factory=dict)
    strata: list[Any] = field(default_factory=list)
    extracted: int = 0
    contexts: list[ContextCosts] = field(default_factory=list)

    @property
    def elapsed_s(self) -> float:
        return sum(self.phases_s.values())


def scan(request: ScanRequest, progress: Progress = silent) -> ScanResult:
    """Scan a working tree, or a commit where the request names one. Raises AnalyzeError."""
    tree = SeveralPaths(request.paths) if request.beside else open_tree(request.path, request.revision)
    try:
        return scan_tree(tree, request, progress)
    finally:
        tree.close()


def open_tree(path: Path, revision: str | None) -> Tree:
    """Return the working tree at `path`, or a commit of its repository. Raises AnalyzeError."""
    return WorkingTree(path) if revision is None else GitTree.at(path, revision)


@contextmanager
def machine_for(request: ScanRequest, config: Config, ends_s: float | None) -> Iterator[Machine]:
    """Yield the machine to work on: this one, or a Spark cluster if the request names a master."""
    if request.master is None:
        jobs = config.jobs or n_cores()
        with compiling_kernels(jobs):
            yield ThisMachine(jobs, ends_s)
        return
    try:
        from analyzer.batch.cluster_machine import cluster
    except ImportError as error:
        raise AnalyzeError("A004", f"Spark needs {error.name}", help=INSTALL_SPARK) from None
    with cluster(request.master, request.conf) as machine:
        yield machine


def scan_tree(
    tree: Tree, request: ScanRequest, progress: Progress = silent, only: Collection[str] | None = None
) -> ScanResult:
    """Scan any tree. With `only`, paths from the repository's top, the report is restricted to these files."""
    clock, ends_s = Clock(), request.limits.ends_s
    config = configured(tree, request)
    state = StateDirectory(trees=request.paths)
    try:
        with clock("rules"):
            book = load_rulebook(tree, config, request)
            if request.question is not None:
                request.question.narrow(book)
            policies = book.policies(config.context)
            if request.master and policies != [INSENSITIVE]:
                raise no_contexts_on_spark(policies)
            if request.master and request.limits.timeout_s is not None:
                raise AnalyzeError("C005", "--timeout is not supported on Spark", help="use 'analyze batch --timeout'")
            if request.master and request.limits.memory_bytes is not None:
                raise AnalyzeError("C005", "--memory-limit is not supported on Spark", help="use --conf")
        with machine_for(request, config, ends_s) as machine:
            with clock("facts"):
                collected = collect(tree, config, state.path, machine, progress)
                if state.warning:
                    collected.problems.append(Problem(state.warning, level="warning"))
                if request.question is not None:
                    collected.mounted = request.question.bind(collected.mounted)
            progress("Evaluating rules", 0, None)
            with clock("analysis"):
                (result, *others), costs = evaluate(
                    book, policies, collected.mounted, machine, state.path, request.limits
                )
        with clock("report"):
            by_policy = dict(zip(policies[1:], others, strict=True))
            report = assemble(Texts(tree), config, book, collected, result, only, by_policy)
            if request.question is not None:
                report = request.question.answer(report)
    finally:
        state.close()
    return ScanResult(report, config, clock.phases_s, result.statistics, collected.extracted, costs)


def evaluate(
    book: Rulebook, policies: Sequence[str], mounted: facts.Mounted, machine: Machine, directory: Path, limits: Limits
) -> tuple[list[engine.Result], list[ContextCosts]]:
    """Return the relations under each context policy, and the costs of contexts."""
    from analyzer.evaluation.contexts.evaluate import InContexts
    from analyzer.evaluation.program import compile_rulebook, evaluation_errors
    from engine import memory_limited

    program = compile_rulebook(book, directory)

    def evaluated() -> tuple[list[engine.Result], list[ContextCosts]]:
        kept = program.only_sources({source.name for source in book.sources})
        budget = limits.budget(kept, book)
        evaluation = InContexts(kept, book.sources, book.analysis, READ, mounted, machine, directory, budget)
        return [evaluation.evaluate(policy) for policy in policies], evaluation.costs

    with evaluation_errors(), memory_limited(limits.memory_bytes):
        return leaving_out(book, evaluated)


def no_contexts_on_spark(policies: Sequence[str]) -> AnalyzeError:
    asked = next(policy for policy in policies if policy != INSENSITIVE)
    help = "omit --engine spark or --context, or use 'analyze batch'"
    return AnalyzeError("C005", f"the context policy {asked} is not supported on Spark", help=help)


class Clock:
    """Seconds by phase, in order of first start."""

    def __init__(self) -> None:
        self.phases_s: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.phases_s[phase] = self.phases_s.get(phase, 0.0) + time.perf_counter() - started


def configured(tree: Tree, request: ScanRequest) -> Config:
    """Return the configuration of a scan. Raises AnalyzeError."""
    return (request.config or load_config(tree)).override(**request.flags)


def read_config(file: Path) -> Config:
    """Return the configuration in a file that the command line names. Raises AnalyzeError A001, C001 … C003."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise AnalyzeError("A001", f"cannot read {file}: {error.strerror}") from None
    return _parsed(data, str(file)) or Config()


def _parsed(data: bytes, file: str) -> Config | None:
    if file.endswith(SHARED_CONFIG) and not OURS.search(data):
        return None
    try:
        return parse_config(data.decode("utf-8-sig"), file)
    except UnicodeDecodeError:
        raise AnalyzeError("C001", "not valid TOML: it is not UTF-8", file=file) from None


def load_config(tree: Tree) -> Config:
    """Return the configuration nearest to the scanned directory; `.analyze.toml` precedes `pyproject.toml`."""
    for name in CONFIG_FILES:
        try:
            found = find_upwards(tree, name)
        except OSError as error:
            if name == SHARED_CONFIG:
                continue
            raise AnalyzeError("C006", f"cannot read {error.filename or name}: {error.strerror or error}") from None
        if found and (config := _parsed(found[1], found[0])):
            return config
    return Config()


def load_rulebook(tree: Tree, config: Config, request: ScanRequest) -> Rulebook:
    user_files = files_in_tree(tree, config.models, config.rules_dir)
    user_files += files_given(request.models, request.rules_dirs)
    return build_rulebook(user_files, config.rules, config.tier)


def save_statistics(result: ScanResult, path: Path) -> None:
    """Write the costs of a scan as JSON: seconds by phase; seconds, rows and peak bytes by stratum and rule.

    Raises AnalyzeError A003.
    """
    document = {
        "phases_s": result.phases_s,
        "files": result.report.coverage.files,
        "files_extracted": result.extracted,
        "lines": result.report.coverage.lines,
        "contexts": [asdict(costs) for costs in result.contexts],
        "strata": [asdict(stratum) for stratum in result.strata],
    }
    try:
        write_atomically(path, (json.dumps(document, indent=2) + "\n").encode())
    except OSError as error:
        raise AnalyzeError("A003", f"cannot write {path}: {error.strerror}") from None
