"""The part of a program that some relations need: what is not asked for costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from engine.database import Columns, Database
from engine.language.checked_program import CheckedClause, CheckedProgram
from engine.language.syntax import Atom, Constant
from engine.language.traverse import all_atoms
from engine.plan.value_encoding import encode


def slice_for(
    program: CheckedProgram,
    wanted: Collection[str],
    given: Collection[str],
    has_rows: Callable[[Atom], bool] = lambda atom: True,
) -> CheckedProgram:
    """Return the program without what none of the wanted relations depends on; the given ones stay.

    Facts come for the given relations alone. So a relation that is none of these and has no clause is empty; a clause
    that reads it can derive nothing, and goes, too, until every relation that is read may have rows. So do clauses with
    an atom that no row agrees with, as far as `has_rows` knows.
    """
    program = without_barren_clauses(program, given, has_rows)
    needed = {*wanted, *given}
    for stratum in reversed(program.strata):
        if not needed.isdisjoint(stratum.relations):
            needed.update(stratum.relations, *(read_anyhow(clause) for clause in stratum.clauses))
    inputs, outputs, printsizes, limitsizes = (
        tuple(directive for directive in directives if directive.relation in needed)
        for directives in (program.inputs, program.outputs, program.printsizes, program.limitsizes)
    )
    return replace(
        program,
        relations={name: relation for name, relation in program.relations.items() if name in needed},
        strata=tuple(stratum for stratum in program.strata if not needed.isdisjoint(stratum.relations)),
        inputs=inputs,
        outputs=outputs,
        printsizes=printsizes,
        limitsizes=limitsizes,
    )


def slice_on(program: CheckedProgram, database: Database, wanted: Collection[str]) -> CheckedProgram:
    """Return the part of a program that can derive wanted relations from a database.

    A clause goes that asks for rows which a relation of facts does not have: any at all, or any with the constants that
    the clause gives. Programs for several kinds of facts shrink to what is for those at hand.
    """
    derived = {clause.head.relation for clause in program.clauses}
    asked: dict[tuple[str, int, object], bool] = {}

    def has_rows(atom: Atom) -> bool:
        columns = database.relations.get(atom.relation)
        if atom.relation in derived or columns is None:
            return True
        constants = [(i, term) for i, term in enumerate(atom.arguments) if isinstance(term, Constant)]
        return columns.shape[1] > 0 and all(has_constant(atom.relation, columns, i, term) for i, term in constants)

    def has_constant(name: str, columns: Columns, i: int, term: Constant) -> bool:
        key = (name, i, term.value)
        if key not in asked:
            asked[key] = bool((columns[i] == encode(term, database.symbols)).any())
        return asked[key]

    given = {name for name in program.relations if name in database.relations or name not in derived}
    return slice_for(program, wanted, given, has_rows)


def without_barren_clauses(
    program: CheckedProgram, given: Collection[str], has_rows: Callable[[Atom], bool]
) -> CheckedProgram:
    """Return the program without clauses that read an empty relation, or a recursion that nothing begins.

    Strata come in an order of evaluation: one pass sees what every clause reads of strata before its own.
    """
    fruitful, strata = set(given), []
    for stratum in program.strata:
        kept: set[int] = set()
        waiting = {at: atoms for at, clause in enumerate(stratum.clauses) if all(map(has_rows, atoms := read(clause)))}
        while found := [at for at, atoms in waiting.items() if all(atom.relation in fruitful for atom in atoms)]:
            kept.update(found)
            fruitful.update(stratum.clauses[at].head.relation for at in found)
            for at in found:
                del waiting[at]
        clauses = tuple(clause for at, clause in enumerate(stratum.clauses) if at in kept)
        strata.append(replace(stratum, clauses=clauses))
    return replace(program, strata=tuple(strata))


def read(clause: CheckedClause) -> list[Atom]:
    """The atoms of which a clause needs a row."""
    return [literal for literal in clause.body if isinstance(literal, Atom)]


def read_anyhow(clause: CheckedClause) -> set[str]:
    return {atom.relation for atom in all_atoms(clause)}
