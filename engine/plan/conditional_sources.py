"""Sources whose rules hold for some databases alone: those with a row that each of their clauses then asks for.

A library for several kinds of facts says by its files what is for which. A database without facts of a kind pays for
none of the rules for it: a clause that asks for a constant that is not held is left out before it is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.language.checked_program import CheckedClause
from engine.language.clause_outline import asked
from engine.language.syntax import Atom, Constant
from engine.plan.outlined_program import ClauseOutline, OutlinedProgram, is_set


def conditional(program: OutlinedProgram, relation: str, symbols: Mapping[str, str]) -> OutlinedProgram:
    """Return the program in which clauses of some sources need a row of a relation of symbols, too: that of the source.

    The relation is one of facts, which stands before all that have rules. Facts and folded clauses stay as they are:
    they say the same of every database. So do clauses whose atoms have a given order, and those of relations that are
    no plain sets.
    """
    number = program.names.index(relation)
    atoms = {source: Atom(relation, (Constant(symbol, "symbol"),)) for source, symbol in symbols.items()}
    of_source = {at: atoms[source] for at, source in enumerate(program.sources) if source in atoms}
    added: dict[int, Atom] = {}

    def with_condition(clause: ClauseOutline) -> ClauseOutline:
        atom = of_source.get(clause.source)
        if atom is None or clause.is_fact or clause.counts or clause.at in program.folded.clauses:
            return clause
        if program.clause_at(clause.at).plan or not is_set(program.declarations, program.names[clause.head]):
            return clause
        added[clause.at] = atom
        return clause._replace(needs=((number, asked(atom)), *clause.needs), reads=(*clause.reads, number))

    strata = tuple(
        stratum
        if at in program.folded.strata
        else stratum._replace(outlines=tuple(map(with_condition, stratum.outlines)))
        for at, stratum in enumerate(program.strata)
    )

    def clause_at(at: int) -> CheckedClause:
        clause = program.clause_at(at)
        if at not in added:
            return clause
        return replace(clause, body=(replace(added[at], span=clause.head.span), *clause.body))

    return replace(program, strata=strata, clause_at=clause_at)
