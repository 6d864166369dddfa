"""The part of a program that some relations need: what is not asked for costs nothing.

It is found on outlines of the clauses: what each derives and reads. Facts come for given relations alone. So a relation
that is none of these and has no clause is empty; a clause that reads it can derive nothing, and goes, too, until every
relation that is read may have rows. So do clauses that ask for rows of which it is known that there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from engine.database import Columns
from engine.language.checked_program import CheckedProgram
from engine.language.clause_outline import Asked, Outline
from engine.language.syntax import Constant
from engine.plan.value_encoding import encode
from engine.symbols import Symbols

Name = TypeVar("Name", bound=Hashable)
Outlines = Sequence[Sequence[Outline]]
"""The outlines of all clauses of a program, by stratum."""


def sliced(
    program: CheckedProgram, outlines: Outlines, wanted: Collection[str], given: Collection[str]
) -> tuple[CheckedProgram, Outlines]:
    """Return the program without what none of the wanted relations depends on, and the outlines of its clauses.

    The given relations stay. `outlines` are those of all clauses, by stratum.
    """
    parts = [
        (stratum.relations, [each[:3] for each in those])
        for stratum, those in zip(program.strata, outlines, strict=True)
    ]
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
    """Tells whether relations of facts, by their names, have rows with some constants. Others may have any."""

    def __init__(self, held: Mapping[Name, Columns], symbols: Symbols) -> None:
        self.held, self.symbols = held, symbols
        self._known: dict[tuple[Name, int, object], bool] = {}

    def may_have(self, relation: Name, asked: Asked) -> bool:
        columns = self.held.get(relation)
        return columns is None or (columns.shape[1] > 0 and all(self._has(relation, columns, each) for each in asked))

    def _has(self, relation: Name, columns: Columns, constant: tuple[int, str, int | float | str | None]) -> bool:
        column, type_, value = constant
        key = (relation, column, value)
        if key not in self._known:
            self._known[key] = bool((columns[column] == encode(Constant(value, type_), self.symbols)).any())
        return self._known[key]


def needed_part(
    strata: Sequence[tuple[Collection[Name], Sequence[tuple[Name, Iterable[tuple[Name, Asked]], Iterable[Name]]]]],
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
    for _, outlines in strata:
        clauses = [
            (at, head, [relation for relation, _ in needs])
            for at, (head, needs, _) in enumerate(outlines)
            if all(has_rows(relation, asked) for relation, asked in needs)
        ]
        live.append(deriving(clauses, fruitful))
    needed = set(wanted)
    for (relations, outlines), kept in zip(reversed(strata), reversed(live), strict=True):
        if not needed.isdisjoint(relations):
            needed.update(relations)
            for at in kept:
                needed.update(outlines[at][2])
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
