"""`analyze ci`: two commits → the findings of the second as new, fixed or unchanged against the first.

Both are judged by the same settings, by default those of the base: a change does not decide how it is reviewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzer.configuration.config import Config
from analyzer.context_policies import INSENSITIVE
from analyzer.errors import AnalyzeError
from analyzer.evaluation.program import evaluation_errors, prepare_rulebook
from analyzer.evaluation.scan_limits import leaving_out
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.extraction.machine import ThisMachine
from analyzer.findings.assemble_report import assemble
from analyzer.findings.source_texts import Texts
from analyzer.history.base_commit import Base, find_base
from analyzer.history.causes import cause_near_path, cause_on_path
from analyzer.history.commit_update import CannotFollow, Follower, Move, Reader
from analyzer.history.compared_settings import Settings, additions, governed, weakenings
from analyzer.history.comparison import Comparison, compare
from analyzer.history.dependencies import Dependencies
from analyzer.history.states import StateKey, States, scanned_digest
from analyzer.history.weakened_review import by_comments, by_contents, by_findings, by_marks, in_order
from analyzer.report import Problem, Report, Weakening
from analyzer.scan import Clock, ScanRequest, scan_tree
from analyzer.sources.git import Repository
from analyzer.sources.trees import GitTree, path_from_scanned
from analyzer.state_directory import StateDirectory, why_unusable
from engine import Budget, compiling_kernels
from engine.incremental import PreparedProgram
from engine.operating_system import n_cores

MAX_STATE_BYTES = 2 << 30


@dataclass(slots=True)
class CiResult:
    """A comparison, its configuration, and its costs, which are not part of the report.

    `strategy` is update, bootstrap (of the stored relations) or full, `reason` why. `not_kept` says which relations are
    not kept for the next run, once they have been saved.
    """

    comparison: Comparison
    config: Config
    strategy: str
    reason: str
    phases_s: dict[str, float] = field(default_factory=dict)
    not_kept: list[str] = field(default_factory=list)

    @property
    def elapsed_s(self) -> float:
        return sum(self.phases_s.values())


@contextmanager
def compared_commits(
    request: ScanRequest,
    base: str,
    progress: Progress = silent,
    state_path: Path | None = None,
    max_state_bytes: int = MAX_STATE_BYTES,
    settings_from: str = "base",
    default_branch: str | None = None,
    if_no_base: str = "new",
) -> Iterator[CiResult]:
    """Give the findings of `request.revision` compared with those of `base`. Raises AnalyzeError.

    Both commits use the settings of `base` or `head`. States are stored in `state_path`, by default in the user's
    cache, when the block has ended without an exception. If there is no base, findings are reported by `if_no_base`:
    new, unchanged, error.
    """
    new_tree = GitTree.at(request.path, request.revision or "HEAD")
    found = find_base(Repository(request.path.resolve()), base, new_tree.revision, default_branch, if_no_base)
    old_tree = GitTree.at(request.path, found.commit or new_tree.revision)
    state = StateDirectory(trees=request.paths)
    try:
        judge = old_tree if settings_from == "base" else new_tree
        kept = state.path / "commits"
        why = state_path and why_unusable(state_path, request.paths)
        states = States(kept if why else state_path or kept, max_state_bytes)
        if why:
            states.warnings.append(f"{why}; states are stored in {kept}")
        run = _Run(request, old_tree, new_tree, judge, state, progress, states)
        forget = not found.commit and if_no_base == "new"
        with compiling_kernels(run.config.jobs or n_cores()):
            result = states.without_damage(lambda: run.run(found, forget=forget))
        yield result
        result.not_kept = run.save()
    finally:
        old_tree.close()
        new_tree.close()
        state.close()


def refuse_inside(config: Path, path: Path) -> None:
    """Raise AnalyzeError A008 if a configuration lies in the reviewed checkout."""
    top = Repository(path.resolve()).top
    if top and config.resolve().is_relative_to(top.resolve()):
        help = "use one outside of the checkout, or the head's own with --config-from head"
        raise AnalyzeError("A008", f"{config} is in the checkout, which the change under review controls", help=help)


class _Run:
    """One comparison. `old` and `new` are the commits' trees under the same settings; `own` is the unmodified head."""

    def __init__(
        self,
        request: ScanRequest,
        old_tree: GitTree,
        new_tree: GitTree,
        judge: GitTree,
        state: StateDirectory,
        progress: Progress,
        states: States,
    ) -> None:
        self.request, self.state, self.progress, self.states = request, state, progress, states
        self.clock = Clock()
        self.moved: tuple[Follower, Move] | None = None
        self.unsaved: list[tuple[StateKey, Follower]] = []
        with self.clock("rules"):
            self.settings = settings_of(judge, request)
            self.config, self.book = self.settings.config, self.settings.book
            self.old, self.new = (governed(tree, judge, self.config) for tree in (old_tree, new_tree))
            self.own = new_tree

    def run(self, at: Base, *, forget: bool = False) -> CiResult:
        """Compare the trees. With `forget`, the base counts as empty."""
        self.unsaved = []
        try:
            if self.book.policies(self.config.context) != [INSENSITIVE]:
                raise CannotFollow("relations are stored only without contexts")
            base, head, strategy, reason = leaving_out(self.book, self.follow)
        except CannotFollow as why:
            base, head, strategy, reason = self.scan(self.old), self.scan(self.new), "full", str(why)
        if not at.commit:
            base = replace(base, revision="")
            if forget:
                base = replace(base, findings=(), left_out=())
        with self.clock("report"):
            changed = self.changed_lines()
            comparison = with_causes(compare(base, head), changed, self.moved)
        comparison = self.with_weakenings(comparison, base, changed)
        warnings = [
            *filter(None, [at.said]),
            *([self.state.warning] if self.state.warning else []),
            *self.states.warnings,
        ]
        if warnings:
            problems = (Problem(warning, level="warning") for warning in warnings)
            comparison = replace(comparison, head=replace(head, problems=(*head.problems, *problems)))
        return CiResult(comparison, self.config, strategy, reason, self.clock.phases_s)

    def follow(self) -> tuple[Report, Report, str, str]:
        """Return the reports of both commits, strategy and reason. Raises CannotFollow."""
        with self.clock("rules"):
            program = prepare_rulebook(self.book, self.state.path)
            reader = self.reader(self.config, self.request.limits.budget(program, self.book))
        with evaluation_errors():
            follower = self.at_base(program, reader)
            with self.clock("base"):
                base = self.report(self.old, self.settings, follower)
            n_anew = follower.anew
            self.progress("Evaluating rules", 0, None)
            with self.clock("update"):
                move = follower.move(self.old, self.new, reader)
        with self.clock("report"):
            head = self.report(self.new, self.settings, follower)
        self.unsaved.append((self.key(self.new, self.config), follower))
        self.moved = follower, move
        rules = [f"other rules: {n_anew} of {len(follower.view.strata)} strata evaluated anew"] if n_anew else []
        return base, head, move.outcome.strategy, "; ".join([*rules, move.outcome.reason])

    def reader(self, config: Config, budget: Budget | None) -> Reader:
        jobs = config.jobs or n_cores()
        return Reader(config, self.state.path, ThisMachine(jobs), self.progress, jobs, budget)

    def key(self, tree: GitTree, config: Config) -> StateKey:
        return StateKey(tree.content, scanned_digest(config, tree.prefix))

    def at_base(self, program: PreparedProgram, reader: Reader) -> Follower:
        """Return the relations of the base: loaded, or updated from the last used commit, or evaluated.

        Saved are those that cost a log: who needs the others goes on from the head's.
        """
        key = self.key(self.old, self.config)
        with self.clock("state"):
            follower = self.states.load(key, program, self.old, reader)
            if follower and not follower.anew:
                return follower
            other = None
            if not follower:
                other, follower = self.states.nearest(key, program, self.old, reader)
        with self.clock("base"):
            if other and follower:
                follower.move(other, self.old, reader)
                other.close()
            follower = follower or Follower.begin(program, self.old, reader)
        if follower.base:
            with self.clock("state"):
                self.states.save(key, follower)
        return follower

    def save(self) -> list[str]:
        """Save the relations of commits that are not saved yet. Return the warnings about it."""
        with self.clock("state"):
            return self.states.save_all(self.unsaved)

    def report(self, tree: GitTree, settings: Settings, follower: Follower) -> Report:
        return assemble(Texts(tree), settings.config, settings.book, follower.collected(), follower.view.result())

    def scan(self, tree: GitTree) -> Report:
        """Return the report of a full scan of a commit."""
        result = scan_tree(tree, self.request, self.progress)
        for phase, seconds in result.phases_s.items():
            self.clock.phases_s[phase] = self.clock.phases_s.get(phase, 0.0) + seconds
        return result.report

    def changed_lines(self) -> dict[str, list[int]]:
        """Return the lines of the head that differ from the base, by path."""
        prefix = self.new.prefix
        repository = Repository(Path(self.request.path).resolve())
        lines = repository.changed_lines(self.old.revision, self.new.revision)
        return {path[len(prefix) :]: at for path, at in lines.items() if path.startswith(prefix)}

    # ---- weakenings by the head's own files

    def with_weakenings(self, comparison: Comparison, base: Report, changed: Mapping[str, Sequence[int]]) -> Comparison:
        head = comparison.head
        found = [
            *by_comments(comparison, changed),
            *by_marks(comparison, self.old),
            *by_contents(base, head, self.new),
        ]
        try:
            own = Settings.of(self.own, self.request)
            weaker, more = self.by_settings(head, own)
        except AnalyzeError as error:
            at = f"invalid settings: error[{error.code}]: {error.message}"
            file = path_from_scanned(self.own, error.file)
            weaker, more = [Weakening("configuration", "error", at, file, error.line)], []
        return replace(comparison, weakened=in_order([*found, *weaker]), added=tuple(more))

    def by_settings(self, head: Report, own: Settings) -> tuple[list[Weakening], list[str]]:
        """Return the weakenings and additions of the head's own settings. Raises AnalyzeError if they are invalid."""
        weaker, more = weakenings(self.settings, own), additions(self.settings, own)
        if own.find_as(self.settings):
            return weaker, more
        report = self.own_report(own)
        gone, come = by_findings(head, report)
        return [*weaker, *gone, *by_contents(head, report, self.own)], [*more, *come]

    def own_report(self, own: Settings) -> Report:
        """Return the report of the head by its own settings: updated from its relations if possible."""
        followable = own.book.policies(own.config.context) == [INSENSITIVE]
        if self.moved is None or not followable or own.config.max_file_kb != self.config.max_file_kb:
            return self.scan(self.own)
        follower, _ = self.moved
        return leaving_out(own.book, lambda: self.moved_report(follower, own))

    def moved_report(self, follower: Follower, own: Settings) -> Report:
        with self.clock("rules"):
            program = prepare_rulebook(own.book, self.state.path)
        reader = self.reader(own.config, self.request.limits.budget(program, own.book))
        with self.clock("own settings"), evaluation_errors():
            self.save()
            follower.view.close()
            key = self.key(self.new, self.config)
            adopted = self.states.load(key, program, self.new, reader)
            if adopted is None:
                return self.scan(self.own)
            adopted.move(self.new, self.own, reader)
            report = self.report(self.own, own, adopted)
            self.unsaved.append((self.key(self.own, own.config), adopted))
        return report


def settings_of(judge: GitTree, request: ScanRequest) -> Settings:
    """Return the settings that apply to both commits. Raises AnalyzeError."""
    try:
        return Settings.of(judge, request)
    except AnalyzeError as error:
        if not error.help:
            error.help = f"these are the settings of {judge.revision[:12]}; --config-from and --config select others"
        raise


def with_causes(
    comparison: Comparison, changed: Mapping[str, Sequence[int]], moved: tuple[Follower, Move] | None
) -> Comparison:
    """Find the changed line behind each new finding."""
    if not comparison.new:
        return comparison
    search = Dependencies(*moved, changed) if moved else None
    found = {}
    for finding in comparison.new:
        cause = cause_on_path(finding, changed) or (search and search.cause(finding))
        if cause := cause or cause_near_path(finding, changed):
            found[finding.fingerprint] = cause
    return replace(comparison, causes=found)
