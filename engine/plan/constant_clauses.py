"""Clauses that read nothing but facts of the program: what they derive is the same for every database.

They are evaluated once, when a program is compiled, and their rows stand in tables beside its facts: those of whole
strata, and those of single clauses for relations that others derive from a database. So a library of rules may say what
it knows by rules, and an evaluation pays for facts alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from engine.database import Columns, Database
from engine.language.checked_program import CheckedProgram, Relation, Stratum
from engine.plan.outlined_program import ClauseOutline, Folded, OutlinedProgram, Table, is_set
from engine.symbols import Symbols

Evaluate = Callable[[CheckedProgram, Database, Collection[str]], Callable[[str], Columns]]
"""Evaluates a program; gives the columns of those relations by their names, with symbols of the database."""
TABLE_KINDS = frozenset({"symbol", "number", "unsigned", "float"})
"""The kinds of values that are the same in every database, but for the ids of symbols."""


ALONE = "&constant"
"""Ends the name of a relation that holds what single clauses derive."""


class Constants(NamedTuple):
    """Strata with rules whose rows follow from facts of the program, and clauses of other strata, by position."""

    strata: frozenset[int]
    clauses: frozenset[int]


def fold_constants(
    program: OutlinedProgram, given: Collection[str], sources: Collection[str], evaluate: Evaluate
) -> OutlinedProgram:
    """Return the program with all evaluated that depends on no `given` relation, in which databases have rows.

    Nor does it depend on clauses of other `sources` than these, whose rules nobody bounds here.
    """
    found = constants(program, given, sources)
    whole = [at for stratum in sorted(found.strata) for at in program.strata[stratum].relations]
    single = [each for stratum in program.strata for each in stratum.outlines if each.at in found.clauses]
    names = {program.names[at] for at in whole} | {program.names[at] for each in single for at in each.body_reads}
    alone = tuple(each for at, each in enumerate(program.strata) if at in found.strata or not each.outlines)
    part, database = replace(program, strata=alone).part_on(Database(), names)
    part = with_single(program, part, single)
    added = sorted({each.head for each in single})
    asked = [program.names[at] for at in whole] + [program.names[at] + ALONE for at in added]
    rows = evaluate(part, database, asked)
    texts = Symbols()
    texts.intern(program.texts)
    tables = [
        as_table(program, at, rows(name), database.symbols, texts)
        for at, name in zip((*whole, *added), asked, strict=True)
    ]
    folded = Folded(found.strata, tuple(tables[: len(whole)]), found.clauses, tuple(tables[len(whole) :]))
    return replace(program, texts=tuple(texts.texts(range(len(texts)))), folded=folded)


def constants(program: OutlinedProgram, given: Collection[str], sources: Collection[str]) -> Constants:
    """Return what follows from facts of the sources."""
    others = {at for at, source in enumerate(program.sources) if source not in sources}
    open_relations = {at for at, name in enumerate(program.names) if name in given}
    open_relations.update(table.relation for table in program.tables if table.source in others)

    def may_fold(clause: ClauseOutline) -> bool:
        return not (clause.source in others or clause.counts) and fits_a_table(program, clause.head)

    strata: set[int] = set()
    clauses: set[int] = set()
    for at, stratum in enumerate(program.strata):
        touched = {*stratum.relations, *(relation for each in stratum.outlines for relation in each.reads)}
        fits = all(fits_a_table(program, relation) for relation in stratum.relations)
        if fits and open_relations.isdisjoint(touched) and all(map(may_fold, stratum.outlines)):
            strata.update([at] if stratum.outlines else [])
            continue
        open_relations.update(stratum.relations)
        clauses.update(
            each.at for each in stratum.outlines if may_fold(each) and open_relations.isdisjoint(each.body_reads)
        )
    return Constants(frozenset(strata), frozenset(clauses))


def with_single(program: OutlinedProgram, part: CheckedProgram, clauses: Iterable[ClauseOutline]) -> CheckedProgram:
    """Return a part of a program with clauses that derive relations of their own, one for each of their heads."""
    relations: dict[str, Relation] = {}
    strata = defaultdict(list)
    for each in clauses:
        declared, clause = program.relation_at(each.head), program.clause_at(each.at)
        name = declared.name + ALONE
        relations[name] = replace(declared, name=name, qualifiers=frozenset())
        strata[name].append(replace(clause, head=replace(clause.head, relation=name)))
    made = (Stratum((name,), False, tuple(of_name)) for name, of_name in strata.items())
    return replace(part, relations={**part.relations, **relations}, strata=(*part.strata, *made))


def fits_a_table(program: OutlinedProgram, at: int) -> bool:
    """Return True if tables can hold a relation: a set of rows with columns, of values that every database has."""
    relation = program.relation_at(at)
    return (
        is_set(program.declarations, relation.name)
        and relation.arity > 0
        and TABLE_KINDS.issuperset(column.type.kind for column in relation.columns)
    )


def as_table(program: OutlinedProgram, at: int, columns: Columns, symbols: Symbols, texts: Symbols) -> Table:
    """Return rows as a table, whose symbols are numbers of `texts`."""
    kinds = [column.type.kind for column in program.relation_at(at).columns]
    are_symbols = tuple(kind == "symbol" for kind in kinds)
    held = tuple(
        tuple((texts.intern(symbols.texts(column)) if is_symbol else column).tolist())
        for column, is_symbol in zip(columns, are_symbols, strict=True)
    )
    return Table(0, at, are_symbols, held)
