"""Context policies by name."""

from __future__ import annotations

from dataclasses import dataclass

INSENSITIVE = "insensitive"


@dataclass(frozen=True, slots=True)
class Policy:
    """A context policy: the kind of context elements, and their maximum number, the last one first.

    `element` is call (call sites), object (the site that made the receiver) or type (the class whose code made the
    receiver). A function without a receiver has its caller's context; if it `adds_call`, the call as well.
    """

    name: str
    element: str
    depth: int
    adds_call: bool = False


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("1-call", "call", 1),
        Policy("2-call", "call", 2),
        Policy("1-object", "object", 1),
        Policy("2-object", "object", 2),
        Policy("1-type", "type", 1),
        Policy("2-type", "type", 2),
        Policy("hybrid", "object", 1, adds_call=True),
    )
}
"""Calls: Shivers, Control-flow analysis of higher-order languages (1991). Objects: Milanova, Rountev and Ryder,
Parameterized object sensitivity for points-to analysis for Java (TOSEM 2005). Types: Smaragdakis, Bravenboer and
Lhoták, Pick your contexts well (POPL 2011). Hybrid: the selective 1-object-sensitive analysis B of Kastrinis and
Smaragdakis, Hybrid context-sensitivity for points-to analysis (PLDI 2013)."""

NAMES = (INSENSITIVE, *POLICIES)


@dataclass(frozen=True, slots=True)
class ContextCosts:
    """The costs of a policy: functions in several contexts, their clones, functions `cut` to one context for cost."""

    policy: str
    functions: int
    clones: int
    cut: int
    facts: int
