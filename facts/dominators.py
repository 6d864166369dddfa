"""Dominators of a flow graph, and dominance frontiers."""

from bisect import bisect_right
from collections.abc import Iterable


def immediate_dominators(successors: list[list[int]]) -> list[int]:
    """Return the immediate dominator of every node, -1 for the entry (node 0) and for nodes it does not reach.

    Semi-dominators with path compression, then one walk for the immediate ones (SEMI-NCA: Georgiadis, 2005), without
    recursion. O(n log n) but for contrived graphs.
    """
    order, parent = _depth_first(successors)
    number = {node: index for index, node in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for index, node in enumerate(order):
        for successor in successors[node]:
            predecessors[number[successor]].append(index)
    semi = list(range(len(order)))
    best, ancestor = semi[:], [-1] * len(order)
    for index in range(len(order) - 1, 0, -1):
        for predecessor in predecessors[index]:
            semi[index] = min(semi[index], semi[_evaluate(predecessor, ancestor, semi, best)])
        ancestor[index] = parent[index]
    dominator = parent[:]
    for index in range(1, len(order)):
        while dominator[index] > semi[index]:
            dominator[index] = dominator[dominator[index]]
    result = [-1] * len(successors)
    for index in range(1, len(order)):
        result[order[index]] = order[dominator[index]]
    return result


def _depth_first(successors: list[list[int]]) -> tuple[list[int], list[int]]:
    """Return the reachable nodes in depth-first preorder, and the number of each one's parent."""
    order: list[int] = []
    parent: list[int] = []
    seen = set()
    stack = [(0, -1)]
    while stack:
        node, above = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        number = len(order)
        order.append(node)
        parent.append(above)
        stack.extend((successor, number) for successor in reversed(successors[node]) if successor not in seen)
    return order, parent


def _evaluate(node: int, ancestor: list[int], semi: list[int], best: list[int]) -> int:
    """Return the node of least semi-dominator on the linked path above `node`, compressing that path."""
    if ancestor[node] < 0:
        return node
    path = [node]
    while ancestor[ancestor[path[-1]]] >= 0:
        path.append(ancestor[path[-1]])
    top = path.pop()
    for below in reversed(path):
        if semi[best[ancestor[below]]] < semi[best[below]]:
            best[below] = best[ancestor[below]]
        ancestor[below] = ancestor[top]
    return best[node]


Frontier = tuple[int, "Frontier"] | None


class DominatorTree:
    """The dominator tree of a flow graph with any number of entries: `root`, a node of its own, stands over them.

    Entries are node 0, nodes that nothing leads to, and one of each cycle that they do not reach. The dominance
    frontier of a node is a linked list, deepest nodes of the tree first: nested loops share what is common to theirs.
    """

    def __init__(self, successors: list[list[int]]) -> None:
        self.root = size = len(successors)
        graph = [_entries(successors), *([target + 1 for target in targets] for targets in successors)]
        self.parent = [dominator - 1 if dominator > 0 else size for dominator in immediate_dominators(graph)[1:]]
        order, self.level = self._numbered()
        self.frontier = self._frontiers(successors, order)

    def _numbered(self) -> tuple[list[int], list[int]]:
        """Number the nodes in preorder: those below a node are `first[node]` to `last[node]`. Return them in order."""
        children: list[list[int]] = [[] for _ in range(self.root + 1)]
        for node, parent in enumerate(self.parent):
            children[parent].append(node)
        self.first, self.last, level = ([0] * (self.root + 1) for _ in range(3))
        order: list[int] = []
        work = [self.root]
        while work:
            node = work.pop()
            self.first[node] = len(order)
            order.append(node)
            for child in children[node]:
                level[child] = level[node] + 1
            work.extend(children[node])
        for node in reversed(order):
            self.last[node] = max(self.last[node], self.first[node])
            if node != self.root:
                self.last[self.parent[node]] = max(self.last[self.parent[node]], self.last[node])
        return order, level

    def _frontiers(self, successors: list[list[int]], order: list[int]) -> list[Frontier]:
        parent, level = self.parent, self.level
        frontier: list[Frontier] = [None] * (self.root + 1)
        for node in reversed(order[1:]):
            for target in successors[node]:
                if parent[target] != node:
                    frontier[node] = self._union(frontier[node], (target, None))
            passed = frontier[node]
            while passed is not None and level[passed[0]] > level[parent[node]]:
                passed = passed[1]
            frontier[parent[node]] = self._union(frontier[parent[node]], passed)
        return frontier

    def _union(self, left: Frontier, right: Frontier) -> Frontier:
        """Return the nodes of two frontiers; what they have in common at their ends is not looked at."""
        nodes, level = [], self.level
        while left is not right and left is not None and right is not None:
            if left[0] == right[0]:
                right = right[1]
            elif (level[left[0]], left[0]) > (level[right[0]], right[0]):
                nodes.append(left[0])
                left = left[1]
            else:
                nodes.append(right[0])
                right = right[1]
        result = right if left is None else left
        for node in reversed(nodes):
            result = (node, result)
        return result

    def above_all(self, nodes: list[int]) -> int:
        """Return the nearest node at or above all of some."""
        top, last = min(nodes, key=self.first.__getitem__), max(map(self.first.__getitem__, nodes))
        while self.last[top] < last:
            top = self.parent[top]
        return top

    def iterated_frontier(self, nodes: Iterable[int], top: int) -> set[int]:
        """Return the nodes below `top` at which definitions in `nodes`, and those placed for them, meet others."""
        level, least = self.level, self.level[top]
        found: set[int] = set()
        seen: set[int] = set()
        work = list(nodes)
        while work:
            part = self.frontier[work.pop()]
            while part is not None and id(part) not in seen and level[part[0]] > least:
                seen.add(id(part))
                if part[0] not in found:
                    found.add(part[0])
                    work.append(part[0])
                part = part[1]
        return found


class Nearest:
    """The nearest of some nodes at or above any node of a dominator tree, the root if there is none."""

    def __init__(self, tree: DominatorTree, nodes: Iterable[int]) -> None:
        self._first = tree.first
        self._starts, self._nodes, open_ = [0], [tree.root], [tree.root]
        for node in sorted(nodes, key=tree.first.__getitem__):
            while tree.last[open_[-1]] < tree.first[node]:
                self._add(tree.last[open_.pop()] + 1, open_[-1])
            open_.append(node)
            self._add(tree.first[node], node)
        while len(open_) > 1:
            self._add(tree.last[open_.pop()] + 1, open_[-1])

    def _add(self, start: int, node: int) -> None:
        self._starts.append(start)
        self._nodes.append(node)

    def above(self, node: int) -> int:
        """Return the nearest node at `node` or above it."""
        return self._nodes[bisect_right(self._starts, self._first[node]) - 1]


def _entries(successors: list[list[int]]) -> list[int]:
    """Return entries from which every node is reached, counted from 1."""
    entered = {target for targets in successors for target in targets}
    candidates = [0, *(node for node in range(len(successors)) if node not in entered), *range(len(successors))]
    entries, seen = [], set()
    for entry in candidates:
        if entry in seen:
            continue
        entries.append(entry + 1)
        work = [entry]
        while work:
            node = work.pop()
            if node not in seen:
                seen.add(node)
                work.extend(successors[node])
    return entries
