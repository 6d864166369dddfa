"""The oracle: a naive evaluator of checked programs over Python tuples. Slow, short, and shared with nothing.

Values are str, int, float; records are tuples of values and nil is None. A relation is a set of tuples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import count
from operator import add

from engine.database import EvaluationError
from engine.language.autoinc import split
from engine.language.checked_program import Aggregated, CheckedClause, CheckedProgram, Relation, Stratum
from engine.language.grounding import is_evaluable
from engine.language.syntax import (
    Aggregate,
    Atom,
    Constant,
    Functor,
    HeadAggregate,
    Literal,
    Negation,
    RecordTerm,
    Term,
    Truth,
    Variable,
)
from engine.language.traverse import aggregates_of, is_equation, literal_terms, variables_of
from engine.scalar_functors import Value, apply, canonical, fits, greatest, holds, least, wrap

Row = tuple
Bindings = dict[str, Value]


class NoValue(Exception):
    """A functor has no value for its arguments: the literal does not hold."""


def evaluate(program: CheckedProgram, facts: Mapping[str, Iterable[Row]] | None = None) -> dict[str, set[Row]]:
    """Return every relation of the least model of the program and the facts, stratum by stratum."""
    evaluator = Evaluator(program)
    for name, rows in (facts or {}).items():
        evaluator.add(name, plain_contributions(rows, program.relations[name]))
    for stratum in program.strata:
        evaluator.evaluate(stratum)
    return evaluator.relations


class Evaluator:
    def __init__(self, program: CheckedProgram) -> None:
        self.program = program
        self.bits = program.number_bits
        self.relations: dict[str, set[Row]] = {name: set() for name in program.relations}
        self.indexes: dict[tuple[str, tuple[int, ...]], dict[Row, list[Row]]] = {}
        self.numbers: dict[object, int] = {}
        self.orders: dict[tuple[int, frozenset[str]], tuple[tuple[Literal, ...], set[str], tuple[Literal, ...]]] = {}
        self.splits: dict[int, tuple[list[str], tuple[Literal, ...], tuple[Literal, ...]]] = {}
        self.chosen: dict[tuple[str, tuple[int, ...]], set[Row]] = defaultdict(set)
        self.contributions: dict[str, dict[Row, dict[int, dict[Row, Value]]]] = {}
        self.counter = count()
        self.limits = program.limits

    def evaluate(self, stratum: Stratum) -> None:
        """Apply the clauses that do not read the stratum, facts first, then the others until nothing new is derived."""
        own = set(stratum.relations)
        recursive = [c for c in stratum.clauses if own & {a.relation for a in c.body if isinstance(a, Atom)}]
        initial = [clause for clause in stratum.clauses if clause not in recursive]
        for clause in sorted(initial, key=lambda clause: not clause.is_fact):
            self.add(clause.head.relation, set(self.derive(clause)))
        for name in stratum.relations:
            self.add(name, ())
        changed = bool(recursive)
        while changed:
            derived = [(clause.head.relation, set(self.derive(clause))) for clause in recursive]
            changed = any([self.add(name, rows) for name, rows in derived])

    def add(self, name: str, rows: Iterable[Row]) -> bool:
        """Add rows, as far as the relation's qualifiers let them in; return whether there was a new one."""
        if self.program.relations[name].aggregated:
            return self.contribute(self.program.relations[name], rows)
        relation, known = self.relations[name], len(self.relations[name])
        declared = self.program.relations[name]
        new = set(rows) - relation
        for row in sorted(new, key=order_of) if declared.choice or name in self.limits else new:
            keys = {(name, key): tuple(row[column] for column in key) for key in declared.choice}
            is_chosen = any(value in self.chosen[key] for key, value in keys.items())
            if not is_chosen and len(relation) < self.limits.get(name, len(relation) + 1):
                relation.add(row)
                for key, value in keys.items():
                    self.chosen[key].add(value)
        if "eqrel" in declared.qualifiers:
            relation |= equivalence_closure(relation)
        if len(relation) > known:
            self.indexes = {key: index for key, index in self.indexes.items() if key[0] != name}
        return len(relation) > known

    def contribute(self, relation: Relation, rows: Iterable[Row]) -> bool:
        """Aggregate anew over these contributions and all before; return whether a row has changed.

        An aggregated column of a row holds a contributor and its value; of the same contributor the best value counts.
        """
        groups = self.contributions.setdefault(relation.name, {})
        for row in rows:
            values = {a.column: row[a.column] for a in relation.aggregated}
            if any(value != value for _, value in values.values()):
                continue  # A NaN contributes nothing.
            group = groups.setdefault(tuple(row[c] for c in relation.group), {column: {} for column in values})
            for a in relation.aggregated:
                contributor, value = values[a.column]
                best = min if a.kind == "min" else max
                group[a.column][contributor] = best(value, group[a.column].get(contributor, value))
        before, current = self.relations[relation.name], set()
        for key, columns in groups.items():
            found = dict(zip(relation.group, key, strict=True))
            found |= {a.column: total(relation, a, columns[a.column], self.bits) for a in relation.aggregated}
            current.add(tuple(found[column] for column in range(relation.arity)))
        self.relations[relation.name] = current
        self.indexes = {key: index for key, index in self.indexes.items() if key[0] != relation.name}
        return current != before

    def derive(self, clause: CheckedClause) -> Iterator[Row]:
        outside = set(variables_of(clause.head.arguments))
        for bindings in self.numbered(clause, outside) if clause.counters else self.solve(clause.body, {}, outside):
            try:
                yield tuple(self.value(term, bindings) for term in clause.head.arguments)
            except NoValue:
                continue

    def numbered(self, clause: CheckedClause, outside: set[str]) -> Iterator[Bindings]:
        """Yield the bindings of a clause that draws numbers, once for each binding of what needs none."""
        names, known, others = self.splits.setdefault(id(clause), split(clause))
        found = {tuple(b[name] for name in names) for b in self.solve(known, {}, outside | set(names))}
        for row in sorted(found, key=order_of):
            drawn = {name: next(self.counter) for name in clause.counters}
            yield from self.solve(others, dict(zip(names, row, strict=True)) | drawn, outside)

    # ---- bodies

    def solve(self, body: tuple[Literal, ...], bindings: Bindings, outside: set[str]) -> Iterator[Bindings]:
        """Yield the bindings that satisfy every literal; `outside` are the variables of the scopes around."""
        key = (id(body), frozenset(bindings))
        if key not in self.orders:
            # The body is kept: another one may have its id when it has gone.
            self.orders[key] = *order(body, set(bindings), outside), body
        literals, scope, _ = self.orders[key]
        yield from self.extend(literals, bindings, scope)

    def extend(self, literals: tuple[Literal, ...], bindings: Bindings, scope: set[str]) -> Iterator[Bindings]:
        if not literals:
            yield bindings
            return
        for extended in self.satisfy(literals[0], bindings, scope):
            yield from self.extend(literals[1:], extended, scope)

    def satisfy(self, literal: Literal, bindings: Bindings, scope: set[str]) -> Iterator[Bindings]:
        """Yield the bindings extended in each way in which one literal holds."""
        try:
            if isinstance(literal, Atom):
                yield from self.match_atom(literal, bindings)
            elif isinstance(literal, Negation):
                if next(self.match_atom(literal.atom, bindings), None) is None:
                    yield bindings
            elif isinstance(literal, Truth):
                yield from (bindings,) * literal.value
            elif literal.op == "=":
                yield from self.equate(literal.left, literal.right, bindings, scope)
            elif holds(literal.op, self.value(literal.left, bindings), self.value(literal.right, bindings)):
                yield bindings
        except NoValue:
            return

    def match_atom(self, atom: Atom, bindings: Bindings) -> Iterator[Bindings]:
        bound = tuple(i for i, term in enumerate(atom.arguments) if is_evaluable(term, bindings.keys()))
        key = tuple(self.value(atom.arguments[i], bindings) for i in bound)
        for row in self.index(atom.relation, bound).get(key, ()):
            extended: Bindings | None = bindings
            for term, value in zip(atom.arguments, row, strict=True):
                extended = None if extended is None else self.match(term, value, extended)
            if extended is not None:
                yield extended
            if extended is bindings:
                return  # The atom binds nothing: one row is as good as all.

    def index(self, relation: str, columns: tuple[int, ...]) -> dict[Row, list[Row]]:
        if (relation, columns) not in self.indexes:
            index = self.indexes[relation, columns] = defaultdict(list)
            for row in self.relations[relation]:
                index[tuple(row[i] for i in columns)].append(row)
        return self.indexes[relation, columns]

    def equate(self, left: Term, right: Term, bindings: Bindings, scope: set[str]) -> Iterator[Bindings]:
        if isinstance(right, Aggregate):
            values: Iterable[object] = self.aggregate(right, bindings, scope)
        elif isinstance(right, Functor) and right.name == "range":
            arguments = [self.value(term, bindings) for term in right.arguments]
            values = generate_range(right.kind, self.bits, *arguments)
        else:
            left, right = (left, right) if is_evaluable(right, bindings.keys()) else (right, left)
            values = (self.value(right, bindings),)
        for value in values:
            extended = self.match(left, value, bindings)
            if extended is not None:
                yield extended

    def aggregate(self, aggregate: Aggregate, bindings: Bindings, scope: set[str]) -> Iterator[object]:
        """Yield the value over all distinct bindings of the body's variables, or nothing if there is none."""
        found = {tuple(sorted(b.items())): b for b in self.solve(aggregate.body, bindings, scope)}
        target = aggregate.target
        values = [None if target is None else self.value(target, b) for b in found.values()]
        value = fold(aggregate.kind, aggregate.kind_of_value, values, self.bits)
        if value is not None:
            yield value

    # ---- terms

    def match(self, term: Term, value: Value, bindings: Bindings) -> Bindings | None:
        """Return the bindings under which a term has a value, or None."""
        if isinstance(term, Variable) and term.name not in bindings:
            return {**bindings, term.name: value}
        if isinstance(term, RecordTerm):
            if value is None:
                return None
            extended: Bindings | None = bindings
            for part, part_value in zip(term.arguments, value, strict=True):
                extended = None if extended is None else self.match(part, part_value, extended)
            return extended
        if isinstance(term, (Variable, Constant, Functor)):
            return bindings if holds("=", self.value(term, bindings), value) else None
        return bindings

    def value(self, term: Term, bindings: Bindings) -> Value:
        if isinstance(term, Variable):
            return bindings[term.name]
        if isinstance(term, Constant):
            return term.value
        if isinstance(term, HeadAggregate):
            return tuple(self.value(key, bindings) for key in term.contributors), self.value(term.target, bindings)
        assert isinstance(term, RecordTerm | Functor)
        arguments = tuple(self.value(argument, bindings) for argument in term.arguments)
        if isinstance(term, RecordTerm):
            return arguments
        if term.name == "ord":
            return arguments[0] if term.kind == "number" else self.numbers.setdefault(arguments[0], len(self.numbers))
        value = apply(term.name, term.kind, arguments, self.bits, term.type_argument)
        if value is None:
            raise NoValue
        return value


# ---- order of evaluation


def order(body: tuple[Literal, ...], bound: set[str], outside: set[str]) -> tuple[tuple[Literal, ...], set[str]]:
    """Return the literals in an order in which each can be decided, tests first, and all variables of the scope."""
    pending, ordered = list(body), []
    scope = outside.union(bound, *map(direct_variables, body))
    while pending:
        candidates = [literal for literal in pending if ready(literal, bound, scope)]
        literal = min(candidates, key=lambda literal: isinstance(literal, Atom) and 1 + unbound(literal, bound))
        pending.remove(literal)
        ordered.append(literal)
        bound = bound | direct_variables(literal)
    return tuple(ordered), scope


def unbound(atom: Atom, bound: set[str]) -> int:
    return sum(not is_evaluable(term, bound) for term in atom.arguments)


def ready(literal: Literal, bound: set[str], scope: set[str]) -> bool:
    """Return True if a literal can be decided: an equation once one side can be evaluated, other tests once bound."""
    if isinstance(literal, Atom):
        return True
    if not is_equation(literal):
        return direct_variables(literal) <= bound
    if isinstance(literal.right, Aggregate):
        return aggregate_variables(literal.right) & scope <= bound
    sides = literal.left, literal.right
    return any(is_evaluable(side, bound) and is_pattern(other, bound) for side, other in (sides, sides[::-1]))


def is_pattern(term: Term, bound: set[str]) -> bool:
    """Return True if a value can be matched with a term: not with a functor whose value is not known."""
    return not isinstance(term, Functor) or (term.name != "range" and is_evaluable(term, bound))


def direct_variables(literal: Literal) -> set[str]:
    """Return the variables of a literal outside aggregates."""
    return set(variables_of(literal_terms(literal)))


def aggregate_variables(aggregate: Aggregate) -> set[str]:
    """Return all variables in an aggregate, nested ones included."""
    found = set() if aggregate.target is None else set(variables_of((aggregate.target,)))
    for literal in aggregate.body:
        found |= direct_variables(literal)
        found = found.union(*map(aggregate_variables, aggregates_of(literal_terms(literal))))
    return found


def order_of(value: object) -> tuple:
    """Order values and rows: nil before other records, NaN after other floats, the rest by value, from the left."""
    if value is None:
        return (0,)
    if isinstance(value, tuple):
        return (1, *map(order_of, value))
    return (1, float("inf"), 1) if value != value else (1, value)


def plain_contributions(rows: Iterable[Row], relation: Relation) -> list[Row]:
    """Return rows from outside as what the clauses of a relation derive."""
    plain = {a.column: (1, *[0] * (len(a.contributors) - 1)) if a.tagged else () for a in relation.aggregated}
    return [tuple((plain[c], value) if c in plain else value for c, value in enumerate(row)) for row in rows]


def total(relation: Relation, aggregated: Aggregated, values: dict[Row, Value], bits: int) -> Value:
    """Return the aggregate of the contributors' values; floats are added in the order of the contributors."""
    kind = relation.columns[aggregated.column].type.kind
    if aggregated.kind in ("min", "max"):
        return values[()]
    if kind == "float" and not aggregated.by_value:
        return reduce(add, (values[key] for key in sorted(values, key=order_of)), 0.0)
    if kind == "float":
        return fold(aggregated.kind, kind, list(values.values()), bits)
    result = sum(values.values())
    if bits == 64:
        return wrap(result, kind, bits)
    if not fits(result, kind, bits):
        raise EvaluationError(f"{relation.name}: a {aggregated.kind} does not fit in a {kind} of {bits} bits")
    return result


def equivalence_closure(relation: set[Row]) -> set[Row]:
    """Return the least equivalence that contains a binary relation."""
    class_of: dict[object, set[object]] = {}
    for a, b in relation:
        merged = class_of.get(a, {a}) | class_of.get(b, {b})
        class_of |= dict.fromkeys(merged, merged)
    return {(a, b) for a, members in class_of.items() for b in members}


# ---- generators and aggregates of values


def generate_range(kind: str, bits: int, start: Value, end: Value, step: Value = None) -> Iterator[int | float]:
    """Yield `start`, `start + step`, … before `end`; the step is 1, or -1 when the end lies below.

    A step of zero gives the start alone, unless it is the end. An unsigned step counts upwards only.
    """
    descends = start > end
    if step is None:
        step = -1 if descends else 1
    if step == 0:
        yield from () if start == end else (start,)
    elif (step < 0) == descends:
        n = 0
        while (value := start + n * step) != end and (value > end) == descends:
            yield canonical(value) if kind == "float" else value
            n += 1


def fold(kind: str, value_kind: str, values: list, bits: int) -> Value:
    """Return the aggregate of values, one for each binding of the aggregate's body; None if it has no value.

    Floats are summed in increasing order, so that the sum does not depend on the order of evaluation.
    """
    if kind == "count":
        return wrap(len(values), "number", bits)
    if kind == "sum" and value_kind != "float":
        return wrap(sum(values), value_kind, bits)
    if kind == "sum":
        return canonical(_sum_floats(values))
    if not values:
        return None
    if kind == "mean":
        return canonical(_sum_floats(values) / len(values))
    if value_kind == "float":
        return least(tuple(values)) if kind == "min" else greatest(tuple(values))
    return min(values) if kind == "min" else max(values)


def _sum_floats(values: list) -> float:
    return reduce(lambda total, value: total + value, sorted(map(float, values)), 0.0)
