"""Context-free grammars over the labels of edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

INDEX = "_i"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a production's body: along edges or paths of a symbol, or backwards for its inverse."""

    symbol: str
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Production:
    """`head → body`; an empty body is ε. All indexed symbols of a production have the same index."""

    head: str
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Grammar:
    """Productions, in order; `indexed` symbols carry an index, as `call_i` does; `counted` are those asked for."""

    productions: tuple[Production, ...]
    indexed: frozenset[str] = frozenset()
    counted: tuple[str, ...] = ()

    @property
    def heads(self) -> tuple[str, ...]:
        """The symbols with productions, in order."""
        return tuple(dict.fromkeys(production.head for production in self.productions))

    @property
    def symbols(self) -> tuple[str, ...]:
        """All symbols, in order."""
        return tuple(dict.fromkeys(symbols_of(self.productions)))

    @property
    def labels(self) -> frozenset[str]:
        """The labels of edges that matter: all symbols, and those whose inverses they may be."""
        return frozenset(self.symbols).union(filter(None, map(inverted, self.symbols)))


def symbols_of(productions: Iterable[Production]) -> Iterator[str]:
    for production in productions:
        yield production.head
        for step in production.body:
            yield step.symbol


def inverted(symbol: str) -> str | None:
    """Return the symbol whose inverse this one is by its name: `-a` (Graspan), `abar` and `fbar_i` (POCR)."""
    if symbol.startswith("-"):
        return symbol[1:] or None
    stem, index = (symbol.removesuffix(INDEX), INDEX) if symbol.endswith(INDEX) else (symbol, "")
    return stem[:-3] + index if stem.endswith("bar") and len(stem) > 3 else None


def with_inverses(grammar: Grammar, given: Iterable[str]) -> Grammar:
    """Return the grammar with inverses followed backwards where neither productions nor `given` edges define them."""
    known = {*grammar.heads, *given}

    def resolved(step: Step) -> Step:
        other = None if step.symbol in known else inverted(step.symbol)
        return Step(other, not step.inverse) if other in known else step

    productions = tuple(Production(p.head, tuple(map(resolved, p.body))) for p in grammar.productions)
    return replace(grammar, productions=productions)
