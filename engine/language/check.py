"""Checking: expanded sources become units, and units a CheckedProgram, or every error in them is reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from engine.language.aggregate_scopes import name_bindings, resolve_scopes
from engine.language.anonymous_records import resolve_anonymous_records
from engine.language.autoinc import draw_counters
from engine.language.check_clauses import check_bound, check_names, check_wildcards
from engine.language.check_directives import check_directives
from engine.language.check_types import TypeChecker
from engine.language.checked_program import CheckedClause, CheckedProgram, Relation
from engine.language.compilation_unit import Unit
from engine.language.diagnostics import Report, did_you_mean, plural
from engine.language.head_aggregates import resolve_aggregates
from engine.language.infer_types import Inference
from engine.language.inline import Inliner, is_inlined
from engine.language.lower import Lowering
from engine.language.premappable import check_premappable
from engine.language.stratify import stratify
from engine.language.surface_syntax import Item, Pragma
from engine.language.syntax import Clause, Constant, Declaration, Directive, HeadAggregate, Truth, TypeDeclaration
from engine.language.traverse import all_literals, literal_terms, subterms
from engine.language.typesystem import TypeSystem
from engine.language.verticalise import verticalise

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Checked:
    """A program whose clauses are right by themselves: one unit a source, and what `link` needs to join them.

    `used` are the clauses of inlined relations that are looked up all the same.
    """

    units: tuple[Unit, ...]
    used: tuple[CheckedClause, ...]
    items: tuple[Item, ...]
    types: TypeSystem
    relations: Mapping[str, Declaration]
    report: Report
    number_bits: int


def check(parts: Sequence[Sequence[Item] | Unit], report: Report, number_bits: int = 32) -> Checked:
    """Return the parts of a program checked, in order: items, and units that have been checked with part of them.

    Raises ProgramError with everything wrong in it, the report's findings included.
    """
    items = tuple(item for part in parts for item in (part.items if isinstance(part, Unit) else part))
    types = TypeSystem(of(TypeDeclaration, items), report)
    relations = check_declarations(of(Declaration, items), types, report)
    directives = of(Directive, items)
    check_directives(directives, relations, report)
    checker = ClauseChecker(types, relations, report, number_bits)
    inliner = Inliner(relations)
    inlined = [clause for clause in of(Clause, items) if is_head_inlined(clause, relations)]
    definitions = verticalise(inlined, relations, report)
    for clause in definitions:
        checker.check(clause, is_inlined=True)
    inliner.define_all(definitions, directives, report)
    units = tuple(part if isinstance(part, Unit) else unit_of(part, checker, inliner, report) for part in parts)
    looked_up = dict.fromkeys(name for unit in units for name in unit.looked_up)
    used = tuple(checked for clause in inliner.used(looked_up) for checked in checker.check(clause))
    report.raise_if_errors()
    return Checked(units, used, items, types, relations, report, number_bits)


def unit_of(items: Sequence[Item], checker: ClauseChecker, inliner: Inliner, report: Report) -> Unit:
    """Return the unit of the items of one source. What is wrong is reported."""
    kept, clauses = [], []
    looked_up: dict[str, None] = {}
    for item in items:
        if not isinstance(item, Clause) or is_head_inlined(item, checker.relations):
            kept.append(item)
            continue
        if (fact := checker.plain_fact(item)) is not None:
            clauses.append(fact)
            continue
        for vertical in verticalise([item], checker.relations, report):
            for clause in inliner.clause(vertical):
                looked_up |= dict.fromkeys(inliner.inlined_in(clause))
                clauses += checker.check(clause)
    return Unit(tuple(kept), tuple(clauses), tuple(looked_up))


def link(checked: Checked) -> CheckedProgram:
    """Return the program that checked clauses make up. Raises ProgramError where they contradict each other."""
    report, types, directives = checked.report, checked.types, of(Directive, checked.items)
    clauses = (*(clause for unit in checked.units for clause in unit.clauses), *checked.used)
    strata = stratify(list(checked.relations), clauses, report)
    report.raise_if_errors()
    declared = {name: _relation(declaration, types) for name, declaration in checked.relations.items()}
    inputs = {directive.relation for directive in directives if directive.kind == "input"}
    declared, strata = resolve_aggregates(declared, strata, inputs, report)
    report.raise_if_errors()
    strata = check_premappable(strata, declared, inputs, checked.number_bits, report)
    report.raise_if_errors()
    return CheckedProgram(
        types={name: types.resolved(name) for name in types.names()},
        records=types.records(),
        relations=declared,
        strata=tuple(
            replace(stratum, clauses=tuple(draw_counters(clause, declared) for clause in stratum.clauses))
            for stratum in strata
        ),
        inputs=_of_kind("input", directives),
        outputs=_of_kind("output", directives),
        printsizes=_of_kind("printsize", directives),
        limitsizes=_of_kind("limitsize", directives),
        pragmas=tuple((pragma.key, pragma.value) for pragma in of(Pragma, checked.items)),
        number_bits=checked.number_bits,
    )


def of(kind: type[Kind], items: Iterable[Item]) -> tuple[Kind, ...]:
    return tuple(item for item in items if isinstance(item, kind))


def is_head_inlined(clause: Clause, relations: Mapping[str, Declaration]) -> bool:
    declaration = relations.get(clause.head.relation)
    return declaration is not None and is_inlined(declaration)


def _of_kind(kind: str, directives: Iterable[Directive]) -> tuple[Directive, ...]:
    return tuple(directive for directive in directives if directive.kind == kind)


def _relation(declaration: Declaration, types: TypeSystem) -> Relation:
    names = [attribute.name for attribute in declaration.attributes]
    choice = tuple(tuple(names.index(key) for key in keys) for keys in declaration.choice)
    columns = types.fields(declaration.attributes)
    return Relation(declaration.name, columns, declaration.qualifiers, choice, span=declaration.span)


# ---- declarations


def check_declarations(
    declarations: Iterable[Declaration], types: TypeSystem, report: Report
) -> dict[str, Declaration]:
    """Return the relations by name; of one declared twice, the first."""
    found: dict[str, Declaration] = {}
    for declaration in declarations:
        first = found.setdefault(declaration.name, declaration)
        if first is not declaration:
            help = f"it is first declared in {first.span.source}:{first.span.line}"
            report.error("E011", f"relation '{declaration.name}' is declared twice", declaration.span, help)
            continue
        _check_attributes(declaration, types, report)
        _check_qualifiers(declaration, report)
    return found


def _check_attributes(declaration: Declaration, types: TypeSystem, report: Report) -> None:
    seen: set[str] = set()
    for attribute in declaration.attributes:
        if attribute.name in seen:
            message = f"attribute '{attribute.name}' of '{declaration.name}' is declared twice"
            report.error("E013", message, attribute.span)
        seen.add(attribute.name)
        if attribute.type not in types.declarations and types.lookup(attribute.type) is None:
            help = types.suggestion(attribute.type)
            report.error("E020", f"type '{attribute.type}' is not declared", attribute.span, help)


def _check_qualifiers(declaration: Declaration, report: Report) -> None:
    attributes = declaration.attributes
    if "eqrel" in declaration.qualifiers:
        if len(attributes) != 2:
            has = plural(len(attributes), "attribute")
            message = f"equivalence relation '{declaration.name}' has {has} instead of 2"
            report.error("E050", message, declaration.span)
        elif attributes[0].type != attributes[1].type:
            message = f"the attributes of equivalence relation '{declaration.name}' are of different types"
            report.error("E050", message, declaration.span)
        if declaration.choice:
            message = f"equivalence relation '{declaration.name}' has a choice domain"
            report.error("E050", message, declaration.span, "choose in a relation of its own, and relate what it holds")
    names = [attribute.name for attribute in attributes]
    for key in (key for keys in declaration.choice for key in keys):
        if key not in names:
            message = f"'{declaration.name}' has no attribute '{key}' for its choice domain"
            report.error("E051", message, declaration.span, did_you_mean(key, names))


# ---- clauses


CONTRADICTORY = frozenset(("eqrel", "inline"))
"""Qualifiers of relations that cannot have aggregates in their heads."""


PLAIN = ("symbol", "number")
SMALL_NUMBER = 2**31 - 1


class ClauseChecker:
    def __init__(
        self, types: TypeSystem, relations: Mapping[str, Declaration], report: Report, number_bits: int
    ) -> None:
        self.types = types
        self.relations = relations
        self.report = report
        self.number_bits = number_bits
        self.lowering = Lowering(types)
        self.kinds: dict[str, tuple[str, ...]] = {}

    def plain_fact(self, clause: Clause) -> CheckedClause | None:
        """Return a fact of texts and small numbers that are of the kinds of their columns: most clauses are such facts.

        There is nothing to infer, and nothing wrong. None for all other clauses.
        """
        if clause.body or clause.plan or self.report.has_errors:
            return None
        kinds, terms = self._kinds_of(clause.head.relation), clause.head.arguments
        if len(kinds) != len(terms) or not kinds:
            return None
        for term, kind in zip(terms, kinds, strict=True):
            if not isinstance(term, Constant) or term.type != kind or kind not in PLAIN:
                return None
            if kind == "number" and (not isinstance(term.value, int) or abs(term.value) > SMALL_NUMBER):
                return None
        return CheckedClause(clause.head, (), {}, span=clause.span)

    def _kinds_of(self, relation: str) -> tuple[str, ...]:
        """Return the kinds of the columns of a relation; none for one that is not declared."""
        if relation not in self.kinds:
            declared = self.relations[relation].attributes if relation in self.relations else ()
            known = [self.types.lookup(attribute.type) for attribute in declared]
            self.kinds[relation] = tuple("" if each is None else each.kind for each in known)
        return self.kinds[relation]

    def check(self, clause: Clause, is_inlined: bool = False) -> list[CheckedClause]:
        """Return the clause lowered, as none if it has an error or can never hold, as several if it is taken apart.

        A clause that is inlined need not bind its variables.
        """
        found = Report({})
        check_names(clause, self.relations, found)
        check_wildcards(clause, found)
        self._check_head_aggregates(clause, found)
        self._check_plan(clause, found)
        clause = resolve_scopes(name_bindings(clause), found)
        if not is_inlined and not found.has("E017"):
            check_bound(clause, found)
        checked = self._check_types(clause, found)
        self.report.merge(found)
        return checked

    def _check_types(self, clause: Clause, report: Report) -> list[CheckedClause]:
        inference = Inference(clause, self.types, self.relations)
        alternatives = resolve_anonymous_records(clause, lambda term: inference.of(term) is None)
        if alternatives != [clause]:
            return [checked for alternative in alternatives for checked in self._check_types(alternative, report)]
        checker = TypeChecker(clause, inference, self.types, self.relations, report, self.number_bits)
        is_sound = checker.check() and not report.has_errors and not self.report.has_errors
        if not is_sound or Truth(False) in clause.body:
            return []
        return [self.lowering.clause(clause, inference)]

    def _check_head_aggregates(self, clause: Clause, report: Report) -> None:
        """Report aggregates `min<d>` that are no argument of a head, or of one whose relation cannot aggregate."""
        for literal in (clause.head, *all_literals(clause.body)):
            for term in literal_terms(literal):
                for part in subterms(term):
                    is_argument = part is term and literal is clause.head
                    if isinstance(part, HeadAggregate) and not is_argument:
                        message = f"'{part.kind}<…>' is not an argument of a head"
                        help = f"in a body, write 'x = {part.kind} y : {{ … }}'"
                        report.error("E060", message, part.span, help)
        declaration = self.relations.get(clause.head.relation)
        if declaration is not None and any(isinstance(term, HeadAggregate) for term in clause.head.arguments):
            for qualifier in CONTRADICTORY & declaration.qualifiers | (
                {"choice-domain"} if declaration.choice else set()
            ):
                message = f"'{declaration.name}' is declared '{qualifier}' and cannot aggregate"
                report.error("E060", message, clause.head.span)

    def _check_plan(self, clause: Clause, report: Report) -> None:
        n_atoms = sum(type(literal).__name__ == "Atom" for literal in clause.body)
        for version, order in clause.plan:
            if order and sorted(order) != list(range(1, n_atoms + 1)):
                message = f"plan {version} is not an order of the {n_atoms} atoms of the body"
                report.error("E052", message, clause.span, f"name each of 1 to {n_atoms} once")
