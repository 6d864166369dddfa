"""Type inference of one clause, after Soufflé: every variable and term gets the set of types it may have.

None stands for "any type". Atoms of the body restrict their arguments to subtypes of what is declared; heads and
negated atoms restrict the kind only; the checker then compares declared types. The sides of an equation have the same
types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from engine.language.signatures import NUMERIC, OVERLOADS, Overload
from engine.language.syntax import (
    Aggregate,
    Atom,
    Clause,
    Constant,
    Constraint,
    Declaration,
    Functor,
    HeadAggregate,
    Literal,
    Negation,
    RecordTerm,
    Span,
    Term,
    Variable,
)
from engine.language.traverse import children
from engine.language.typesystem import TypeSet, TypeSystem, constant_type

Key = str | int
NUMERIC_CONSTANTS = frozenset(constant_type(kind) for kind in NUMERIC)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A term of the types `found` stands where only `expected` fit; `code` tells what kind of place that is."""

    code: str
    term: Term
    found: TypeSet
    expected: TypeSet
    span: Span


def key_of(term: Term) -> Key:
    """Return what a term is known by: a variable by its name, another term by its identity."""
    return term.name if isinstance(term, Variable) else id(term)


class Inference:
    """The types of a clause's terms. Undeclared names restrict nothing: they have errors of their own."""

    def __init__(self, clause: Clause, types: TypeSystem, relations: Mapping[str, Declaration]) -> None:
        self.types = types
        self.relations = relations
        self.found: dict[Key, TypeSet | None] = {}
        self.updates: list[Callable[[], bool]] = []
        self.conflicts: dict[tuple[Span, str], Conflict] = {}
        self.undecided: list[Constant] = []
        self.functors: dict[int, list[Overload]] = {}
        self._sink(clause.head)
        for literal in clause.body:
            self._literal(literal)
        self._solve()

    def of(self, term: Term) -> TypeSet | None:
        return self.found.get(key_of(term))

    def kind(self, term: Term) -> str | None:
        """Return the kind of a term, if its types agree in one."""
        kinds = self._kinds(key_of(term))
        return next(iter(kinds)) if kinds is not None and len(kinds) == 1 else None

    # ---- solving

    def _solve(self) -> None:
        self._propagate()
        for constant in self.undecided:
            types = self.of(constant)
            if types is not None and len(types) > 1:
                number = constant_type("number")
                self.found[id(constant)] = frozenset((number if number in types else min(types),))
                self._propagate()
        for term, overloads in self.functors.items():
            if len(overloads) > 1 and self.found.get(term) is None:
                self.found[term] = frozenset((constant_type(overloads[0].result),))
                self._propagate()

    def _propagate(self) -> None:
        changed = True
        while changed:
            changed = False
            for update in self.updates:
                changed = update() or changed

    def _restrict(self, term: Term, allowed: TypeSet | None, code: str, span: Span | None = None) -> bool:
        """Keep the greatest common subtypes with `allowed`; return whether that changed anything.

        If there are none, the term keeps its types and the conflict is recorded.
        """
        if allowed is None:
            return False
        key = key_of(term)
        current = self.found.get(key)
        new = allowed if current is None else self.types.meet_sets(current, allowed)
        if new == current:
            return False
        if not new:
            place = span or term.span
            self.conflicts.setdefault((place, code), Conflict(code, term, current or new, allowed, place))
            return False
        self.found[key] = new
        return True

    def _below(self, term: Term, type: str, code: str) -> bool:
        return self._restrict(term, frozenset((type,)), code)

    def _kinds(self, key: Key) -> set[str] | None:
        types = self.found.get(key)
        return None if types is None else {self.types.known[name].kind for name in types}

    # ---- literals

    def _literal(self, literal: Literal) -> None:
        if isinstance(literal, Atom):
            self._atom(literal)
        elif isinstance(literal, Negation):
            self._sink(literal.atom)
        elif isinstance(literal, Constraint):
            self._constraint(literal, literal.left, literal.right)

    def _arguments(self, atom: Atom) -> Iterable[tuple[Term, str]]:
        declaration = self.relations.get(atom.relation)
        is_fitting = declaration is not None and len(declaration.attributes) == len(atom.arguments)
        declared = declaration.attributes if declaration is not None and is_fitting else ()
        for position, argument in enumerate(atom.arguments):
            self._term(argument)
            known = self.types.lookup(declared[position].type) if declared else None
            if known is not None:
                yield argument, known.name

    def _atom(self, atom: Atom) -> None:
        for argument, type in self._arguments(atom):
            self._below(argument, type, "E024")

    def _sink(self, atom: Atom) -> None:
        for argument, type in self._arguments(atom):
            known = self.types.known[type]
            top = known.root or constant_type(known.kind)
            self._below(argument, top, "E024")

    def _constraint(self, literal: Constraint, left: Term, right: Term) -> None:
        self._term(left)
        self._term(right)
        if literal.op.endswith(("match", "contains")):
            self._below(left, constant_type("symbol"), "E027")
            self._below(right, constant_type("symbol"), "E027")
        else:
            self._same(left, right, literal.span)

    def _same(self, left: Term, right: Term, span: Span) -> None:
        def update() -> bool:
            changed = self._restrict(left, self.of(right), "E025", span)
            return self._restrict(right, self.of(left), "E025", span) or changed

        self.updates.append(update)

    # ---- terms

    def _term(self, term: Term) -> None:
        for child in children(term):
            self._term(child)
        if isinstance(term, Constant):
            self._constant(term)
        elif isinstance(term, RecordTerm):
            self._record(term)
        elif isinstance(term, Functor):
            self._functor(term)
        elif isinstance(term, Aggregate):
            self._aggregate(term)
        elif isinstance(term, HeadAggregate):
            self._head_aggregate(term)

    def _constant(self, term: Constant) -> None:
        if term.type == "nil":
            return
        if term.type == "number":
            self._restrict(term, NUMERIC_CONSTANTS, "E026")
            self.undecided.append(term)
        else:
            self._below(term, constant_type(term.type), "E026")

    def _record(self, term: RecordTerm) -> None:
        if term.branch is None:
            for position in range(len(term.arguments)):
                self.updates.append(self._component(term, position))
            return
        adt, fields = self.types.branches.get(term.branch, ("", ()))
        if self.types.lookup(adt) is not None:
            self._below(term, adt, "E024")
            for argument, field in zip(term.arguments, fields, strict=False):
                known = self.types.lookup(field.type)
                if known is not None:
                    self._below(argument, known.name, "E024")

    def _component(self, record: RecordTerm, position: int) -> Callable[[], bool]:
        """Return the update that ties a record's types to those of its argument at a position."""
        argument = record.arguments[position]

        def update() -> bool:
            types = self.found.get(id(record))
            if types is None:
                return False
            element: set[str] = set()
            fitting: set[str] = set()
            for name in types:
                known = self.types.known[name]
                fields = self.types.declarations[known.root or ""].fields if known.kind == "record" else ()
                field = self.types.lookup(fields[position].type) if position < len(fields) else None
                if field is not None:
                    fitting.add(name)
                    element.add(field.name)
            if not fitting:
                self.conflicts[record.span, "E028"] = Conflict("E028", record, types, types, record.span)
                return False
            self.found[id(record)] = frozenset(fitting)
            return self._restrict(argument, frozenset(element), "E024") or fitting != types

        return update

    def _functor(self, term: Functor) -> None:
        if term.name == "as":
            known = self.types.lookup(term.type_argument or "")
            if known is not None:
                self._below(term, known.name, "E025")
                value = term.arguments[0]
                # An untyped constant takes the type: as(2, float) is 2.0.
                if isinstance(value, Constant) and value.type in ("number", "nil"):
                    self._below(term.arguments[0], known.name, "E026")
            return
        overloads = [o for o in OVERLOADS[term.name] if o.accepts(len(term.arguments))]
        self.functors[id(term)] = overloads
        self.updates.append(lambda: self._apply_overload(term))

    def _apply_overload(self, term: Functor) -> bool:
        """Drop overloads that do not fit; once one is left, restrict arguments and result to it."""
        overloads = [o for o in self.functors[id(term)] if self._fits(o, term)]
        self.functors[id(term)] = overloads
        if len(overloads) != 1:
            return False
        overload = overloads[0]
        changed = self._below(term, constant_type(overload.result), "E027")
        if term.name != "ord":
            for position, argument in enumerate(term.arguments):
                changed = self._below(argument, constant_type(overload.parameter(position)), "E027") or changed
        return changed

    def _fits(self, overload: Overload, term: Functor) -> bool:
        def possible(part: Term, kind: str) -> bool:
            kinds = self._kinds(key_of(part))
            return kinds is None or kind in kinds

        return possible(term, overload.result) and all(
            possible(argument, overload.parameter(position)) for position, argument in enumerate(term.arguments)
        )

    def _aggregate(self, term: Aggregate) -> None:
        for literal in term.body:
            self._literal(literal)
        if term.kind == "count":
            self._below(term, constant_type("number"), "E025")
        elif term.kind == "mean":
            self._below(term, constant_type("float"), "E025")
        else:
            self._restrict(term, NUMERIC_CONSTANTS, "E025")
        if term.target is not None:
            self._term(term.target)
            self._same(term, term.target, term.span)

    def _head_aggregate(self, term: HeadAggregate) -> None:
        if term.kind == "count":
            self._below(term, constant_type("number"), "E025")
        elif term.kind == "mean":
            self._below(term, constant_type("float"), "E025")
        else:
            self._restrict(term, NUMERIC_CONSTANTS, "E025")
        self._same(term, term.target, term.span)
