"""Derivations of tuples: the last steps that each may have, and a derivation of least height.

The height of a fact is 0; that of a derivation is one more than the greatest height of the tuples that its rule joins.
Tests, negated atoms and what aggregates count add nothing. Two elements are equivalent by a chain of pairs that rules
derive or facts give; its height is the greatest of theirs.

The tuples below one and the rules between them are a hypergraph. If it has at most `most_tuples`, heights are those of
Knuth's generalisation of Dijkstra's algorithm (1977), so they are the least. Otherwise, the tuples of a recursion that
counts are derived from tuples of earlier iterations: the height is then the least within each recursion only.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import islice

from engine.incremental.maintained_program import MaintainedProgram
from engine.language.checked_program import CheckedClause, CheckedProgram
from engine.provenance.body_solver import Bindings, BodySolver, OutOfSteps
from engine.provenance.explained_rules import ExplainedRule, ExplainedRules
from engine.provenance.tuple_lookup import Tuple, TupleLookup

GIVEN, STATED, CHOSEN, RULE, GROUP, CHAIN, CUT = "given", "stated", "chosen", "rule", "group", "chain", "cut"
"""How a tuple follows: it is a fact of the input, a fact of the program, a fact that keeps a recursion within its
bound, derived by a rule, aggregated over what rules contribute, a chain of equivalent pairs; or it was not looked into.
"""
LINKED, REACHED = "link ", "chain "
"""Before the name of an equivalence: its pairs that rules or facts give, and its pairs that are linked by these."""
MOST_TUPLES = 2_000
MOST_INSTANCES = 1_000
STEPS = 200_000
"""Matches that one look for the last steps of a tuple may take."""


@dataclass(frozen=True)
class Step:
    """The last step of a derivation: a tuple follows from the tuples `below`.

    A rule has its `bindings`; a group those of each contribution, by rule. `weight` is 1 if it adds to the height.
    """

    how: str
    below: tuple[Tuple, ...] = ()
    rule: ExplainedRule | None = None
    bindings: Bindings = field(default_factory=dict)
    clause: CheckedClause | None = None
    contributions: tuple[tuple[ExplainedRule, Bindings], ...] = ()
    weight: int = 0


@dataclass(frozen=True)
class Derivation:
    """A derivation of `root`: a step for each tuple in it, and their heights. `is_least` says that none is lower."""

    root: Tuple
    steps: dict[Tuple, Step]
    heights: dict[Tuple, int]
    is_least: bool

    @property
    def height(self) -> int:
        return self.heights[self.root]


class Derivations:
    """The derivations of the tuples that a view holds; to be made anew when the view has been updated.

    `key` orders tuples by content, so that the same one of equal steps is taken whatever the order of rows.
    """

    def __init__(
        self,
        view: MaintainedProgram,
        program: CheckedProgram,
        key: Callable[[Tuple], str],
        most_tuples: int = MOST_TUPLES,
    ) -> None:
        self.program, self.key, self.most_tuples = program, key, most_tuples
        self.tuples = TupleLookup(view)
        self.solver = BodySolver(self.tuples)
        self.rules = ExplainedRules(program, view.symbols)
        self._steps: dict[Tuple, list[Step]] = {}

    # ---- last steps

    def steps(self, fact: Tuple) -> list[Step]:
        """Return the last steps of a tuple's derivations, at most MOST_INSTANCES of each rule, ordered by content."""
        if fact not in self._steps:
            self._steps[fact] = sorted(self._found(fact), key=self._order)
        return self._steps[fact]

    def _order(self, step: Step) -> tuple:
        return (step.how != GIVEN, step.rule.number if step.rule else -1, *map(self.key, step.below))

    def _found(self, fact: Tuple) -> Iterator[Step]:
        name, row = fact
        if name.startswith(REACHED):
            yield from self._chained(name.removeprefix(REACHED), row)
            return
        if name.startswith(LINKED):
            name = name.removeprefix(LINKED)
            for pair in dict.fromkeys((row, row[::-1])):
                yield from self._plain((name, pair))
            return
        if "eqrel" in self.program.relations[name].qualifiers:
            yield Step(CHAIN, ((REACHED + name, row),))
            return
        yield from self._plain(fact)

    def _plain(self, fact: Tuple) -> Iterator[Step]:
        name, row = fact
        clause = self.rules.stating(fact)
        if clause is not None:
            yield Step(STATED, clause=clause)
        elif self.tuples.is_given(name, row):
            yield Step(CHOSEN if self.tuples.is_chosen(name) else GIVEN)
        aggregated = [column.kind for column in self.program.relations[name].aggregated]
        if any(kind not in ("min", "max") for kind in aggregated):
            yield self._group(fact)
            return
        for rule in self.rules.of(name):
            for bindings in self.instances(rule, row):
                yield Step(RULE, rule.positive(bindings), rule, bindings, weight=1)

    def instances(self, rule: ExplainedRule, row: Sequence[int | None], most: int = MOST_INSTANCES) -> list[Bindings]:
        """Return bindings under which a rule derives a row, in which None stands for any value."""
        bindings = rule.bound_by(tuple(row))
        return [] if bindings is None else self._taken(self.solver.solve(rule.body, bindings), most)

    def _taken(self, found: Iterable[Bindings], most: int) -> list[Bindings]:
        """Return the first few of the bindings that a search finds, as far as it comes."""
        self.solver.steps = STEPS
        taken: list[Bindings] = []
        try:
            taken.extend(islice(found, most))
        except OutOfSteps:
            return taken
        return taken

    def _group(self, fact: Tuple) -> Step:
        """Return the contributions to a group; they are not derived in turn, as they may follow from it."""
        name, row = fact
        found = []
        for rule in self.rules.of(name):
            bindings = rule.bound_by(row, frozenset(("sum", "count", "mean")))
            if bindings is not None:
                found += [(rule, each) for each in self._taken(self.solver.solve(rule.body, bindings), MOST_INSTANCES)]
        return Step(GROUP, contributions=tuple(found), weight=1)

    # ---- equivalences

    def _chained(self, name: str, pair: tuple[int, ...]) -> Iterator[Step]:
        """Yield what leads to the second element from the first: a link, or a link behind a shorter chain."""
        first, last = pair
        for element in self._linked(name, last):
            link = LINKED + name, (element, last)
            if element == first:
                yield Step(CHAIN, (link,))
            elif first != last:
                yield Step(CHAIN, ((REACHED + name, (first, element)), link))
            else:
                yield Step(CHAIN, (link,))

    def _linked(self, name: str, element: int) -> list[int]:
        """Return the elements that rules or facts pair with one."""
        others = self.tuples.class_of(name, element)
        return [other for other in others if self.steps((LINKED + name, (other, element)))]

    def _links(self, fact: Tuple, heights: Mapping[Tuple, int]) -> list[Tuple]:
        """Return a shortest chain of links between the elements of a pair, of those that are low enough for it."""
        name, (first, last) = fact
        most = heights[REACHED + name, (first, last)]
        if first == last:
            links = self._links_to(name, last)
            return [min((link for link in links if heights.get(link) == most), key=self.key)]
        came_from: dict[int, int] = {}
        queue = deque([last])
        while queue:
            element = queue.popleft()
            links = self._links_to(name, element)
            for link in sorted((link for link in links if heights.get(link, most + 1) <= most), key=self.key):
                other = link[1][0]
                if other not in came_from:
                    came_from[other] = element
                    queue.append(other)
                if other == first:
                    return self._unwound(name, first, last, came_from)
        raise AssertionError("a chain has links")

    def _links_to(self, name: str, element: int) -> list[Tuple]:
        return [(LINKED + name, (other, element)) for other in self._linked(name, element)]

    def _unwound(self, name: str, first: int, last: int, came_from: Mapping[int, int]) -> list[Tuple]:
        links: list[Tuple] = []
        at = first
        while not links or at != last:
            links.append((LINKED + name, (at, came_from[at])))
            at = came_from[at]
        return links

    # ---- derivations

    def derivation(self, fact: Tuple, closed: Collection[str] = ()) -> Derivation:
        """Return the derivation of a tuple that is there: of least height, ties broken by content.

        It is not looked into how tuples of `closed` relations below it follow.
        """
        heights = self._heights(fact) if not closed else None
        pick = self._picking(heights)
        steps = self._collected([fact], lambda each: Step(CUT) if each[0] in closed and each != fact else pick(each))
        return self._derivation(fact, steps, heights)

    def alternatives(self, fact: Tuple) -> list[Derivation]:
        """Return a derivation for each last step of a tuple that is not derived from itself, the lowest first."""
        heights = self._heights(fact)
        pick = self._picking(heights)
        found = []
        for step in () if self._is_chain(fact) else self.steps(fact):
            if heights is None or all(below in heights for below in step.below):
                steps = self._collected([*step.below], pick)
                if fact not in steps:
                    found.append(self._derivation(fact, {fact: step, **steps}, heights))
        return sorted(found, key=lambda each: each.height) or [self.derivation(fact)]

    def _derivation(self, fact: Tuple, steps: dict[Tuple, Step], heights: Mapping[Tuple, int] | None) -> Derivation:
        return Derivation(fact, steps, heights_of(fact, steps), heights is not None)

    def _heights(self, fact: Tuple) -> dict[Tuple, int] | None:
        """Return the least heights of all tuples below one that have a derivation; None if there are too many."""
        graph = self._explored(fact, lambda _: True)
        return None if graph is None else least_heights(graph)

    def _explored(self, fact: Tuple, is_followed: Callable[[Tuple], bool]) -> dict[Tuple, list[Step]] | None:
        """Return the last steps of the tuples below one; of those that are not followed, CUT."""
        graph: dict[Tuple, list[Step]] = {}
        pending = [fact]
        while pending:
            current = pending.pop()
            if current in graph:
                continue
            if len(graph) >= self.most_tuples:
                return None
            graph[current] = self.steps(current) if is_followed(current) else [Step(CUT)]
            pending += [below for step in graph[current] for below in step.below]
        return graph

    def _collected(self, roots: Iterable[Tuple], pick: Callable[[Tuple], Step]) -> dict[Tuple, Step]:
        """Return a step for each of some tuples, and for all below."""
        chosen: dict[Tuple, Step] = {}
        pending = [*roots]
        while pending:
            current = pending.pop()
            if current not in chosen:
                chosen[current] = pick(current)
                pending += reversed(chosen[current].below)
        return chosen

    def _picking(self, heights: Mapping[Tuple, int] | None) -> Callable[[Tuple], Step]:
        """Return what picks the last step of a tuple: by heights, or where these are not known by iterations."""
        return self._earlier if heights is None else lambda fact: self._lowest(fact, heights)

    def _lowest(self, fact: Tuple, heights: Mapping[Tuple, int]) -> Step:
        """Return the first of the last steps by which a tuple has its height."""
        if self._is_chain(fact):
            return Step(CHAIN, tuple(self._links(fact, heights)))
        for step in self.steps(fact):
            if all(below in heights for below in step.below) and height_by(step, heights) == heights.get(fact):
                return step
        return Step(CUT)

    def _is_chain(self, fact: Tuple) -> bool:
        declared = self.program.relations.get(fact[0])
        return declared is not None and "eqrel" in declared.qualifiers

    def _earlier(self, fact: Tuple) -> Step:
        """Return a last step from earlier tuples of its recursion, if a tuple is in one."""
        own = self._component(fact)
        steps = self.steps(fact)
        if not any(self._component(below) == own for step in steps for below in step.below):
            return steps[0] if steps else Step(CUT)
        if self.tuples.has_iterations(fact[0]):
            last = [max((self._iteration(below, own) for below in step.below), default=0) for step in steps]
            at = min(range(len(steps)), key=last.__getitem__)
            return steps[at] if last[at] < self._iteration(fact, own) or not steps[at].below else Step(CUT)
        graph = self._explored(fact, lambda other: self._component(other) == own)
        return Step(CUT) if graph is None else self._lowest(fact, least_heights(graph))

    def _iteration(self, fact: Tuple, own: int) -> int:
        """Return the iteration of a tuple, 0 if it is of another component."""
        return self.tuples.iteration(*fact) if self._component(fact) == own else 0

    def _component(self, fact: Tuple) -> int:
        return self.tuples.component[fact[0].removeprefix(REACHED).removeprefix(LINKED)]


def height_by(step: Step, heights: Mapping[Tuple, int]) -> int:
    return step.weight + max((heights[below] for below in step.below), default=0)


def least_heights(graph: Mapping[Tuple, Sequence[Step]]) -> dict[Tuple, int]:
    """Return the least height of each tuple that has a derivation in a hypergraph.

    O(n log n) for n steps with all that they read; Knuth, A generalization of Dijkstra's algorithm (1977).
    """
    readers: dict[Tuple, list[tuple[Tuple, int]]] = defaultdict(list)
    lacking: dict[tuple[Tuple, int], int] = {}
    queue: list[tuple[int, Tuple]] = []
    for fact, steps in graph.items():
        for number, step in enumerate(steps):
            lacking[fact, number] = len(set(step.below))
            for below in set(step.below):
                readers[below].append((fact, number))
            if not step.below:
                queue.append((step.weight, fact))
    heapify(queue)
    heights: dict[Tuple, int] = {}
    while queue:
        height, fact = heappop(queue)
        if fact in heights:
            continue
        heights[fact] = height
        for reader, number in readers[fact]:
            lacking[reader, number] -= 1
            if not lacking[reader, number] and reader not in heights:
                heappush(queue, (height_by(graph[reader][number], heights), reader))
    return heights


def heights_of(root: Tuple, steps: dict[Tuple, Step]) -> dict[Tuple, int]:
    """Return the heights of tuples by these steps; one that leads back to its own tuple is cut."""
    heights: dict[Tuple, int] = {}
    open_steps: set[Tuple] = set()
    pending = [root]
    while pending:
        fact = pending[-1]
        if fact in heights:
            pending.pop()
            continue
        open_steps.add(fact)
        missing = [below for below in steps[fact].below if below not in heights]
        if not open_steps.isdisjoint(missing):
            steps[fact], missing = Step(CUT), []
        if missing:
            pending += missing
            continue
        heights[fact] = height_by(steps[fact], heights)
        open_steps.discard(pending.pop())
    return heights
