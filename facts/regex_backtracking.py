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

from facts.regex_ambiguity import ambiguous_components, strong_components
from facts.regex_automaton import Alphabet, Automaton, Fragment, Items, TooLarge
from facts.regex_construction import build, category, kept_apart, one_character, parsed

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
        body = build(automaton, items)
        anchored = begins_once(automaton, items)
        before = Fragment() if anchored else automaton.loop(automaton.position(automaton.alphabet.every))
        whole = automaton.concatenate(before, body)
    except (TooLarge, RecursionError):
        return False
    loops = [p for p, follow in automaton.follow.items() if p in follow and automaton.characters[p]]
    if not _UNSURE.search(pattern):
        taken = always_taken(automaton, body)
        for position in before.first:
            automaton.characters[position] &= ~taken
    return any(q != p and q not in whole.last and filled_between(automaton, p, q) for p in loops for q in loops)


def begins_once(automaton: Automaton, items: Items) -> bool:
    """Return True if a match begins at the start of the text alone, or nowhere inside what a loop reads.

    As those of `(?<!\\s)\\s+$` and `\\b\\d+x`: few of them read the same place.
    """
    read = [automaton.characters[p] for p, follow in automaton.follow.items() if p in follow]
    match next(iter(items), None):
        case (sre.AT, anchor) if anchor in START_ANCHORS:
            return True
        case (sre.AT, sre.AT_BOUNDARY):
            word = category(automaton.alphabet, sre.CATEGORY_WORD)
            apart = not any(characters & word and characters & ~word for characters in read)
        case (sre.ASSERT | sre.ASSERT_NOT as look, (direction, part)) if direction < 0:
            before = one_character(automaton.alphabet, part)
            if before is None:
                return False
            allowed = before if look is sre.ASSERT else ~before
            apart = not any(characters & allowed for characters in read)
        case _:
            return False
    graph = {p: list(follow) for p, follow in automaton.follow.items()}
    return apart and all(len(loop) == 1 for loop in strong_components(graph, graph))


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
