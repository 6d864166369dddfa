"""Strata that read nothing but facts of the program: their rows are the same for every database.

They are evaluated once, when a program is compiled, and their rows stand in tables beside its facts. So a library of
rules may say what it knows by rules, and an evaluation pays for facts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np

from engine.database import Columns, Database
from engine.language.checked_program import CheckedProgram
from engine.plan.outlined_program import Folded, OutlinedProgram, Table, is_set
from engine.symbols import Symbols

Evaluate = Callable[[CheckedProgram, Database, Collection[str]], Callable[[str], Columns]]
"""Evaluates a program; gives the columns of those relations by their names, with symbols of the database."""
TABLE_KINDS = frozenset({"symbol", "number", "unsigned", "float"})
"""The kinds of values that are the same in every database, but for the ids of symbols."""


def fold_constants(
    program: OutlinedProgram, given: Collection[str], sources: Collection[str], evaluate: Evaluate
) -> OutlinedProgram:
    """Return the program with the strata evaluated that depend on no `given` relation, in which databases have rows.

    Nor do they depend on clauses of other `sources` than these, whose rules nobody bounds here.
    """
    strata = frozenset(constant_strata(program, given, sources))
    relations = [at for stratum in sorted(strata) for at in program.strata[stratum].relations]
    names = [program.names[at] for at in relations]
    alone = tuple(each for at, each in enumerate(program.strata) if at in strata or not each.outlines)
    part, database = replace(program, strata=alone).part_on(Database(), names)
    rows = evaluate(part, database, [name for name in names if name in part.relations])
    texts = Symbols()
    texts.intern(program.texts)
    tables = []
    for at, name in zip(relations, names, strict=True):
        columns = rows(name) if name in part.relations else np.empty((program.relation_at(at).arity, 0), np.int64)
        tables.append(as_table(program, at, columns, database.symbols, texts))
    return replace(program, texts=tuple(texts.texts(range(len(texts)))), folded=Folded(strata, tuple(tables)))


def constant_strata(program: OutlinedProgram, given: Collection[str], sources: Collection[str]) -> Iterator[int]:
    """Yield, by position, the strata with rules whose rows follow from facts of the sources."""
    others = {at for at, source in enumerate(program.sources) if source not in sources}
    open_relations = {at for at, name in enumerate(program.names) if name in given}
    open_relations.update(table.relation for table in program.tables if table.source in others)
    for at, stratum in enumerate(program.strata):
        touched = {*stratum.relations, *(relation for each in stratum.outlines for relation in each.reads)}
        if (
            not open_relations.isdisjoint(touched)
            or any(each.source in others or program.clause_at(each.at).counters for each in stratum.outlines)
            or not all(fits_a_table(program, relation) for relation in stratum.relations)
        ):
            open_relations.update(stratum.relations)
        elif stratum.outlines:
            yield at


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
