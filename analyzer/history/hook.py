"""`analyze hook`: the findings of what is staged, at the cost of what has changed since relations were saved.

The staged index is a tree: what a commit would hold, whatever the working tree looks like. Its relations are those of a
state (`analyzer/history/states.py`) moved there: of the same files, of HEAD, or of what was looked at last.

The index decides how it is analysed, for it is the developer's own; what its settings take away that HEAD's did not is
told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from analyzer.context_policies import INSENSITIVE
from analyzer.errors import AnalyzeError
from analyzer.evaluation.program import evaluation_errors, prepare_rulebook
from analyzer.evaluation.scan_limits import leaving_out
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.extraction.machine import ThisMachine
from analyzer.findings.assemble_report import assemble
from analyzer.findings.source_texts import Texts
from analyzer.history.ci import MAX_STATE_BYTES
from analyzer.history.commit_update import CannotFollow, Follower, Reader
from analyzer.history.compared_settings import Settings, governed, left_out, weakenings
from analyzer.history.states import StateKey, States, scanned_digest
from analyzer.report import Problem
from analyzer.scan import Clock, ScanRequest, ScanResult, scan_tree
from analyzer.sources.git import Repository
from analyzer.sources.trees import GitTree
from analyzer.state_directory import StateDirectory
from engine import compiling_kernels
from engine.incremental import PreparedProgram
from engine.operating_system import n_cores

WAIT_S = 2.0
"""Seconds that a hook waits for another run that uses the same state."""
DEAR_S = 1.0
"""Minimum seconds of an evaluation worth saving for the next run: saving takes about as long."""


@contextmanager
def scanned_index(
    flags: Mapping[str, Any],
    progress: Progress = silent,
    path: Path | None = None,
    max_state_bytes: int = MAX_STATE_BYTES,
) -> Iterator[tuple[ScanResult, list[str]]]:
    """Give the report on the whole index of the repository at `path`, as far as it concerns the staged files.

    Relations are saved for the next run when the block has ended without an exception; then the list given beside the
    result says what is not kept. With nothing staged, every file concerns us. Git's variables for hooks (GIT_DIR,
    GIT_INDEX_FILE) are heeded. Raises AnalyzeError G001 outside a repository.
    """
    here = (path or Path.cwd()).resolve()
    repository = Repository(here, in_hook=True)
    top = repository.top or here
    whole = repository if top == here else Repository(top, in_hook=True)
    state = StateDirectory(trees=[top])
    tree = GitTree(whole, whole.index(), str(top), "")
    try:
        states = States(state.path / "commits", max_state_bytes, WAIT_S)
        hook = _Hook(whole, tree, ScanRequest.from_flags(top, None, flags), state, progress, states)
        not_kept: list[str] = []
        yield states.without_damage(hook.run), not_kept
        not_kept += states.save_all(hook.unsaved)
    finally:
        tree.close()
        state.close()


class _Hook:
    def __init__(
        self,
        repository: Repository,
        tree: GitTree,
        request: ScanRequest,
        state: StateDirectory,
        progress: Progress,
        states: States,
    ) -> None:
        self.repository, self.tree, self.request = repository, tree, request
        self.state, self.progress, self.clock = state, progress, Clock()
        self.states = states
        self.unsaved: list[tuple[StateKey, Follower]] = []
        self.staged = repository.staged_paths() or None

    def run(self) -> ScanResult:
        self.unsaved = []
        tree, clock = self.tree, self.clock
        with clock("rules"):
            settings = Settings.of(tree, self.request)
            config, book = settings.config, settings.book
            told = taken_away(self.repository, tree, self.request, settings)
            if book.policies(config.context) != [INSENSITIVE]:
                return self.scanned(told)
        try:
            follower = leaving_out(book, lambda: self.followed(settings))
        except CannotFollow:
            return self.scanned(told)
        collected = follower.collected()
        warnings = [*([self.state.warning] if self.state.warning else []), *self.states.warnings]
        collected.problems += [Problem(warning, level="warning") for warning in warnings]
        with clock("report"):
            report = assemble(Texts(tree), config, book, collected, follower.view.result(), self.staged)
            report = replace(report, problems=(*report.problems, *told))
        return ScanResult(report, config, clock.phases_s, extracted=follower.extracted)

    def followed(self, settings: Settings) -> Follower:
        """Return the relations of the index by the rules of its book. Raises CannotFollow."""
        config = settings.config
        with self.clock("rules"):
            program = prepare_rulebook(settings.book, self.state.path)
            budget = self.request.limits.budget(program, settings.book)
        jobs = config.jobs or n_cores()
        reader = Reader(config, self.state.path, ThisMachine(jobs), self.progress, jobs, budget)
        key = StateKey(self.tree.content, scanned_digest(config, self.tree.prefix))
        with evaluation_errors(), compiling_kernels(jobs):
            return self.follower(key, program, reader)

    def scanned(self, told: Sequence[Problem]) -> ScanResult:
        """Scan the index from scratch."""
        result = scan_tree(self.tree, self.request, self.progress, only=self.staged)
        report = replace(result.report, problems=(*result.report.problems, *told))
        return replace(result, report=report)

    def follower(self, key: StateKey, program: PreparedProgram, reader: Reader) -> Follower:
        """Return the relations of the index: saved, updated from others, or evaluated. Raises CannotFollow."""
        with self.clock("state"):
            if follower := self.states.load(key, program, self.tree, reader):
                return follower
            near, follower = self.nearest(key, program, reader)
        self.progress("Evaluating rules", 0, None)
        if near and follower:
            with self.clock("update"), closing(near):
                elapsed_s = follower.move(near, self.tree, reader).outcome.elapsed_s
        else:
            with self.clock("analysis"):
                follower = Follower.begin(program, self.tree, reader)
            elapsed_s = DEAR_S
        if elapsed_s >= DEAR_S:
            self.unsaved.append((key, follower))
        return follower

    def nearest(
        self, key: StateKey, program: PreparedProgram, reader: Reader
    ) -> tuple[GitTree | None, Follower | None]:
        """Return relations to update from, and their tree: those of HEAD, or those used last."""
        if head := tree_of_head(self.repository, self.tree.target):
            its_key = StateKey(head.content, key.scanned)
            follower = self.states.load(its_key, program, head, reader)
            if follower and follower.anew:
                self.states.save(its_key, follower)  # Other rules are told once.
            if follower:
                return head, follower
            head.close()
        return self.states.nearest(key, program, self.tree, reader)


def taken_away(repository: Repository, tree: GitTree, request: ScanRequest, settings: Settings) -> list[Problem]:
    """Return the weakenings of the staged settings against those of HEAD, as problems."""
    head = tree_of_head(repository, tree.target)
    if head is None:
        return []
    with closing(head):
        try:
            old = Settings.of(head, request)
        except AnalyzeError:
            return []  # There was nothing to go by.
        with closing(governed(tree, head, old.config)) as under_old:
            found = [*weakenings(old, settings), *left_out(under_old, tree, old, settings)]
    return [Problem(f"weaker staged settings: {item.message}", item.file, level=item.severity) for item in found]


def tree_of_head(repository: Repository, target: str) -> GitTree | None:
    """Return the tree of HEAD, or None without a commit."""
    try:
        commit = repository.resolve("HEAD")
    except AnalyzeError:
        return None
    return GitTree(repository, repository.tree(commit), target, commit)
