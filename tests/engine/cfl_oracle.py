"""CFL reachability by the definition: sets of triples, compositions and unions until nothing is new."""

from engine.cfl.grammar import inverted


def reachable(productions, edges, indexed=frozenset()):
    """Return {symbol: {(source, target, index)}} for the symbols of productions `(head, body…)`; an index may be None.

    `edges` are (source, target, label, index). Vertices are the ends of edges. A symbol that neither productions nor
    edges define is the inverse of what its name says.
    """
    symbols = {symbol for production in productions for symbol in production}
    edges = {e for e in edges if e[2] in symbols or e[2] in {inverted(symbol) for symbol in symbols}}
    vertices = {end for source, target, _, _ in edges for end in (source, target)}
    known = {symbol: set() for symbol in symbols}
    for source, target, label, index in edges:
        known.setdefault(label, set()).add((source, target, index))
    heads = {head for head, *_ in productions}
    defined = heads | {label for _, _, label, _ in edges}
    while True:
        for symbol in symbols - defined:
            known[symbol] = {(target, source, index) for source, target, index in known.get(inverted(symbol), ())}
        found = set()
        for head, *body in productions:
            for source, target, index in words(body, known, vertices):
                found.add((head, source, target, index if head in indexed else None))
        before = sum(map(len, known.values()))
        for head, *triple in found:
            known[head].add(tuple(triple))
        if sum(map(len, known.values())) == before:
            return known


def words(body, known, vertices):
    """Return (source, target, index) of what a body spells."""
    paths = {(vertex, vertex, None) for vertex in vertices}
    for symbol in body:
        paths = {
            (source, target, index if other is None else other)
            for source, middle, index in paths
            for begin, target, other in known[symbol]
            if begin == middle and (index is None or other is None or index == other)
        }
    return paths
