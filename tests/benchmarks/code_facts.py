"""Generators of facts that look like those of code: local, layered, with a few hubs. Deterministic, int32."""

import numpy as np


def columns(*values):
    return np.stack(np.broadcast_arrays(*values)).astype(np.int32)


def near(rng, at, spread, n):
    """Numbers below n, at about a geometric distance from `at`: code refers mostly to what stands nearby."""
    distance = rng.geometric(1 / spread, len(at)) * rng.choice((-1, 1), len(at))
    return (at + distance) % n


def dataflow(n):
    """Functions as chains of about 40 nodes with branches, a call from one in twenty nodes into a later function.

    Returns `flow` (n nodes) and `source`: one node in 30 from which null may come.
    """
    rng = np.random.default_rng(6)
    node = np.arange(n)
    in_chain = node[:-1][rng.random(n - 1) > 1 / 40]
    branches = node[rng.random(n) < 0.15]
    calls = node[rng.random(n) < 0.008]
    arcs = [
        columns(in_chain, in_chain + 1),
        columns(branches, np.minimum(branches + rng.integers(2, 8, len(branches)), n - 1)),
        columns(calls, np.minimum(calls + rng.geometric(1 / 4000, len(calls)), n - 1)),
    ]
    sources = node[rng.random(n) < 1 / 30]
    return {
        "flow": np.unique(np.concatenate(arcs, axis=1), axis=1),
        "source": columns(sources, sources),
    }


def pointers(n):
    """n statements of a C-like program over n variables: 40 % y = &x, 40 % y = x, 10 % y = *x, 10 % *y = x.

    A third of the variables are pointers to pointers, a third are pointers, a third are neither. Values flow mostly
    downwards in the text; one assignment in 20 flows back, as in a loop.
    """
    rng = np.random.default_rng(7)
    size = n // 3
    plain, pointer, double = 0, size, 2 * size

    def statements(share, *kinds):
        """Pairs of variables of the kinds that stand near to one another, the first one later."""
        left = rng.integers(0, size, int(n * share))
        distance = rng.geometric(1 / 30, len(left)) * rng.choice((1, -1), len(left), p=(0.95, 0.05))
        return columns(left + kinds[0], (left - distance) % size + kinds[1])

    def distinct(*parts):
        return np.unique(np.concatenate(parts, axis=1), axis=1)

    return {
        "address_of": distinct(statements(0.3, pointer, plain), statements(0.1, double, pointer)),
        "assign": distinct(statements(0.3, pointer, pointer), statements(0.1, double, double)),
        "load": distinct(statements(0.1, pointer, double)),
        "store": distinct(statements(0.1, double, pointer)),
    }


def ontology(n):
    """n concepts in a hierarchy of degree 3; half have relations to others, a tenth are defined by a relation.

    Roles form a small hierarchy; two of them are transitive, and two chain into a third.
    """
    rng = np.random.default_rng(8)
    n_roles = 24

    def some(share):
        return np.flatnonzero(rng.random(n) < share)

    child, second, related, defined, both = np.arange(1, n), some(0.1)[1:], some(0.5), some(0.1), some(0.1)
    told = [columns(child, (child - 1) // 3), columns(second, rng.integers(0, second // 3 + 1))]
    roles = np.arange(2, n_roles)
    fillers = rng.integers(n // 100, n, len(defined))
    parts = [near(rng, both // 3, 20, n) for _ in range(2)]
    return {
        "told": np.unique(np.concatenate(told, axis=1), axis=1),
        "conjunction": np.unique(columns(*parts, both), axis=1),
        "some_right": columns(related, rng.integers(0, n_roles, len(related)), rng.integers(0, n, len(related))),
        "some_left": np.unique(columns(rng.integers(0, n_roles, len(defined)), fillers, defined), axis=1),
        "sub_role": columns(roles, roles // 2),
        "chain": columns([4, 5, 6], [4, 5, 7], [4, 5, 8]),
    }
