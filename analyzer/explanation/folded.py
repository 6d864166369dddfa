"""Folding an explanation: of a derivation only what the rules say is told, in their words.

`rules/exports/explanations.dl` says which relations these are. What is not told gives way to what lies below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import engine
from analyzer.evaluation.rule_sources import bundled
from engine.provenance import Document
from rules import library

COLUMN = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Reason:
    """A thing told of a derivation, what follows from, and the rule or fact that says so."""

    words: str
    rule: str = ""
    below: tuple[Reason, ...] = ()

    def document(self) -> Document:
        found: Document = {"words": self.words}
        if self.rule:
            found["rule"] = self.rule
        return found | ({"because": [each.document() for each in self.below]} if self.below else {})


@dataclass(frozen=True, slots=True)
class Words:
    """The words for tuples and for their absence, relations that are models, and those that are not entered."""

    told: Mapping[str, str]
    told_absence: Mapping[str, str]
    models: frozenset[str]
    closed: frozenset[str]


@cache
def words() -> Words:
    """Return what `rules/exports/explanations.dl` says."""
    program = engine.compile([bundled(library.explanations())])
    result = engine.evaluate(program, engine.Database(), threads=1)
    models, closed = (frozenset(name for (name,) in result.tuples(kind)) for kind in ("model", "closed"))
    return Words(dict(result.tuples("told")), dict(result.tuples("told_absence")), models, closed)


class Folder:
    """Folds documents of `engine.provenance`. `columns` are the names of a relation's columns."""

    def __init__(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        self.columns, self.words = columns, words()

    def fold(self, node: Document) -> tuple[Reason, ...]:
        """Return what is told of a derivation, each thing once."""
        return tuple(dict.fromkeys(self._told(node)))

    def _told(self, node: Document) -> Iterator[Reason]:
        relation = node["relation"]
        rule = f"{node['rule']['file']}:{node['rule']['line']}" if "rule" in node else ""
        if node.get("left_out") == "above":
            return
        if relation in self.words.models:
            yield Reason(f"model: {node['atom']}", rule)
            return
        parts = () if relation in self.words.closed else node.get("body", ())
        below = [reason for part in parts for reason in self._part(part)]
        if relation in self.words.told:
            yield Reason(self._filled(self.words.told[relation], node), "", tuple(dict.fromkeys(below)))
        else:
            yield from below

    def _part(self, part: Document) -> Iterator[Reason]:
        if "tuple" in part:
            yield from self._told(part["tuple"])
        elif "absent" in part and part["relation"] in self.words.told_absence:
            yield Reason(self._filled(self.words.told_absence[part["relation"]], part))

    def _filled(self, words: str, part: Document) -> str:
        """Return words with the values of columns; symbols without their quotes."""
        values = dict(zip(self.columns[part["relation"]], part["values"], strict=True))
        return COLUMN.sub(lambda match: values.get(match[1], match[0]).strip('"'), words)
