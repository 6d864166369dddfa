"""The activation graph of strata: which read what others write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.schedule.dag import Dag


@dataclass(frozen=True, slots=True)
class Strata:
    """Node i stands for stratum i: those that are given from outside, or by facts, are sources.

    `writer` is the node of each relation, `readers` are the other nodes that read it, in increasing order.
    """

    dag: Dag
    writer: Mapping[str, int]
    readers: Mapping[str, tuple[int, ...]]

    def activated(self, changed: Iterable[str]) -> list[int]:
        """Return the nodes that a change of relations activates."""
        return sorted({reader for relation in changed for reader in self.readers[relation]})

    def extended(self, written: Sequence[Iterable[str]], read: Sequence[Iterable[str]]) -> Strata:
        """Return the graph with further strata behind these, which write relations of their own."""
        writer, readers = dict(self.writer), dict(self.readers)
        above: list[set[int]] = []
        for node, (own, inputs) in enumerate(zip(written, read, strict=True), self.dag.n):
            for relation in own:
                writer[relation], readers[relation] = node, ()
            foreign = [relation for relation in dict.fromkeys(inputs) if writer[relation] != node]
            for relation in foreign:
                readers[relation] = (*readers[relation], node)
            above.append({writer[relation] for relation in foreign})
        return Strata(self.dag.extended(above), writer, readers)


def strata_of(written: Sequence[Iterable[str]], read: Sequence[Iterable[str]]) -> Strata:
    """Return the graph of strata, given in an order of evaluation by the relations that each writes and reads."""
    writer = {relation: node for node, relations in enumerate(written) for relation in relations}
    readers: dict[str, dict[int, None]] = {relation: {} for relation in writer}
    for node, relations in enumerate(read):
        for relation in relations:
            if writer[relation] != node:
                readers[relation][node] = None
    edges = ((writer[relation], node) for relation, nodes in readers.items() for node in nodes)
    return Strata(Dag(len(written), edges), writer, {name: tuple(nodes) for name, nodes in readers.items()})
