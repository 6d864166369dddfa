"""Minimum chain cover: the fewest orders of columns such that each search looks up a prefix of one of them.

Subotić, Jordan, Chang, Fekete and Scholz, Automatic index selection for large-scale Datalog computation, VLDB 2019.
"""

from __future__ import annotations

from collections.abc import Iterable

Signature = frozenset[int]
"""The columns that a search has values for."""


def minimum_chains(signatures: Iterable[Signature]) -> list[list[Signature]]:
    """Return the fewest chains S1 ⊂ S2 ⊂ … that hold every signature once (Dilworth's theorem).

    There are as many as there are signatures without a partner in a maximum matching of signatures with larger ones;
    the matching is found by augmenting paths, O(n³) for n signatures.
    """
    every = sorted(set(signatures), key=lambda signature: (len(signature), sorted(signature)))
    next_of: dict[Signature, Signature] = {}
    previous_of: dict[Signature, Signature] = {}

    def augment(smaller: Signature, seen: set[Signature]) -> bool:
        for larger in every:
            if smaller < larger and larger not in seen:
                seen.add(larger)
                if larger not in previous_of or augment(previous_of[larger], seen):
                    next_of[smaller], previous_of[larger] = larger, smaller
                    return True
        return False

    for signature in every:
        augment(signature, set())
    chains = []
    for signature in every:
        if signature not in previous_of:
            chain = [signature]
            while chain[-1] in next_of:
                chain.append(next_of[chain[-1]])
            chains.append(chain)
    return chains


def order_of(chain: Iterable[Signature]) -> tuple[int, ...]:
    """Return an order of columns of which each signature of a chain is a prefix."""
    order: list[int] = []
    for signature in chain:
        order += sorted(signature.difference(order))
    return tuple(order)
