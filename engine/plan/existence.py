"""Tests of existence: a part of a body that shares no variable with the rest, or the head, is asked for once.

`p(x) :- a(_), b(x).` joins every row of a with every row of b. With `p&exists0() :- a(_).` and
`p(x) :- p&exists0(), b(x).` each is read once. That is exact for sets of rows; where derivations are counted, the parts
count on their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from engine.language.checked_program import CheckedClause, CheckedProgram, Relation, Stratum
from engine.language.clause_outline import outlines_of
from engine.language.separate_parts import names_in, unwanted
from engine.language.syntax import Atom, Literal
from engine.language.traverse import all_atoms


def split_existence(program: CheckedProgram) -> CheckedProgram:
    """Return the program with a relation without columns for each part of a body that only has to exist.

    Clauses with a `.plan` or counters stay as they are, and in a component whose result depends on iterations all that
    read it.
    """
    split = Splitter(program)
    strata = tuple(made for stratum in program.strata for made in split.stratum(stratum))
    return replace(program, relations={**program.relations, **split.made}, strata=strata)


class Splitter:
    """`made` are the new relations, by name; `known` their names by the relation they are for and what they test."""

    def __init__(self, program: CheckedProgram) -> None:
        self.program = program
        self.made: dict[str, Relation] = {}
        self.known: dict[tuple[str, tuple[Literal, ...]], str] = {}

    def stratum(self, stratum: Stratum) -> Iterator[Stratum]:
        """Yield a stratum with its clauses split, and before it the tests that do not read it."""
        outlines = outlines_of(stratum.clauses)
        if not any(about.splits for about in outlines):
            yield stratum
            return
        own = set(stratum.relations)
        iterates = not stratum.premappable or any(
            self.program.is_ordered(name) or self.program.relations[name].aggregated for name in own
        )
        clauses, inner = [], []
        for clause, about in zip(stratum.clauses, outlines, strict=True):
            for part in unwanted(clause) if about.splits else ():
                moves = any(atom.relation in own for atom in atoms_of(part))
                if moves and iterates:
                    continue
                test, made = self.test(clause, part)
                clause = replace(clause, body=(test, *(x for x in clause.body if x not in part)))
                if made is not None and moves:
                    inner.append(made)
                elif made is not None:
                    yield Stratum((test.relation,), False, (made,))
            clauses.append(clause)
        relations = (*stratum.relations, *(clause.head.relation for clause in inner))
        yield replace(stratum, relations=relations, clauses=(*clauses, *inner))

    def test(self, clause: CheckedClause, part: tuple[Literal, ...]) -> tuple[Atom, CheckedClause | None]:
        """Return the atom that stands for a part of a clause, and the clause of its relation, if that is new."""
        relation = clause.head.relation
        if (relation, part) in self.known:
            return Atom(self.known[relation, part], (), span=clause.span), None
        name = self.known[relation, part] = self.unused_name(relation)
        self.made[name] = Relation(name, (), span=clause.span)
        head = Atom(name, (), span=clause.span)
        names = {name for literal in part for name in names_in(literal)}
        types = {name: type_ for name, type_ in clause.variables.items() if name in names}
        return head, CheckedClause(head, part, types, span=clause.span)

    def unused_name(self, relation: str) -> str:
        """Return a name for a part of a rule of the relation. A stratum of a split program may be split once more."""
        names = (f"{relation}&exists{number}" for number in count())
        return next(name for name in names if name not in self.made and name not in self.program.relations)


def atoms_of(part: Iterable[Literal]) -> list[Atom]:
    return all_atoms(CheckedClause(Atom("", ()), tuple(part), {}))[1:]
