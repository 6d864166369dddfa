"""Relations with aggregates in heads: what each column aggregates, and every clause written as contributions to it.

A clause `r(x, sum<(k, v)>)` contributes, to the group x, the value v under the contributor k: each contributor counts
once, with its greatest value (msum and mcount of Condie et al., *Scaling-Up Reasoning and Advanced Analytics on
BigData*, §2.1). Afterwards every clause of such a relation has a `HeadAggregate` in each aggregated column, and all of
one column have equally many contributors:

* a plain value, as in a fact, is a contribution; in sums and counts all plain values of a group share one contributor;
* `sum<v>` and `mean<v>` without contributors take the rule's bindings for them, as aggregates in bodies do; a recursive
  rule must name contributors, as its bindings change;
* contributors of different origin are told apart by a first column, a tag, and padded with zeros.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from engine.language.checked_program import Aggregated, CheckedClause, Relation, Stratum, Type
from engine.language.diagnostics import Report, plural
from engine.language.signatures import result_kind
from engine.language.syntax import Atom, Constant, Functor, HeadAggregate, RecordTerm, Span, Term, Variable
from engine.language.traverse import is_equation, literal_terms, variables_of

TAG, WIDE = Type("number", "number"), Type("float", "float")
KEYED, PLAIN, BARE = 0, 1, 2
"""Tags of contributors: named ones, that of plain values, and from 2 on the bindings of one rule each."""


def resolve_aggregates(
    relations: Mapping[str, Relation], strata: Sequence[Stratum], inputs: Collection[str], report: Report
) -> tuple[dict[str, Relation], tuple[Stratum, ...]]:
    """Return relations that say what they aggregate, and strata whose clauses are contributions."""
    found = dict(relations)
    resolved = []
    for stratum in strata:
        clauses = stratum.clauses
        for name in stratum.relations:
            own = [clause for clause in clauses if clause.head.relation == name]
            kinds = aggregated_kinds(own, report)
            if kinds:
                resolver = Resolver(own, kinds, stratum.recursive, name in inputs, report)
                rewritten = dict(zip(map(id, own), resolver.clauses(), strict=True))
                clauses = tuple(rewritten.get(id(clause), clause) for clause in clauses)
                found[name] = replace(relations[name], aggregated=resolver.columns())
        resolved.append(replace(stratum, clauses=clauses))
    return found, tuple(resolved)


def kinds_of(clause: CheckedClause) -> dict[int, str]:
    """Return the kinds of the aggregates in a clause's head by column."""
    return {i: term.kind for i, term in enumerate(clause.head.arguments) if isinstance(term, HeadAggregate)}


def aggregated_kinds(clauses: Iterable[CheckedClause], report: Report) -> dict[int, str]:
    """Return the kind of aggregate of each aggregated column; clauses that disagree are reported."""
    aggregating = [(clause, kinds) for clause in clauses if (kinds := kinds_of(clause))]
    if not aggregating:
        return {}
    first, expected = aggregating[0]
    differing = [clause for clause, kinds in aggregating if kinds != expected]
    for clause in differing:
        message = f"the rules of '{clause.head.relation}' aggregate differently: {_shape(first)} and {_shape(clause)}"
        help = f"aggregate as in line {first.span.line}, or give this rule a relation of its own"
        report.error("E061", message, clause.head.span, help)
    return {} if differing else expected


def _shape(clause: CheckedClause) -> str:
    parts = (f"{t.kind}<…>" if isinstance(t, HeadAggregate) else "…" for t in clause.head.arguments)
    return f"({', '.join(parts)})"


class Resolver:
    """The clauses of one relation with their aggregates, by column."""

    def __init__(
        self,
        clauses: Sequence[CheckedClause],
        kinds: Mapping[int, str],
        recursive: bool,
        is_input: bool,
        report: Report,
    ) -> None:
        self.given, self.kinds, self.recursive, self.report = clauses, kinds, recursive, report
        self.tags = {column: self._tags(column) for column in kinds}
        self.tagged = {column: is_input or len(set(tags)) > 1 for column, tags in self.tags.items()}
        self.keys = {column: self._keys(column) for column in kinds}

    def columns(self) -> tuple[Aggregated, ...]:
        return tuple(
            Aggregated(column, kind, self._contributor_types(column), self.tagged[column], BARE in self.tags[column])
            if kind not in ("min", "max")
            else Aggregated(column, kind)
            for column, kind in self.kinds.items()
        )

    def clauses(self) -> list[CheckedClause]:
        return [replace(clause, head=self._head(position, clause)) for position, clause in enumerate(self.given)]

    def _head(self, position: int, clause: CheckedClause) -> Atom:
        arguments = list(clause.head.arguments)
        for column, kind in self.kinds.items():
            arguments[column] = self._contribution(column, kind, position, arguments[column])
        return replace(clause.head, arguments=tuple(arguments))

    def _contribution(self, column: int, kind: str, position: int, term: Term) -> HeadAggregate:
        target = term.target if isinstance(term, HeadAggregate) else term
        if kind in ("min", "max"):
            return HeadAggregate(kind, target, span=term.span)
        keys = self.keys[column][position]
        width = max(map(len, self.keys[column]))
        padding = (_number(0, term.span),) * (width - len(keys))
        tag = (_number(self.tags[column][position], term.span),) if self.tagged[column] else ()
        return HeadAggregate(kind, target, (*tag, *keys, *padding), span=term.span)

    def _tags(self, column: int) -> list[int]:
        """Return the tag of each clause's contributors."""
        tags, n_bare = [], 0
        for clause in self.given:
            term = clause.head.arguments[column]
            if not isinstance(term, HeadAggregate):
                tags.append(PLAIN)
            elif term.contributors or term.kind in ("min", "max"):
                tags.append(KEYED)
            else:
                tags.append(BARE + n_bare)
                n_bare += 1
        return tags

    def _keys(self, column: int) -> list[tuple[Term, ...]]:
        """Return the contributors of each clause, which must agree in number and kind where they are named."""
        keys: list[tuple[Term, ...]] = []
        named: tuple[str, ...] | None = None
        for tag, clause in zip(self.tags[column], self.given, strict=True):
            term = clause.head.arguments[column]
            keys.append(())
            if not isinstance(term, HeadAggregate):
                continue
            if tag == KEYED:
                keys[-1] = term.contributors
                kinds = tuple(type_of(key, clause).kind for key in term.contributors)
                if named is not None and kinds != named:
                    self._report_keys(clause, term, named, kinds)
                named = kinds
            else:
                keys[-1] = bindings_of(clause)
                if self.recursive:
                    self._report_bare(term)
        return keys

    def _report_keys(self, clause: CheckedClause, term: Term, first: tuple[str, ...], kinds: tuple[str, ...]) -> None:
        message = f"the rules of '{clause.head.relation}' name different contributors: ({', '.join(first)}) and "
        message += f"({', '.join(kinds)})"
        self.report.error("E061", message, term.span, f"name {plural(len(first), 'contributor')} of these types")

    def _report_bare(self, term: HeadAggregate) -> None:
        if term.kind == "mean":
            message = "a mean does not grow with its values, so that no recursion can compute it"
            self.report.error("E062", message, term.span, "compute it in a relation of a later stratum")
        else:
            message = "a recursive sum must name its contributors"
            help = "write 'sum<(k, v)>': each contributor k counts once, with its greatest v"
            self.report.error("E060", message, term.span, help)

    def _contributor_types(self, column: int) -> tuple[Type, ...]:
        """Return the type of each contributor column; where they are of several kinds, one as wide as any."""
        width = max(map(len, self.keys[column]))
        found: list[dict[str, Type]] = [{} for _ in range(width)]
        for clause, keys in zip(self.given, self.keys[column], strict=True):
            for by_kind, key in zip(found, keys, strict=False):
                type = type_of(key, clause)
                by_kind[type.kind] = type
        types = tuple(next(iter(each.values())) if len(each) == 1 else WIDE for each in found)
        return (TAG, *types) if self.tagged[column] else types


def bindings_of(clause: CheckedClause) -> tuple[Term, ...]:
    """Return the variables on which a body's bindings depend: those of its atoms, and what it generates."""
    found: dict[str, Variable] = {}
    for literal in clause.body:
        generates = is_equation(literal) and isinstance(literal.right, Functor) and literal.right.name == "range"
        if isinstance(literal, Atom) or generates:
            found |= variables_of(literal_terms(literal))
    return tuple(found.values())


def type_of(term: Term, clause: CheckedClause) -> Type:
    """Return the type of a term of a checked clause, as far as it tells how values are stored and ordered."""
    if isinstance(term, Variable):
        return clause.variables[term.name]
    if isinstance(term, RecordTerm):
        return Type(term.type, "record", term.type)
    assert isinstance(term, Functor | Constant)
    kind = result_kind(term) if isinstance(term, Functor) else term.type
    return Type(kind, "record" if kind == "nil" else kind)


def _number(value: int, span: Span) -> Constant:
    return Constant(value, "number", span=span)
