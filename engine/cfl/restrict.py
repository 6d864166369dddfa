"""Symbols that are needed only between others are restricted by these before they are formed.

In `M → -d V d`, `V → -F F | -F M F` the pairs of V are many, and few of their ends have edges of d. So V is written out
where it stands (`written_out`), and both ends of `M → -d -F F d` are one symbol, followed backwards and forwards
(`folded`): `W → F d`, `M → -W W | -W M W`. That is the plan that McSherry et al., *Shared Arrangements* (PVLDB 2020),
§6.3.2, give for Graspan's points-to analysis. `absorbed` goes further where F composes: W is then `d`, or a step of F
and W, and F is not formed either.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from engine.cfl.grammar import Grammar, Production, Step

Body = tuple[Step, ...]
END = "^"
"""The end of the name of a symbol that stands for an end of a body."""


def restricted(grammar: Grammar, wanted: Collection[str]) -> Grammar:
    """Return a grammar in which all symbols that are wanted stand for the same words."""
    return folded(written_out(grammar, wanted))


def inverse(body: Body) -> Body:
    return tuple(Step(step.symbol, not step.inverse) for step in reversed(body))


def written_out(grammar: Grammar, wanted: Collection[str]) -> Grammar:
    """Replace symbols that stand between others, and nowhere else, by what they go to; recursive ones are left."""
    for symbol in grammar.heads:
        own = [p.body for p in grammar.productions if p.head == symbol]
        others = [p for p in grammar.productions if p.head != symbol]
        if symbol in wanted or symbol in grammar.indexed or any(symbol in names(body) for body in own):
            continue
        if all(symbol not in names(p.body[:1] + p.body[-1:]) for p in others):
            productions = (replace(p, body=body) for p in others for body in replaced(p.body, symbol, own))
            grammar = replace(grammar, productions=tuple(productions))
    return grammar


def names(body: Body) -> set[str]:
    return {step.symbol for step in body}


def replaced(body: Body, symbol: str, bodies: Collection[Body]) -> list[Body]:
    """Return a body with each of the bodies of a symbol in its place."""
    found: list[Body] = [()]
    for step in body:
        choices = bodies if step.symbol == symbol else [(step,)]
        found = [
            begun + (inverse(choice) if step.symbol == symbol and step.inverse else choice)
            for begun in found
            for choice in choices
        ]
    return found


def folded(grammar: Grammar) -> Grammar:
    """Make one symbol of the two ends of a body, if these are inverses of each other and longer than a symbol."""
    ends: dict[Body, str] = {}
    productions: list[Production] = []
    for production in grammar.productions:
        body = production.body
        n = mirrored_length(body)
        if n < 2:
            productions.append(production)
            continue
        last, middle = body[-n:], body[n:-n]
        if last not in ends:
            ends[last] = f"{production.head}{END}{len(ends) + 1}"
            productions.append(Production(ends[last], last))
        end = Step(ends[last])
        rest = (*middle, end)
        if middle:
            ends[rest] = ends.get(rest, f"{production.head}{END}{len(ends) + 1}")
            productions.append(Production(ends[rest], rest))
            rest = (Step(ends[rest]),)
        productions.append(replace(production, body=(Step(end.symbol, True), *rest)))
    indexed: set[str] = set()
    for body, name in ends.items():  # A body's end comes before it.
        if names(body) & (grammar.indexed | indexed):
            indexed.add(name)
    return replace(grammar, productions=tuple(productions), indexed=grammar.indexed | indexed)


def mirrored_length(body: Body) -> int:
    """Return how many symbols at the end are the inverses of those at the beginning, the middle one apart."""
    other = inverse(body)
    half = len(body) // 2
    return next((n for n in range(half) if body[n] != other[n]), half)


def absorbed(
    grammar: Grammar, steps: Mapping[str, Step], empty: Collection[str], wanted: Collection[str]
) -> tuple[Production, ...]:
    """Return the productions with `W → d | F° W` for `W → F d`, and likewise for `W → d F`.

    `steps` gives F° of symbols F that compose, `empty` holds the symbols that ε belongs to. F is absorbed where nothing
    else needs it, and W has no other production.
    """
    productions = grammar.productions
    gone = {symbol for symbol in steps if symbol not in wanted and all(is_end(symbol, p, grammar) for p in productions)}
    found: list[Production] = []
    for production in productions:
        repeated = names(production.body) & gone
        if production.head in gone or not repeated:
            found.append(production)
            continue
        first, second = production.body
        symbol, itself = repeated.pop(), Step(production.head)
        is_first = first.symbol == symbol
        repeat, other = (first, second) if is_first else (second, first)
        step = Step(steps[symbol].symbol, steps[symbol].inverse != repeat.inverse)
        for rest in (other, itself) if symbol not in empty else (itself,):
            found.append(replace(production, body=(step, rest) if is_first else (rest, step)))
        if symbol in empty:
            found.append(replace(production, body=(other,)))
    return tuple(found)


def is_end(symbol: str, production: Production, grammar: Grammar) -> bool:
    """Return True if the production does not need the symbol, once it is absorbed."""
    head, body = production.head, production.body
    if head == symbol or symbol not in names(body):
        return True
    alone = sum(p.head == head for p in grammar.productions) == 1
    return alone and len(body) == 2 and len(names(body) - {head}) == 2
