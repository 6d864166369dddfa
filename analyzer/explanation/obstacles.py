"""What keeps tainted data from a place: candidates that rules name, tried on the maintained relations.

`rules/exports/why_not.dl` says where tainted data stops, and why. Behind each such place data is made to begin under a
root of its own (`begins`), all in one update: where it reaches the place in question, that is what stops it. In the end
a single tuple is inserted for each obstacle that is left, and the finding must appear; else the obstacle is not told.
So a reason is never a guess: it says what would have to be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from analyzer.evaluation.program import FLOW, HARM, SINK, SOURCE
from analyzer.explanation.trial import NIL, Obstacle, Row, TaintedData, Trial
from analyzer.explanation.unknown_steps import unknown_steps

MOST_CANDIDATES = 1_000
MOST_VERIFIED, MOST_GUESSED = 8, 3
"""Obstacles of a round that are verified, those of the lowest rank; and of values that data does not come to."""
ROUNDS = 3


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
            return found or self.without_a_step(hypothetical)
        finally:
            if rows:
                self.trial.delete(SINK, rows)

    def without_a_step(self, beside: Sequence[Obstacle]) -> list[Obstacle]:
        """Return values near the place that data does not come to, by an unknown step, or as sources."""
        sources = self.missing_sources()
        step = self.verified(unknown_steps(self.trial, sources, self.begin), beside, MOST_GUESSED)[:1]
        return step if self.begin else step + self.verified(sources, beside, MOST_GUESSED)

    def verified(
        self, candidates: Iterable[Obstacle], beside: Sequence[Obstacle] = (), most: int = MOST_VERIFIED
    ) -> list[Obstacle]:
        """Return those of the candidates with which the check reports the place, together with tuples `beside`.

        Of those that are verified, ones of the lowest rank are returned.
        """
        found: list[Obstacle] = []
        for candidate in sorted(candidates, key=self.trial.order_of)[:most]:
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
            found[each.row] = min(found.get(each.row, each), each, key=self.trial.order_of)
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
        for value, target, rank, words, name in self.halts():
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

    def halts(self) -> list[Row]:
        """Return where data stops: value, target, rank, words and name; the most to the point first."""
        rows = {row[1:] for row in self.trial.listed("halts")}
        order, text = cache(self.trial.order), cache(self.trial.text)

        def key(row: Row) -> tuple[Any, ...]:
            value, target, rank, words, name = row
            return rank, order(target), order(value), text(words), text(name)

        return sorted(rows, key=key)

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
        return min(found, key=lambda each: (len(each), list(map(self.trial.order_of, each)))) if found else None

    # ---- sources

    def unknown_sources(self, beside: Sequence[Obstacle]) -> list[Obstacle]:
        """Return the values where data was said to come from as sources that are not known."""
        known, label, found = self.harmless_sources(), self.label(), []
        for value in self.begin:
            unknown = 2, "no model says that {value} is data that someone else chooses", ""
            if label is not None:
                found.append(Obstacle(SOURCE, (label, value), *known.get(value, unknown), value, value))
        self.begin = []
        return self.verified(found, beside)

    def missing_sources(self) -> list[Obstacle]:
        """Return values near the place where data might come in that reaches it."""
        candidates = self.harmless_sources()
        for value, rank, words, name in self.trial.listed("could_be_source"):
            told = rank, self.trial.text(words), self.trial.text(name)
            candidates[value] = min(candidates.get(value, told), told)
        chosen = sorted(candidates, key=self.trial.order)[:MOST_CANDIDATES]
        roots = [(self.trial.root(value), value) for value in chosen]
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

    def harmless_sources(self) -> dict[int, tuple[int, str, str]]:
        """Return the rank, words and name of each source that does no harm of the kind."""
        rows = self.trial.listed("harmless_source")
        told = [(value, (1, self.trial.text(words), self.trial.text(name))) for _, value, words, name in rows]
        return dict(sorted(told, reverse=True))

    def obstacle(
        self, relation: str, row: Row, rank: int, words: int, name: int, value: int, target: int,
        before: tuple[Obstacle, ...] = (),
    ) -> Obstacle:  # fmt: skip
        return Obstacle(relation, row, rank, self.trial.text(words), self.trial.text(name), value, target, before)
