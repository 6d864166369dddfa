"""The programs printed in BigDatalog (Condie et al., TPLP 2018) and DCDatalog (Wu et al., SIGMOD 2022).

Each is compared with a plain algorithm for its task on small random graphs. Types are added, and `<-` is written `:-`.
"""

import heapq
import random
from collections import Counter, defaultdict
from itertools import product

import pytest
import reference
from backends import ROUNDS

import engine
from engine import tables

SEEDS = range(4)


def answer(text: str, relation: str, facts: dict[str, list[tuple]], oracle: bool = True) -> set[tuple]:
    """Return a relation as the engine computes it, the same in large and small partitions, and as the oracle does."""
    program = engine.compile([text])
    found = []
    for backend in ("one thread", "tiny, two threads"):
        result = ROUNDS[backend].evaluate(program, facts)
        found.append(tables.decode(program, result, [relation])[relation])
    assert found[0] == found[1]
    assert not oracle or found[0] == reference.evaluate(program, facts)[relation]
    return found[0]


def errors(text: str) -> list[str]:
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([text])
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


# ---- graphs and plain algorithms


def arcs(seed: int, n: int = 12, m: int = 26) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    return sorted({(rng.randrange(n), rng.randrange(n)) for _ in range(m)})


def dag(seed: int, n: int = 10, m: int = 22) -> list[tuple[int, int]]:
    return [(x, y) for x, y in arcs(seed, n, m) if x < y]


def weighted(seed: int, edges: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    rng = random.Random(seed)
    return [(x, y, rng.randrange(1, 20)) for x, y in edges]


def reachable(edges, source) -> set:
    """The nodes at the end of a path of at least one edge."""
    found, frontier = set(), [source]
    while frontier:
        x = frontier.pop()
        new = {y for a, y in edges if a == x} - found
        found |= new
        frontier += new
    return found


def dijkstra(edges, source) -> dict:
    distance, queue = {}, [(0, source)]
    while queue:
        d, x = heapq.heappop(queue)
        if x not in distance:
            distance[x] = d
            for a, y, w in edges:
                if a == x:
                    heapq.heappush(queue, (d + w, y))
    return distance


def floyd_warshall(edges) -> dict[tuple, int]:
    """The least weight of the paths, of at least one edge, between each pair of nodes."""
    nodes = sorted({x for edge in edges for x in edge[:2]})
    d = {}
    for x, y, w in edges:
        d[x, y] = min(w, d.get((x, y), w))
    for k, i, j in product(nodes, repeat=3):
        if (i, k) in d and (k, j) in d:
            d[i, j] = min(d[i, k] + d[k, j], d.get((i, j), d[i, k] + d[k, j]))
    return d


def topological(edges) -> list:
    """The nodes of an acyclic graph, sources first (Kahn)."""
    nodes = {x for edge in edges for x in edge[:2]}
    indegree = Counter(edge[1] for edge in edges)
    queue, order = sorted(x for x in nodes if not indegree[x]), []
    while queue:
        order.append(queue.pop())
        for edge in edges:
            if edge[0] == order[-1]:
                indegree[edge[1]] -= 1
                if not indegree[edge[1]]:
                    queue.append(edge[1])
    return order


def components(nodes, edges) -> dict:
    """The least node of each node's component (union-find)."""
    parent = {x: x for x in nodes}

    def find(x):
        while parent[x] != x:
            x = parent[x]
        return x

    for x, y in edges:
        a, b = sorted((find(x), find(y)))
        parent[b] = a
    return {x: find(x) for x in nodes}


# ---- DCDatalog, Queries 1 to 8


@pytest.mark.parametrize("seed", SEEDS)
def test_query_1_transitive_closure(seed):
    text = """
        .decl arc(x: number, y: number)
        .decl tc(x: number, y: number)
        tc(X, Y) :- arc(X, Y).
        tc(X, Y) :- tc(X, Z), arc(Z, Y).
    """
    edges = arcs(seed)
    assert answer(text, "tc", {"arc": edges}) == {(x, y) for x, _ in edges for y in reachable(edges, x)}


@pytest.mark.parametrize("seed", SEEDS)
def test_query_2_connected_components(seed):
    text = """
        .decl arc(x: number, y: number)
        .decl cc2(x: number, label: number)
        .decl cc(x: number, label: number)
        cc2(Y, min<Y>) :- arc(Y, _).
        cc2(Y, min<Z>) :- cc2(X, Z), arc(X, Y).
        cc(Y, min<Z>) :- cc2(Y, Z).
    """
    edges = arcs(seed, 14, 9)
    edges += [(y, x) for x, y in edges]
    labels = components({x for x, _ in edges}, edges)
    assert answer(text, "cc", {"arc": edges}) == set(labels.items())


APSP = {
    "non-linear": "path(A, B, min<D>) :- path(A, C, D1), path(C, B, D2), D = D1 + D2.",
    "linear": "path(A, B, min<D>) :- path(A, C, D1), warc(C, B, D2), D = D1 + D2.",
}


@pytest.mark.parametrize("step", APSP)
@pytest.mark.parametrize("seed", SEEDS)
def test_query_3_all_pairs_shortest_paths(seed, step):
    text = f"""
        .decl warc(x: number, y: number, d: number)
        .decl path(x: number, y: number, d: number)
        .decl apsp(x: number, y: number, d: number)
        path(A, B, min<D>) :- warc(A, B, D).
        {APSP[step]}
        apsp(A, B, min<D>) :- path(A, B, D).
    """
    edges = weighted(seed, arcs(seed))
    expected = {(*pair, d) for pair, d in floyd_warshall(edges).items()}
    assert answer(text, "apsp", {"warc": edges}) == expected


ATTEND = """
    .decl organizer(x: number)
    .decl friend(x: number, y: number)
    .decl attend(x: number)
    .decl cntfriends(x: number, n: number)
    .decl finalcnt(x: number, n: number)
    attend(X) :- organizer(X).
    attend(X) :- cntfriends(X, N), N >= 3.
"""
COUNTING = {
    "Query 4": "cntfriends(Y, count<X>) :- attend(X), friend(Y, X).\nfinalcnt(Y, N) :- cntfriends(Y, N).",
    "Example 4": "cntfriends(Y, mcount<X>) :- attend(X), friend(Y, X).\nfinalcnt(Y, max<N>) :- cntfriends(Y, N).",
}


@pytest.mark.parametrize("rules", COUNTING)
@pytest.mark.parametrize("seed", SEEDS)
def test_query_4_who_attends_the_party(seed, rules):
    friends, organizers = arcs(seed, 14, 70), [(0,), (1,), (2,), (3,)]
    attending = {x for (x,) in organizers}
    while True:
        coming = Counter(y for y, x in friends if x in attending)
        grown = attending | {y for y, n in coming.items() if n >= 3}
        if grown == attending:
            break
        attending = grown
    facts = {"friend": friends, "organizer": organizers}
    assert answer(ATTEND + COUNTING[rules], "attend", facts) == {(x,) for x in attending}
    assert answer(ATTEND + COUNTING[rules], "finalcnt", facts) == set(coming.items())


@pytest.mark.parametrize("seed", SEEDS)
def test_query_5_same_generation(seed):
    text = """
        .decl arc(x: number, y: number)
        .decl sg(x: number, y: number)
        sg(X, Y) :- arc(P, X), arc(P, Y), X != Y.
        sg(X, Y) :- arc(A, X), sg(A, B), arc(B, Y).
    """
    edges = arcs(seed, 9, 14)
    # Pairs reached by as many steps from one ancestor, apart after the first step.
    found = frontier = {(x, y) for (p, x), (q, y) in product(edges, repeat=2) if p == q and x != y}
    while frontier:
        frontier = {(x, y) for (a, x), (b, y) in product(edges, repeat=2) if (a, b) in frontier} - found
        found = found | frontier
    assert answer(text, "sg", {"arc": edges}) == found


PAGERANK = """
    .decl matrix(x: number, y: number, d: float)
    .decl rank(x: number, r: float)
    .decl results(x: number, r: float)
    rank(X, sum<(X, I)>) :- matrix(X, _, _), I = (1.0 - 0.85) / 12.0.
    rank(X, sum<(Y, K)>) :- rank(Y, C), matrix(Y, X, D){guard}, K = 0.85 * (C / D).
    results(X, V) :- rank(X, V).
"""


def test_query_6_pagerank_needs_a_degree_that_is_not_negative():
    assert errors(PAGERANK.format(guard="")) == ["E062", "E063"]


@pytest.mark.parametrize("seed", SEEDS)
def test_query_6_pagerank(seed):
    """Contributors are sources; the program takes a node for its own source, so there must be no loops."""
    edges = [(x, y) for x, y in arcs(seed, 12, 40) if x != y]
    degree = Counter(x for x, _ in edges)
    nodes = {x for edge in edges for x in edge}
    rank = dict.fromkeys(nodes, 0.0)
    for _ in range(400):
        base = {x: 0.15 / 12 if degree[x] else 0.0 for x in nodes}
        rank = {x: base[x] + sum(0.85 * rank[y] / degree[y] for y, z in edges if z == x) for x in nodes}
    facts = {"matrix": [(x, y, float(degree[x])) for x, y in edges]}
    found = dict(answer(PAGERANK.format(guard=", D > 0"), "results", facts))
    assert found == pytest.approx({x: r for x, r in rank.items() if r}, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_query_7_single_source_shortest_paths(seed):
    text = """
        .decl warc(x: number, y: number, d: number)
        .decl sp(x: number, d: number)
        .decl results(x: number, d: number)
        sp(To, min<C>) :- To = 0, C = 0.
        sp(To2, min<C>) :- sp(To1, C1), warc(To1, To2, C2), C = C1 + C2.
        results(To, min<C>) :- sp(To, C).
    """
    edges = weighted(seed, arcs(seed))
    assert answer(text, "results", {"warc": edges}) == set(dijkstra(edges, 0).items())


@pytest.mark.parametrize("seed", SEEDS)
def test_query_8_delivery(seed):
    text = """
        .decl basic(x: number, d: number)
        .decl assbl(x: number, y: number)
        .decl delivery(x: number, d: number)
        .decl results(x: number, d: number)
        delivery(P, max<D>) :- basic(P, D).
        delivery(P, max<D>) :- assbl(P, S), delivery(S, D).
        results(P, max<D>) :- delivery(P, D).
    """
    rng = random.Random(seed)
    assembly = [(rng.randrange(i), i) for i in range(1, 25)]
    parents = {p for p, _ in assembly}
    basic = [(i, rng.randrange(100)) for i in range(25) if i not in parents]
    days = dict(basic)
    for x in reversed(topological(assembly)):
        for p, s in assembly:
            if s == x:
                days[p] = max(days[s], days.get(p, 0))
    assert answer(text, "results", {"basic": basic, "assbl": assembly}) == set(days.items())


# ---- BigDatalog, Examples 1 to 9


DISTANCES = """
    .decl darc(x: number, y: number, d: number)
    .decl dpath(x: number, y: number, d: number)
    .decl spath(x: number, y: number, d: number)
    .output spath
"""
EXAMPLES = {
    "1": """
        dpath(X, Z, Dxz) :- darc(X, Z, Dxz).
        dpath(X, Z, Dxz) :- dpath(X, Y, Dxy), darc(Y, Z, Dyz), Dxz = Dxy + Dyz.
        spath(X, Z, Dxz) :- dpath(X, Z, Dxz), is_min((X, Z), (Dxz)).
    """,
    "2": """
        dpath(X, Z, Dxz) :- darc(X, Z, Dxz), is_min((X, Z), (Dxz)).
        dpath(X, Z, Dxz) :- dpath(X, Y, Dxy), darc(Y, Z, Dyz), Dxz = Dxy + Dyz, is_min((X, Z), (Dxz)).
        spath(X, Z, Dxz) :- dpath(X, Z, Dxz).
    """,
    "3": """
        dpath(X, Z, min<Dxz>) :- darc(X, Z, Dxz), Dxz > 0.
        dpath(X, Z, min<Dxz>) :- dpath(X, Y, Dxy), dpath(Y, Z, Dyz), Dxz = Dxy + Dyz.
        spath(X, Z, Dxz) :- dpath(X, Z, Dxz).
    """,
}


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("seed", SEEDS)
def test_examples_1_to_3_shortest_distances(seed, example):
    edges = weighted(seed, dag(seed))
    expected = {(*pair, d) for pair, d in floyd_warshall(edges).items()}
    assert answer(DISTANCES + EXAMPLES[example], "spath", {"darc": edges}) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_an_extremum_is_taken_into_the_recursion(seed):
    """Example 1 as printed is as good as Example 2: it ends on cycles, where its own recursion has no end."""
    edges = weighted(seed, arcs(seed))
    expected = {(*pair, d) for pair, d in floyd_warshall(edges).items()}
    assert answer(DISTANCES + EXAMPLES["1"], "spath", {"darc": edges}, oracle=False) == expected


@pytest.mark.parametrize(
    "reader",
    ["other(X) :- dpath(X, _, _).", "other(D) :- dpath(_, _, D).", "other(1) :- !dpath(1, 1, 1).", ".output dpath"],
)
def test_a_recursion_that_others_read_keeps_all_its_tuples(reader):
    text = DISTANCES + EXAMPLES["1"] + f".decl other(x: number)\n.output other\n{reader}"
    edges = [(1, 2, 5), (2, 3, 1), (1, 3, 9)]
    assert answer(text, "dpath", {"darc": edges}) == {(1, 2, 5), (2, 3, 1), (1, 3, 9), (1, 3, 6)}


LONGEST = """
    dpath(X, Z, Dxz) :- darc(X, Z, Dxz), is_max((X, Z), (Dxz)).
    dpath(X, Z, Dxz) :- dpath(X, Y, Dxy), darc(Y, Z, Dyz), {step}, is_max((X, Z), (Dxz)).
    spath(X, Z, Dxz) :- dpath(X, Z, Dxz).
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_maximum_distances_of_acyclic_graphs(seed):
    edges = weighted(seed, dag(seed))
    longest: dict[tuple, int] = {}
    for y in topological(edges):
        for x, z, w in edges:
            if z == y:
                longest[x, y] = max(w, longest.get((x, y), 0))
                for a in {a for a, b in longest if b == x}:
                    longest[a, y] = max(longest[a, x] + w, longest.get((a, y), 0))
    expected = {(*pair, d) for pair, d in longest.items()}
    assert answer(DISTANCES + LONGEST.format(step="Dxz = Dxy + Dyz"), "spath", {"darc": edges}) == expected


def test_an_upper_bound_is_rejected_and_its_clamp_ends_on_cycles():
    """§2: of `Dxz < Upperbound` premappability is lost, of `if Dxy + Dyz > Upperbound then …` it is not."""
    assert errors(DISTANCES + LONGEST.format(step="Dxz = Dxy + Dyz, Dxz < 100")) == ["E062"]
    clamped = DISTANCES + LONGEST.format(step="Dxz = min(Dxy + Dyz, 100)")
    assert answer(clamped, "spath", {"darc": [(1, 2, 30), (2, 1, 20)]}) == {(x, y, 100) for x in (1, 2) for y in (1, 2)}


def path_counts(edges, ends) -> dict[tuple, int]:
    """The number of paths from each node of `ends`, the empty one included."""
    counts = {(x, x): 1 for x in ends}
    for y, x in product(topological(edges), ends):
        n = sum(counts.get((x, z), 0) for z, t in edges if t == y)
        if n:
            counts[x, y] = n + counts.get((x, y), 0)
    return counts


CPATH = ".decl arc(x: number, y: number)\n.decl cpath(x: number, y: number, n: number)\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_example_5_path_counts(seed):
    """The program of §2.1 counts the empty path too; Example 5, by counts of integers, begins with edges."""
    edges = dag(seed)
    by_sum = CPATH + "cpath(X, X, 1) :- arc(X, _).\ncpath(X, Z, sum<Cxy, Y>) :- cpath(X, Y, Cxy), arc(Y, Z)."
    counts = path_counts(edges, {x for x, _ in edges})
    assert answer(by_sum, "cpath", {"arc": edges}) == {(*pair, n) for pair, n in counts.items()}


def test_example_5_as_printed_counts_integers_that_change():
    """What contributes, the integers up to Cxy, changes with it: rejected. The sum that it stands for is not."""
    text = (
        CPATH
        + """
        cpath(X, Y, 1) :- arc(X, Y).
        cpath(X, Z, count<Y, Ixy>) :- cpath(X, Y, Cxy), arc(Y, Z), Ixy = range(1, Cxy + 1).
    """
    )
    assert errors(text) == ["E062"]
    by_sum = CPATH + "cpath(X, Y, 1) :- arc(X, Y).\ncpath(X, Z, sum<Cxy, Y>) :- cpath(X, Y, Cxy), arc(Y, Z)."
    edges = [(1, 2), (2, 3), (1, 3), (3, 4), (2, 4)]
    counts = {pair: n for pair, n in path_counts(edges, {1, 2, 3}).items() if pair[0] != pair[1]}
    assert answer(by_sum, "cpath", {"arc": edges}) == {(*pair, n) for pair, n in counts.items()}


def test_sums_over_stores_count_equal_quantities_once_a_store():
    """§2.1: the total number of each part in a city."""
    text = """
        .decl pqs(part: number, store: symbol, quantity: number)
        .decl cs(store: symbol, city: symbol)
        .decl pCnt_InCity(part: number, city: symbol, n: number)
        pCnt_InCity(Pno, City, sum<Qty, Store>) :- pqs(Pno, Store, Qty), cs(Store, City).
    """
    facts = {
        "pqs": [(1, "a", 5), (1, "b", 5), (1, "c", 7), (2, "a", 1)],
        "cs": [("a", "Rome"), ("b", "Rome"), ("c", "Oslo")],
    }
    assert answer(text, "pCnt_InCity", facts) == {(1, "Rome", 10), (1, "Oslo", 7), (2, "Rome", 1)}


DIAMETER = """
    .decl arc(x: number, y: number)
    .decl hops(x: number, y: number, h: number)
    .decl minhops(x: number, y: number, h: number)
    .decl totalpairs(n: number)
    .decl hopcount(h: number, n: number)
    .decl cumulhops(h: number, n: number)
    .decl effdiameter(h: number)
    hops(X, Y, H) :- arc(X, Y), H = 1.
    hops(X, Y, min<C>) :- hops(X, Z, C1), hops(Z, Y, C2), C = C1 + C2.
    minhops(X, Y, C) :- hops(X, Y, C).
"""


def test_example_6_as_printed_mixes_counts_and_sums():
    """r6.5 counts and r6.6 sums into one relation; apart, r6.6 would feed on itself: it is not premappable either."""
    text = (
        DIAMETER
        + """
        cumulhops(C, count<(X, Y)>) :- minhops(X, Y, C).
        cumulhops(H2, sum<(H1, C)>) :- cumulhops(H1, C1), cumulhops(H2, C2), H1 < H2, C = C1 + C2.
    """
    )
    assert errors(text) == ["E061"]


def test_example_6_as_printed_counts_sources_for_pairs():
    """r6.4 counts X over minhops(X, _, _): different X, not pairs."""
    edges = arcs(0)
    found = answer(DIAMETER + "totalpairs(count<X>) :- minhops(X, _, _).", "totalpairs", {"arc": edges})
    assert found == {(len({x for x, _ in edges}),)}


@pytest.mark.parametrize("seed", SEEDS)
def test_example_6_effective_diameter(seed):
    """Corrected: pairs by hops, added up over fewer hops. r6.4 counts sources as printed, so pairs are counted here."""
    text = (
        DIAMETER
        + """
        totalpairs(count<(X, Y)>) :- minhops(X, Y, _).
        hopcount(C, count<(X, Y)>) :- minhops(X, Y, C).
        cumulhops(H2, sum<(H1, C)>) :- hopcount(H1, C), hopcount(H2, _), H1 <= H2.
        effdiameter(min<H>) :- cumulhops(H, C), totalpairs(N), 10 * C >= 9 * N.
    """
    )
    edges = arcs(seed)
    hops = sorted(floyd_warshall([(x, y, 1) for x, y in edges]).values())
    expected = next(h for h in hops if 10 * sum(other <= h for other in hops) >= 9 * len(hops))
    assert answer(text, "effdiameter", {"arc": edges}) == {(expected,)}
    assert answer(text, "cumulhops", {"arc": edges}) == {(h, sum(x <= h for x in hops)) for h in set(hops)}


def undirected(seed: int, n: int = 14, m: int = 24) -> list[tuple[int, int]]:
    edges = {(x, y) for x, y in arcs(seed, n, m) if x != y}
    return sorted(edges | {(y, x) for x, y in edges})


def labelled(edges) -> set[tuple]:
    return set(components({x for x, _ in edges}, edges).items())


CONNECTED = """
    connComp(A, A) :- validArc(A, _).
    connComp(C, min<B>) :- connComp(A, B), validArc(A, C).
    kCores(A, B) :- connComp(A, B).
"""
CORES = ".decl arc(x: number, y: number)\n.decl connComp(x: number, c: number)\n.decl kCores(x: number, c: number)\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_example_7_drops_nodes_of_small_degree_once(seed):
    """As printed it is no k-core: who loses neighbours keeps its degree. These are the components after one round."""
    text = (
        CORES
        + CONNECTED
        + """
        .decl degree(x: number, n: number)
        .decl validArc(x: number, y: number)
        degree(X, count<Y>) :- arc(X, Y).
        validArc(X, Y) :- arc(X, Y), degree(X, D1), D1 >= 3, degree(Y, D2), D2 >= 3.
    """
    )
    edges = undirected(seed)
    degree = Counter(x for x, _ in edges)
    kept = [(x, y) for x, y in edges if degree[x] >= 3 and degree[y] >= 3]
    assert answer(text, "kCores", {"arc": edges}) == labelled(kept)


@pytest.mark.parametrize("seed", range(6))
def test_k_cores_by_counting_the_neighbours_that_go(seed):
    """Corrected: a node goes when too many of its neighbours have gone; counts of them grow."""
    text = (
        CORES
        + CONNECTED
        + """
        .decl degree(x: number, n: number)
        .decl gone(x: number)
        .decl lost(x: number, n: number)
        .decl validArc(x: number, y: number)
        degree(X, count<Y>) :- arc(X, Y).
        gone(X) :- degree(X, D), D < 3.
        gone(X) :- lost(X, L), degree(X, D), L > D - 3.
        lost(X, count<Y>) :- gone(Y), arc(X, Y).
        validArc(X, Y) :- arc(X, Y), !gone(X), !gone(Y).
    """
    )
    edges = undirected(seed)
    core = edges
    while True:
        degree = Counter(x for x, _ in core)
        smaller = [(x, y) for x, y in core if degree[x] >= 3 and degree[y] >= 3]
        if smaller == core:
            break
        core = smaller
    assert answer(text, "kCores", {"arc": edges}) == labelled(core)


TENNIS = [
    "overcast cool normal strong yes",
    "overcast hot high weak yes",
    "overcast hot normal weak yes",
    "overcast mild high strong yes",
    "rain mild high weak yes",
    "rain cool normal weak yes",
    "rain cool normal strong no",
    "rain mild high strong no",
    "rain mild normal weak yes",
    "sunny hot high weak no",
    "sunny mild high weak no",
    "sunny cool normal weak yes",
    "sunny mild normal strong yes",
    "sunny hot high strong no",
]
ROWS = [(i, *line.split()) for i, line in enumerate(TENNIS, 1)]
ROLLUP = """
    .decl train(id: number, outlook: symbol, temperature: symbol, humidity: symbol, wind: symbol, play: symbol)
    .decl vtrain(id: number, col: number, val: symbol)
    .decl repr(t1: number, c: number, v: symbol, t: number)
    .decl rupt(t: number, c: number, v: symbol, ta: number) {qualifier}
    .decl myrupt(t: number, c: number, v: symbol, n: number, ta: number)
    vtrain(ID, Col, Val) :- train(ID, Val@Col).
    repr(T1, C, V, T) :- vtrain(T, C, V), C = 1, T1 = 1.
    rupt(min<T>, C, V, Ta) :- repr(Ta, C, V, T).
    repr(T1, C, V, T) :- vtrain(T, C, V), C1 = C - 1, repr(Ta, C1, V1, T), rupt(T1, C1, V1, Ta).
    myrupt(T, C, V, count<TID>, Ta) :- rupt(T, C, V, Ta), repr(Ta, C, V, TID).
"""


def prefix_table() -> dict[tuple, tuple[int, int]]:
    """For each prefix of a row the least row that has it, and how many have."""
    prefixes = defaultdict(list)
    for id, *values in ROWS:
        for c in range(1, 6):
            prefixes[tuple(values[:c])].append(id)
    return {prefix: (min(ids), len(ids)) for prefix, ids in prefixes.items()}


def test_example_8_uses_a_minimum_as_a_key():
    assert set(errors(ROLLUP.format(qualifier=""))) == {"E062"}


def test_example_8_rollup_prefix_table():
    """Declared `premappable`, it runs in rounds: the representatives of a column are complete before they are read.

    A node is named by its least row and column: the parent of a node of column 1 is 1, as printed.
    """
    table = prefix_table()
    expected = {
        (t, len(prefix), prefix[-1], n, table[prefix[:-1]][0] if len(prefix) > 1 else 1)
        for prefix, (t, n) in table.items()
    }
    assert answer(ROLLUP.format(qualifier="premappable"), "myrupt", {"train": ROWS}) == expected
    assert {row[1:4] for row in expected if row[1] == 1} == {(1, "overcast", 4), (1, "rain", 5), (1, "sunny", 5)}


def test_example_8_in_strata_by_columns():
    """Corrected without the qualifier: prefixes as records; the least row is taken when all are there."""
    text = """
        .type Prefix = [before: Prefix, value: symbol]
        .decl train(id: number, outlook: symbol, temperature: symbol, humidity: symbol, wind: symbol, play: symbol)
        .decl vtrain(id: number, col: number, val: symbol)
        .decl prefix(id: number, col: number, p: Prefix)
        .decl node(p: Prefix, c: number, first: number, n: number)
        .decl result(t: number, c: number, v: symbol, n: number)
        vtrain(ID, Col, Val) :- train(ID, Val@Col).
        prefix(T, 1, [nil, V]) :- vtrain(T, 1, V).
        prefix(T, C, [P, V]) :- prefix(T, C1, P), C = C1 + 1, vtrain(T, C, V).
        node(P, C, min<T>, count<T>) :- prefix(T, C, P).
        result(T, C, V, N) :- node([_, V], C, T, N).
    """
    expected = {(t, len(prefix), prefix[-1], n) for prefix, (t, n) in prefix_table().items()}
    assert answer(text, "result", {"train": ROWS}) == expected


PATTERNS = """
    .decl myrupt(t: number, c: number, v: symbol, n: number, ta: number)
    .decl items(c: number, v: symbol, n: number)
    .decl freqItems(c: number, v: symbol)
    .decl len(t: number, l: number)
    .decl longest(l: number)
    items(C, V, sum<Cnt>) :- myrupt(_, C, V, Cnt, _).
    freqItems(C, V) :- items(C, V, Cnt), Cnt >= 5.
    len(T, 0) :- myrupt(T, C, V, _, _), !myrupt(_, _, _, _, T), !freqItems(C, V).
    len(T, 1) :- myrupt(T, C, V, _, _), !myrupt(_, _, _, _, T), freqItems(C, V).
    len(T, max<L>) :- len(TC, L1), myrupt(TC, _, _, _, T), myrupt(T, C, V, _, _), !freqItems(C, V), L = L1.
    len(T, max<L>) :- len(TC, L1), myrupt(TC, _, _, _, T), myrupt(T, C, V, _, _), freqItems(C, V), L = L1 + 1.
    longest(max<L>) :- len(_, L).
"""


def test_example_9_longest_maximal_pattern():
    """Nodes have numbers of their own, as in Table 4; each path has as many frequent items as it has."""
    table = prefix_table()
    numbers = {prefix: i for i, prefix in enumerate(sorted(table, key=lambda p: (len(p), p)), 2)}
    nodes = [(i, len(p), p[-1], table[p][1], numbers[p[:-1]] if len(p) > 1 else 1) for p, i in numbers.items()]
    occurrences = Counter((c, v) for _, *values in ROWS for c, v in enumerate(values, 1))
    frequent = {item for item, n in occurrences.items() if n >= 5}
    expected = max(sum((c, v) in frequent for c, v in enumerate(values, 1)) for _, *values in ROWS)
    assert answer(PATTERNS, "longest", {"myrupt": nodes}) == {(expected,)}
    assert answer(PATTERNS, "freqItems", {"myrupt": nodes}) == frequent


# ---- BigDatalog, §3: applications named there


def test_viterbi():
    """The most probable path of a hidden Markov model to each state at each time (Wikipedia's example)."""
    text = """
        .decl start(state: symbol, p: float)
        .decl transition(a: symbol, b: symbol, p: float)
        .decl emission(state: symbol, o: symbol, p: float)
        .decl observed(t: number, o: symbol)
        .decl viterbi(t: number, state: symbol, p: float)
        viterbi(0, s, max<p>) :- start(s, a), observed(0, o), emission(s, o, e), a >= 0, e >= 0, p = a * e.
        viterbi(t + 1, s, max<p>) :- viterbi(t, r, q), transition(r, s, a), observed(t + 1, o), emission(s, o, e),
            a >= 0, e >= 0, p = q * (a * e).
    """
    states = ("healthy", "fever")
    start = {"healthy": 0.6, "fever": 0.4}
    step = {"healthy": {"healthy": 0.7, "fever": 0.3}, "fever": {"healthy": 0.4, "fever": 0.6}}
    emit = {"healthy": {"normal": 0.5, "cold": 0.4, "dizzy": 0.1}, "fever": {"normal": 0.1, "cold": 0.3, "dizzy": 0.6}}
    seen = ["normal", "cold", "dizzy"]
    facts = {
        "start": list(start.items()),
        "transition": [(r, s, p) for r in states for s, p in step[r].items()],
        "emission": [(s, o, p) for s in states for o, p in emit[s].items()],
        "observed": list(enumerate(seen)),
    }
    found = {(t, s): p for t, s, p in answer(text, "viterbi", facts)}
    for t, state in product(range(3), states):
        best = 0.0
        for path in product(states, repeat=t):
            p, before = 1.0, None
            for s, o in zip((*path, state), seen, strict=False):
                p, before = p * (start[s] if before is None else step[before][s]) * emit[s][o], s
            best = max(best, p)
        assert found[t, state] == pytest.approx(best)
    assert found[2, "fever"] == pytest.approx(0.01512)


def test_people_you_may_know():
    """The three strangers with the most common friends."""
    text = """
        .decl friend(x: number, y: number)
        .decl common(x: number, y: number, n: number)
        .decl most(x: number, n: number)
        .decl suggested(x: number, y: number)
        common(X, Y, count<Z>) :- friend(X, Z), friend(Z, Y), X != Y, !friend(X, Y).
        most(X, max<N>) :- common(X, _, N).
        suggested(X, Y) :- common(X, Y, N), most(X, N).
    """
    edges = undirected(3)
    friends = defaultdict(set)
    for x, y in edges:
        friends[x].add(y)
    expected = set()
    for x in friends:
        common = {y: len(friends[x] & friends[y]) for y in friends if y != x and y not in friends[x]}
        best = max(common.values(), default=0)
        expected |= {(x, y) for y, n in common.items() if n == best > 0}
    assert answer(text, "suggested", {"friend": edges}) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_multi_level_marketing_bonus(seed):
    """A member's bonus is a tenth of its profit and of the bonuses of those it has sponsored."""
    text = """
        .decl sales(m: number, p: float)
        .decl sponsor(m: number, n: number)
        .decl bonus(m: number, b: float)
        bonus(M, sum<(M, B)>) :- sales(M, P), P >= 0, B = P * 0.1.
        bonus(M, sum<(N, C)>) :- sponsor(M, N), bonus(N, B), C = B * 0.5.
    """
    rng = random.Random(seed)
    sponsors = [(rng.randrange(i), i) for i in range(1, 20)]
    sales = {i: float(rng.randrange(1000)) for i in range(20)}
    bonus = {i: p * 0.1 for i, p in sales.items()}
    for n in range(19, 0, -1):
        bonus[next(m for m, other in sponsors if other == n)] += bonus[n] * 0.5
    found = dict(answer(text, "bonus", {"sales": list(sales.items()), "sponsor": sponsors}))
    assert found == pytest.approx(bonus)


@pytest.mark.parametrize("seed", SEEDS)
def test_temporal_coalescing(seed):
    """Periods that overlap or meet are merged; both ends are closed."""
    text = """
        .decl period(who: symbol, from: number, to: number)
        .decl reach(who: symbol, from: number, to: number)
        .decl start(who: symbol, from: number)
        .decl inner(who: symbol, from: number)
        .decl coalesced(who: symbol, from: number, to: number)
        inner(W, S) :- period(W, S, _), period(W, S1, E1), S1 < S, S <= E1.
        start(W, S) :- period(W, S, _), !inner(W, S).
        reach(W, S, max<E>) :- start(W, S), period(W, S, E).
        reach(W, S, max<E>) :- reach(W, S, E1), period(W, S2, E), S <= S2, S2 <= E1.
        coalesced(W, S, E) :- reach(W, S, E).
    """
    rng = random.Random(seed)
    periods = [(rng.choice("ab"), s, s + rng.randrange(12)) for s in (rng.randrange(60) for _ in range(14))]
    expected = set()
    for who in "ab":
        end = begin = None
        for _, s, e in sorted(p for p in periods if p[0] == who):
            if end is None or s > end:
                if end is not None:
                    expected.add((who, begin, end))
                begin, end = s, e
            end = max(end, e)
        if end is not None:
            expected.add((who, begin, end))
    assert answer(text, "coalesced", {"period": sorted(set(periods))}) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_bill_of_materials_parts_costs_and_days(seed):
    """How many of each part an assembly takes, what it costs, and when it is delivered."""
    text = """
        .decl assembly(p: number, s: number, n: unsigned)
        .decl basic(p: number, cost: unsigned, days: number)
        .decl parts(p: number, s: number, n: unsigned)
        .decl cost(p: number, c: unsigned)
        .decl delivered(p: number, d: number)
        parts(P, S, sum<(P, N)>) :- assembly(P, S, N).
        parts(P, S, sum<(Q, N)>) :- parts(P, Q, M), assembly(Q, S, K), Q != P, N = M * K.
        cost(P, sum<(P, C)>) :- basic(P, C, _).
        cost(P, sum<(S, N)>) :- assembly(P, S, K), cost(S, C), N = K * C.
        delivered(P, max<D>) :- basic(P, _, D).
        delivered(P, max<D>) :- assembly(P, S, _), delivered(S, D).
    """
    rng = random.Random(seed)
    edges = [(x, y, rng.randrange(1, 4)) for x, y in dag(seed)]
    leaves = {y for _, y, _ in edges} - {x for x, _, _ in edges}
    basic = {x: (rng.randrange(1, 50), rng.randrange(1, 30)) for x in sorted(leaves)}
    parts: dict[tuple, int] = {}
    cost, days = {x: c for x, (c, _) in basic.items()}, {x: d for x, (_, d) in basic.items()}
    for x in reversed(topological(edges)):
        for a, y, n in edges:
            if a == x:
                cost[x] = cost.get(x, 0) + n * cost[y]
                days[x] = max(days.get(x, 0), days[y])
                parts[x, y] = parts.get((x, y), 0) + n
                for (_, z), m in [item for item in parts.items() if item[0][0] == y]:
                    parts[x, z] = parts.get((x, z), 0) + n * m
    facts = {"assembly": edges, "basic": [(x, c, d) for x, (c, d) in basic.items()]}
    assert answer(text, "parts", facts) == {(*pair, n) for pair, n in parts.items()}
    assert answer(text, "cost", facts) == set(cost.items())
    assert answer(text, "delivered", facts) == set(days.items())
