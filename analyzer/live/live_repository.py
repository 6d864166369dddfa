"""The relations of one directory, moved to each tree that a report is asked for at the cost of what differs.

The directory's own settings, and the options it was opened with, decide what is maintained. A report under any others
is refused: who asks scans by itself. Nothing in a report depends on what was maintained before, so it is a scan's own,
byte for byte.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analyzer.configuration.config import Config
from analyzer.context_policies import INSENSITIVE
from analyzer.evaluation.program import evaluation_errors, prepare_rulebook
from analyzer.evaluation.rulebook import Rulebook
from analyzer.evaluation.scan_limits import leaving_out
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.findings.assemble_report import assemble
from analyzer.findings.source_texts import Texts
from analyzer.history.commit_update import CannotFollow, Follower, Reader
from analyzer.history.compared_settings import Settings
from analyzer.history.states import scanned_digest
from analyzer.live.code_facts import CodeFacts
from analyzer.live.head_state import HeadState
from analyzer.live.warm_extraction import RecentFacts, WarmMachine
from analyzer.report import Problem
from analyzer.scan import Clock, ScanRequest, ScanResult
from analyzer.sources.frozen_tree import NO_TEXTS, FrozenTree
from analyzer.sources.git import blob_hash
from analyzer.sources.trees import NamedTree, WorkingTree
from analyzer.state_directory import StateDirectory
from engine import CheckedProgram, Source, compiling_kernels
from engine.incremental import DamagedFile, MaintainedProgram, PreparedProgram, nothing
from engine.operating_system import n_cores

THRESHOLDS = 700, 10, 10
"""Those of Python."""


class Superseded(Exception):
    """A report is of no use any more; the relations are as they were."""


class Refused(Exception):
    """The relations that are maintained do not answer this; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Held:
    """Relations, the tree that they are of, and what read it; `made_by` are digests of rules and selected files."""

    follower: Follower
    tree: NamedTree
    made_by: tuple[str, str]
    reader: Reader


class LiveRepository:
    """The maintained relations of a directory. It has one owner: calls do not overlap."""

    def __init__(
        self,
        path: Path,
        flags: Mapping[str, Any],
        max_state_bytes: int,
        progress: Progress = silent,
    ) -> None:
        """Raises AnalyzeError A001, A002. Nothing is evaluated yet."""
        self.path, self.flags = path, flags
        self.request, self.progress = ScanRequest.from_flags(path, None, flags), progress
        self.working_tree = WorkingTree(path)
        self.state = StateDirectory(trees=[path])
        self.cache = RecentFacts(self.state.path)
        self.head: HeadState | None = HeadState(path, self.state.path, max_state_bytes)
        self._frozen: FrozenTree | None = None
        self._texts: Texts | None = None
        self._machine: WarmMachine | None = None
        self._settings: Settings | None = None
        self._program: tuple[list[Source], PreparedProgram] | None = None
        self._held: Held | None = None
        self._further: object = None
        self._asked: tuple[NamedTree, ScanRequest, Settings] | None = None

    def close(self) -> None:
        """End workers and threads, and give back temporary directories."""
        self.forget()
        if self._machine:
            self._machine.close()
        self.state.close()

    def forget(self) -> None:
        """Drop the relations; the next report evaluates anew."""
        if self._held:
            self._held.follower.view.close()
        self._held = None

    # ---- trees

    def frozen(self, unsaved: Mapping[str, bytes] = NO_TEXTS) -> FrozenTree:
        """Return the files as they are now, with unsaved texts over them."""
        self.cache.unsaved.update(map(blob_hash, unsaved.values()))
        self._frozen = FrozenTree(self.working_tree, self._frozen, unsaved)
        return self._frozen

    # ---- reports

    def report(
        self,
        tree: NamedTree,
        request: ScanRequest | None = None,
        only: Collection[str] | None = None,
        watch: Callable[[], None] = nothing,
    ) -> ScanResult:
        """Return the report on a tree, by the options of a request or by our own.

        With `only`, paths from the repository's top, it is restricted to these files. `watch` is called between pieces
        of work while relations move; it may raise Superseded. Raises AnalyzeError, and Refused where the request asks
        for other files or rules than are maintained.
        """
        clock = Clock()
        with clock("rules"):
            settings = self.settings_of(tree)
            config = self._accepted(tree, settings, request)
        with clock("update"):
            follower = self._following(tree, settings, config, watch)
        with clock("report"):
            collected = follower.collected()
            if self.state.warning:
                collected.problems.append(Problem(self.state.warning, level="warning"))
            self._texts = Texts(tree, self._texts)
            report = assemble(self._texts, config, settings.book, collected, follower.view.result(), only)
        return ScanResult(report, config, clock.phases_s, extracted=follower.extracted)

    def code_facts(self, tree: NamedTree) -> CodeFacts:
        """Return what the relations of a tree say of places in its files. Raises AnalyzeError and Refused."""
        self.follow(tree)
        return CodeFacts(self.view)

    def follow(self, tree: NamedTree, request: ScanRequest | None = None) -> Rulebook:
        """Move the relations to a tree; return the rules that they are derived by. Raises as `report` does."""
        settings = self.settings_of(tree)
        self._following(tree, settings, self._accepted(tree, settings, request))
        return settings.book

    def settings_for(self, tree: NamedTree, request: ScanRequest) -> Settings:
        """Return the settings of a tree by the options of a request; of the last one they are known."""
        if self._asked is None or self._asked[0] is not tree or self._asked[1] is not request:
            self._asked = tree, request, Settings.of(tree, request)
        return self._asked[2]

    def _accepted(self, tree: NamedTree, settings: Settings, request: ScanRequest | None) -> Config:
        """Return the configuration of a report by the options of a request. Raises Refused if they ask for others."""
        if request is None:
            return settings.config
        asked = self.settings_for(tree, request)
        if not asked.find_as(settings):
            raise Refused("other settings are maintained")
        return asked.config

    def extend(self, make: Callable[[], CheckedProgram]) -> None:
        """Maintain what a further program derives from the relations that there are, as long as these are there.

        There is one such program: it is made where none is there.
        """
        if self._further not in self.view.installations.needs:
            with evaluation_errors():
                self._further = self.view.install(make())

    def _following(
        self, tree: NamedTree, settings: Settings, config: Config, watch: Callable[[], None] = nothing
    ) -> Follower:
        """Return the relations of a tree."""
        if settings.book.policies(config.context) != [INSENSITIVE]:
            raise Refused("contexts are not maintained")
        try:
            return leaving_out(settings.book, lambda: self._moved_to(tree, settings, watch))
        except DamagedFile:  # What was saved is read when it is first used.
            self.head = None
            return leaving_out(settings.book, lambda: self._moved_to(tree, settings, watch))

    @property
    def view(self) -> MaintainedProgram:
        """The relations of the tree that they were last moved to."""
        return self.follower.view

    @property
    def held_view(self) -> MaintainedProgram | None:
        """The same, or None where there are none."""
        return self._held.follower.view if self._held else None

    @property
    def follower(self) -> Follower:
        """The same, with the files that they are of."""
        assert self._held is not None, "they have been moved to a tree"
        return self._held.follower

    def settings_of(self, tree: NamedTree) -> Settings:
        """Return the settings of a tree: the last ones, of which it is known what does not compile, if they are."""
        settings = Settings.of(tree, self.request)
        if self._settings is None or not settings.find_as(self._settings):
            self._settings = settings
        return replace(self._settings, config=settings.config)

    def _moved_to(self, tree: NamedTree, settings: Settings, watch: Callable[[], None]) -> Follower:
        """Return the relations of a tree. Where moving them ends with an exception, they are gone."""
        program = self._prepared(settings)
        made_by = program.digest, scanned_digest(settings.config, tree.prefix)
        held, self._held = self._held, None
        if held and held.made_by != made_by:
            held.follower.view.close()
            held = None
        reader = self._reader(settings, program)
        with evaluation_errors():
            follower, at = (held.follower, held.tree) if held else self._begun(program, tree, reader)
            if at is not tree:
                try:
                    follower.move(at, tree, reader, watch)
                except Superseded:
                    self._held = Held(follower, at, made_by, reader)
                    raise
                except CannotFollow:
                    follower = Follower.begin(program, tree, reader)
                at.close()
                tidy(follower.view)
        self._held = Held(follower, tree, made_by, reader)
        return follower

    def _begun(self, program: PreparedProgram, tree: NamedTree, reader: Reader) -> tuple[Follower, NamedTree]:
        """Return relations to begin with and their tree: those saved for HEAD, or evaluated for `tree`."""
        if self.head is not None and (saved := self.head.load(program, reader)):
            return saved
        with compiling_kernels(reader.threads or 1):
            return Follower.begin(program, tree, reader), tree

    def compact(self, watch: Callable[[], None]) -> bool:
        """Evaluate anew if most of what is held has gone; return whether that has been done. `watch` may raise.

        Symbols and entities are numbered anew, too. Where files cannot be read as they were, nothing is done.
        """
        held = self._held
        if held is None or not held.follower.mostly_gone():
            return False
        with evaluation_errors():
            fresh = Follower.begin(held.follower.view.prepared, held.tree, held.reader, watch=watch)
        if fresh.snapshot.looked != held.follower.snapshot.looked:
            fresh.view.close()
            return False
        held.follower.view.close()
        self._held = replace(held, follower=fresh)
        return True

    def save(self) -> bool:
        """Save the relations if their files are those of HEAD and no state is. Return True if that has been done."""
        held = self._held
        return held is not None and self.head is not None and self.head.save(held.follower, held.reader)

    def _prepared(self, settings: Settings) -> PreparedProgram:
        """Return the program of a rulebook: the last one, if its sources are the same."""
        book = settings.book
        if self._program is None or self._program[0] != book.sources:
            program = prepare_rulebook(book, self.state.path)
            self._program = list(book.sources), program
        return self._program[1]

    def _reader(self, settings: Settings, program: PreparedProgram) -> Reader:
        config = settings.config
        jobs = config.jobs or n_cores()
        if self._machine is None or self._machine.made_for != (jobs, config.extract_timeout_s):
            if self._machine:
                self._machine.close()
            self._machine = WarmMachine(jobs, config.extract_timeout_s)
        budget = self.request.limits.budget(program, settings.book)
        return Reader(config, self.state.path, self._machine, self.progress, jobs, budget, self.cache)


def tidy(view: MaintainedProgram) -> None:
    """Bound what moves leave behind: keys that were asked for, and arrays that hang on cycles of objects.

    Commands set a threshold for collections that those that end soon do not reach (`cli/main.py`).
    """
    gc.set_threshold(*THRESHOLDS)
    view.give_back()
