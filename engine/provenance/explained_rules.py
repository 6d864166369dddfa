"""The rules of a program as explanations need them: each with its place, its text, and a body that names witnesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count

from engine.language.checked_program import CheckedClause, CheckedProgram
from engine.language.clause_text import clause_text
from engine.language.syntax import Constant, HeadAggregate
from engine.language.syntax import Literal as SyntaxLiteral
from engine.plan.flatten import Flattener, flatten
from engine.plan.rule import Literal, Match, Rule
from engine.plan.value_encoding import encode
from engine.provenance.body_solver import Bindings, matched, value_of
from engine.provenance.tuple_lookup import Tuple
from engine.symbols import Symbols


@dataclass(frozen=True, eq=False)
class ExplainedRule:
    """A clause and its flat rule, in which wildcards of positive atoms are variables. `number` is its position.

    `ends` says for each literal of the clause where in the flat body that which it became ends.
    """

    clause: CheckedClause
    rule: Rule
    number: int
    ends: tuple[int, ...]

    @cached_property
    def text(self) -> str:
        return clause_text(self.clause)

    @property
    def body(self) -> tuple[Literal, ...]:
        return self.rule.body

    def positive(self, bindings: Mapping[str, int]) -> tuple[Tuple, ...]:
        """Return the tuples of the positive atoms under bindings of all their variables."""
        return tuple(
            (atom.relation, tuple(value for term in atom.terms if (value := value_of(term or 0, bindings)) is not None))
            for atom in self.rule.body
            if isinstance(atom, Match)
        )

    def parts(self) -> Iterator[tuple[SyntaxLiteral, range]]:
        """Yield the literals of the clause, each with the positions of what it became."""
        for literal, begin, end in zip(self.clause.body, (0, *self.ends), self.ends, strict=False):
            yield literal, range(begin, end)

    @cached_property
    def aggregates(self) -> dict[int, str]:
        """The kinds of the columns that aggregate in the head."""
        terms = self.clause.head.arguments
        return {at: term.kind for at, term in enumerate(terms) if isinstance(term, HeadAggregate)}

    def bound_by(self, row: tuple[int | None, ...], but: frozenset[str] = frozenset()) -> Bindings | None:
        """Return the bindings under which the head is a row, None if it cannot be. None in a row is any value.

        Columns that aggregate by one of the kinds `but` are left out.
        """
        terms = [
            None if value is None or self.aggregates.get(at) in but else term
            for at, (term, value) in enumerate(zip(self.rule.head, row, strict=False))
        ]
        return matched(terms, [value or 0 for value in row], {})


class ExplainedRules:
    """The rules of a program by the relation that they derive, and the facts that it states; made when asked for."""

    def __init__(self, program: CheckedProgram, symbols: Symbols) -> None:
        self.program, self.symbols = program, symbols
        self._made: dict[str, list[ExplainedRule]] = {}
        self._stated: dict[str, dict[tuple[int, ...], CheckedClause]] = {}

    @cached_property
    def _clauses(self) -> Mapping[str, list[tuple[int, CheckedClause]]]:
        found = defaultdict(list)
        for number, clause in enumerate(self.program.clauses):
            found[clause.head.relation].append((number, clause))
        return found

    def of(self, relation: str) -> list[ExplainedRule]:
        """Return the rules that derive a relation, in the order of the program."""
        if relation not in self._made:
            clauses = self._clauses.get(relation, ())
            self._made[relation] = [self._rule(*each) for each in clauses if constants(each[1]) is None]
        return self._made[relation]

    def _rule(self, number: int, clause: CheckedClause) -> ExplainedRule:
        def encoded(constant: Constant) -> int:
            return encode(constant, self.symbols)

        flattener = Flattener(clause, self.program, encoded)
        ends = accumulate(len(flattener.literals([literal])) for literal in clause.body)
        return ExplainedRule(clause, with_witnesses(flatten(clause, self.program, encoded)), number, tuple(ends))

    def stating(self, fact: Tuple) -> CheckedClause | None:
        """Return the clause that states a fact, if one does."""
        relation, row = fact
        if relation not in self._stated:
            clauses = [clause for _, clause in reversed(self._clauses.get(relation, ()))]
            stated = ((constants(clause), clause) for clause in clauses)
            self._stated[relation] = {
                tuple(encode(term, self.symbols) for term in terms): clause
                for terms, clause in stated
                if terms is not None
            }
        return self._stated[relation].get(row)


def constants(clause: CheckedClause) -> list[Constant] | None:
    """Return the arguments of a clause that states a fact of constants, None for others."""
    arguments = clause.head.arguments
    found = [term for term in arguments if isinstance(term, Constant)]
    return found if clause.is_fact and not clause.counters and len(found) == len(arguments) else None


def with_witnesses(rule: Rule) -> Rule:
    """Return the rule with a variable for each wildcard of a positive atom."""
    numbers = count()
    return Rule(rule.relation, rule.head, tuple(named(rule.body, numbers)), rule.wide, rule.text, rule.clause)


def named(body: tuple[Literal, ...], numbers: Iterator[int]) -> Iterator[Literal]:
    for literal in body:
        if isinstance(literal, Match):
            terms = (f"?{next(numbers)}" if term is None else term for term in literal.terms)
            yield Match(literal.relation, tuple(terms))
        else:
            yield literal
