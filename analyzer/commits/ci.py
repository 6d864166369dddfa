"""`analyze ci`: two commits → the findings of the second as new, fixed or unchanged against the first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzer.assemble import assemble
from analyzer.collect import Progress, silent
from analyzer.commits.causes import cause_near_path, cause_on_path
from analyzer.commits.comparison import Comparison, compare
from analyzer.commits.dependencies import Dependencies
from analyzer.commits.follower import CannotFollow, Follower, Move, Reader
from analyzer.commits.states import StateKey, States, scanned_digest
from analyzer.config import Config
from analyzer.contexts.policy import INSENSITIVE
from analyzer.git import Repository
from analyzer.machine import ThisMachine
from analyzer.program import evaluation_errors, prepare_rulebook
from analyzer.report import Problem, Report
from analyzer.rulebook import Rulebook
from analyzer.scan import Clock, ScanRequest, default_jobs, load_config, load_rulebook, scan_tree
from analyzer.state import StateDirectory
from analyzer.trees import GitTree
from engine.incremental.prepared import Prepared

MAX_STATE_BYTES = 2 << 30


@dataclass(slots=True)
class CiResult:
    """A comparison, the configuration of the head, and how it was made; the last three are in no report.

    `strategy` is update, bootstrap (of the relations that are kept) or full, `reason` why.
    """

    comparison: Comparison
    config: Config
    strategy: str
    reason: str
    phases_s: dict[str, float] = field(default_factory=dict)

    @property
    def elapsed_s(self) -> float:
        return sum(self.phases_s.values())


@dataclass(slots=True)
class Side:
    """One of the two commits: its tree, with the configuration and the rules that it has itself."""

    tree: GitTree
    config: Config
    book: Rulebook
    key: StateKey

    @classmethod
    def of(cls, tree: GitTree, request: ScanRequest) -> Side:
        config = load_config(tree).override(**request.flags)
        book = load_rulebook(tree, config, request)
        return cls(tree, config, book, StateKey(tree.content, scanned_digest(config, tree.prefix)))


def compare_commits(
    request: ScanRequest,
    base: str,
    progress: Progress = silent,
    state_path: Path | None = None,
    max_state_bytes: int = MAX_STATE_BYTES,
) -> CiResult:
    """Compare the findings of `request.revision` with those of `base`. Raises AnalyzeError.

    States are kept in `state_path`, by default in the user's cache.
    """
    head = request.revision or "HEAD"
    old_tree = GitTree.at(request.path, base)
    new_tree = GitTree.at(request.path, head)
    state = StateDirectory()
    try:
        states = States(state_path or state.path / "commits", max_state_bytes)
        return _Run(request, old_tree, new_tree, state, progress, states).run()
    finally:
        old_tree.close()
        new_tree.close()
        state.close()


class _Run:
    def __init__(
        self,
        request: ScanRequest,
        old_tree: GitTree,
        new_tree: GitTree,
        state: StateDirectory,
        progress: Progress,
        states: States,
    ) -> None:
        self.request, self.state, self.progress, self.states = request, state, progress, states
        self.clock = Clock()
        self.moved: tuple[Follower, Move] | None = None
        with self.clock("rules"):
            self.old, self.new = Side.of(old_tree, request), Side.of(new_tree, request)

    def run(self) -> CiResult:
        try:
            if self.old.key.scanned != self.new.key.scanned:
                raise CannotFollow("the configuration has changed")
            if any(side.book.policies(side.config.context) != [INSENSITIVE] for side in (self.old, self.new)):
                raise CannotFollow("relations are kept without contexts only")
            base, head, strategy, reason = self.follow()
        except CannotFollow as why:
            base, head, strategy, reason = self.scan(self.old.tree), self.scan(self.new.tree), "full", str(why)
        warnings = [*([self.state.warning] if self.state.warning else []), *self.states.warnings]
        if warnings:
            problems = (Problem(warning, level="warning") for warning in warnings)
            head = replace(head, problems=(*head.problems, *problems))
        with self.clock("report"):
            comparison = self.with_causes(compare(base, head))
        return CiResult(comparison, self.new.config, strategy, reason, self.clock.phases_s)

    def follow(self) -> tuple[Report, Report, str, str]:
        """Return the reports of both commits, strategy and reason. Raises CannotFollow."""
        with self.clock("rules"):
            if self.old.book.sources == self.new.book.sources:
                self.old.book = self.new.book
            program = prepare_rulebook(self.new.book, self.state.path)
            is_same = self.old.book is self.new.book
            old_program = program if is_same else prepare_rulebook(self.old.book, self.state.path)
        jobs = self.new.config.jobs or default_jobs()
        reader = Reader(self.new.config, self.state.path, ThisMachine(jobs), self.progress, jobs)
        with evaluation_errors():
            follower = self.at_base(old_program, reader)
            with self.clock("base"):
                base = self.report(self.old, follower)
            self.progress("Evaluating rules", 0, None)
            with self.clock("update"):
                follower, anew = self.by_new_rules(follower, program, reader)
                move = follower.move(self.old.tree, self.new.tree, reader)
        with self.clock("report"):
            head = self.report(self.new, follower)
        with self.clock("state"):
            self.states.save(self.new.key, follower)
        self.moved = follower, move
        return base, head, move.outcome.strategy, "; ".join([*anew, move.outcome.reason])

    def by_new_rules(self, follower: Follower, program: Prepared, reader: Reader) -> tuple[Follower, list[str]]:
        """Return the relations of the base by the rules of the head, and what that took, if they were others."""
        n_anew = follower.anew
        if follower.view.prepared.digest != program.digest:
            follower.view.close_team()
            adopted = self.states.load(self.old.key, program, self.old.tree, reader)
            if adopted is None:
                raise CannotFollow("the rules have changed, and the relations of the base could not be kept")
            follower, n_anew = adopted, n_anew + adopted.anew
        if not n_anew:
            return follower, []
        return follower, [f"other rules: {n_anew} of {len(follower.view.strata)} strata evaluated anew"]

    def at_base(self, program: Prepared, reader: Reader) -> Follower:
        """Return the relations of the base: as saved; else from those of the commit used last, or made, and saved."""
        with self.clock("state"):
            follower = self.states.load(self.old.key, program, self.old.tree, reader)
            if follower and not follower.anew:
                return follower
            other = None
            if not follower:
                other, follower = self.states.nearest(self.old.key, program, self.old.tree, reader)
        with self.clock("base"):
            if other and follower:
                follower.move(other, self.old.tree, reader)
                other.close()
            follower = follower or Follower.begin(program, self.old.tree, reader)
        with self.clock("state"):
            self.states.save(self.old.key, follower)
        return follower

    def report(self, side: Side, follower: Follower) -> Report:
        return assemble(side.tree, side.config, side.book, follower.collected(), follower.view.result())

    def scan(self, tree: GitTree) -> Report:
        """Return the report of a commit by itself."""
        result = scan_tree(tree, self.request, self.progress)
        for phase, seconds in result.phases_s.items():
            self.clock.phases_s[phase] = self.clock.phases_s.get(phase, 0.0) + seconds
        return result.report

    def with_causes(self, comparison: Comparison) -> Comparison:
        """Find the changed line behind each new finding."""
        if not comparison.new:
            return comparison
        prefix = self.new.tree.prefix
        repository = Repository(Path(self.request.path).resolve())
        lines = repository.changed_lines(self.old.tree.revision, self.new.tree.revision)
        changed = {path[len(prefix) :]: at for path, at in lines.items() if path.startswith(prefix)}
        search = Dependencies(*self.moved, changed) if self.moved else None
        found = {}
        for finding in comparison.new:
            cause = cause_on_path(finding, changed) or (search and search.cause(finding))
            if cause := cause or cause_near_path(finding, changed):
                found[finding.fingerprint] = cause
        return replace(comparison, causes=found)
