"""Checking: an expanded program becomes a CheckedProgram, or every error in it is reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.language.anonymous import resolve_anonymous_records
from engine.language.check_clauses import check_bound, check_names, check_wildcards
from engine.language.check_types import TypeChecker
from engine.language.counters import draw_counters
from engine.language.diagnostics import Report, did_you_mean, plural
from engine.language.directives import check_directives
from engine.language.head_aggregates import resolve_aggregates
from engine.language.infer import Inference
from engine.language.inline import inline_relations, is_inlined
from engine.language.lower import Lowering, is_false
from engine.language.premappable import check_premappable
from engine.language.program import CheckedClause, CheckedProgram, Relation
from engine.language.scopes import name_bindings, resolve_scopes
from engine.language.stratify import stratify
from engine.language.syntax import Clause, Declaration, Directive, HeadAggregate, Program
from engine.language.typesystem import TypeSystem
from engine.language.verticalise import verticalise
from engine.language.walk import all_literals, literal_terms, subterms


def check(program: Program, report: Report, number_bits: int = 32) -> CheckedProgram:
    """Return the checked program. Raises ProgramError with everything wrong in it, the report's findings included."""
    types = TypeSystem(program.types, report)
    relations = check_declarations(program.declarations, types, report)
    check_directives(program.directives, relations, report)
    checker = ClauseChecker(types, relations, report, number_bits)
    vertical = verticalise(program.clauses, relations, report)
    for clause in vertical:
        declaration = relations.get(clause.head.relation)
        if declaration is not None and is_inlined(declaration):
            checker.check(clause, is_inlined=True)
    raw = inline_relations(vertical, relations, program.directives, report)
    clauses = [checked for clause in raw for checked in checker.check(clause)]
    report.raise_if_errors()
    strata = stratify(list(relations), clauses, report)
    report.raise_if_errors()
    declared = {name: _relation(declaration, types) for name, declaration in relations.items()}
    inputs = {directive.relation for directive in program.directives if directive.kind == "input"}
    declared, strata = resolve_aggregates(declared, strata, inputs, report)
    report.raise_if_errors()
    strata = check_premappable(strata, declared, inputs, number_bits, report)
    report.raise_if_errors()
    return CheckedProgram(
        types={name: types.resolved(name) for name in types.names()},
        records=types.records(),
        relations=declared,
        strata=tuple(
            replace(stratum, clauses=tuple(draw_counters(clause, declared) for clause in stratum.clauses))
            for stratum in strata
        ),
        inputs=_of_kind("input", program.directives),
        outputs=_of_kind("output", program.directives),
        printsizes=_of_kind("printsize", program.directives),
        limitsizes=_of_kind("limitsize", program.directives),
        pragmas=program.pragmas,
        number_bits=number_bits,
    )


def _of_kind(kind: str, directives: Iterable[Directive]) -> tuple[Directive, ...]:
    return tuple(directive for directive in directives if directive.kind == kind)


def _relation(declaration: Declaration, types: TypeSystem) -> Relation:
    names = [attribute.name for attribute in declaration.attributes]
    choice = tuple(tuple(names.index(key) for key in keys) for keys in declaration.choice)
    columns = types.fields(declaration.attributes)
    return Relation(
        declaration.name, columns, declaration.qualifiers, choice, doc=declaration.doc, span=declaration.span
    )


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


class ClauseChecker:
    def __init__(
        self, types: TypeSystem, relations: Mapping[str, Declaration], report: Report, number_bits: int
    ) -> None:
        self.types = types
        self.relations = relations
        self.report = report
        self.number_bits = number_bits
        self.lowering = Lowering(types)

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
        if not is_sound or any(map(is_false, clause.body)):
            return []
        return [self.lowering.clause(clause, inference)]

    def _check_head_aggregates(self, clause: Clause, report: Report) -> None:
        """Report aggregates `min<d>` that are no argument of a head, or of one whose relation cannot aggregate."""
        for literal in (clause.head, *all_literals(clause.body)):
            for term in literal_terms(literal):
                for part in subterms(term):
                    is_argument = part is term and literal is clause.head
                    if isinstance(part, HeadAggregate) and not is_argument:
                        message = f"'{part.kind}<…>' is no argument of a head"
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
                message = f"plan {version} is no order of the {n_atoms} atoms of the body"
                report.error("E052", message, clause.span, f"name each of 1 to {n_atoms} once")
