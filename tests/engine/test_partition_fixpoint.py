"""Fixpoints of groups of partitions: the same rows however they are split, and when."""

import numpy as np
import pytest

import engine
from engine.evaluation.execution import Options
from engine.evaluation.partition_fixpoint import LocalFixpoint

CLOSURE = """
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
"""
SMALL = Options(partition_rows=1 << 10, delta_rows=1 << 4)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_group_that_begins_large_is_split_before_its_first_step(monkeypatch, threads):
    begun, step = {}, LocalFixpoint.step

    def stepped(self, group, worker):
        begun.setdefault(group, sum(part.n for part in group))
        return step(self, group, worker)

    monkeypatch.setattr(LocalFixpoint, "step", stepped)
    n = 20_000
    nodes = np.arange(n, dtype=np.int32)
    arcs = np.array([nodes, nodes + n]), np.array([nodes + n, nodes + 2 * n])  # n paths of three nodes.
    database = engine.Database(relations={"arc": np.concatenate(arcs, axis=1)})
    found = engine.evaluate(engine.compile([CLOSURE]), database, threads=threads, options=SMALL).relation("tc")
    assert found.shape[1] == 3 * n
    assert len({*map(tuple, found.T.tolist())}) == 3 * n
    assert sum(begun.values()) == 2 * n
    assert max(begun.values()) <= 1 << 10


def test_a_group_with_one_key_is_not_split():
    n = 5_000
    nodes = np.arange(n, dtype=np.int32)
    arcs = np.array([np.zeros(n, np.int32), nodes + 1]), np.array([nodes + 1, nodes + 1 + n])
    database = engine.Database(relations={"arc": np.concatenate(arcs, axis=1)})
    found = engine.evaluate(engine.compile([CLOSURE]), database, threads=2, options=SMALL).relation("tc")
    assert found.shape[1] == 3 * n
