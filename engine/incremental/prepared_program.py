"""A program as a view needs it: made once, stored, and read piece by piece by the processes that go on from a state.

Most strata of a large program have nothing to do in an update. So a program is taken apart here: what all of it takes
(names, shapes, a digest) is at hand, and the rules of a component are read when it first has something to do. They hold
symbols by their texts, and get the ids of the view that reads them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgpack
import numpy as np

from engine.codec import SURROGATES, Codec, Damaged
from engine.evaluation.evaluator import constant_signatures, is_constant
from engine.incremental.recomputed_stratum import as_program, obstacle
from engine.incremental.state_identity import digest, digest_of
from engine.language.checked_program import CheckedProgram, Record, Stratum
from engine.language.program_codec import PROGRAM_CODEC
from engine.language.syntax import Constant
from engine.plan.existence import split_existence
from engine.plan.flatten import contribution, flatten
from engine.plan.rule import Absent, Fold, Literal, Match, Rule
from engine.plan.value_encoding import dtype_of, encode
from engine.symbols import Symbols

Shape = tuple[int, str]
"""The arity of a relation, and the type of its columns."""
Facts = dict[str, list[tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Component:
    """Relations that are brought up to date together, and those that they are derived from.

    With a `reason` they are evaluated anew, by the program that is `stored`, else kept up to date by the rules and the
    facts that are. `digest` is that of all that their tuples follow from but facts that are given: their declarations
    and rules, and those of the components that they read.
    """

    relations: tuple[str, ...]
    reads: tuple[str, ...]
    reason: str
    stored: bytes
    stored_facts: bytes = b""
    digest: str = ""

    def program(self) -> CheckedProgram:
        return PROGRAM_CODEC.unpack(self.stored)

    def rules(self, symbols: Symbols) -> list[Rule]:
        return RULES.unpack(self.stored, interned(symbols))

    def facts(self, symbols: Symbols) -> Facts:
        """The facts among the clauses, by relation."""
        return FACTS.unpack(self.stored_facts, interned(symbols)) if self.stored_facts else {}


@dataclass(frozen=True)
class PreparedProgram:
    """A program, taken apart. `components` are in an order of evaluation.

    `shapes` are those of its relations, `projections` those of the relations that stand for negated atoms with
    wildcards and for tests of existence. Of `equivalences` classes are kept, and rules read these.
    `digest` is that of what it derives; `column_types` and `record_types` are digests of what the columns of
    relations, and the fields of records, hold.
    """

    digest: str
    number_bits: int
    records: Mapping[str, Record]
    signatures: Mapping[tuple[str, tuple[int, ...]], int]
    shapes: Mapping[str, Shape]
    projections: Mapping[str, Shape]
    equivalences: frozenset[str]
    column_types: Mapping[str, str]
    record_types: Mapping[str, str]
    components: tuple[Component, ...]
    stored: bytes

    @cached_property
    def program(self) -> CheckedProgram:
        return PROGRAM_CODEC.unpack(self.stored)


def prepare_program(program: CheckedProgram | PreparedProgram) -> PreparedProgram:
    """Take a program apart, unless it has been."""
    return program if isinstance(program, PreparedProgram) else Preparation(program).run()


class Preparation:
    """The state of taking a program apart: the projections made so far, and the digests of components by relation."""

    def __init__(self, program: CheckedProgram) -> None:
        self.given, self.program = program, split_existence(program)
        bits = program.number_bits
        self.shapes: dict[str, Shape] = {
            name: (declared.arity, dtype_of((c.type.kind for c in declared.columns), bits).str)
            for name, declared in program.relations.items()
        }
        tests = self.program.relations.keys() - program.relations.keys()
        self.projections: dict[str, Shape] = {name: (0, dtype_of((), bits).str) for name in sorted(tests)}
        self.digests: dict[str, str] = {}
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
            dict(constant_signatures(program)),
            self.shapes,
            self.projections,
            self.equivalences,
            {name: digest_of([column.type for column in held.columns]) for name, held in program.relations.items()},
            {name: digest_of(record) for name, record in program.records.items()},
            components,
            PROGRAM_CODEC.pack(program),
        )

    def digested(self, component: Component, stratum: Stratum) -> Component:
        """Give a component, made of a stratum, its digest. Those that it reads have theirs."""
        program = self.program
        own: object = component.relations  # A projection is what its name says.
        if component.relations == stratum.relations:
            limits = {name: n for name, n in program.limits.items() if name in stratum.relations}
            own = (stratum, [program.relations[name] for name in stratum.relations], limits)
        found = digest_of((own, {name: self.digests[name] for name in component.reads}))
        self.digests.update(dict.fromkeys(component.relations, found))
        return replace(component, digest=found)

    def components(self, stratum: Stratum) -> Iterator[Component]:
        """Yield a stratum, and before it projections of relations that it negates in part."""
        reason = obstacle(self.program, stratum)
        rules, facts = ([], {}) if reason else self.rules(stratum)
        if any(self.negates_pairs(rule) for rule in rules):
            reason = "it negates pairs of an equivalence"
        reason = reason or next(("it aggregates" for rule in rules if any(isinstance(x, Fold) for x in rule.body)), "")
        if reason:
            program = as_program(self.program, stratum)
            reads = tuple(name for inputs in program.strata[:-1] for name in inputs.relations)
            yield Component(stratum.relations, reads, reason, PROGRAM_CODEC.pack(program))
            return
        made: list[Component] = []
        rules = [self.projected(self.by_class(rule), made) for rule in rules]
        yield from made
        yield maintained(stratum.relations, rules, facts)

    def rules(self, stratum: Stratum) -> tuple[list[Rule], Facts]:
        """The rules of a stratum, and the facts among its clauses."""
        facts: Facts = defaultdict(list)
        rules = []
        for clause in stratum.clauses:
            if is_constant(clause):
                facts[clause.head.relation].append(tuple(pending_symbols(term) for term in contribution(clause.head)))
            else:
                rules.append(replace(flatten(clause, self.program, pending_symbols), clause=None))
        return rules, dict(facts)

    def negates_pairs(self, rule: Rule) -> bool:
        return any(
            isinstance(literal, Absent) and literal.relation in self.equivalences and None not in literal.terms
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
        body = []
        for literal in rule.body:
            if isinstance(literal, Absent) and None in literal.terms:
                columns = tuple(c for c, term in enumerate(literal.terms) if term is not None)
                name = f"{literal.relation}/{','.join(map(str, columns))}"
                if name not in self.projections:
                    made.append(self.projection(name, literal.relation, columns))
                literal = Absent(name, tuple(literal.terms[c] for c in columns))
            body.append(literal)
        return replace(rule, body=tuple(body))

    def projection(self, name: str, relation: str, columns: tuple[int, ...]) -> Component:
        """Return what holds some columns of a relation."""
        width, dtype = self.shapes[relation]
        self.projections[name] = len(columns), dtype
        terms = tuple(f"x{c}" if c in columns else None for c in range(width))
        wide = {f"x{c}": np.dtype(dtype) == np.int64 for c in columns}
        rule = Rule(name, tuple(f"x{c}" for c in columns), (Match(relation, terms),), wide, name)
        return maintained((name,), [rule], {})


def maintained(relations: tuple[str, ...], rules: list[Rule], facts: Facts) -> Component:
    """Return what keeps relations up to date by rules, and holds facts."""
    literals = (x for rule in rules for x in rule.body if isinstance(x, Match | Absent))
    reads = tuple(name for name in dict.fromkeys(x.relation for x in literals) if name not in relations)
    return Component(relations, reads, "", RULES.pack(rules, packed), FACTS.pack(facts, packed) if facts else b"")


# ---- symbols by their texts


@dataclass(frozen=True, slots=True)
class PendingSymbol:
    """A symbol that has no id yet."""

    text: str


def pending_symbols(constant: Constant) -> Any:
    """Return what stands for a constant in a rule that is stored."""
    return PendingSymbol(constant.value) if constant.type == "symbol" else encode(constant, Symbols())


def packed(constant: object) -> msgpack.ExtType:
    """A symbol as MessagePack has it, which knows no such type."""
    if not isinstance(constant, PendingSymbol):
        raise TypeError(f"{constant!r} is no plain data")
    return msgpack.ExtType(SYMBOL, constant.text.encode("utf-8", SURROGATES))


def interned(symbols: Symbols) -> Callable[[int, bytes], int]:
    """Return what makes ids of the symbols in what is read."""

    def symbol(code: int, text: bytes) -> int:
        if code != SYMBOL:
            raise Damaged(f"{code} is the type of no symbol")
        return int(symbols.intern([text.decode("utf-8", SURROGATES)])[0])

    return symbol


SYMBOL = 1
RULES: Codec[list[Rule]] = Codec(list[Rule], lambda owner, field: field.name != "clause")
FACTS: Codec[Facts] = Codec(Facts)
PREPARED_CODEC: Codec[PreparedProgram] = Codec(PreparedProgram)
