"""The part of a program that some relations need: what is not asked for costs nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.language.program import CheckedClause, CheckedProgram
from engine.language.syntax import Atom
from engine.language.walk import all_atoms


def part_for(program: CheckedProgram, wanted: Collection[str], given: Collection[str]) -> CheckedProgram:
    """Return the program without what none of the wanted relations depends on; the given ones stay.

    Facts come for the given relations alone. So a relation that is none of these and has no clause is empty; a clause
    that reads it can derive nothing, and goes, too, until every relation that is read may have rows.
    """
    program = without_barren_clauses(program, given)
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


def without_barren_clauses(program: CheckedProgram, given: Collection[str]) -> CheckedProgram:
    """Return the program without clauses that read an empty relation, or a recursion that nothing begins.

    Strata come in an order of evaluation: one pass sees what every clause reads of strata before its own.
    """
    fruitful, strata = set(given), []
    for stratum in program.strata:
        kept: set[int] = set()
        waiting = dict(enumerate(stratum.clauses))
        while found := [at for at, clause in waiting.items() if read_relations(clause) <= fruitful]:
            kept.update(found)
            fruitful.update(waiting.pop(at).head.relation for at in found)
        clauses = tuple(clause for at, clause in enumerate(stratum.clauses) if at in kept)
        strata.append(replace(stratum, clauses=clauses))
    return replace(program, strata=tuple(strata))


def read_anyhow(clause: CheckedClause) -> set[str]:
    return {atom.relation for atom in all_atoms(clause)}


def read_relations(clause: CheckedClause) -> set[str]:
    """The relations of which a clause needs a row."""
    return {literal.relation for literal in clause.body if isinstance(literal, Atom)}
