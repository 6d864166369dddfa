"""The peers written by hand: one Numba function a task, one thread, on arrays. `by_hand.py PROGRAM FACTS.npz RUNS`.

Connected components and distances go through a frontier of changed nodes until nothing changes, as semi-naive
evaluation does; all pairs run Dijkstra's way by a binary heap from every node; delivery goes up
the tree, last part first.
"""

import heapq
import json
import statistics
import sys
import time

import numpy as np
from counts import adjacency
from numba import njit

FAR = np.iinfo(np.int32).max


@njit(cache=True)
def relax(starts, ends, weights, value, frontier, n_frontier):
    """Lower value[y] to value[x] + weight along arcs out of a frontier, until nothing changes."""
    n = len(starts) - 1
    following, queued = np.empty(n, np.int32), np.zeros(n, np.bool_)
    while n_frontier:
        n_following = 0
        for i in range(n_frontier):
            queued[frontier[i]] = False
        for i in range(n_frontier):
            x = frontier[i]
            for at in range(starts[x], starts[x + 1]):
                y, candidate = ends[at], value[x] + weights[at]
                if candidate < value[y]:
                    value[y] = candidate
                    if not queued[y]:
                        queued[y] = True
                        following[n_following] = y
                        n_following += 1
        frontier, following, n_frontier = following, frontier, n_following
    return value


@njit(cache=True)
def all_pairs(starts, ends, weights):
    """Count the pairs with a path of at least one arc, and sum the least distances."""
    n = len(starts) - 1
    count = total = 0
    for source in range(n):
        distance = np.full(n, FAR, np.int64)
        heap = [(np.int64(weights[at]), np.int64(ends[at])) for at in range(starts[source], starts[source + 1])]
        heapq.heapify(heap)
        for d, x in heap:
            distance[x] = min(distance[x], d)
        while len(heap):
            d, x = heapq.heappop(heap)
            if d > distance[x]:
                continue
            count += 1
            total += d
            for at in range(starts[x], starts[x + 1]):
                y, candidate = np.int64(ends[at]), d + weights[at]
                if candidate < distance[y]:
                    distance[y] = candidate
                    heapq.heappush(heap, (candidate, y))
    return count, total


@njit(cache=True)
def slowest(parent, child, days):
    """The greatest days below each part. Parts are numbered from the root down, so a component follows its assembly."""
    for i in range(len(parent) - 1, -1, -1):
        days[parent[i]] = max(days[parent[i]], days[child[i]])
    return days


@njit(cache=True)
def settle(starts, ends, base):
    """Rank by power iteration, until no rank changes in any digit."""
    n = len(base)
    rank = base.copy()
    while True:
        following = base.copy()
        for x in range(n):
            degree = starts[x + 1] - starts[x]
            share = 0.85 * (rank[x] / degree) if degree else 0.0
            for at in range(starts[x], starts[x + 1]):
                following[ends[at]] += share
        if np.all(following == rank):
            return rank
        rank = following


def components(facts):
    starts, ends = adjacency(facts["arc"])
    n = len(starts) - 1
    nodes = np.arange(n, dtype=np.int32)
    value = relax(starts, ends, np.zeros(len(ends), np.int32), nodes.copy(), nodes, n)
    has_arc = np.zeros(n, np.bool_)
    has_arc[facts["arc"].ravel()] = True
    return {"cc": int(has_arc.sum())}, int(value[has_arc].sum())


def distances(facts):
    starts, ends, weights = weighted(facts["arc"])
    value = np.full(len(starts) - 1, FAR, np.int32)
    value[0] = 0
    value = relax(starts, ends, weights, value, np.zeros(len(value), np.int32), 1)
    return {"sp": int((value < FAR).sum())}, int(value[value < FAR].sum())


def pairs(facts):
    count, total = all_pairs(*weighted(facts["arc"]))
    return {"path": int(count)}, int(total)


def delivery(facts):
    parent, child = facts["assembled"]
    days = np.zeros(len(parent) + 1, np.int32)
    part, needed = facts["basic"]
    days[part] = needed
    days = slowest(parent, child, days)
    return {"delivery": len(days)}, int(days.sum())


def ranks(facts):
    starts, ends = adjacency(facts["matrix"][:2].astype(np.int32))
    nodes, given = facts["base"]
    base = np.zeros(len(starts) - 1)
    base[nodes] = given.view(np.float64)
    return {"rank": int(np.count_nonzero(settle(starts, ends, base)))}, None


def weighted(arc):
    starts, _ = adjacency(arc[:2])
    order = np.argsort(arc[0], kind="stable")
    return starts, arc[1][order], arc[2][order]


SMALL = {
    "arc": np.array([[0, 1], [1, 0], [1, 1]], np.int32),
    "assembled": np.array([[0], [1]], np.int32),
    "basic": np.array([[1], [1]], np.int32),
    "base": np.array([[0, 1], [0, 0]]),
    "matrix": np.array([[0], [1], [0]]),
}
TASKS = {"cc": components, "sssp": distances, "apsp": pairs, "delivery": delivery, "pagerank": ranks}


def main(program, facts, runs):
    with np.load(facts) as stored:
        relations = {name: stored[name] for name in stored.files}
    task, seconds = TASKS[program], []
    task(SMALL)  # Loads or compiles the kernels.
    for _ in range(runs):
        began = time.perf_counter()
        rows, total = task(relations)
        seconds.append(time.perf_counter() - began)
    print(
        json.dumps(
            {
                "elapsed_s": statistics.median(seconds),
                "rows": rows,
                "sums": {name: total for name in rows if total is not None},
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
