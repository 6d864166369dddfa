"""Magic sets: a rewrite after which bottom-up evaluation derives what a query demands, and little more.

A relation is adorned with the columns that are known when it is asked for (b, bound, or f, free): `tc@bf` holds the
rows of `tc` whose first column is in `tc@bf?`, the demand. Rules of `tc@bf` are guarded by the demand, and their atoms
pass demand on, sideways, from what stands before them (Beeri and Ramakrishnan, On the power of magic, 1987).

* Relations that are negated or aggregated, and those whose rows depend on one another in other ways than by rules, are
  evaluated in full, with all that they depend on. So strata stay strata.
* Demand consists of values that relations hold: a value that a functor or a record term makes is not passed on, or
  evaluation might not end for a query on a program for which it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from engine.language.checked_program import CheckedClause, CheckedProgram, Relation
from engine.language.diagnostics import Report
from engine.language.grounding import pattern_variables
from engine.language.stratify import dependencies, stratify
from engine.language.syntax import Atom, Constant, Functor, HeadAggregate, Literal, Term, Variable, Wildcard
from engine.language.traverse import all_atoms, subterms
from engine.plan.right_linear import is_right_linear, recursive_position
from engine.plan.sideways_passing import pass_sideways

Definitions = Mapping[str, list[CheckedClause]]
FACTORED = "!"
"""Ends the name of a relation of answers without the bound columns."""


@dataclass(frozen=True)
class Demanded:
    """A program that derives what is demanded, and the relation in it that holds the answers.

    `columns` are the columns of the queried relation that it has; the others have the values in the query.
    """

    program: CheckedProgram
    answers: str
    columns: tuple[int, ...]


def demand(program: CheckedProgram, query: Atom, single: frozenset[str] = frozenset()) -> Demanded:
    """Return the program that derives the rows of a relation that agree with the constants of a query.

    Of `single` relations the caller promises that they never hold two rows.
    """
    definitions: dict[str, list[CheckedClause]] = {name: [] for name in program.relations}
    for clause in program.clauses:
        definitions[clause.head.relation].append(clause)
    full = evaluated_in_full(program, definitions, query.relation)
    whole, factored = frozenset[str](), frozenset[str]()
    while True:
        rewriting = Rewriting(program, definitions, full, whole, factored, single)
        answers = rewriting.ask(query)
        if rewriting.whole != whole:
            whole, factored = rewriting.whole, frozenset()
        elif factored or not (factored := rewriting.asked_for_one_value()):
            every = range(len(query.arguments))
            columns = [
                i for i in every if not answers.endswith(FACTORED) or not isinstance(query.arguments[i], Constant)
            ]
            return Demanded(rewriting.program(answers), answers, tuple(columns))


def evaluated_in_full(program: CheckedProgram, definitions: Definitions, root: str) -> set[str]:
    """Return the relations below `root` that are needed as a whole and as written, and all that they depend on."""
    found = set()
    for name in reachable(definitions, [root]):
        heads = (clause.head.arguments for clause in definitions[name])
        if (
            program.is_ordered(name)
            or "eqrel" in program.relations[name].qualifiers
            or any(clause.counters for clause in definitions[name])
            or any(isinstance(term, HeadAggregate) for head in heads for term in head)
        ):
            found.add(name)
        found.update(d.relation for clause in definitions[name] for d in dependencies(clause) if d.through)
    return reachable(definitions, found)


def reachable(definitions: Definitions, roots: Iterable[str]) -> set[str]:
    """Return the roots and all relations that they depend on."""
    found, pending = set(roots), list(roots)
    while pending:
        for clause in definitions[pending.pop()]:
            new = {atom.relation for atom in all_atoms(clause)} - found
            found |= new
            pending += new
    return found


class Rewriting:
    """The relations asked for so far, and the clauses made for them.

    `full` are the relations evaluated as written, `whole` those of which all rows are asked for: their rules pass
    demand on but are not guarded. Relations that turn out to be asked for as a whole are added to it.

    `factored` are adorned relations whose recursion is right-linear and that are asked for one value only. Rows that
    such a rule passes on unchanged are answers to the query, whatever they were demanded for: so answers are derived
    without the bound columns, not for each demanded value (Naughton, Ramakrishnan, Sagiv and Ullman, Efficient
    evaluation of right-, left-, and multi-linear rules, 1989).
    """

    def __init__(
        self,
        program: CheckedProgram,
        definitions: Definitions,
        full: set[str],
        whole: frozenset[str],
        factored: frozenset[str],
        single: frozenset[str],
    ) -> None:
        self.old, self.definitions, self.full, self.whole = program, definitions, full, whole
        self.factored, self.single = factored, single
        self.clauses: list[CheckedClause] = []
        self.asked: dict[str, tuple[str, str]] = {}
        self.pending: list[str] = []
        self.askers: dict[str, list[bool]] = {}

    def ask(self, query: Atom) -> str:
        """Define what a query needs; return the relation that holds its answers."""
        adornment = adornment_of(query)
        asked = self.relation(query.relation, adornment)
        if asked in self.asked and asked != query.relation:
            self.askers[asked] = [True]
            self.clauses.append(CheckedClause(guard_of(query, asked, adornment), (), {}))
        self.define_asked()
        return asked + FACTORED if asked in self.factored else asked

    def asked_for_one_value(self) -> frozenset[str]:
        """Return the adorned relations that can be factored: right-linear, and asked for one value from outside."""
        found = set()
        for adorned, askers in self.askers.items():
            name, adornment = self.asked[adorned]
            is_alone = any(stratum.relations == (name,) for stratum in self.old.strata)
            if askers == [True] and is_alone and is_right_linear(self.definitions[name], adornment, self.is_derived):
                found.add(adorned)
        return frozenset(found)

    def define_factored(self, adorned: str) -> None:
        """Add the clauses of a right-linear recursion that derive its answers without the bound columns."""
        name, adornment = self.asked[adorned]
        answers = adorned + FACTORED
        self.asked[answers] = name, adornment
        for clause in self.definitions[name]:
            guard, own = (guard_of(clause.head, adorned, adornment),), recursive_position(clause)
            body = self.adorn(clause, guard, own)
            if own is None:
                head = Atom(answers, terms_at(clause.head, adornment, "f"))
            else:
                recursive = body.pop(own)
                assert isinstance(recursive, Atom)
                head = guard_of(recursive, adorned, adornment)
            self.clauses.append(replace(clause, head=head, body=(*guard, *body), plan=()))
        given = self.given(name, adorned, adornment)
        self.clauses.append(replace(given, head=Atom(answers, terms_at(given.head, adornment, "f"))))

    def define_asked(self) -> None:
        while self.pending:
            adorned = self.pending.pop()
            if adorned in self.factored:
                self.define_factored(adorned)
                continue
            name, adornment = self.asked[adorned]
            for clause in self.definitions[name]:
                self.define(clause, adorned, adornment)
            if adorned != name:
                self.clauses.append(self.given(name, adorned, adornment))

    def relation(self, name: str, adornment: str) -> str:
        """Return the relation that holds the rows of `name` asked for, to be defined if it is new."""
        if not self.is_derived(name):
            return name
        if "b" not in adornment:
            self.whole |= {name}
        adorned = name if name in self.whole else f"{name}@{adornment}"
        if adorned not in self.asked:
            self.asked[adorned] = name, adornment
            self.pending.append(adorned)
        return adorned

    def is_derived(self, name: str) -> bool:
        """Return True if a relation can be derived in part: it has rules, and need not be evaluated in full."""
        return bool(self.definitions[name]) and name not in self.full

    def given(self, name: str, adorned: str, adornment: str) -> CheckedClause:
        """The clause that takes over the facts given for a relation that has rules too."""
        columns = self.old.relations[name].columns
        terms = tuple(Variable(column.name) for column in columns)
        given = Atom(name, terms)
        types = {column.name: column.type for column in columns}
        return CheckedClause(Atom(adorned, terms), (guard_of(given, adorned, adornment), given), types)

    def define(self, clause: CheckedClause, adorned: str, adornment: str) -> None:
        """Add the clause for `adorned`, guarded by the demand for it, and those that pass demand on."""
        guard = () if adorned == clause.head.relation else (guard_of(clause.head, adorned, adornment),)
        body = self.adorn(clause, guard)
        own = (x for x in body if isinstance(x, Atom) and x.relation == adorned)
        if any((guard_of(atom, adorned, adornment),) == guard for atom in own):
            guard = ()  # What the relation holds is demanded.
        self.clauses.append(replace(clause, head=replace(clause.head, relation=adorned), body=(*guard, *body), plan=()))

    def adorn(self, clause: CheckedClause, guard: tuple[Atom, ...], left_alone: int | None = None) -> list[Literal]:
        """Return the body of a clause that reads what is derived on demand, and add the clauses that demand it.

        The atom at the position `left_alone` stays as it is.
        """
        known = {name for atom in guard for term in atom.arguments for name in pattern_variables(term)}
        body = list(clause.body)
        for passing in pass_sideways(clause.body, known, self.is_derived):
            atom = passing.atom
            if passing.position == left_alone:
                continue
            name = self.relation(atom.relation, passing.adornment)
            body[passing.position] = replace(atom, relation=name)
            if name in self.factored:
                body[passing.position] = Atom(name + FACTORED, terms_at(atom, passing.adornment, "f"))
            if name != atom.relation:
                passed = Atom(demand_for(name), terms_at(atom, passing.adornment, "b"))
                if atom.relation != clause.head.relation:
                    self.askers.setdefault(name, []).append(self.is_one_value(passed, clause))
                before = (*guard, *(body[position] for position in passing.before))
                if before != (passed,):
                    self.clauses.append(CheckedClause(passed, before, clause.variables, span=clause.span))
        return body

    def is_one_value(self, passed: Atom, clause: CheckedClause) -> bool:
        """Return True if a clause passes on constants, and what relations hold that have one row at most."""
        atoms = (x for x in clause.body if isinstance(x, Atom) and x.relation in self.single)
        known = {name for atom in atoms for term in atom.arguments for name in pattern_variables(term)}
        return all(isinstance(t, Constant) or (isinstance(t, Variable) and t.name in known) for t in passed.arguments)

    def program(self, answers: str) -> CheckedProgram:
        """Return the program of the clauses made, and of what they need of the old one."""
        relations = {name: self.old.relations[name] for name in self.definitions}
        for adorned, (name, adornment) in self.asked.items():
            if adorned == name:
                continue
            columns = self.old.relations[name].columns
            free, bound = (tuple(c for c, letter in zip(columns, adornment, strict=True) if letter == w) for w in "fb")
            relations[adorned] = Relation(adorned, free if adorned.endswith(FACTORED) else columns)
            relations[demand_for(adorned)] = Relation(demand_for(adorned), bound)
        definitions: dict[str, list[CheckedClause]] = {name: [] for name in relations}
        definitions |= {name: self.definitions[name] for name in self.full}
        for clause in self.clauses:
            definitions[clause.head.relation].append(clause)
        needed = reachable(definitions, [answers])
        names = [name for name in relations if name in needed]
        report = Report({})
        strata = stratify(names, (clause for name in names for clause in definitions[name]), report)
        report.raise_if_errors()
        unproved = {name for stratum in self.old.strata if not stratum.premappable for name in stratum.relations}
        return replace(
            self.old,
            relations={name: relations[name] for name in names},
            strata=tuple(replace(stratum, premappable=unproved.isdisjoint(stratum.relations)) for stratum in strata),
            inputs=tuple(directive for directive in self.old.inputs if directive.relation in needed),
            outputs=(),
            printsizes=(),
            limitsizes=tuple(directive for directive in self.old.limitsizes if directive.relation in needed),
        )


def demand_for(adorned: str) -> str:
    """The relation of the values that are asked for."""
    return f"{adorned}?"


def adornment_of(query: Atom) -> str:
    return "".join("b" if isinstance(term, Constant) else "f" for term in query.arguments)


def terms_at(atom: Atom, adornment: str, wanted: str) -> tuple[Term, ...]:
    """The arguments of an atom where the adornment has a letter."""
    return tuple(term for term, letter in zip(atom.arguments, adornment, strict=True) if letter == wanted)


def guard_of(atom: Atom, adorned: str, adornment: str) -> Atom:
    """The demand that lets a clause with this head hold; what a functor in the head makes agrees with anything."""
    bound = terms_at(atom, adornment, "b")
    has_functor = (any(isinstance(part, Functor) for part in subterms(term)) for term in bound)
    return Atom(demand_for(adorned), tuple(Wildcard() if f else t for f, t in zip(has_functor, bound, strict=True)))
