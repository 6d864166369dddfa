"""The oracle: the least height of every tuple, by all instantiations of all rules, again and again until none falls."""

from collections import defaultdict
from dataclasses import replace
from itertools import count

import reference

from engine import tables
from engine.language.syntax import Atom, HeadAggregate, Variable, Wildcard

INFINITE = float("inf")


class Oracle:
    """The tuples of a view, and evaluation of clauses on them; values are those of `engine.tables`."""

    def __init__(self, program, view):
        self.program = program
        self.evaluator = reference.Evaluator(program)
        self.evaluator.relations = tables.decode(program, view.result(), program.relations)

    def instances(self):
        """Yield the head and the tuples of positive atoms of each way in which a clause holds."""
        for clause in self.program.clauses:
            declared = self.program.relations[clause.head.relation]
            kinds = {aggregated.column: aggregated.kind for aggregated in declared.aggregated}
            body = witnessed(clause.body)
            outside = set(reference.variables_of(clause.head.arguments))
            for bindings in self.evaluator.solve(body, {}, outside):
                try:
                    row = tuple(self.value(term, bindings) for term in clause.head.arguments)
                except reference.NoValue:
                    continue
                used = [
                    (atom.relation, tuple(self.evaluator.value(term, bindings) for term in atom.arguments))
                    for atom in body
                    if isinstance(atom, Atom)
                ]
                if set(kinds.values()) <= {"min", "max"} and row in self.evaluator.relations[declared.name]:
                    yield (declared.name, row), used

    def value(self, term, bindings):
        return self.evaluator.value(term.target if isinstance(term, HeadAggregate) else term, bindings)

    def heights(self, given):
        """Return the least height of every tuple; of relations that sum or count it is 1."""
        heights = defaultdict(lambda: INFINITE, {(name, row): 0 for name, rows in given.items() for row in rows})
        for name, declared in self.program.relations.items():
            if any(aggregated.kind not in ("min", "max") for aggregated in declared.aggregated):
                heights.update(((name, row), 1) for row in self.evaluator.relations[name])
        instances = list(self.instances())
        constants = {(c.head.relation, head[1]) for c in self.program.clauses if c.is_fact for head, _ in instances
                     if head[0] == c.head.relation and is_constant(c) and self.row(c) == head[1]}  # fmt: skip
        heights.update(dict.fromkeys(constants, 0))
        links = dict(heights)
        while True:
            before = dict(heights)
            for head, used in instances:
                found = 1 + max((heights[each] for each in used), default=0)
                links[head] = min(links.get(head, INFINITE), found)
                heights[head] = min(heights[head], found)
            for name, declared in self.program.relations.items():
                if "eqrel" in declared.qualifiers:
                    self.close(name, links, heights)
            if dict(heights) == before:
                return before

    def row(self, clause):
        return tuple(term.value for term in clause.head.arguments)

    def close(self, name, links, heights):
        """Let each pair have the least greatest height of the links on a path between its elements."""
        rows = self.evaluator.relations[name]
        best = {(a, b): min(links.get((name, (a, b)), INFINITE), links.get((name, (b, a)), INFINITE)) for a, b in rows}
        elements = {a for a, _ in rows}
        for middle in elements:
            for a, b in rows:
                through = max(best.get((a, middle), INFINITE), best.get((middle, b), INFINITE))
                best[a, b] = min(best[a, b], through)
        heights.update({(name, pair): height for pair, height in best.items() if height < INFINITE})


def is_constant(clause):
    return not clause.counters and all(hasattr(term, "value") for term in clause.head.arguments)


def witnessed(body):
    """Return a body in which each wildcard of a positive atom is a variable."""
    numbers = count()

    def named(term):
        if isinstance(term, Wildcard):
            return Variable(f"witness{next(numbers)}")
        return replace(term, arguments=tuple(map(named, term.arguments))) if hasattr(term, "arguments") else term

    return tuple(
        replace(literal, arguments=tuple(map(named, literal.arguments))) if isinstance(literal, Atom) else literal
        for literal in body
    )
