"""The numbers of rows that workloads must give, found without Datalog: by arithmetic, or by walking bitmaps."""

import numpy as np
from numba import njit


def closure(facts):
    return {"tc": int(reachable_pairs(*adjacency(facts["arc"])))}


def grid_closure(facts):
    """In a k × k grid with arcs right and down, a node reaches all that are not above or left of it, but itself."""
    k = round((int(facts["arc"].max()) + 1) ** 0.5)
    return {"tc": (k * (k + 1) // 2) ** 2 - k * k}


def tree_closure(facts):
    """Every node has as many ancestors as its depth; arcs come level by level."""
    parent, child = facts["arc"]
    return {"tc": int(depths(parent, child).sum())}


def same_generation(facts):
    return {"sg": int(same_generation_pairs(*adjacency(facts["arc"])))}


def triangles(facts):
    """The trace of A³, A being the matrix of arcs."""
    once, twice = walks(facts["arc"])
    return {"triangle": int((twice * once.T).sum())}


def four_cycles(facts):
    """The trace of A⁴."""
    _, twice = walks(facts["arc"])
    return {"cycle": int((twice * twice.T).sum())}


def walks(arc):
    """The numbers of walks of one arc, and of two, from each node to each other one."""
    n = int(arc.max()) + 1
    once = np.zeros((n, n), np.float32)
    once[arc[0], arc[1]] = 1
    return once.astype(np.float64), (once @ once).astype(np.float64)


def nodes(facts):
    return {"cc": len(np.unique(facts["arc"]))}


def parts(facts):
    return {"delivery": len(np.unique(np.concatenate([facts["assembled"].ravel(), facts["basic"][0]])))}


def ranked_nodes(facts):
    return {"rank": facts["base"].shape[1]}


def adjacency(arc):
    """Arcs by their first node: starts [n + 1], ends."""
    n = int(arc.max()) + 1
    order = np.argsort(arc[0], kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(arc[0], minlength=n))]), arc[1][order]


@njit(cache=True)
def reachable_pairs(starts, ends):
    """Count the pairs connected by a path, by a search from every node."""
    n = len(starts) - 1
    total, seen, stack = 0, np.full(n, -1), np.empty(n, np.int64)
    for source in range(n):
        top = 0
        stack[0], top = source, 1
        while top:
            top -= 1
            node = stack[top]
            for i in range(starts[node], starts[node + 1]):
                if seen[ends[i]] != source:
                    seen[ends[i]] = source
                    stack[top] = ends[i]
                    top += 1
                    total += 1
    return total


@njit(cache=True)
def depths(parent, child):
    depth = np.zeros(len(child) + 1, np.int64)
    for i in range(len(child)):
        depth[child[i]] = depth[parent[i]] + 1
    return depth


@njit(cache=True)
def same_generation_pairs(starts, ends):
    """Count pairs of distinct siblings, and of successors of counted pairs, by a search over a matrix of flags."""
    n = len(starts) - 1
    seen = np.zeros((n, n), np.bool_)
    stack = [(0, 0)]
    stack.pop()
    total = 0
    for p in range(n):
        for i in range(starts[p], starts[p + 1]):
            for j in range(starts[p], starts[p + 1]):
                if i != j and not seen[ends[i], ends[j]]:
                    seen[ends[i], ends[j]] = True
                    stack.append((ends[i], ends[j]))
    while len(stack):
        a, b = stack.pop()
        total += 1
        for i in range(starts[a], starts[a + 1]):
            for j in range(starts[b], starts[b + 1]):
                if not seen[ends[i], ends[j]]:
                    seen[ends[i], ends[j]] = True
                    stack.append((ends[i], ends[j]))
    return total
