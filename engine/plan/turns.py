"""The order in which the relations of a recursion take turns: each behind what its rules read, but for cycles.

Advanced all together, a tuple takes as many iterations as there are relations on its way. Advanced one after the other,
what one relation gets is read by the next in the same round: chains of relations cost one round (the Gauss-Seidel
method; chaotic iteration in the sense of Cousot and Cousot, 1977, whose fixpoint is the same).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.plan.rule import Rule


def turns(names: Sequence[str], rules: Iterable[Rule]) -> list[str]:
    """Return the names in the order in which a depth-first search of what their rules read leaves them."""
    reads: dict[str, dict[str, None]] = {name: {} for name in names}
    for rule in rules:
        reads[rule.relation] |= {name: None for name in rule.relations() if name in reads}
    order: list[str] = []
    seen: set[str] = set()
    for root in names:
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(reads[root]))]
        while path:
            name, following = path[-1]
            unseen = next((other for other in following if other not in seen), None)
            if unseen is None:
                order.append(path.pop()[0])
            else:
                seen.add(unseen)
                path.append((unseen, iter(reads[unseen])))
    return order
