"""A grammar in normal form as a Datalog program: a relation for each symbol, a rule for each production."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from engine.cfl.grammar import Production, Step
from engine.cfl.normalise import Normal


@dataclass(frozen=True)
class Rules:
    """The text of a program, and the names of its relations by symbol. Vertices and indices are numbers."""

    text: str
    relations: dict[str, str]
    edges: dict[str, str]


def rules_of(normal: Normal, wanted: Collection[str], inputs: bool = False) -> Rules:
    """Return the program that derives the wanted symbols; with `inputs` it reads edges from files, and prints sizes."""
    heads = dict.fromkeys([*wanted, *normal.grammar.heads])
    edges = {name: relation for name, relation in named("edge", normal.edges).items()}
    paths = named("path", heads)
    indexed = normal.grammar.indexed
    lines = [declaration(relation, symbol in indexed) for symbol, relation in (edges | paths).items()]
    lines += [f".input {relation}" for relation in edges.values() if inputs]
    lines += [f".{'printsize' if inputs else 'output'} {paths[symbol]}" for symbol in dict.fromkeys(wanted)]
    lines += [rule(production, edges | paths, indexed) for production in normal.grammar.productions]
    return Rules("\n".join(lines) + "\n", paths, edges)


def named(kind: str, symbols: Iterable[str]) -> dict[str, str]:
    """Return names of relations, distinct ones, that show the symbols."""
    names: dict[str, str] = {}
    for symbol in symbols:
        plain = f"{kind}_{re.sub(r'[^A-Za-z0-9_]', '_', symbol)}"
        name, n = plain, 1
        while name in names.values():
            n += 1
            name = f"{plain}_{n}"
        names[symbol] = name
    return names


def declaration(relation: str, is_indexed: bool) -> str:
    return f".decl {relation}(x: number, y: number{', i: number' if is_indexed else ''})"


def rule(production: Production, names: dict[str, str], indexed: Collection[str]) -> str:
    """Return the rule of a production of one symbol or two."""
    head, body = production.head, production.body
    vertices = ("x", "y") if len(body) == 1 else ("x", "z", "y")
    n_indexed = sum(symbol in indexed for symbol in (head, *(step.symbol for step in body)))
    index = "i" if n_indexed > 1 else "_"
    atoms = [
        atom(step, names, source, target, index if step.symbol in indexed else "")
        for step, source, target in zip(body, vertices, vertices[1:], strict=False)
    ]
    return f"{atom(Step(head), names, 'x', 'y', index if head in indexed else '')} :- {', '.join(atoms)}."


def atom(step: Step, names: dict[str, str], source: str, target: str, index: str) -> str:
    if step.inverse:
        source, target = target, source
    return f"{names[step.symbol]}({', '.join(filter(None, (source, target, index)))})"
