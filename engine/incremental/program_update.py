"""Incremental runs on files: a state and a delta in, a state and complete results out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from engine.database import Columns, Database
from engine.incremental.block_file import DamagedFile
from engine.incremental.delta_files import read_delta
from engine.incremental.duration_model import DurationModel
from engine.incremental.maintained_program import MaintainedProgram, MaintainedProgramOptions
from engine.incremental.saved_state import NoState, State, StateError
from engine.incremental.update_policy import DEFAULT as DEFAULT_POLICY
from engine.incremental.update_policy import POLICIES, Maintainer, UpdatePolicy
from engine.io import load, store
from engine.language.checked_program import CheckedProgram
from engine.run_program import compile_file
from engine.schedule.executor import DEFAULT

WAIT_S = 600.0
"""Seconds to wait for another process that uses the same state."""


@dataclass
class UpdateSummary:
    """The outcome of a run: `strategy`, and why; numbers of inserted and deleted tuples by relation; durations.

    `elapsed_s` is the time of bootstrap or update, `loaded_s` and `saved_s` that of the state. `damage` is set if the
    saved state could not be used.
    """

    strategy: str
    reason: str
    elapsed_s: float
    changes: dict[str, tuple[int, int]]
    loaded_s: float = 0.0
    saved_s: float = 0.0
    damage: bool = False
    lines: list[str] = field(default_factory=list)


def update_program(
    program: Path,
    state: Path,
    output: Path,
    *,
    delta: Path | None = None,
    facts: Path | None = None,
    policy: str = DEFAULT_POLICY,
    scheduler: str = DEFAULT,
    number_bits: int = 32,
    threads: int | None = None,
    wait_s: float = WAIT_S,
    waiting: Callable[[], None] = lambda: None,
) -> UpdateSummary:
    """Apply a delta to the state of a program file, save the state, and write the complete outputs.

    Where there is no state that can be used, the program is evaluated on `facts`, which are those before the delta.
    Raises ProgramError, FactsError, EvaluationError, StateError (where there are neither state nor facts, too), and
    OSError where the program or the delta cannot be read.
    """
    whole_program = compile_file(program, number_bits)
    checked = needed_part(whole_program)
    unread = {directive.relation for directive in whole_program.inputs} - checked.needed
    place = State(state, checked)
    place.open(wait_s, waiting)
    options: MaintainedProgramOptions = {"threads": threads, "scheduler": scheduler}

    def go_on(maintainer: Maintainer, summary: UpdateSummary) -> UpdateSummary:
        inserted, deleted = read_delta(delta, maintainer.view, unread) if delta else ({}, {})
        advance(maintainer, inserted, deleted, summary)
        place.notes = maintainer.durations.notes()
        saving = perf_counter()
        place.save(maintainer.view)
        summary.saved_s = perf_counter() - saving
        summary.lines = store(checked, maintainer.view.result(), output)
        maintainer.view.close()
        return summary

    try:
        try:
            return go_on(*begin(place, facts, POLICIES[policy](), options))
        except DamagedFile as error:
            place.discard()
            why = NoState(f"the state in {state} is damaged: {error}")
            return go_on(*anew(place, facts, POLICIES[policy](), options, why))
    finally:
        place.close()


def begin(
    place: State, facts: Path | None, policy: UpdatePolicy, options: MaintainedProgramOptions
) -> tuple[Maintainer, UpdateSummary]:
    """Load the state, or evaluate from scratch; `options` are those of MaintainedProgram."""
    loading = perf_counter()
    try:
        view = place.load(**options)
    except NoState as error:
        return anew(place, facts, policy, options, error)
    maintainer = Maintainer(view, policy, DurationModel.restored(place.notes))
    return maintainer, UpdateSummary("update", "nothing to do", 0.0, {}, perf_counter() - loading)


def anew(
    place: State, facts: Path | None, policy: UpdatePolicy, options: MaintainedProgramOptions, why: NoState
) -> tuple[Maintainer, UpdateSummary]:
    """Evaluate from scratch. Raises StateError without initial facts."""
    if facts is None:
        raise StateError(f"{why}; give initial facts (-F)") from None
    place.base = None
    database = load(place.program.program, facts)
    given = Database(database.symbols, database.records)
    maintainer = Maintainer(MaintainedProgram(place.program, given, exact=place.exact, **options), policy)
    elapsed_s = maintainer.bootstrap(database.relations)
    return maintainer, UpdateSummary("bootstrap", str(why), elapsed_s, whole(maintainer.view), damage=why.damage)


def whole(view: MaintainedProgram) -> dict[str, tuple[int, int]]:
    """Return all tuples of a view as insertions."""
    return {name: (len(relation.present()), 0) for name, relation in view.relations.items()}


def advance(
    maintainer: Maintainer, inserted: dict[str, Columns], deleted: dict[str, Columns], summary: UpdateSummary
) -> None:
    """Apply a delta. After a bootstrap, `summary` counts the tuples that there are in the end."""
    if not inserted and not deleted:
        return
    outcome = maintainer.apply(inserted, deleted)
    summary.elapsed_s += outcome.elapsed_s
    if summary.strategy == "bootstrap":
        summary.changes = whole(maintainer.view)
        return
    summary.strategy, summary.reason = outcome.strategy, outcome.reason
    summary.changes = {
        name: (change.inserted.shape[1], change.deleted.shape[1]) for name, change in outcome.changes.items()
    }


def needed_part(program: CheckedProgram) -> CheckedProgram:
    """Return the program without relations that no output depends on."""
    needed = program.needed
    return replace(
        program,
        relations={name: relation for name, relation in program.relations.items() if name in needed},
        strata=tuple(stratum for stratum in program.strata if not needed.isdisjoint(stratum.relations)),
        inputs=tuple(directive for directive in program.inputs if directive.relation in needed),
        limitsizes=tuple(directive for directive in program.limitsizes if directive.relation in needed),
    )
