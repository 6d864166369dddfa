"""A checked program: what the checker hands to every evaluator.

Clauses are in the syntax of `syntax`, lowered to a core that an evaluator can trust:

* no disjunction, components or includes; algebraic data types have become records, see `Record`;
* `Functor.kind`, `Constraint.kind` and `Aggregate.kind_of_value` name the primitive kind operated on, and
  `RecordTerm.type` the record table; overloaded conversions have become monomorphic (see `functors`);
* every Aggregate and every generator (`range`) is the right side of a constraint `variable = …` of its own, in the
  clause's body or in the body of an enclosing aggregate; an aggregate's target is None or a variable;
* functors stand in heads, negated atoms, other functors, and as a side of a constraint: not in positive atoms, and not
  inside the records of an equation;
* a variable inside an aggregate that also occurs outside it is the same variable, bound outside (injected); local ones
  have names of their own;
* every variable is bound: there is an order of the body in which each literal's needed variables are bound before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.language.syntax import Atom, Directive, Literal, Span, span_field
from engine.language.traverse import all_atoms


@dataclass(frozen=True, slots=True)
class Type:
    """A resolved type: `kind` is symbol, number, unsigned, float or record; `record` names the table of a record."""

    name: str
    kind: str
    record: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a relation or a record."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of an algebraic data type: `$name(fields…)` is the record `[tag, fields…, 0, …]`."""

    name: str
    tag: int
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record table: its name is that of the root record type, its columns are `fields`.

    An algebraic data type is a record too, with `branches`: column 0 is the branch's tag (a number), the others hold
    the branch's fields, padded with 0 up to the widest branch. Their kind depends on the tag (they are declared as
    numbers), so a term `[tag, …]` must compare the tag before it looks into the other columns.
    """

    name: str
    fields: tuple[Field, ...]
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Aggregated:
    """A column that holds an aggregate, of one `kind`, over the contributions to its group.

    Sums, counts and means take the greatest value of each contributor; `contributors` are the types of a contributor's
    columns, the first of them a tag if `tagged`: plain values have 1 there and then zeros.
    Floats are added in the order of contributors, or in increasing order if these are bindings (`by_value`).
    """

    column: int
    kind: str
    contributors: tuple[Type, ...] = ()
    tagged: bool = False
    by_value: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A declared relation. `qualifiers` as written (inline, eqrel, magic, …); `choice` are functional dependencies.

    If columns are `aggregated`, there is one row for each combination of values in the others, the group. The heads of
    all clauses then have a HeadAggregate in each aggregated column, and nowhere else.
    """

    name: str
    columns: tuple[Field, ...]
    qualifiers: frozenset[str] = frozenset()
    choice: tuple[tuple[int, ...], ...] = ()
    aggregated: tuple[Aggregated, ...] = ()
    span: Span = span_field()

    @property
    def arity(self) -> int:
        return len(self.columns)

    @property
    def group(self) -> tuple[int, ...]:
        """The columns that are not aggregated."""
        aggregated = {aggregate.column for aggregate in self.aggregated}
        return tuple(column for column in range(self.arity) if column not in aggregated)


@dataclass(frozen=True, slots=True)
class CheckedClause:
    """A lowered clause and the resolved type of each of its variables, those inside aggregates included.

    `counters` are the variables that stand for its `autoinc()`s, which no literal binds (see `autoinc.split`).
    """

    head: Atom
    body: tuple[Literal, ...]
    variables: Mapping[str, Type]
    plan: tuple[tuple[int, tuple[int, ...]], ...] = ()
    counters: tuple[str, ...] = ()
    span: Span = span_field()

    @property
    def is_fact(self) -> bool:
        return not self.body


@dataclass(frozen=True, slots=True)
class Stratum:
    """A strongly connected component of the relations, with all clauses whose head is in it.

    If it is not `premappable`, its aggregates are so by the program's word alone: the result depends on the order of
    evaluation, which must be round by round.
    """

    relations: tuple[str, ...]
    recursive: bool
    clauses: Sequence[CheckedClause]
    premappable: bool = True


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """A program without errors. `strata` are in an order of evaluation; every relation is in exactly one."""

    types: Mapping[str, Type]
    records: Mapping[str, Record]
    relations: Mapping[str, Relation]
    strata: tuple[Stratum, ...]
    inputs: tuple[Directive, ...] = ()
    outputs: tuple[Directive, ...] = ()
    printsizes: tuple[Directive, ...] = ()
    limitsizes: tuple[Directive, ...] = ()
    pragmas: tuple[tuple[str, str], ...] = ()
    number_bits: int = 32

    @property
    def needed(self) -> frozenset[str]:
        """The relations that outputs and printed sizes depend on; all of them in a program that has neither."""
        wanted = {directive.relation for directive in (*self.outputs, *self.printsizes)}
        if not wanted:
            return frozenset(self.relations)
        for stratum in reversed(self.strata):
            for clause in stratum.clauses if not wanted.isdisjoint(stratum.relations) else ():
                wanted.update(atom.relation for atom in all_atoms(clause))
        return frozenset(wanted)

    @property
    def ordered(self) -> frozenset[str]:
        """The relations that let in the first rows only: what they hold depends on the order of derivation."""
        return frozenset(name for name in self.relations if self.is_ordered(name))

    def is_ordered(self, name: str) -> bool:
        return bool(self.relations[name].choice) or any(name == directive.relation for directive in self.limitsizes)

    @property
    def limits(self) -> Mapping[str, int]:
        """The largest number of rows of the relations that have one."""
        return {directive.relation: int(dict(directive.parameters)["n"]) for directive in self.limitsizes}

    @property
    def clauses(self) -> tuple[CheckedClause, ...]:
        return tuple(clause for stratum in self.strata for clause in stratum.clauses)

    def extended(self, extension: CheckedProgram) -> CheckedProgram:
        """Return the program with the rules of an extension of it (see `extension`)."""
        new = {name: relation for name, relation in extension.relations.items() if name not in self.relations}
        strata = tuple(stratum for stratum in extension.strata if not new.keys().isdisjoint(stratum.relations))
        return replace(
            self,
            types={**extension.types, **self.types},
            records={**extension.records, **self.records},
            relations={**self.relations, **new},
            strata=(*self.strata, *strata),
            limitsizes=(*self.limitsizes, *extension.limitsizes),
        )
