"""The part of a program that some relations need: what is not asked for costs nothing.

It is found on outlines of the clauses: what each derives and reads. Facts come for given relations alone. So a relation
that is none of these and has no clause is empty; a clause that reads it can derive nothing, and goes, too, until every
relation that is read may have rows. So do clauses that ask for rows of which it is known that there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from engine.database import Columns
from engine.language.checked_program import CheckedProgram
from engine.language.clause_outline import Asked, Outline
from engine.language.syntax import Constant
from engine.plan.value_encoding import encode
from engine.symbols import Symbols

Name = TypeVar("Name", bound=Hashable)
Named = TypeVar("Named", bound=Hashable, covariant=True)
Outlines = Sequence[Sequence[Outline]]
"""The outlines of all clauses of a program, by stratum."""


def sliced(
    program: CheckedProgram, outlines: Outlines, wanted: Collection[str], given: Collection[str]
) -> tuple[CheckedProgram, Outlines]:
    """Return the program without what none of the wanted relations depends on, and the outlines of its clauses.

    The given relations stay. `outlines` are those of all clauses, by stratum.
    """
    parts = [(stratum.relations, those) for stratum, those in zip(program.strata, outlines, strict=True)]
    needed, live = needed_part(parts, {*wanted, *given}, given, lambda relation, asked: True)
    strata, kept_outlines = [], []
    for stratum, those, kept in zip(program.strata, outlines, live, strict=True):
        if not needed.isdisjoint(stratum.relations):
            strata.append(replace(stratum, clauses=tuple(stratum.clauses[at] for at in sorted(kept))))
            kept_outlines.append([those[at] for at in sorted(kept)])
    declared = {name: relation for name, relation in program.relations.items() if name in needed}
    return replace(with_directives_of(program, needed), relations=declared, strata=tuple(strata)), kept_outlines


def with_directives_of(program: CheckedProgram, names: Collection[str]) -> CheckedProgram:
    """Return the program with the directives of some relations alone."""
    inputs, outputs, printsizes, limitsizes = (
        tuple(directive for directive in directives if directive.relation in names)
        for directives in (program.inputs, program.outputs, program.printsizes, program.limitsizes)
    )
    return replace(program, inputs=inputs, outputs=outputs, printsizes=printsizes, limitsizes=limitsizes)


class HeldRows(Generic[Name]):
    """Tells whether relations of facts have rows with some constants; others, without `columns`, may have any."""

    def __init__(self, columns: Callable[[Name], Columns | None], symbols: Symbols) -> None:
        self.columns, self.symbols = columns, symbols
        self._known: dict[tuple[Name, Asked], bool] = {}

    def may_have(self, relation: Name, asked: Asked) -> bool:
        key = relation, asked
        if key not in self._known:
            columns = self.columns(relation)
            self._known[key] = columns is None or (
                columns.shape[1] > 0 and all(self._has(columns, each) for each in asked)
            )
        return self._known[key]

    def _has(self, columns: Columns, constant: tuple[int, str, int | float | str | None]) -> bool:
        column, type_, value = constant
        return bool((columns[column] == encode(Constant(value, type_), self.symbols)).any())


class Outlined(Protocol[Named]):
    """The outline of a clause, with names of any kind."""

    @property
    def head(self) -> Named: ...

    @property
    def needs(self) -> tuple[tuple[Named, Asked], ...]: ...

    @property
    def reads(self) -> tuple[Named, ...]: ...


def needed_part(
    strata: Sequence[tuple[Collection[Name], Sequence[Outlined[Name]]]],
    wanted: Iterable[Name],
    given: Collection[Name],
    has_rows: Callable[[Name, Asked], bool],
) -> tuple[set[Name], list[set[int]]]:
    """Return the relations that wanted ones need, and the clauses that may derive rows.

    Facts come for given relations. `strata` are relations with outlines of their clauses, in an order of evaluation:
    one pass sees what every clause reads of strata before its own, and one back what is needed.
    """
    fruitful = set(given)
    live = []
    for relations, outlines in strata:
        clauses = []
        for at, clause in enumerate(outlines):
            for relation, asked in clause.needs:
                if (relation not in fruitful and relation not in relations) or not has_rows(relation, asked):
                    break
            else:
                clauses.append((at, clause.head, [relation for relation, _ in clause.needs]))
        live.append(deriving(clauses, fruitful))
    needed = set(wanted)
    for (relations, outlines), kept in zip(reversed(strata), reversed(live), strict=True):
        if not needed.isdisjoint(relations):
            needed.update(relations)
            for at in kept:
                needed.update(outlines[at].reads)
    return needed, live


def deriving(clauses: Iterable[tuple[int, Name, Collection[Name]]], fruitful: set[Name]) -> set[int]:
    """Return the numbers of the clauses that may derive rows, each given with its head and all that it needs rows of.

    `fruitful` are the relations that may have rows; the heads of these clauses are added to them.
    """
    kept: set[int] = set()
    waiting = list(clauses)
    while found := [each for each in waiting if fruitful.issuperset(each[2])]:
        kept.update(at for at, _, _ in found)
        fruitful.update(head for _, head, _ in found)
        waiting = [each for each in waiting if each[0] not in kept]
    return kept
