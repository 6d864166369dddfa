"""Taking a program apart: which of its components are kept up to date, by which rules, and which are evaluated anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from engine.evaluation.stratum_evaluation import constant_signatures, is_constant
from engine.evaluation.translated_ids import table_of
from engine.incremental.prepared_program import (
    BODY,
    COUNTED,
    EXTREMA,
    FACTS,
    HEADS,
    RULES,
    Component,
    Facts,
    PreparedProgram,
    Shape,
    packed,
    pending_symbols,
)
from engine.incremental.recomputed_stratum import as_program, given_name, obstacle
from engine.incremental.split_folds import Split, split_folds
from engine.incremental.state_identity import digest, digest_of
from engine.incremental.strict_recursion import is_strict
from engine.language.checked_program import CheckedProgram, Relation, Stratum
from engine.language.clause_outline import outline
from engine.language.program_codec import PROGRAM_CODEC
from engine.plan.existence import split_existence
from engine.plan.flatten import contribution, flatten
from engine.plan.rule import Absent, Fold, Literal, Match, Rule, relations_of
from engine.plan.value_encoding import dtype_of


class Preparation:
    """The state of taking a program apart: relations made so far, and the digests of components by relation.

    Of the relations made those that are `named` say by their names what they hold.
    """

    def __init__(self, program: CheckedProgram) -> None:
        self.given, self.program = program, split_existence(program)
        bits = program.number_bits
        self.shapes: dict[str, Shape] = {
            name: (declared.arity, dtype_of((c.type.kind for c in declared.columns), bits).str)
            for name, declared in program.relations.items()
        }
        tests = self.program.relations.keys() - program.relations.keys()
        self.projections: dict[str, Shape] = {name: (0, dtype_of((), bits).str) for name in sorted(tests)}
        has_branches = any(record.branches for record in program.records.values())
        self.tables: dict[str, list[str]] = {
            name: list(map(table_of, declared.columns))
            for name, declared in self.program.relations.items()
            if not has_branches
        }
        self.digests: dict[str, str] = {}
        self.named: set[str] = set()
        self.equivalences = frozenset(n for n, declared in program.relations.items() if "eqrel" in declared.qualifiers)

    def run(self) -> PreparedProgram:
        program = self.given
        components = tuple(
            self.digested(made, stratum) for stratum in self.program.strata for made in self.components(stratum)
        )
        return PreparedProgram(
            digest(program),
            program.number_bits,
            program.records,
            dict(constant_signatures(map(outline, program.clauses))),
            self.shapes,
            self.projections,
            self.equivalences,
            {name: digest_of([column.type for column in held.columns]) for name, held in program.relations.items()},
            {name: digest_of(record) for name, record in program.records.items()},
            {name: ",".join(tables) for name, tables in self.tables.items()},
            components,
            PROGRAM_CODEC.pack(program),
        )

    def digested(self, component: Component, stratum: Stratum) -> Component:
        """Give a component, made of a stratum, its digest. Those that it reads have theirs."""
        program = self.program
        own: object = component.relations
        if self.named.isdisjoint(component.relations):
            limits = {name: n for name, n in program.limits.items() if name in stratum.relations}
            declared = [program.relations[name] for name in stratum.relations]
            own = (component.relations, stratum, declared, limits)
        found = digest_of((own, {name: self.digests[name] for name in component.reads}))
        self.digests.update(dict.fromkeys(component.relations, found))
        return replace(component, digest=found)

    def components(self, stratum: Stratum) -> Iterator[Component]:
        """Yield a stratum, and before it what its rules read of relations and aggregates."""
        reason = obstacle(self.program, stratum)
        if not reason and (kept := self.kept(stratum)) is not None:
            yield from kept
            return
        program = as_program(self.program, stratum)
        reads = tuple(name for inputs in program.strata[:-1] for name in inputs.relations)
        reason = reason or "it aggregates, or negates pairs of an equivalence"
        yield Component(stratum.relations, reads, reason=reason, stored_program=PROGRAM_CODEC.pack(program))

    def kept(self, stratum: Stratum) -> list[Component] | None:
        """Return what keeps a stratum up to date, and before it what its rules read; None if nothing can."""
        aggregated = [declared for name in stratum.relations if (declared := self.program.relations[name]).aggregated]
        rules, facts = self.rules(stratum)
        rules += [rule for declared in aggregated for rule in given_rules(declared)]
        if any(map(self.needs_pairs, rules)):
            return None
        if aggregated and stratum.recursive and not is_strict(stratum, aggregated, rules):
            return None
        numbers = count()
        split = [found for rule in rules if (found := split_folds(rule, stratum.relations, numbers))]
        if len(split) < len(rules):
            return None
        made: list[Component] = []
        for fold in (fold for _, folds in split for fold in folds):
            self.folded(fold, made)
        rules = [self.projected(self.by_class(rule), made) for rule, _ in split]
        if not aggregated:
            made.append(kept_by(COUNTED, stratum.relations, rules, facts))
        elif stratum.recursive:
            program = PROGRAM_CODEC.pack(as_program(self.program, stratum))
            made.append(kept_by(EXTREMA, stratum.relations, rules, program=program, declared=tuple(aggregated)))
        else:
            made.append(kept_by(HEADS, stratum.relations, rules, declared=tuple(aggregated)))
        return made

    def folded(self, split: Split, made: list[Component]) -> None:
        """Add what an aggregate of a body is asked for, and its values."""
        asked, folded = self.projected(self.by_class(split.asked), made), self.projected(split.folded, made)
        for rule, kind in ((asked, COUNTED), (folded, BODY)):
            is_wide = any(rule.wide.get(term, False) for term in rule.head)
            self.projections[rule.relation] = len(rule.head), np.dtype(np.int64 if is_wide else np.int32).str
            made.append(kept_by(kind, (rule.relation,), [rule]))

    def rules(self, stratum: Stratum) -> tuple[list[Rule], Facts]:
        """The rules of a stratum, and the facts among its clauses."""
        facts: Facts = defaultdict(list)
        rules = []
        for clause in stratum.clauses:
            if is_constant(clause) and not self.program.relations[clause.head.relation].aggregated:
                facts[clause.head.relation].append(tuple(pending_symbols(term) for term in contribution(clause.head)))
            else:
                rules.append(replace(flatten(clause, self.program, pending_symbols), clause=None))
        return rules, dict(facts)

    def needs_pairs(self, rule: Rule) -> bool:
        """Return True if a rule negates pairs of an equivalence, or aggregates over them."""
        return any(
            (isinstance(literal, Absent) and literal.relation in self.equivalences and None not in literal.terms)
            or (isinstance(literal, Fold) and not self.equivalences.isdisjoint(relations_of(literal.body)))
            for literal in rule.body
        )

    def by_class(self, rule: Rule) -> Rule:
        """Read the classes of equivalences: two elements are equivalent if they have the same representative."""
        body: list[Literal] = []
        wide = dict(rule.wide)
        for number, literal in enumerate(rule.body):
            if isinstance(literal, Match | Absent) and literal.relation in self.equivalences:
                elements = list(dict.fromkeys(term for term in literal.terms if term is not None)) or [None]
                shared = f"#class{number}" if len(elements) > 1 else None
                wide[f"#class{number}"] = np.dtype(self.shapes[literal.relation][1]) == np.int64
                body += [type(literal)(literal.relation, (element, shared)) for element in elements]
            else:
                body.append(literal)
        return replace(rule, body=tuple(body), wide=wide)

    def projected(self, rule: Rule, made: list[Component]) -> Rule:
        """Negate projections instead of atoms with wildcards; components of those that are new go to `made`."""
        return replace(rule, body=tuple(self.projected_literal(literal, made) for literal in rule.body))

    def projected_literal(self, literal: Literal, made: list[Component]) -> Literal:
        if isinstance(literal, Fold):
            return replace(literal, body=tuple(self.projected_literal(part, made) for part in literal.body))
        if not isinstance(literal, Absent) or None not in literal.terms:
            return literal
        columns = tuple(c for c, term in enumerate(literal.terms) if term is not None)
        name = f"{literal.relation}/{','.join(map(str, columns))}"
        if name not in self.projections:
            self.named.add(name)
            made.append(self.projection(name, literal.relation, columns))
        return Absent(name, tuple(literal.terms[c] for c in columns))

    def projection(self, name: str, relation: str, columns: tuple[int, ...]) -> Component:
        """Return what holds some columns of a relation."""
        width, dtype = self.shapes[relation]
        self.projections[name] = len(columns), dtype
        if relation in self.tables:
            self.tables[name] = [self.tables[relation][column] for column in columns]
        terms = tuple(f"x{c}" if c in columns else None for c in range(width))
        wide = {f"x{c}": np.dtype(dtype) == np.int64 for c in columns}
        rule = Rule(name, tuple(f"x{c}" for c in columns), (Match(relation, terms),), wide, name)
        return kept_by(COUNTED, (name,), [rule])


def kept_by(
    kind: str,
    relations: tuple[str, ...],
    rules: Sequence[Rule],
    facts: Facts | None = None,
    *,
    program: bytes = b"",
    declared: tuple[Relation, ...] = (),
) -> Component:
    """Return what keeps relations up to date by rules, and holds facts."""
    own = {*relations, *map(given_name, relations)}
    read = dict.fromkeys(name for rule in rules for name in rule.relations() if name not in own)
    stored = RULES.pack([*rules], packed), FACTS.pack(facts, packed) if facts else b"", program
    needs = tuple(
        tuple(dict.fromkeys(x.relation for x in rule.body if isinstance(x, Match) and x.relation not in own))
        for rule in rules
    )
    return Component(relations, tuple(read), kind, "", *stored, declared, needs)


def given_rules(declared: Relation) -> list[Rule]:
    """Return the rule by which given facts contribute to a relation with aggregates.

    Where sums tell contributors apart, there is none but for relations that are declared to have such facts.
    """
    if any(aggregate.contributors and not aggregate.tagged for aggregate in declared.aggregated):
        return []
    columns = tuple(f"x{column}" for column in range(declared.arity))
    keys = (int(not at) for aggregate in declared.aggregated for at in range(len(aggregate.contributors)))
    name = given_name(declared.name)
    return [Rule(declared.name, (*columns, *keys), (Match(name, columns),), {}, name)]
