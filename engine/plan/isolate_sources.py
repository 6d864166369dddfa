"""Rules of sources that nobody vouches for, each source's in relations of its own.

A rule may derive tuples of a relation that other sources derive, too. To tell how many rows a source is to blame for,
its rules derive a relation that only they write, and one rule takes that over.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from engine.language.checked_program import CheckedClause, CheckedProgram, Relation
from engine.language.diagnostics import Report
from engine.language.stratify import stratify
from engine.language.syntax import Atom, Span, Variable

BUILT = "<built>"
"""The source of clauses that stand in none."""
SEPARATOR = "@"
"""Stands in no name that a program declares."""


def isolate_sources(program: CheckedProgram, sources: Collection[str]) -> CheckedProgram:
    """Return an equal program in which each relation is written by rules of the others, or of one of the sources.

    Relations with aggregates in heads keep the rules they have: what contributes to one group cannot be divided. So do
    relations whose rows depend on the order of derivation.
    """
    parts = _Parts(program)
    clauses = [parts.of(clause) if clause.span.source in sources else clause for clause in program.clauses]
    if not parts.made:
        return program
    relations = {**program.relations, **parts.made}
    found = stratify(list(relations), [*clauses, *parts.bridges], Report({}))
    premappable = {name: stratum.premappable for stratum in program.strata for name in stratum.relations}
    strata = (replace(s, premappable=all(premappable.get(name, True) for name in s.relations)) for s in found)
    return replace(program, relations=relations, strata=tuple(strata))


def written_by(program: CheckedProgram, sources: Collection[str]) -> dict[str, set[str]]:
    """Return the relations that rules of some sources write, each with those of the sources that do."""
    found: dict[str, set[str]] = {}
    for clause in program.clauses:
        if clause.span.source in sources and not clause.is_fact:
            found.setdefault(clause.head.relation, set()).add(clause.span.source)
    return found


@dataclass
class _Parts:
    program: CheckedProgram
    made: dict[str, Relation] = field(default_factory=dict)
    bridges: list[CheckedClause] = field(default_factory=list)

    def of(self, clause: CheckedClause) -> CheckedClause:
        """Return the clause with a head of its source's own, made if need be."""
        declared, source = self.program.relations[clause.head.relation], clause.span.source
        ordered = self.program.is_ordered(declared.name)
        if clause.is_fact or clause.counters or declared.aggregated or ordered or declared.span.source == source:
            return clause
        name = f"{declared.name}{SEPARATOR}{source}"
        if name not in self.made:
            self.made[name] = replace(declared, name=name, qualifiers=frozenset())
            terms = tuple(Variable(f"x{i}", span=clause.span) for i in range(declared.arity))
            types = {f"x{i}": column.type for i, column in enumerate(declared.columns)}
            head, body = (Atom(relation, terms, span=clause.span) for relation in (declared.name, name))
            self.bridges.append(CheckedClause(head, (body,), types, span=Span(BUILT, 0, 0, 0, 0)))
        return replace(clause, head=replace(clause.head, relation=name))
