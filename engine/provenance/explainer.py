"""Explanations as plain data: why a tuple is there, as a tree of rules down to facts, and why one is not.

An explanation is a document of dictionaries, lists, texts and numbers, as JSON has them; `formats` writes it as text or
as a graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from engine.incremental.maintained_program import MaintainedProgram
from engine.language.checked_program import CheckedClause, CheckedProgram, Type
from engine.language.clause_text import clause_text
from engine.language.syntax import Literal
from engine.plan.rule import Absent, FlatAtom, Fold, Match
from engine.plan.rule import Literal as FlatLiteral
from engine.provenance.atoms import AtomReader, AtomWriter, Pattern, tuples_of
from engine.provenance.body_solver import Bindings, bound_columns, is_ready, value_of
from engine.provenance.derivations import (
    CHAIN,
    GROUP,
    LINKED,
    MOST_TUPLES,
    RULE,
    STATED,
    Derivation,
    Derivations,
    Step,
)
from engine.provenance.explained_rules import ExplainedRule
from engine.provenance.failures import Failure, Failures, instantiated
from engine.provenance.tuple_lookup import Tuple

Document = dict[str, Any]
ANY_SYMBOL = "…"
SHOWN = 5
"""Tuples shown of those that an aggregate counts."""


class Explainer:
    """Explains the tuples of a view as they are now; to be made anew when the view has been updated.

    `most_tuples` bounds the search for derivations of least height, see `derivations`.
    """

    def __init__(
        self,
        view: MaintainedProgram,
        program: CheckedProgram | None = None,
        writer: AtomWriter | None = None,
        most_tuples: int = MOST_TUPLES,
    ) -> None:
        self.program = program or view.program
        self.writer = writer or AtomWriter(self.program, view)
        self.reader = AtomReader(self.program, view)
        self.content = partial(content, self.writer)
        self.derivations = Derivations(view, self.program, self.content, most_tuples)
        self.failures = Failures(self.derivations, self.writer.atom)

    # ---- why

    def matches(self, text: str) -> tuple[Pattern, list[Tuple]]:
        """Return the pattern that a text is, and the tuples that it matches, by content. Raises ProgramError."""
        pattern = self.reader.read(text)
        return pattern, sorted(tuples_of(pattern, self.derivations.tuples), key=self.content)

    def why(
        self, fact: Tuple, number: int = 1, depth: int | None = None, closed: Collection[str] = ()
    ) -> Document | None:
        """Return the n-th derivation of a tuple that is there, the lowest first; None if there are fewer.

        What is `depth` steps below the tuple is left out. The lowest does not go below tuples of `closed` relations.
        """
        if number == 1:
            return self.tree(self.derivations.derivation(fact, closed), depth)
        others = self.derivations.alternatives(fact)
        return self.tree(others[number - 1], depth) if number <= len(others) else None

    def tree(self, derivation: Derivation, depth: int | None = None) -> Document:
        return {**Unfolding(self, derivation).node(derivation.root, depth), "least": derivation.is_least}

    # ---- why not

    def why_not(self, pattern: Pattern) -> Document:
        """Return the rules that could derive a tuple that is not there, each with the instantiation nearest to that."""
        near = self.absence(Match(pattern.relation, pattern.values), {})
        return {
            "atom": self.writer.atom(pattern.relation, pattern.values),
            **near,
            "rules": [self._failure(failure) for failure in self.failures.of(pattern)],
        }

    def missing(self, relation: str, values: tuple[int | None, ...]) -> list[tuple[str, Tuple]]:
        """Return tuples of which each alone keeps a rule from deriving a row (None: any value), with the rule's place.

        Where any symbol would do, one stands that says so.
        """
        found = []
        (any_symbol,) = self.failures.solver.tuples.view.symbols.intern([ANY_SYMBOL]).tolist()
        for failure in self.failures.of(Pattern(relation, values)):
            atom = None if failure.missing is None else failure.rule.body[failure.missing]
            if failure.n_missing == 1 and isinstance(atom, Match):
                kinds = (column.type.kind for column in self.program.relations[atom.relation].columns)
                row = zip(instantiated(atom, failure.bindings), kinds, strict=True)
                filled = [any_symbol if not isinstance(v, int) and kind == "symbol" else v for v, kind in row]
                known = tuple(value for value in filled if isinstance(value, int))
                if len(known) == len(filled):
                    span = failure.rule.clause.span
                    found.append((f"{span.source}:{span.line}", (atom.relation, known)))
        return found

    def _failure(self, failure: Failure) -> Document:
        rule, bindings = failure.rule, failure.bindings
        found = self.rule(rule)
        if failure.missing is None and failure.n_missing:
            return {"rule": found, "head": self.writer.literal(rule.clause.head, rule.clause, {}), "body": []}
        parts = []
        for literal, at in rule.parts():
            flat = main(rule, at)
            holds = self._holds([rule.body[position] for position in at], bindings)
            parts.append({"literal": self.literal(literal, flat, rule.clause, bindings), "holds": holds})
            if failure.missing in at:
                parts[-1] |= {"holds": False, "missing": True, **self._because(flat, bindings)}
        if failure.n_missing and not any(part.get("missing") for part in parts):
            parts.append({"literal": "the values of the head", "holds": False, "missing": True})
        return {"rule": found, "missing": failure.n_missing, "body": parts}

    def _because(self, flat: FlatLiteral | None, bindings: Bindings) -> Document:
        """Return why an atom does not hold, or the value that an aggregate has."""
        if isinstance(flat, Fold) and is_ready(flat, bindings):
            self.failures.solver.steps = SHOWN * 10_000
            value = self.failures.solver.fold(flat, bindings)
            return {} if value is None else {"value": self.writer.value(value, Type(flat.kind, flat.kind))}
        return self.absence(flat, bindings) if isinstance(flat, Match) else {}

    def _holds(self, flats: Sequence[FlatLiteral], bindings: Bindings) -> bool | None:
        """Say whether what a literal became holds; None if that cannot be said, as variables are not bound."""
        solver = self.failures.solver
        solver.steps = SHOWN * 10_000
        for flat in flats:
            if isinstance(flat, FlatAtom) and not all(name in bindings for name in flat.variables):
                return None
            if not isinstance(flat, FlatAtom) and not is_ready(flat, bindings):
                return None
            if next(solver.satisfy(flat, bindings), None) is None:
                return False
        return True

    # ---- parts

    def rule(self, rule: ExplainedRule) -> Document:
        return {"text": rule.text, **place(rule.clause)}

    def literal(self, literal: Literal, flat: object, clause: CheckedClause, bindings: Bindings) -> str:
        """Return a literal with its values; an atom's wildcards with those of the tuple that it joins."""
        if isinstance(flat, FlatAtom):
            sign = "!" if isinstance(flat, Absent) else ""
            return sign + self.writer.atom(flat.relation, instantiated(flat, bindings))
        return self.writer.literal(literal, clause, bindings)

    def absence(self, atom: FlatAtom, bindings: Bindings) -> Document:
        """Return why no tuple matches an atom: how many there are, and one that differs in one column."""
        bound = bound_columns(atom, bindings)
        n = self.derivations.tuples.rows(atom.relation).n
        found: Document = {"relation": atom.relation, "tuples": n}
        found["values"] = self.writer.values(atom.relation, instantiated(atom, bindings))
        if not n or len(bound) < 2:
            return found
        columns = self.program.relations[atom.relation].columns
        for column in reversed(bound):
            near = self.derivations.tuples.matching(atom.relation, {c: v for c, v in bound.items() if c != column})
            if near.shape[1]:
                texts = (self.writer.atom(atom.relation, row) for row in near.T[:1_000].tolist())
                return {**found, "nearest": min(texts), "differs": columns[column].name}
        return found

    def counted(self, flat: Fold, bindings: Bindings) -> Document:
        """Return the first of the tuples that an aggregate counts, and how many more there are."""
        solver = self.derivations.solver
        solver.steps = SHOWN * 10_000
        atoms = [literal for literal in flat.body if isinstance(literal, Match)]
        found = solver.folded(flat, bindings)
        texts = sorted(", ".join(self.writer.atom(a.relation, instantiated(a, b)) for a in atoms) for b in found)
        return {"tuples": texts[:SHOWN], "more": max(len(texts) - SHOWN, 0)}


class Unfolding:
    """A derivation as a tree, in which each tuple is derived once."""

    def __init__(self, explainer: Explainer, derivation: Derivation) -> None:
        self.explainer, self.derivation = explainer, derivation
        self.writer = explainer.writer
        self.shown: set[Tuple] = set()

    def node(self, fact: Tuple, depth: int | None) -> Document:
        name, row = fact
        relation, step = name.removeprefix(LINKED), self.derivation.steps[fact]
        height = self.derivation.heights[fact]
        values = self.writer.values(relation, row)
        found: Document = {"atom": f"{relation}({', '.join(values)})", "relation": relation, "values": values}
        found["height"] = height
        found["by"] = step.how
        if step.how == STATED:
            assert step.clause is not None
            return {**found, "rule": {"text": clause_text(step.clause), **place(step.clause)}}
        if step.how not in (RULE, CHAIN, GROUP):
            return found
        if fact in self.shown or depth == 0:
            return {**found, "left_out": "above" if fact in self.shown else "depth"}
        self.shown.add(fact)
        return {**found, **self._below(step, None if depth is None else depth - 1)}

    def _below(self, step: Step, depth: int | None) -> Document:
        if step.how == CHAIN:
            return {"body": [{"tuple": self.node(link, depth)} for link in step.below]}
        if step.how == GROUP:
            return self._group(step)
        assert step.rule is not None
        return {"rule": self.explainer.rule(step.rule), "body": list(self._parts(step.rule, step, depth))}

    def _parts(self, rule: ExplainedRule, step: Step, depth: int | None) -> Iterator[Document]:
        below = iter(step.below)
        for literal, at in rule.parts():
            flat = main(rule, at)
            if isinstance(flat, Match):
                yield {"tuple": self.node(next(below), depth)}
                continue
            text = self.explainer.literal(literal, flat, rule.clause, step.bindings)
            if isinstance(flat, Absent):
                yield {"absent": text, **self.explainer.absence(flat, step.bindings)}
            elif isinstance(flat, Fold):
                yield {"counted": text, **self.explainer.counted(flat, step.bindings)}
            else:
                yield {"test": text}

    def _group(self, step: Step) -> Document:
        """Return the first of the contributions to a group, with the value of each."""
        found = []
        for rule, bindings in step.contributions:
            head = [value_of(term, bindings) for term in rule.rule.head[: len(rule.clause.head.arguments)]]
            value = self.writer.atom(rule.rule.relation, head)
            tuples = [self.writer.atom(*each) for each in rule.positive(bindings)]
            found.append({"value": value, "tuples": tuples, "rule": self.explainer.rule(rule)})
        found.sort(key=lambda each: (each["value"], each["tuples"]))
        return {"contributions": found[:SHOWN], "more": max(len(found) - SHOWN, 0)}


def content(writer: AtomWriter, fact: Tuple) -> str:
    """Return what orders tuples, whatever their values' ids."""
    name, row = fact
    return writer.atom(name.split(" ")[-1], row)


def main(rule: ExplainedRule, at: range) -> FlatLiteral | None:
    """Return the atom or aggregate that a literal became, None for a test."""
    return next((rule.body[i] for i in at if isinstance(rule.body[i], FlatAtom | Fold)), None)


def place(clause: CheckedClause) -> Document:
    return {"file": clause.span.source, "line": clause.span.line}
