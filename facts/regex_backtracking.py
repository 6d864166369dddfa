"""Regular expressions whose backtracking match can take exponential or polynomial time.

An exponentially ambiguous pattern (`regex_ambiguity.py`) takes exponential time. A match suffers only when it can still
fail after the loop, so patterns that accept inside the loop are left out.

A search takes quadratic time where one loop leads to another and a character fills both (criterion IDA of Weber and
Seidl, for words of one character): `a.*b.*c`, or ` +$`, which a search begins anew at every place.
"""

from __future__ import annotations

import re
import re._constants as sre
from collections.abc import Collection, Iterable

from facts.regex_ambiguity import ambiguous_components
from facts.regex_automaton import Alphabet, Automaton, Fragment, TooLarge
from facts.regex_construction import build, kept_apart, parsed

START_ANCHORS = (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
# Parts that take fewer characters than they may, or fail for a reason that is no character.
_UNSURE = re.compile(r"\\[bBAZzG\dk]|\(\?[=!<>(]|\(\?P[=>]|[+*?}][?+]")


def exponential(pattern: str, *, merged: bool = False, line_ends: str = "\n") -> bool:
    """Return True if `pattern`, in Python's syntax, is exponentially ambiguous before a point of failure.

    `merged`: the matcher joins alternatives of one character each to one set, as Python's does: `(\\w|_)*` has one way.
    A dot matches all but the `line_ends`.
    False for what is no valid pattern and for patterns of more than MAX_POSITIONS positions, repeats unrolled.
    """
    if not re.search(r"\)[*+{]", pattern):
        return False
    items = parsed(pattern if merged else kept_apart(pattern))
    automaton = Automaton(Alphabet.of(items, line_ends))
    try:
        whole = build(automaton, items)
    except (TooLarge, RecursionError):
        return False
    return any(
        not component & whole.last.keys() and not always_matches(automaton, component, whole.last)
        for component in ambiguous_components(automaton)
    )


def always_matches(automaton: Automaton, component: set[int], last: Collection[int]) -> bool:
    """Return True if some loop of one character in the component goes on to a match whatever follows.

    As that of `[^>]` in `("[^"]*"|[^>])*(>|$)`. Without it, the component has one way to match each word.
    """
    for loop in component & automaton.follow.keys():
        follow = automaton.follow[loop]
        ends = [p for p in follow if p in last]
        taken = automaton.characters[loop]
        for p in ends:
            taken |= automaton.characters[p]
        if (
            loop in follow
            and taken == automaton.alphabet.every
            and any(not automaton.characters[p] for p in ends)
            and not any(component & other for other in ambiguous_components(automaton, without=loop))
        ):
            return True
    return False


def polynomial(pattern: str, line_ends: str = "\n") -> bool:
    """Return True if searching for `pattern`, as a Python regular expression, can take quadratic time to fail.

    By words of one character alone. False for what is no valid pattern, and for patterns of more than MAX_POSITIONS
    positions.
    """
    items = parsed(pattern)
    automaton = Automaton(Alphabet.of(items, line_ends))
    try:
        anchored = bool(items) and items[0][0] is sre.AT and items[0][1] in START_ANCHORS
        before = Fragment() if anchored else automaton.loop(automaton.position(automaton.alphabet.every))
        body = build(automaton, items)
        whole = automaton.concatenate(before, body)
    except (TooLarge, RecursionError):
        return False
    loops = [p for p, follow in automaton.follow.items() if p in follow and automaton.characters[p]]
    if not _UNSURE.search(pattern):
        taken = always_taken(automaton, body)
        for position in before.first:
            automaton.characters[position] &= ~taken
    return any(q != p and q not in whole.last and filled_between(automaton, p, q) for p in loops for q in loops)


def always_taken(automaton: Automaton, body: Fragment) -> int:
    """Return the characters of which `body` takes as many as there are: a search begins anew behind all of them."""
    taken = 0
    for position, characters in reached(automaton, body.first, automaton.alphabet.every):
        if position in body.last and position in automaton.follow.get(position, ()):
            taken |= characters
    return taken


def filled_between(automaton: Automaton, start: int, end: int) -> bool:
    """Return True if one character leads from the loop `start` to the loop `end`, and fills both."""
    read = automaton.characters
    after = reached(automaton, automaton.follow.get(start, ()), read[start] & read[end])
    return any(position == end for position, _ in after)


def reached(automaton: Automaton, first: Iterable[int], characters: int) -> set[tuple[int, int]]:
    """Return the positions that words of one of these characters lead to, each with the characters that do."""
    todo = [(position, characters & automaton.characters[position]) for position in first]
    seen = set()
    while todo:
        position, shared = here = todo.pop()
        if not shared or here in seen:
            continue
        seen.add(here)
        todo += [(p, shared & automaton.characters[p]) for p in automaton.follow.get(position, ())]
    return seen
