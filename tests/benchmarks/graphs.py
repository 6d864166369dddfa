"""Generators of graphs: deterministic, columns of int32. Arcs are distinct and come in order unless said otherwise."""

import numpy as np


def gnp(n, p):
    """Each of the n² arcs with probability p, as BigDatalog's G5K and G10K (p = 0.001)."""
    rng = np.random.default_rng(1)
    return pairs(np.unique(rng.integers(0, n * n, rng.binomial(n * n, p))), n)


def grid(k):
    """A k × k grid with arcs right and down; BigDatalog's Grid150 is grid(151)."""
    at = np.arange(k * k, dtype=np.int32).reshape(k, k)
    right, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()]) for a, b in (right, down)], axis=1)


def tree(n, low=2, high=6):
    """A tree of n nodes, arcs from the root down: nodes have low … high children, level by level, until there are n."""
    rng = np.random.default_rng(2)
    parents, first, made = [], 0, 1
    while made < n:
        level = np.arange(first, made)
        children = np.repeat(level, rng.integers(low, high + 1, len(level)))[: n - made]
        parents.append(children)
        first, made = made, made + len(children)
    parent = np.concatenate(parents)
    return np.stack([parent, np.arange(1, n)]).astype(np.int32)


def rmat(n, n_arcs, corners=(0.45, 0.15, 0.15, 0.25)):
    """A recursive-matrix graph (Chakrabarti et al., 2004) with GTgraph's probabilities; repeated arcs are dropped."""
    rng = np.random.default_rng(3)
    bits = (n - 1).bit_length()
    thresholds = np.cumsum(corners)[:3]
    x, y = np.zeros(n_arcs, np.int64), np.zeros(n_arcs, np.int64)
    for _ in range(bits):
        corner = np.searchsorted(thresholds, rng.random(n_arcs), side="right")
        x, y = 2 * x + corner // 2, 2 * y + corner % 2
    return pairs(np.unique((x % n) * n + y % n), n)


def weighted(arcs, most=100):
    """Arcs with weights from 1 to `most`."""
    rng = np.random.default_rng(4)
    return np.concatenate([arcs, rng.integers(1, most + 1, (1, arcs.shape[1]), dtype=np.int32)])


def ranked(arcs):
    """The facts `base` and `matrix` of PageRank; a float is its bits."""
    arcs = arcs[:, arcs[0] != arcs[1]].astype(np.int64)
    nodes, n = np.unique(arcs), int(arcs.max()) + 1
    degree = np.bincount(arcs[0], minlength=n)[arcs[0]].astype(np.float64)
    base = np.full(len(nodes), 0.15 / len(nodes))
    return {"base": np.stack([nodes, base.view(np.int64)]), "matrix": np.stack([*arcs, degree.view(np.int64)])}


def undirected(arcs):
    """Every arc in both directions."""
    return np.unique(np.concatenate([arcs, arcs[::-1]], axis=1), axis=1)


def bill_of_materials(n):
    """DCDatalog's N-n: nodes have 5 … 10 children, each of which is a leaf with a chance of 20 % … 60 %.

    Returns the facts `assembled` (part, component) and `basic` (leaf, days).
    """
    rng = np.random.default_rng(5)
    inner, parents, made = np.zeros(1, np.int64), [], 1
    while made < n:
        children = np.repeat(inner, rng.integers(5, 11, len(inner)))[: n - made]
        parents.append(children)
        is_leaf = rng.random(len(children)) < rng.uniform(0.2, 0.6, len(children))
        is_leaf[0] = False
        inner, made = made + np.flatnonzero(~is_leaf), made + len(children)
    parent = np.concatenate(parents)
    leaves = np.setdiff1d(np.arange(n), parent)
    return {
        "assembled": np.stack([parent, np.arange(1, n)]).astype(np.int32),
        "basic": np.stack([leaves, rng.integers(1, 101, len(leaves))]).astype(np.int32),
    }


def pairs(keys, n):
    return np.stack([keys // n, keys % n]).astype(np.int32)
