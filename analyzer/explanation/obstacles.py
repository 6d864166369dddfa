"""What keeps tainted data from a place: candidates that rules name, tried on the maintained relations.

`rules/exports/why_not.dl` says where tainted data stops, and why. Behind each such place data is made to begin under a
root of its own (`begins`), all in one update: where it reaches the place in question, that is what stops it. In the end
a single tuple is inserted for each obstacle that is left, and the finding must appear; else the obstacle is not told.
So a reason is never a guess: it says what would have to be known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.incremental import MaintainedProgram

FLOW, SINK, SOURCE, HARM = "shared_step", "sink", "origin", "taint_path"
"""The relations of which an obstacle is a missing tuple: a step, a sink, a source, and harm done by data at a sink."""
WANTED = (
    *(FLOW, SINK, SOURCE, HARM, "begins", "reaches_sink", "halts", "sink_there", "harmless_there", "could_be_sink"),
    *(
        "could_be_source",
        "unreported",
        "remedy",
        "call_target",
        "harmless_source",
        "open_for",
        "tainted",
        "arrives",
        "label_exempt",
    ),
)
"""The relations that are read or tried."""
GIVEN = frozenset({"begins", FLOW, SINK, SOURCE, HARM, "in_question"})
BRIDGE = "data comes as far as {value}; {target} reaches the place, and no step from one to the other is known"
MOST_CANDIDATES = 4_000
MOST_VERIFIED = 12
"""Obstacles of a round that are verified: those of the lowest rank."""
ROUNDS = 3
NIL = 0

Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A tuple that is missing: `words` say why, of data at `value` that does not come to `target`.

    `before` are obstacles to be overcome before this one, nearest to the source first.
    """

    relation: str
    row: Row
    rank: int
    words: str
    name: str
    value: int
    target: int
    before: tuple[Obstacle, ...] = ()

    @property
    def all(self) -> tuple[Obstacle, ...]:
        return (*self.before, self)


@dataclass
class Trial:
    """A check at a place in question, on a view that is asked what would be if other tuples were there.

    `places` are the entities there, `check` is its symbol.
    """

    view: MaintainedProgram
    check: int
    places: np.ndarray

    def __enter__(self) -> Trial:
        self.insert("in_question", [(place,) for place in self.places.tolist()])
        return self

    def __exit__(self, *_: object) -> None:
        self.delete("in_question", [(place,) for place in self.places.tolist()])

    # ---- what there is

    def rows(self, relation: str) -> np.ndarray:
        return self.view.columns(relation)

    def listed(self, relation: str) -> list[Row]:
        return [tuple(row) for row in self.rows(relation).T.tolist()]

    def text(self, symbol: int) -> str:
        return self.view.symbols.texts([symbol])[0]

    def is_found(self) -> bool:
        """Return True if the check reports the place."""
        checks, entities, _ = self.rows("finding")
        return bool(np.any((checks == self.check) & np.isin(entities, self.places)))

    def reaching(self) -> set[int]:
        """Return the roots whose data reaches a sink at the place."""
        roots, _, places, _, _ = self.rows("reaches_sink")
        return set(roots[np.isin(places, self.places)].tolist())

    def root(self, value: int) -> int:
        """Return the root that stands for a value: its own node."""
        return self.node((value, NIL, NIL))

    def node(self, fields: Row) -> int:
        table = self.view.records["Node"]
        return int(table.construct(np.array([fields], table.dtype).T.copy(), 1, np.arange(3))[0])

    # ---- what would be

    def insert(self, relation: str, rows: Iterable[Row]) -> None:
        self.update({relation: rows}, {})

    def delete(self, relation: str, rows: Iterable[Row]) -> None:
        self.update({}, {relation: rows})

    def update(self, inserted: Mapping[str, Iterable[Row]], deleted: Mapping[str, Iterable[Row]]) -> None:
        self.view.update(columns_of(inserted), columns_of(deleted))

    def would_find(self, obstacles: Sequence[Obstacle]) -> bool:
        """Return True if the check reports the place once these tuples are there."""
        rows: dict[str, set[Row]] = {}
        for obstacle in obstacles:
            rows.setdefault(obstacle.relation, set()).add(obstacle.row)
        self.update(rows, {})
        try:
            return self.is_found()
        finally:
            self.update({}, rows)


def columns_of(rows: Mapping[str, Iterable[Row]]) -> dict[str, np.ndarray]:
    return {name: np.array(sorted(those), np.int64).T for name, those in rows.items() if those}


class TaintedData:
    """What is tainted now, by value: nodes, and the roots that data there begins under."""

    def __init__(self, trial: Trial) -> None:
        entries, _, nodes = trial.rows("tainted")
        values = trial.view.records["Node"].columns[0][nodes - 1]
        self._found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for value, entry, node in zip(values.tolist(), entries.tolist(), nodes.tolist(), strict=True):
            self._found[value].append((entry, node))
        self._arriving: dict[int, set[int]] = defaultdict(set)
        for root, entry, _ in trial.listed("arrives"):
            self._arriving[entry].add(root)

    def node(self, value: int) -> int:
        """Return one of the value's nodes that are tainted."""
        return min(node for _, node in self._found[value])

    def roots(self, value: int) -> set[int]:
        return {root for entry, _ in self._found.get(value, ()) for root in self._arriving.get(entry, ())}


class Search:
    """The search for the obstacles of a check at a place."""

    def __init__(self, trial: Trial, begin: Sequence[int]) -> None:
        """`begin` are values that count as sources; if there are any, other sources do not matter."""
        self.trial, self.begin = trial, [*begin]

    def obstacles(self) -> list[Obstacle]:
        """Return what keeps the check from reporting the place, each verified; the most to the point first."""
        sinks = self.trial.listed("sink_there")
        found = self.verified(self.at_the_sink())
        if not found and not sinks:
            found = self.verified(self.missing_sinks())
        if found:
            return found
        hypothetical = [] if sinks else self.missing_sinks()
        rows = [each.row for each in hypothetical]
        if rows:
            self.trial.insert(SINK, rows)
        try:
            found = self.on_the_way(hypothetical)
            if not found:
                sources = self.missing_sources()
                found = self.verified(self.bridges(sources), hypothetical)[:1] + self.verified(sources, hypothetical)
            return found
        finally:
            if rows:
                self.trial.delete(SINK, rows)

    def verified(self, candidates: Iterable[Obstacle], beside: Sequence[Obstacle] = ()) -> list[Obstacle]:
        """Return those of the candidates with which the check reports the place, together with tuples `beside`.

        Of those that are verified, ones of the lowest rank are returned.
        """
        found: list[Obstacle] = []
        for candidate in sorted(candidates, key=lambda each: (len(each.before), each.rank, each.row))[:MOST_VERIFIED]:
            if found and candidate.rank > found[0].rank + 1:
                break
            if self.trial.would_find([*candidate.all, *self.begun_as_sources(), *beside]):
                found.append(candidate)
        return found

    def begun_as_sources(self) -> list[Obstacle]:
        """Return the values that are to count as sources, as tuples to try."""
        label = self.label()
        return [Obstacle(SOURCE, (label, value), 0, "", "", value, value) for value in self.begin if label is not None]

    def label(self) -> int | None:
        """Return a label under which data does harm: one of the program's sources, or a new one."""
        exempt = {row[0] for row in self.trial.listed("label_exempt")}
        labels = {row[0] for row in self.trial.listed(SOURCE)} - exempt
        (new,) = self.trial.view.symbols.intern(["someone else's"]).tolist()
        return min(labels, key=self.trial.text) if labels else new

    # ---- sinks

    def missing_sinks(self) -> list[Obstacle]:
        """Return the values at the place that would be sinks if a model said so."""
        found: dict[Row, Obstacle] = {}
        for kind, place, value, rank, words, name in self.trial.listed("could_be_sink"):
            each = self.obstacle(SINK, (kind, place, value), rank, words, name, value, place)
            found[each.row] = min(found.get(each.row, each), each, key=lambda other: other.rank)
        return list(found.values())

    def at_the_sink(self) -> list[Obstacle]:
        """Return why data at the sink does no harm."""
        found = []
        for kind, place, value, words in self.trial.listed("harmless_there"):
            row = (kind, place, value, self.trial.root(value))
            found.append(Obstacle(HARM, row, 1, self.trial.text(words), "", value, place))
        return found

    # ---- steps

    def on_the_way(self, beside: Sequence[Obstacle]) -> list[Obstacle]:
        """Return steps that are missing between sources and the place, one or several in a row."""
        begun: dict[int, tuple[Obstacle, ...]] = {self.trial.root(value): () for value in self.begin}
        roots: list[Row] = [(self.trial.root(value), value) for value in self.begin]
        if roots:
            self.trial.insert("begins", roots)
        try:
            if any(root in self.trial.reaching() for root, _ in roots):
                return self.unknown_sources(beside)
            for _ in range(ROUNDS):
                found = self.next_round(begun, roots)
                if found is None:
                    return []
                if found:
                    self.trial.delete("begins", roots)
                    kept, roots[:] = self.verified(found, beside), []
                    return kept
            return []
        finally:
            if roots:
                self.trial.delete("begins", roots)

    def next_round(self, begun: dict[int, tuple[Obstacle, ...]], roots: list[Row]) -> list[Obstacle] | None:
        """Let data begin behind the frontier; return what stopped that which reaches the place, None if nothing did."""
        candidates: dict[int, Obstacle] = {}
        data = TaintedData(self.trial)
        for _, value, target, rank, words, name in sorted(self.trial.listed("halts"), key=lambda row: (row[3], row)):
            root = self.trial.root(target)
            before = self.overcome(data, value, begun)
            if root not in begun and before is not None and target not in candidates:
                step = (data.node(value), root)
                candidates[target] = self.obstacle(FLOW, step, rank, words, name, value, target, before)
            if len(candidates) == MOST_CANDIDATES:
                break
        if not candidates:
            return None
        new = [(self.trial.root(target), target) for target in candidates]
        self.trial.insert("begins", new)
        roots += new
        begun.update((root, candidates[target].all) for root, target in new)
        reaching = self.trial.reaching()
        return [candidates[target] for root, target in new if root in reaching]

    def overcome(
        self, data: TaintedData, value: int, begun: Mapping[int, tuple[Obstacle, ...]]
    ) -> tuple[Obstacle, ...] | None:
        """Return the obstacles that data at a value has overcome, the fewest; None if it is not where it should begin.

        If data is to begin at certain values only, that from other sources does not count.
        """
        roots = data.roots(value)
        found = [begun[root] for root in roots if root in begun]
        if NIL in roots and not self.begin:
            found.append(())
        return min(found, key=lambda each: (len(each), [other.row for other in each])) if found else None

    # ---- sources

    def unknown_sources(self, beside: Sequence[Obstacle]) -> list[Obstacle]:
        """Return the values where data was said to come from as sources that are not known."""
        known = {value: (words, name) for _, value, words, name in self.trial.listed("harmless_source")}
        label, found = self.label(), []
        for value in self.begin:
            said = known.get(value)
            words = self.trial.text(said[0]) if said else "no model says that {value} is data that someone else chooses"
            name = self.trial.text(said[1]) if said else ""
            if label is not None:
                found.append(Obstacle(SOURCE, (label, value), 1 if said else 2, words, name, value, value))
        self.begin = []
        return self.verified(found, beside)

    def missing_sources(self) -> list[Obstacle]:
        """Return values near the place where data might come in that reaches it."""
        candidates = {}
        for _, value, words, name in self.trial.listed("harmless_source"):
            candidates[value] = (1, self.trial.text(words), self.trial.text(name))
        for value, rank, words, name in self.trial.listed("could_be_source"):
            if value not in candidates or candidates[value][0] > rank:
                candidates[value] = (rank, self.trial.text(words), self.trial.text(name))
        roots = [(self.trial.root(value), value) for value in sorted(candidates)[:MOST_CANDIDATES]]
        label = self.label()
        if not roots or label is None:
            return []
        self.trial.insert("begins", roots)
        reaching = self.trial.reaching()
        self.trial.delete("begins", roots)
        return [
            Obstacle(SOURCE, (label, value), *candidates[value], value, value)
            for root, value in roots
            if root in reaching
        ]

    def bridges(self, sources: Sequence[Obstacle]) -> list[Obstacle]:
        """Return missing steps from tainted values to values that reach the place, of which nothing else is known.

        Each leads from a value in the last line before it, in its function, or in one around that or calling it.
        """
        data, lines = TaintedData(self.trial), self.lines()
        tainted = {value for _, value in self.trial.listed("open_for") if value in lines}
        scopes = self.trial.view.records["Entity"].columns[0]
        callers: dict[int, set[int]] = defaultdict(set)
        for call, function in self.trial.listed("call_target"):
            callers[function].add(int(scopes[call - 1]))
        found = []
        for source in sources:
            around = self.around(source.value, scopes)
            bodies = {*around, *callers.get(around[0], ())} if around else set()
            file, line = lines.get(source.value, (NIL, 0))
            inside = (v for v in tainted if int(scopes[v - 1]) in bodies and lines[v][0] == file)
            before = [(lines[v][1], v) for v in inside if lines[v][1] < line]
            if before:
                at, value = max(before)
                step = (data.node(value), self.trial.root(source.value))
                found.append(Obstacle(FLOW, step, line - at, BRIDGE, "", value, source.value))
        return found

    def around(self, value: int, scopes: np.ndarray) -> list[int]:
        """Return the bodies around a value, from the inside; a module only if there is no other."""
        bodies, at = [], int(scopes[value - 1])
        while at != NIL:
            bodies.append(at)
            at = int(scopes[at - 1])
        return bodies[:-1] or bodies

    def lines(self) -> dict[int, tuple[int, int]]:
        """Return the file and line of each entity that has one."""
        entities, files, lines = self.trial.rows("location")[:3].tolist()
        return dict(zip(entities, zip(files, lines, strict=True), strict=True))

    def obstacle(
        self, relation: str, row: Row, rank: int, words: int, name: int, value: int, target: int,
        before: tuple[Obstacle, ...] = (),
    ) -> Obstacle:  # fmt: skip
        return Obstacle(relation, row, rank, self.trial.text(words), self.trial.text(name), value, target, before)
