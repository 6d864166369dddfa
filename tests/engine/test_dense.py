"""Recursion whose result is dense, against products of boolean matrices."""

import numpy as np
import pytest

import engine
from engine.evaluation.execution import Options

HEAD = ".decl arc(x: number, y: number)\n.decl r(x: number, y: number)\n"
CLOSURES = {
    "left-linear": "r(x, y) :- arc(x, y). r(x, y) :- r(x, z), arc(z, y).",
    "right-linear": "r(x, y) :- arc(x, y). r(x, y) :- arc(x, z), r(z, y).",
    "non-linear": "r(x, y) :- arc(x, y). r(x, y) :- r(x, z), r(z, y).",
    "turned round": "r(y, x) :- arc(x, y). r(y, x) :- r(z, x), arc(z, y).",
}
SAME_GENERATION = "r(x, y) :- arc(p, x), arc(p, y), x != y. r(x, y) :- r(a, b), arc(a, x), arc(b, y)."
SMALL = Options(
    chunk_rows=512, buffer_rows=64, partition_rows=2000, split_rows=2000, delta_rows=256, alone_rows=0, wave_tasks=3
)


def graph(seed, n):
    arcs = np.random.default_rng(seed).random((n, n)) < 3.0 / n
    return arcs, np.stack(np.nonzero(arcs)).astype(np.int32)


def fixpoint(step, start):
    found = start
    while not np.array_equal(found, more := found | step(found.astype(np.float32))):
        found = more
    return found


def answer(rules, arcs, n, threads, options):
    program = engine.compile([engine.Source("dense", HEAD + rules)])
    result = engine.evaluate(program, engine.Database(relations={"arc": arcs}), threads=threads, options=options)
    rows, found = result.relation("r"), np.zeros((n, n), np.bool_)
    found[rows[0], rows[1]] = True
    assert found.sum() == rows.shape[1]
    return found


@pytest.mark.parametrize("options", [None, SMALL], ids=["default", "small"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CLOSURES)
def test_closures_equal_powers_of_the_matrix(name, threads, options):
    arcs, rows = graph(1, 180)
    expected = fixpoint(lambda found: found @ arcs.astype(np.float32) > 0, arcs)
    assert expected.sum() > 10_000
    found = answer(CLOSURES[name], rows, 180, threads, options)
    assert np.array_equal(found, expected.T if name == "turned round" else expected)


@pytest.mark.parametrize("options", [None, SMALL], ids=["default", "small"])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_generation_equals_products_of_matrices(threads, options):
    arcs, rows = graph(2, 180)
    down = arcs.astype(np.float32)
    siblings = (down.T @ down > 0) & ~np.eye(180, dtype=np.bool_)
    expected = fixpoint(lambda found: down.T @ found @ down > 0, siblings)
    assert expected.sum() > 10_000
    assert np.array_equal(answer(SAME_GENERATION, rows, 180, threads, options), expected)
