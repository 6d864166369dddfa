"""Normal form: at most two symbols a body, no ε, and compositions made linear. No symbol changes what it stands for.

0. What is needed only between other symbols is restricted by them (`engine/cfl/restrict.py`).
1. Long bodies are cut, two symbols at a time, from the left (`binarise`).
2. Compositions become linear (`linear`). Where `A → A A` is a production and A° stands for its others, A is A° one or
   more times. So it is `A → A° | A A°`, and a production `X → X A` is `X → X A°`: the same words, but one way to derive
   each sequence of A° instead of one for every way to bracket it (the redundancy of Lei et al., *Taming Transitive
   Redundancy for Context-Free Language Reachability*, OOPSLA 2022). Often A is then not needed at all.
3. ε goes (`without_epsilon`): a symbol stands for its words but the empty one, and `A → B C` becomes `A → C` as well
   where B may be empty (Hopcroft, Motwani, Ullman, *Introduction to Automata Theory*, §7.1.3). So the pair of each
   vertex with itself is never stored, joined or told apart; it is added where results are counted and written.
4. What stands for no word, or for none that is asked for, goes (`useful`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from engine.cfl.grammar import Grammar, Production, Step
from engine.cfl.restrict import absorbed, restricted

PART, REST, EDGES = "&", "°", "·"
"""Ends of the names of symbols that stand for a part of a body, the other productions of a symbol, the edges of one."""


@dataclass(frozen=True)
class Normal:
    """A grammar in normal form; `empty` symbols also join each vertex with itself.

    Symbols without productions stand for edges, of the labels that `edges` gives.
    """

    grammar: Grammar
    empty: frozenset[str]
    edges: dict[str, str]


def normalise(grammar: Grammar, labels: Iterable[str], wanted: Collection[str]) -> Normal:
    """Return the normal form of a grammar for the wanted symbols, given the labels that there are edges of."""
    edges = {label + EDGES if label in grammar.heads else label: label for label in labels}
    grammar = linear(binarise(restricted(with_edges(grammar, edges), wanted)), wanted)
    empty = nullable(grammar.productions)
    productions = without_epsilon(grammar.productions, empty)
    grammar = replace(grammar, productions=useful(productions, edges, wanted))
    return Normal(grammar, empty, {name: label for name, label in edges.items() if name in grammar.symbols})


def with_edges(grammar: Grammar, edges: Collection[str]) -> Grammar:
    """Give symbols that have both productions and edges a production that goes to the edges."""
    both = [head for head in grammar.heads if head + EDGES in edges]
    productions = (*grammar.productions, *(Production(head, (Step(head + EDGES),)) for head in both))
    indexed = grammar.indexed.union(head + EDGES for head in both if head in grammar.indexed)
    return replace(grammar, productions=productions, indexed=indexed)


# ---- 1


def binarise(grammar: Grammar) -> Grammar:
    """Cut long bodies. A part that an indexed symbol stands in is indexed if the head or the rest of the body is."""
    productions: list[Production] = []
    parts: dict[tuple[Step, Step, bool], str] = {}
    indexed = set(grammar.indexed)
    for production in grammar.productions:
        head, body = production.head, production.body
        while len(body) > 2:
            first, second, *rest = body
            carries = any(s.symbol in indexed for s in (first, second)) and any(
                symbol in indexed for symbol in (head, *(step.symbol for step in rest))
            )
            part = parts.get((first, second, carries))
            if part is None:
                part = parts[first, second, carries] = f"{head}{PART}{len(parts) + 1}"
                productions.append(Production(part, (first, second)))
                if carries:
                    indexed.add(part)
            body = (Step(part), *rest)
        productions.append(Production(head, body))
    return replace(grammar, productions=tuple(productions), indexed=frozenset(indexed))


# ---- 2


def linear(grammar: Grammar, wanted: Collection[str]) -> Grammar:
    """Make compositions linear, of symbols that have other productions than that one and ε."""
    rest: dict[str, Step] = {}
    productions: list[Production] = []
    for head in grammar.heads:
        own = [p for p in grammar.productions if p.head == head]
        composition = Production(head, (Step(head), Step(head)))
        others = [p for p in own if p != composition and p.body]
        if not others or composition not in own or head in grammar.indexed:
            productions += own
        elif len(others) == 1 and len(others[0].body) == 1:
            rest[head] = others[0].body[0]
            productions += own
        else:
            rest[head] = Step(head + REST)
            productions += [replace(p, head=head + REST) for p in others]
            productions += [p for p in own if not p.body]
            productions += [Production(head, (rest[head],)), composition]
    grammar = replace(grammar, productions=tuple(composed(p, rest) for p in productions))
    return replace(grammar, productions=absorbed(grammar, rest, nullable(grammar.productions), wanted))


def composed(production: Production, rest: dict[str, Step]) -> Production:
    """Return `X → X A°` for `X → X A`, `X → A° X` for `X → A X`."""
    itself = Step(production.head)
    if len(production.body) == 2 and itself in production.body:
        left, right = production.body
        if left == itself and right.symbol in rest:
            return replace(production, body=(left, turned(rest[right.symbol], right.inverse)))
        if right == itself and left.symbol in rest:
            return replace(production, body=(turned(rest[left.symbol], left.inverse), right))
    return production


def turned(step: Step, inverse: bool) -> Step:
    return Step(step.symbol, step.inverse != inverse)


# ---- 3


def nullable(productions: Iterable[Production]) -> frozenset[str]:
    """Return the symbols that the empty word belongs to."""
    found: set[str] = set()
    while more := {p.head for p in productions if all(s.symbol in found for s in p.body)} - found:
        found |= more
    return frozenset(found)


def without_epsilon(productions: Iterable[Production], empty: Collection[str]) -> tuple[Production, ...]:
    """Return productions of at most two symbols for the same words but the empty one."""
    found: dict[Production, None] = {}
    for production in productions:
        bodies = [production.body]
        if len(production.body) == 2:
            left, right = production.body
            bodies += [(right,)] * (left.symbol in empty) + [(left,)] * (right.symbol in empty)
        for body in bodies:
            if body and body != (Step(production.head),):
                found[Production(production.head, body)] = None
    return tuple(found)


# ---- 4


def useful(
    productions: Iterable[Production], labels: Collection[str], wanted: Collection[str]
) -> tuple[Production, ...]:
    """Return the productions that derive words of the wanted symbols, from labels that there are edges of."""
    productive = set(labels)
    while more := {p.head for p in productions if all(s.symbol in productive for s in p.body)} - productive:
        productive |= more
    kept = [p for p in productions if all(step.symbol in productive for step in p.body)]
    needed = set(wanted)
    while more := {step.symbol for p in kept if p.head in needed for step in p.body} - needed:
        needed |= more
    return tuple(p for p in kept if p.head in needed)
