"""The activation graph of a program: its strata, and which read what others write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.language.program import CheckedProgram
from engine.language.walk import all_atoms
from engine.schedule.dag import Dag


@dataclass(frozen=True, slots=True)
class Strata:
    """Node i stands for stratum i of the program: those that are given from outside, or by facts, are sources.

    `writer` is the node of each relation, `readers` are the other nodes that read it, in increasing order.
    """

    dag: Dag
    writer: Mapping[str, int]
    readers: Mapping[str, tuple[int, ...]]

    def activated(self, changed: Iterable[str]) -> list[int]:
        """Return the nodes that a change of relations activates."""
        return sorted({reader for relation in changed for reader in self.readers[relation]})


def strata_of(program: CheckedProgram) -> Strata:
    writer = {relation: node for node, stratum in enumerate(program.strata) for relation in stratum.relations}
    readers: dict[str, dict[int, None]] = {relation: {} for relation in writer}
    for node, stratum in enumerate(program.strata):
        for relation in (atom.relation for clause in stratum.clauses for atom in all_atoms(clause)):
            if writer[relation] != node:
                readers[relation][node] = None
    edges = ((writer[relation], node) for relation, nodes in readers.items() for node in nodes)
    return Strata(Dag(len(program.strata), edges), writer, {name: tuple(nodes) for name, nodes in readers.items()})
