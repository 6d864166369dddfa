"""Linearisation: a rule that composes a relation with itself is made to compose it with what it begins from.

`tc(x, y) :- tc(x, z), tc(z, y).` joins every pair with every other, again and again; the same paths are found by adding
one arc at a time. If `tc` is recursive through this rule alone, its least fixpoint is B ∪ B∘B ∪ B∘B∘B ∪ …, where B is
what the other rules and the facts give, for composition is associative: that of `tc(x, y) :- tc(x, z), B(z, y).`, too
(linearisation of doubly recursive rules: Zhang, Yu and Troy, *Necessary and Sufficient Conditions to Linearize Doubly
Recursive Programs in Logic Databases*, TODS 1990). The linear rule derives less and is decomposable. With an extremum
the values of the two rows must be combined by an operation that is associative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.plan.rule import Compute, Match, Rule

INTEGERS = ("number", "unsigned")
ASSOCIATIVE = {"+": INTEGERS, "*": INTEGERS, "min": (*INTEGERS, "float"), "max": (*INTEGERS, "float")}
"""Operations that give the same, digit by digit, wherever a sequence is bracketed, and for values of which kinds."""


def linearise(columns: Mapping[str, Sequence[int]], arity: int, rules: Sequence[Rule], base: str) -> list[Rule] | None:
    """Return the rules of a component with its one composition made linear, or None if it has no such rule alone.

    `columns` are those of the component's relations that tell rows apart: all `arity`, or all but one, which then holds
    the greatest or least values. The new rule reads in the relation `base` what the relation begins from.
    """
    if len(columns) != 1:
        return None
    ((name, group),) = columns.items()
    recursive = [rule for rule in rules if name in rule.relations()]
    if len(recursive) != 1 or arity > len(group) + 1:
        return None
    rule = recursive[0]
    atoms = [literal for literal in rule.body if isinstance(literal, Match) and literal.relation == name]
    for left, right in (atoms, atoms[::-1]) if len(atoms) == 2 else ():
        if composes(rule, left, right, group) and combines(rule, left, right, set(range(arity)).difference(group)):
            body = tuple(Match(base, right.terms) if literal is right else literal for literal in rule.body)
            return [replace(rule, body=body) if other is rule else other for other in rules]
    return None


def composes(rule: Rule, left: Match, right: Match, group: Sequence[int]) -> bool:
    """Return True if a head takes some columns from the left atom, the others from the right one; the rest joins them.

    There may be columns in which all three agree. No variable occurs but where this needs it.
    """
    taken: Counter[str] = Counter()
    joined: tuple[list[object], list[object]] = [], []
    for c in group:
        head, a, b = rule.head[c], left.terms[c], right.terms[c]
        if not (isinstance(head, str) and isinstance(a, str) and isinstance(b, str)):
            return False
        taken[head] += 1
        if head == a == b:
            continue
        if head not in (a, b):
            return False
        joined[head == a].append(b if head == a else a)
    linked = Counter(joined[0]), Counter(joined[1])
    every = taken + linked[0]
    return bool(joined[0]) and linked[0] == linked[1] and max(every.values()) == 1


def combines(rule: Rule, left: Match, right: Match, valued: set[int]) -> bool:
    """Return True if a body does nothing but combine the values of both rows, in the column `valued` if there is."""
    others = [literal for literal in rule.body if literal is not left and literal is not right]
    if not valued:
        return not others
    (column,) = valued
    head, values = rule.head[column], (left.terms[column], right.terms[column])
    elsewhere = {t for atom in (left, right) for c, t in enumerate(atom.terms) if c != column}
    if any(isinstance(value, int) for value in values) or values[0] == values[1]:
        return False
    if elsewhere.intersection((head, *values)) - {None}:
        return False
    if not others:
        return isinstance(head, str) and head in values
    if len(others) > 1 or not isinstance(others[0], Compute):
        return False
    step = others[0]
    return (
        step.target == head
        and head not in values
        and step.kind == step.result
        and step.kind in ASSOCIATIVE.get(step.functor, ())
        and Counter(step.arguments) == Counter(values)
    )
