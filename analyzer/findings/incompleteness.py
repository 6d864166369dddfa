"""Problems for what keeps derived relations from being complete: files, lines, and values that were not followed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from analyzer.evaluation.recursion_bounds import INTO
from analyzer.findings.entities import LINE, NOWHERE, Entities
from analyzer.report import Place, Problem

if TYPE_CHECKING:
    import engine

UNPARSED = "unparsed"
MAX_PLACES = 10
"""Maximum number of places listed per kind of problem; the total is given as a number."""
READ = (INTO, "location")
"""The relations that are read where points-to is derived."""


def incompleteness(problems: Iterable[Problem], unparsed: np.ndarray, result: engine.Result) -> Iterator[Problem]:
    """Yield what relations lack; for commands without a report.

    They are derived from facts that were collected with `problems`, and of which `unparsed` is a relation.
    """
    yield from problems
    yield from lines_without_facts(unparsed, result.symbols)
    if INTO in result.relations:
        yield from points_to_cut(result, Entities(result))


def lines_without_facts(unparsed: np.ndarray, symbols: engine.Symbols) -> Iterator[Problem]:
    """Yield the files of which lines have no facts, by name."""
    lines = defaultdict(list)
    for name, line in zip(symbols.texts(unparsed[0].tolist()), unparsed[1].tolist(), strict=True):
        lines[name].append(line)
    for name in sorted(lines):
        first, *others = sorted(lines[name])
        more = f" and {len(others)} more" if others else ""
        yield Problem(f"syntax errors left line {first}{more} without facts", name, first)


def points_to_cut(result: engine.Result, entities: Entities) -> Iterator[Problem]:
    """Yield a problem if points-to analysis has reached its bound."""
    n_wide, first = first_places(entities, result.relation(INTO)[0])
    if n_wide:
        text = f"points-to analysis was cut; values whose objects are not propagated: {n_wide:,}"
        yield Problem(text, places=first)


def first_places(entities: Entities, ids: np.ndarray) -> tuple[int, tuple[Place, ...]]:
    """Return the number of places that entities have, and the first MAX_PLACES in order."""
    if not len(ids):
        return 0, ()
    keys = np.stack(entities.place_keys(ids))
    order = np.lexsort(keys[::-1])
    keys, ids = keys[:, order], ids[order]
    is_first = np.ones(len(ids), bool)
    is_first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    ids = ids[is_first & (keys[LINE] != NOWHERE)]
    return len(ids), tuple(filter(None, map(entities.place, ids[:MAX_PLACES].tolist())))
