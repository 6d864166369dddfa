#!/usr/bin/env python3
"""Time queries that share the relations of one view against views of their own: McSherry et al. (2020), Figures 1, 5.

    shared_arrangements.py [--nodes N] [--arcs N] [--rounds N] [--changes N]

Ten queries on a random graph are installed one after the other while arcs come and go: on one view, and each on a view
that holds the graph for it alone. Prints the latency of installing a query (from its text to its first answers), of
installing all ten, of a round of changes with all of them installed, and the bytes of all relations and indexes. Then
the latency of look-ups, 1 hop, 2 hops, and paths of up to 4, as queries with parameters, while arcs come and go. All
latencies are medians, and the greatest; both variants take their turns in one process.
"""

import argparse
import statistics
import time

import numpy as np

import engine

PROGRAM = engine.compile(".decl arc(x: number, y: number)\n.decl node(x: number, weight: number)\n")
FOUR = (
    "arc(a, b), n = 1; arc(a, x), arc(x, b), n = 2; arc(a, x), arc(x, y), arc(y, b), n = 3; "
    "arc(a, x), arc(x, y), arc(y, z), arc(z, b), n = 4"
)
ONE, TWO = {"a": "number"}, {"a": "number", "b": "number"}
PREPARED = {
    "look-up": ("node(a, weight)", ONE),
    "1 hop": ("arc(a, y), node(y, weight)", ONE),
    "2 hops": ("arc(a, x), arc(x, y)", ONE),
    "4-path": (FOUR, TWO),
}
TEN = [
    *PREPARED.values(),
    ("arc(x, a), node(x, weight)", ONE),
    ("arc(y, x), arc(x, a)", ONE),
    ("arc(a, x), arc(b, x)", TWO),
    ("arc(a, x), !arc(x, a)", ONE),
    ("arc(a, x), arc(x, y), arc(y, a)", ONE),
    ("arc(a, x), node(x, w), w < 10", ONE),
]
PAPER = "paper: installing 1 to 2 s not shared, milliseconds shared; updates 2 times, memory 2 to 3 (graph: 4) times"


class Shared:
    """One view for all queries."""

    def __init__(self, facts):
        self.view, self.queries = engine.View(PROGRAM, facts), []

    def install(self, text, parameters):
        self.queries.append(self.view.query(text, parameters=parameters))

    @property
    def views(self):
        return [self.view]


class Apart:
    """A view for each query."""

    def __init__(self, facts):
        self.facts, self.views, self.queries = facts, [], []

    def install(self, text, parameters):
        self.views.append(engine.View(PROGRAM, self.facts()))
        self.queries.append(self.views[-1].query(text, parameters=parameters))


class Graph:
    """Arcs that come and go; the same for the same seed."""

    def __init__(self, n_nodes, n_arcs, seed=0):
        self.random, self.n_nodes = np.random.default_rng(seed), n_nodes
        self.arcs = self.random.integers(0, n_nodes, (2, n_arcs))
        self.nodes = np.array([range(n_nodes), self.random.integers(0, 100, n_nodes)])

    def facts(self):
        return {"arc": list(self.arcs), "node": list(self.nodes)}

    def changes(self, n):
        """Return arcs that come and arcs that go."""
        at = self.random.choice(self.arcs.shape[1], n, replace=False)
        gone, come = self.arcs[:, at], self.random.integers(0, self.n_nodes, (2, n))
        self.arcs = np.concatenate([np.delete(self.arcs, at, axis=1), come], axis=1)
        return come, gone

    def values(self, parameters):
        return tuple(self.random.integers(0, self.n_nodes, len(parameters)).tolist())


def timed(work, *arguments):
    begin = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - begin


def change(side, come, gone):
    for view in side.views:
        view.delete("arc", list(gone))
        view.insert("arc", list(come))
        view.commit()


def begin(side, text, parameters, values):
    side.install(text, parameters)
    side.queries[-1].answers(*values)


def n_bytes(side):
    """Return the memory of all relations and their indexes."""
    return sum(each.n_bytes for view in side.views for each in view._maintainer.view.joined.values())


def told(seconds):
    return f"{statistics.median(seconds) * 1000:8.1f} / {max(seconds) * 1000:8.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--arcs", type=int, default=640_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--changes", type=int, default=100)
    options = parser.parse_args()
    compare(Graph(1000, 6000), 2, 10)  # Compiles kernels.
    installing, updates, memory, asked = compare(
        Graph(options.nodes, options.arcs), options.rounds, options.changes, is_told=True
    )
    print(f"{'':22}{'shared: median / largest':>28}{'not shared':>28}   ratio of medians")
    for what, (shared, apart) in {
        "installing": installing,
        "all ten": tuple([sum(each)] for each in installing),
        "a round of changes": updates,
        **asked,
    }.items():
        ratio = statistics.median(apart) / statistics.median(shared)
        print(f"{what:22}{told(shared):>28}{told(apart):>28}   {ratio:.1f}")
    print(f"{'memory':22}{memory[0] / 1e6:25.1f} MB{memory[1] / 1e6:25.1f} MB   {memory[1] / memory[0]:.1f}")
    print(PAPER)


def compare(graph, rounds, n_changes, is_told=False):
    """Return by variant the seconds of installing, of rounds of changes, bytes, and seconds of asking by query."""
    sides = Shared(graph.facts()), Apart(graph.facts)
    installing, updates = ([], []), ([], [])
    for number, (text, parameters) in enumerate(TEN):
        values = graph.values(parameters)
        for at in (0, 1) if number % 2 else (1, 0):
            installing[at].append(timed(begin, sides[at], text, parameters, values))
        moved = graph.changes(n_changes)
        for side in sides:
            change(side, *moved)
        if is_told:
            print(f"{number + 1} of {len(TEN)} queries installed", flush=True)
    asked = {name: ([], []) for name in PREPARED}
    for number in range(rounds):
        moved = graph.changes(n_changes)
        for at in (0, 1) if number % 2 else (1, 0):
            updates[at].append(timed(change, sides[at], *moved))
        for query, (name, (_, parameters)) in enumerate(PREPARED.items()):
            values = graph.values(parameters)
            for at in (0, 1) if number % 2 else (1, 0):
                asked[name][at].append(timed(sides[at].queries[query].answers, *values))
    return installing, updates, tuple(map(n_bytes, sides)), asked


if __name__ == "__main__":
    main()
