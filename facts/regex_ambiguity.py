"""Where the automaton of a regular expression reads one word in two ways, again and again.

A pattern is exponentially ambiguous when its automaton has a state that can be left and reached again by the same word
in two ways (Weber and Seidl, 1991, criterion EDA; for backtracking matchers, Weideman et al., 2016).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

from facts.regex_automaton import Automaton

Node = TypeVar("Node", bound=Hashable)


def ambiguous_components(automaton: Automaton, without: int | None = None) -> list[set[int]]:
    """Return, for each way to leave a position and come back by one word in two ways, the positions on the way.

    None of them goes by the position `without`.
    """
    graph = {
        p: [q for q in follow if q != without and (automaton.read(p, q) or not automaton.characters[q])]
        for p, follow in automaton.follow.items()
        if p != without
    }
    found = []
    for component in strong_components(graph, range(len(automaton.characters))):
        inner = {p: [q for q in graph.get(p, ()) if q in component] for p in component}
        if doubled(automaton, inner) or diverging(automaton, inner):
            found.append(component)
    return found


def doubled(automaton: Automaton, inner: dict[int, list[int]]) -> bool:
    """Return True if a step inside the component can be taken in two ways."""
    return any(automaton.follow[p][q] > 1 for p, targets in inner.items() for q in targets)


def diverging(automaton: Automaton, inner: dict[int, list[int]]) -> bool:
    """Return True if two different paths from some position to itself read the same word.

    Then (p, p) and (q, r) are in one component of the product.
    """
    product: dict[tuple[int, int], list[tuple[int, int]]] = {}
    todo = [(p, p) for p in inner]
    while todo:
        pair = todo.pop()
        if pair in product:
            continue
        left, right = pair
        product[pair] = [
            (p, q) for p in inner[left] for q in inner[right] if automaton.read(left, p) & automaton.read(right, q)
        ]
        todo.extend(product[pair])
    for component in strong_components(product, product):
        if any(p == q for p, q in component) and any(p != q for p, q in component):
            return True
    return False


def strong_components(graph: Mapping[Node, Collection[Node]], nodes: Iterable[Node]) -> list[set[Node]]:
    """Tarjan's strongly connected components, iteratively; those without an edge inside are left out."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    waiting: set[Node] = set()
    found = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(graph.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        while work:
            node, successors = work[-1]
            step = next((s for s in successors if s not in index or s in waiting), None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(popped(stack, waiting, node))
            elif step in index:
                low[node] = min(low[node], index[step])
            else:
                index[step] = low[step] = len(index)
                stack.append(step)
                waiting.add(step)
                work.append((step, iter(graph.get(step, ()))))
    return [c for c in found if len(c) > 1 or any(n in graph.get(n, ()) for n in c)]


def popped(stack: list[Node], waiting: set[Node], root: Node) -> set[Node]:
    component = set()
    while True:
        node = stack.pop()
        waiting.discard(node)
        component.add(node)
        if node == root:
            return component
