"""Type checks of one clause, on what inference found, after Soufflé's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.language.diagnostics import Report, did_you_mean, plural
from engine.language.infer_types import NUMERIC_CONSTANTS, Conflict, Inference
from engine.language.signatures import OVERLOADS
from engine.language.syntax import (
    Aggregate,
    Atom,
    Clause,
    Constant,
    Constraint,
    Declaration,
    Functor,
    Negation,
    RecordTerm,
    Span,
    Term,
    Variable,
)
from engine.language.traverse import all_literals, literal_terms, subterms
from engine.language.typesystem import PRIMITIVES, TypeSystem

ORDERED = ("<", "<=", ">", ">=")
RANGES = {"number": (-(1 << 31), (1 << 31) - 1), "unsigned": (0, (1 << 32) - 1)}
RANGES_64 = {"number": (-(1 << 63), (1 << 63) - 1), "unsigned": (0, (1 << 64) - 1)}


def describe(types: Iterable[str]) -> str:
    """Return a set of types in words: `'number'`, `'a' or 'b'`."""
    types = frozenset(types)
    if types == NUMERIC_CONSTANTS:
        return "'number'"
    return " or ".join(f"'{name}'" for name in sorted({name.removeprefix("~") for name in types}))


def describe_term(term: Term) -> str:
    if isinstance(term, Variable):
        return "the value" if term.name.startswith("+") else f"variable '{term.name.split('#')[0]}'"
    if isinstance(term, Constant):
        return f"the constant {term.value!r}" if term.type != "symbol" else f'the constant "{term.value}"'
    if isinstance(term, Functor):
        return f"the result of '{term.name}'"
    if isinstance(term, Aggregate):
        return f"the aggregate '{term.kind}'"
    return "the record" if isinstance(term, RecordTerm) else "the value"


class TypeChecker:
    def __init__(
        self,
        clause: Clause,
        inference: Inference,
        types: TypeSystem,
        relations: Mapping[str, Declaration],
        report: Report,
        number_bits: int,
    ) -> None:
        self.clause = clause
        self.inference = inference
        self.types = types
        self.relations = relations
        self.report = report
        self.ranges = RANGES if number_bits == 32 else RANGES_64
        self.clean = True

    def check(self) -> bool:
        """Report every type error of the clause; return whether there is none."""
        for conflict in self.inference.conflicts.values():
            self._report_conflict(conflict)
        self._check_atom(self.clause.head)
        for literal in all_literals(self.clause.body):
            if isinstance(literal, Negation):
                continue  # Kinds were compared by inference; more is not asked of negated atoms.
            if isinstance(literal, Atom):
                self._check_atom(literal)
            elif isinstance(literal, Constraint) and literal.op in ORDERED:
                self._check_order(literal)
        for term in self._terms():
            self._check_term(term)
        return self.clean

    def _terms(self) -> Iterable[Term]:
        for term in self.clause.head.arguments:
            yield from subterms(term)
        for literal in all_literals(self.clause.body):
            for term in literal_terms(literal):
                yield from subterms(term)
                if isinstance(term, Aggregate) and term.target is not None:
                    yield term.target

    def error(self, code: str, message: str, span: Span, help: str = "") -> None:
        self.clean = False
        self.report.error(code, message, span, help)

    def _report_conflict(self, conflict: Conflict) -> None:
        term, found, expected = conflict.term, describe(conflict.found), describe(conflict.expected)
        if conflict.code == "E028":
            length = len(term.arguments) if isinstance(term, RecordTerm) else 0
            self.error("E028", f"a record of {plural(length, 'field')} is not a {found}", conflict.span)
        elif conflict.code == "E025" and conflict.span != term.span:
            self.error("E025", f"types {found} and {expected} have no value in common", conflict.span)
        elif isinstance(term, Constant):
            self.error("E026", f"{describe_term(term)} is of type {found}, expected {expected}", conflict.span)
        else:
            message = f"{describe_term(term)} is of type {found}, but used as {expected}"
            self.error("E025" if isinstance(term, Variable) else conflict.code, message, conflict.span)

    # ---- atoms and comparisons

    def _check_atom(self, atom: Atom) -> None:
        declaration = self.relations.get(atom.relation)
        if declaration is None or len(declaration.attributes) != len(atom.arguments):
            return
        for argument, attribute in zip(atom.arguments, declaration.attributes, strict=True):
            known = self.types.lookup(attribute.type)
            if known is not None:
                place = f"attribute '{attribute.name}' of '{atom.relation}'"
                self._check_argument(argument, known.name, place)

    def _check_argument(self, argument: Term, declared: str, place: str) -> None:
        types = self.inference.of(argument) or ()
        if any((c.term is argument or c.term == argument) for c in self.inference.conflicts.values()):
            return
        if not all(self._fits(name, declared) for name in types):
            message = f"{describe_term(argument)} is of type {describe(types)}, but {place} is of type '{declared}'"
            is_wider = all(self.types.is_subtype(declared, name) for name in types)
            help = f"'{declared}' is narrower; convert with as(…, {declared})" if is_wider else ""
            self.error("E024", message, argument.span, help)

    def _fits(self, type: str, declared: str) -> bool:
        if self.types.is_subtype(type, declared):
            return True
        known = self.types.known[type]
        is_open = type.startswith("~") or (known.kind == "record" and known.base is None)
        return is_open and self.types.is_subtype(declared, type)

    def _check_order(self, literal: Constraint) -> None:
        for term in literal_terms(literal):
            types = self.inference.of(term)
            kinds = {self.types.known[name].kind for name in types or ()}
            if kinds and not kinds <= set(PRIMITIVES):
                message = f"'{literal.op}' compares numbers or symbols, not {describe(types or ())}"
                self.error("E027", message, literal.span)
                return

    # ---- terms

    def _check_term(self, term: Term) -> None:
        if isinstance(term, Variable):
            self._check_variable(term)
        elif isinstance(term, Constant):
            self._check_constant(term)
        elif isinstance(term, RecordTerm):
            self._check_branch(term) if term.branch is not None else self._check_record(term)
        elif isinstance(term, Functor):
            self._check_cast(term) if term.name == "as" else self._check_functor(term)

    def _check_variable(self, term: Variable) -> None:
        if self.inference.of(term) is None and self.clean:
            help = "use it in an atom, or give its type with as(…, type)"
            self.error("E025", f"no type can be deduced for {describe_term(term)}", term.span, help)

    def _check_constant(self, term: Constant) -> None:
        types = self.inference.of(term)
        if term.type == "nil":
            kinds = {self.types.known[name].kind for name in types or ()}
            if kinds != {"record"}:
                message = "no record type can be deduced for 'nil'" if not kinds else "'nil' is used as no record"
                self.error("E028", message, term.span)
            return
        kind = self.inference.kind(term)
        if kind in self.ranges and isinstance(term.value, int):
            low, high = self.ranges[kind]
            if not low <= term.value <= high:
                message = f"the constant {term.value} is out of range: {kind} goes from {low} to {high}"
                help = "declare the column as a number" if kind == "unsigned" and term.value < 0 else ""
                self.error("E003", message, term.span, help)

    def _check_record(self, term: RecordTerm) -> None:
        types = self.inference.of(term)
        if (term.span, "E028") in self.inference.conflicts:
            return
        if types is None or len(types) != 1:
            what = "no record type" if not types else "no single record type"
            self.error("E028", f"{what} can be deduced for the record", term.span)
            return
        known = self.types.known[next(iter(types))]
        if known.kind != "record":
            self.error("E028", f"found a record where type '{known.name}' is expected", term.span)
            return
        fields = self.types.declarations[known.root or ""].fields
        if len(fields) != len(term.arguments):
            message = f"record type '{known.name}' has {plural(len(fields), 'field')}, {len(term.arguments)} given"
            self.error("E028", message, term.span)

    def _check_branch(self, term: RecordTerm) -> None:
        if term.branch not in self.types.branches:
            help = did_you_mean(term.branch or "", self.types.branches)
            self.error("E029", f"branch '{term.branch}' is not declared", term.span, help)
            return
        adt, fields = self.types.branches[term.branch]
        if len(fields) != len(term.arguments):
            has = plural(len(fields), "field")
            message = f"branch '{term.branch}' of '{adt}' has {has}, {len(term.arguments)} given"
            self.error("E029", message, term.span)
            return
        for argument, field in zip(term.arguments, fields, strict=True):
            known = self.types.lookup(field.type)
            if known is not None:
                self._check_argument(argument, known.name, f"field '{field.name}' of '{term.branch}'")

    def _check_functor(self, term: Functor) -> None:
        overloads = self.inference.functors[id(term)]
        has_wrong_arity = not any(overload.accepts(len(term.arguments)) for overload in OVERLOADS[term.name])
        if len(overloads) == 1 or has_wrong_arity:
            return
        types = [self.inference.of(argument) for argument in term.arguments]
        shown = ", ".join("?" if t is None else describe(t).replace("'", "") for t in types)
        if not overloads:
            self.error("E027", f"functor '{term.name}' does not apply to ({shown})", term.span)
        elif self.clean:
            self.error("E027", f"functor '{term.name}' is ambiguous on ({shown})", term.span)

    def _check_cast(self, term: Functor) -> None:
        target = self.types.lookup(term.type_argument or "")
        if target is None:
            help = did_you_mean(term.type_argument or "", self.types.names())
            self.error("E020", f"type '{term.type_argument}' is not declared", term.span, help)
            return
        source = self.inference.kind(term.arguments[0])
        numeric = ("number", "unsigned", "float")
        if source is None and self.clean:
            self.error("E025", "no type can be deduced for the argument of 'as'", term.span)
        elif source is not None and source != target.kind and not (source in numeric and target.kind in numeric):
            message = f"'as' cannot turn a {source} into the {target.kind} type '{term.type_argument}'"
            self.error("E027", message, term.span, "only numeric kinds can be read as each other")
