"""The relations of a rulebook's program at one commit, updated to another at the cost of the changes between them.

Only changed files are extracted and translated: the rows of the others are the same. Rows determined by the layout of
all paths are compared as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import engine
import facts
from analyzer.configuration.config import Config
from analyzer.evaluation.recursion_bounds import bounds, set_sizes
from analyzer.extraction.collect_facts import Collected, Gathered, Progress, gather, silent
from analyzer.extraction.fact_cache import FactCache
from analyzer.extraction.machine import Machine
from analyzer.history.snapshot import Snapshot, enter, plan
from analyzer.history.stable_ids import Columns, Numbering, difference
from analyzer.sources.trees import NamedTree
from engine import Budget
from engine.incremental import (
    Base,
    Changes,
    MaintainedProgram,
    Maintainer,
    Outcome,
    Predicted,
    PreparedProgram,
    UpdatePolicy,
    nothing,
)
from facts import schema

FEW_NAMES = 1 << 16
"""So many symbols and entities more are not worth an evaluation."""
OF_FILES = tuple(name for name in schema.relations() if name not in facts.LAID_OUT)


class CannotFollow(Exception):
    """The relations of a scan cannot be maintained; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The resources for reading and extracting files and for evaluation, and the budget of users' rules.

    Facts are kept in the state directory, or in a `cache` of the reader's own.
    """

    config: Config
    directory: Path
    machine: Machine
    progress: Progress = silent
    threads: int | None = None
    budget: Budget | None = None
    cache: FactCache | None = None

    def read(self, tree: NamedTree, files: list[tuple[str, str]]) -> Gathered:
        return gather(tree, files, self.config, self.directory, self.machine, self.progress, self.cache)


@dataclass(slots=True)
class Move:
    """The result of an update from one commit to another: its outcome, facts inserted and deleted, files read."""

    outcome: Outcome
    inserted: dict[str, Columns]
    deleted: dict[str, Columns]
    files: frozenset[str]

    @property
    def n_facts(self) -> int:
        return sum(rows.shape[1] for part in (self.inserted, self.deleted) for rows in part.values())


@dataclass(slots=True)
class Follower:
    """A view of a program, and the commit whose facts it holds. `extracted` counts the files last extracted.

    `base` is the state last loaded or saved, which later states share. `anew` counts the strata re-evaluated on loading
    because their rules had changed. `n_begun` symbols and entities were there at its beginning.
    """

    maintainer: Maintainer
    snapshot: Snapshot
    extracted: int = 0
    base: Base | None = None
    anew: int = 0
    n_begun: int = field(init=False)

    def __post_init__(self) -> None:
        self.n_begun = self.n_named

    @classmethod
    def begin(
        cls,
        program: engine.CheckedProgram | PreparedProgram,
        tree: NamedTree,
        reader: Reader,
        policy: UpdatePolicy | None = None,
        watch: Callable[[], None] = nothing,
    ) -> Follower:
        """Evaluate the program on all files of a commit. `watch` is called between pieces of work; it may raise."""
        snapshot, change = plan(tree, reader.config, None)
        gathered = reader.read(tree, change.come)
        enter(snapshot, change.come, gathered)
        view = MaintainedProgram(
            program,
            engine.Database(),
            threads=reader.threads,
            bounds=bounds(),
            budget=reader.budget,
            by_demand=True,
        )
        follower = cls(Maintainer(view, policy or Predicted()), snapshot, extracted=gathered.extracted)
        given = follower.numbering.translated(facts.mount_files(gathered.by_path()), OF_FILES)
        laid_out = follower.lay_out(snapshot)
        follower.set_bounds(snapshot)
        try:
            with view.watched(watch):
                follower.maintainer.bootstrap(given | laid_out)
        except BaseException:
            view.close()
            raise
        follower.n_begun = follower.n_named
        return follower

    @property
    def view(self) -> MaintainedProgram:
        return self.maintainer.view

    @property
    def numbering(self) -> Numbering:
        return Numbering(self.view.symbols, self.view.records["Entity"])

    @property
    def n_named(self) -> int:
        """The number of symbols and entities, those that no fact names any more included."""
        return len(self.view.symbols) + self.view.records["Entity"].columns.shape[1]

    def mostly_gone(self) -> bool:
        """Return whether most rows are of tuples that have gone, or most symbols and entities have come since it began.

        What is not named any more is not counted: that would look at all facts.
        """
        return self.view.mostly_gone() or self.n_named > 2 * self.n_begun + FEW_NAMES

    def lay_out(self, snapshot: Snapshot) -> dict[str, Columns]:
        """Return the rows that the layout of a snapshot determines."""
        modules = snapshot.modules
        mounted = facts.mount_layout(modules)
        snapshot.n_directories = mounted.entities.shape[1] - sum(map(len, modules.values()))
        return self.numbering.translated(mounted, facts.LAID_OUT)

    def move(self, old: NamedTree, new: NamedTree, reader: Reader, watch: Callable[[], None] = nothing) -> Move:
        """Update from the commit `old`, the current one, to `new`. Raises CannotFollow; then this must not be used.

        `watch` is called between pieces of work; where it raises, this holds the facts of `old` as before.
        """
        snapshot, change = plan(new, reader.config, self.snapshot)
        if not change.gone and not change.come:
            snapshot.n_directories = self.snapshot.n_directories
            self.snapshot, self.extracted = snapshot, 0
            return Move(Outcome("update", "no file has changed", 0.0, Changes()), {}, {}, frozenset())
        before, after = reader.read(old, change.gone), reader.read(new, change.come)
        if {source.path for source in before.files} != {path for path, _ in change.gone}:
            raise CannotFollow("files of the previous commit can no longer be read")
        enter(snapshot, change.come, after)
        translated = self.numbering.translated
        was, now = (translated(facts.mount_files(part.by_path()), OF_FILES) for part in (before, after))
        if snapshot.modules == self.snapshot.modules:
            snapshot.n_directories = self.snapshot.n_directories
        else:
            was |= {name: self.view.relations[name].facts() for name in facts.LAID_OUT}
            now |= self.lay_out(snapshot)
        inserted, deleted = differences(now, was), differences(was, now)
        self.set_bounds(snapshot)
        try:
            outcome = self.maintainer.apply(inserted, deleted, watch)
        except BaseException:
            self.set_bounds(self.snapshot)
            raise
        self.snapshot, self.extracted = snapshot, before.extracted + after.extracted
        return Move(outcome, inserted, deleted, frozenset(path for path, _ in (*change.gone, *change.come)))

    def set_bounds(self, snapshot: Snapshot) -> None:
        """Bound recursions as a scan does (`analyzer/evaluation/recursion_bounds.py`)."""
        set_sizes(self.view.bounds, snapshot.n_entities)

    def collected(self) -> Collected:
        """Return the facts as a scan would have collected them."""
        view, snapshot = self.view, self.snapshot
        symbols, entities = view.symbols.texts(range(len(view.symbols))), view.records["Entity"].columns
        mounted = facts.Mounted(symbols, entities, self.given_facts())
        return Collected(snapshot.files, mounted, snapshot.skipped, snapshot.problems, self.extracted)

    def given_facts(self) -> GivenFacts:
        """Return the facts as they are now, put together when asked for."""
        return GivenFacts(self.view)


class GivenFacts(Mapping[str, Columns]):
    """The facts of a view by relation of the schema, assembled on access."""

    def __init__(self, view: MaintainedProgram) -> None:
        self._view = view
        self._read: dict[str, Columns] = {}

    def __getitem__(self, name: str) -> Columns:
        if name not in self._read:
            if name not in schema.relations():
                raise KeyError(name)
            self._read[name] = self._view.relations[name].facts()
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(schema.relations())

    def __len__(self) -> int:
        return len(schema.relations())


def differences(rows: Mapping[str, Columns], others: Mapping[str, Columns]) -> dict[str, Columns]:
    """Return, by relation, the rows that are not among the others."""
    found = {name: difference(columns, others[name]) for name, columns in rows.items() if columns.shape[1]}
    return {name: columns for name, columns in found.items() if columns.shape[1]}
