"""Further rules on a program: they read relations that it declares, and add to none of them.

They are checked against the declarations of what they name: the program's own rules are not looked at again. Such an
extension is a program by itself, in which the relations that it reads stand without rules. A query is an extension of
one relation: the values of its variables for which its body holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeGuard

from engine.language.build_items import ANSWERS
from engine.language.check import Checked, check, link, of
from engine.language.checked_program import CheckedClause, CheckedProgram, Field, Relation
from engine.language.compilation_unit import Unit
from engine.language.compiler import check_untrusted
from engine.language.components import expand
from engine.language.diagnostics import Report, did_you_mean
from engine.language.modules import CHANGES
from engine.language.parse import parse
from engine.language.rename_items import Renaming, rename_atom, rename_literal
from engine.language.source import Source
from engine.language.surface_syntax import Include, Item, Use
from engine.language.syntax import Atom, Attribute, Clause, Declaration, Directive, Span, TypeDeclaration, Variable
from engine.language.traverse import all_atoms, literal_terms, variables_of

DEMAND = "<demand>"
"""The relation of the values that a query's parameters have."""
NO_PARAMETERS: Mapping[str, str] = MappingProxyType({})
QUERY = "<query>"
"""The source of a query's text."""
END = re.compile(r"[\s.?]*\Z")


def extend(program: CheckedProgram, sources: Iterable[Source]) -> CheckedProgram:
    """Return the program of further rules on a program's relations. Raises ProgramError.

    The sources see all relations, and name those that are private to a module by `module::relation`.
    """
    report = Report({})
    items = list(read(sources, report))
    return linked(program, checked(program, items, report))


def question(
    program: CheckedProgram, text: str, sources: Iterable[Source] = (), parameters: Mapping[str, str] = NO_PARAMETERS
) -> CheckedProgram:
    """Return the program that derives in ANSWERS what a query asks for; it may read relations of further sources.

    The columns are the variables of the query, in order, that stand in all of its alternatives, but those with a name
    that begins with `_`. `parameters` are variables with their types: their values are facts of the relation DEMAND,
    and they are the first columns. Raises ProgramError.
    """
    report = Report({QUERY: text})
    items = [*read(sources, report), *parse(QUERY, END.sub("", text), report, "question")]
    report.raise_if_errors()
    place = Span(QUERY, 1, 1, 1, 1)
    declared: list[Item] = [Declaration(ANSWERS, (), span=place)]
    if parameters:
        attributes = tuple(Attribute(name, type, span=place) for name, type in parameters.items())
        declared.append(Declaration(DEMAND, attributes, span=place))
        demand = Atom(DEMAND, tuple(Variable(name) for name in parameters))
        items = [replace(item, body=(demand, *item.body)) if is_answer(item) else item for item in items]
    alternatives = [item for item in items if is_answer(item)]
    return linked(program, answering(checked(program, [*declared, *items], report), alternatives))


def is_answer(item: Item) -> TypeGuard[Clause]:
    return isinstance(item, Clause) and item.head.relation == ANSWERS


def read(sources: Iterable[Source], report: Report) -> Iterator[Item]:
    """Yield the items of sources, components expanded."""
    parts = []
    for source in sources:
        report.add_source(source.name, source.text)
        parts.append(parse(source.name, source.text, report))
        check_untrusted(parts[-1], report)
    for items in expand(parts, (), report):
        yield from (item for item in items if not isinstance(item, Use | Include))


def checked(program: CheckedProgram, items: Sequence[Item], report: Report) -> Checked:
    """Return items checked beside the declarations of a program, which are the first unit."""
    own = {item.name for item in of(Declaration, items)}
    named = dict.fromkeys(atom.relation for clause in of(Clause, items) for atom in all_atoms(clause))
    check_names(program, items, own, report)
    report.raise_if_errors()
    held = [program.relations[name] for name in {**named, **dict.fromkeys(own)} if name in program.relations]
    known = Unit((*types_of(program), *map(declaration_of, held)), ())
    return check([known, items], report, program.number_bits)


def check_names(program: CheckedProgram, items: Sequence[Item], own: set[str], report: Report) -> None:
    """Report relations that neither the items nor the program declare, and rules for those of the program."""
    for clause in of(Clause, items):
        for atom in all_atoms(clause):
            if atom.relation in own:
                continue
            if atom.relation not in program.relations:
                report_unknown(program, own, atom, report)
            elif atom is clause.head:
                report_change(atom.relation, atom.span, report)
            elif "inline" in program.relations[atom.relation].qualifiers:
                message = f"relation '{atom.relation}' is inlined: it holds no rows that can be asked for"
                report.error("E010", message, atom.span, "remove the qualifier 'inline' from its declaration")
    for directive in of(Directive, items):
        if directive.relation not in own and directive.kind in CHANGES:
            report_change(directive.relation, directive.span, report)


def report_unknown(program: CheckedProgram, own: set[str], atom: Atom, report: Report) -> None:
    inside = [name for name in program.relations if name.endswith(f".{atom.relation}")]
    if inside:
        names = " or ".join(f"'{spelled(name)}'" for name in sorted(inside)[:3])
        report.error("E080", f"relation '{atom.relation}' is private to a module", atom.span, f"write {names}")
        return
    known = [*own, *map(spelled, program.relations)]
    help = did_you_mean(spelled(atom.relation), known, "ask for one that the program declares")
    report.error("E010", f"relation '{spelled(atom.relation)}' is not declared", atom.span, help)


def report_change(name: str, span: Span, report: Report) -> None:
    help = "derive a relation of your own, or give the file as a model"
    report.error("E082", f"relation '{name}' takes rules of its program only", span, help)


def spelled(name: str) -> str:
    """Return the name of a relation as a query spells it: that of a module's own relation with `::`."""
    module, _, relation = name.rpartition(".")
    return f"{module}::{relation}" if module else name


def declaration_of(relation: Relation) -> Declaration:
    attributes = tuple(Attribute(column.name, column.type.name) for column in relation.columns)
    return Declaration(relation.name, attributes, relation.qualifiers & {"eqrel"}, span=relation.span)


def types_of(program: CheckedProgram) -> Iterator[TypeDeclaration]:
    """Yield declarations of a program's types; one that is a part of a primitive type is another name for it."""
    for name, type in program.types.items():
        if type.record == name:
            record = program.records[name]
            branches = tuple((branch.name, attributes_of(branch.fields)) for branch in record.branches)
            fields = () if branches else attributes_of(record.fields)
            yield TypeDeclaration(name, "adt" if branches else "record", fields=fields, branches=branches)
        elif name != type.kind:
            yield TypeDeclaration(name, "equivalence", (type.record or type.kind,))


def attributes_of(fields: Iterable[Field]) -> tuple[Attribute, ...]:
    return tuple(Attribute(field.name, field.type.name) for field in fields)


def answering(program: Checked, alternatives: Sequence[Clause]) -> Checked:
    """Let the relation of answers have the variables of a query as columns."""
    known, unit = program.units
    rules = [clause for clause in unit.clauses if clause.head.relation == ANSWERS]
    names = [name for name in asked_for(alternatives) if all(name in rule.variables for rule in rules)]
    terms = tuple(Variable(name) for name in names)

    def widened(rule: CheckedClause) -> CheckedClause:
        return replace(rule, head=replace(rule.head, arguments=terms)) if rule.head.relation == ANSWERS else rule

    first = rules[0].variables if rules else {}
    for name in names:
        if any((rule.variables[name].kind, rule.variables[name].record) != (first[name].kind, first[name].record)
               for rule in rules):  # fmt: skip
            message = f"'{name}' is of several types in the alternatives of the query"
            program.report.error("E025", message, alternatives[0].head.span)
    program.report.raise_if_errors()
    columns = tuple(Attribute(name, first[name].name) for name in names) if rules else ()
    relations = {**program.relations, ANSWERS: replace(program.relations[ANSWERS], attributes=columns)}
    unit = replace(unit, clauses=tuple(map(widened, unit.clauses)))
    return replace(program, units=(known, unit), relations=relations)


def asked_for(alternatives: Sequence[Clause]) -> list[str]:
    """Return the variables that stand in each alternative, outside of aggregates, in order of the first."""
    found = [variables_of(term for literal in each.body for term in literal_terms(literal)) for each in alternatives]
    return [name for name in found[0] if not name.startswith("_") and all(name in each for each in found)]


def linked(program: CheckedProgram, extension: Checked) -> CheckedProgram:
    """Return the program of an extension, with the relations that it reads as the program declares them."""
    made = link(extension)
    relations = {name: program.relations.get(name, relation) for name, relation in made.relations.items()}
    records = {name: program.records.get(name, record) for name, record in made.records.items()}
    return replace(made, relations=relations, records=records)


def renamed(extension: CheckedProgram, names: Mapping[str, str]) -> CheckedProgram:
    """Return an extension with other names for some of its relations."""
    new = Renaming(names)

    def clause(held: CheckedClause) -> CheckedClause:
        body = tuple(rename_literal(literal, new) for literal in held.body)
        return replace(held, head=rename_atom(held.head, new), body=body)

    return replace(
        extension,
        relations={new.relation(n): replace(held, name=new.relation(n)) for n, held in extension.relations.items()},
        strata=tuple(
            replace(
                stratum,
                relations=tuple(map(new.relation, stratum.relations)),
                clauses=tuple(map(clause, stratum.clauses)),
            )
            for stratum in extension.strata
        ),
        limitsizes=tuple(replace(each, relation=new.relation(each.relation)) for each in extension.limitsizes),
    )
