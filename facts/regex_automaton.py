"""The automaton of a regular expression: Glushkov's, whose transitions keep their multiplicity.

`(a+)+` has one position and two ways from it to itself. `regex_construction.py` builds it from a pattern.
"""

from __future__ import annotations

import re._constants as sre
import re._parser as parser
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

MAX_POSITIONS = 160
LATIN_BITS = 256

Items = Iterable[tuple[int, Any]]
"""A pattern as the standard library parses it: operators, each with an argument of its own shape."""


class TooLarge(Exception):
    """The automaton has more than MAX_POSITIONS positions."""


@dataclass
class Fragment:
    """A part of a pattern: the positions it can start and end at, with the number of ways, and whether it can be empty.

    `nullable` counts the ways to match the empty word. Behind a position of `limits` the part is left for one of these
    characters alone.
    """

    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    nullable: int = 1
    limits: dict[int, int] = field(default_factory=dict)

    def left_for(self, characters: dict[int, int]) -> Fragment:
        """Return the part, left behind each of these positions for its characters alone."""
        limits = self.limits | {p: self.limits.get(p, -1) & only for p, only in characters.items()}
        return replace(self, limits=limits)


@dataclass(frozen=True)
class Alphabet:
    """Sets of characters as bit masks: a bit for each of Latin-1, and one for each interval beyond it.

    The intervals begin at LATIN_BITS and at `bounds`, sorted: a pattern that names no others tells between no others.
    A dot matches all but the `line_ends`, which are of Latin-1.
    """

    bounds: tuple[int, ...]
    line_ends: str = "\n"

    @classmethod
    def of(cls, items: Items, line_ends: str = "\n") -> Alphabet:
        named = {bound for low, high in ranges(items) for bound in (low, high + 1) if bound > LATIN_BITS}
        return cls(tuple(sorted(named)), line_ends)

    @property
    def every(self) -> int:
        return (1 << (LATIN_BITS + 1 + len(self.bounds))) - 1

    @property
    def beyond(self) -> int:
        """All letters beyond Latin-1."""
        return self.every >> LATIN_BITS << LATIN_BITS

    def between(self, low: int, high: int) -> int:
        """From one code point to another, both included."""
        return (2 << self.bit(high)) - (1 << self.bit(low))

    def bit(self, code_point: int) -> int:
        return code_point if code_point < LATIN_BITS else LATIN_BITS + bisect_right(self.bounds, code_point)


def ranges(part: Any) -> Iterator[tuple[int, int]]:
    """The code points that a part of a pattern names, each as the first and the last of a range."""
    if isinstance(part, tuple) and len(part) == 2 and part[0] in (sre.LITERAL, sre.NOT_LITERAL):
        yield part[1], part[1]
    elif isinstance(part, tuple) and len(part) == 2 and part[0] is sre.RANGE:
        yield part[1]
    elif isinstance(part, (tuple, list, parser.SubPattern)):
        for inner in part:
            yield from ranges(inner)


@dataclass
class Automaton:
    """`characters[p]` is the set (a bit mask) that position p reads; `follow[p][q]` the number of ways from p to q.

    `next[p]` is the set that may be read behind p, where an assertion limits it, and `groups` has those of groups that
    are one character.
    """

    alphabet: Alphabet
    characters: list[int] = field(default_factory=list)
    follow: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    next: dict[int, int] = field(default_factory=dict)
    groups: dict[int, int] = field(default_factory=dict)

    def position(self, characters: int) -> Fragment:
        if len(self.characters) >= MAX_POSITIONS:
            raise TooLarge
        self.characters.append(characters)
        at = len(self.characters) - 1
        return Fragment({at: 1}, {at: 1}, 0)

    def read(self, before: int, position: int) -> int:
        """Return the characters that position reads behind another one."""
        return self.characters[position] & self.next.get(before, -1)

    def link(self, left: Fragment, first: dict[int, int]) -> None:
        """Go on from the ends of `left`, but for steps that its limits leave no character for."""
        for p, ways_out in left.last.items():
            for q, ways_in in first.items():
                if not self.characters[q] or self.characters[q] & left.limits.get(p, -1):
                    self.follow[p][q] += ways_out * ways_in

    def concatenate(self, left: Fragment, right: Fragment) -> Fragment:
        self.link(left, right.first)
        return Fragment(
            joined(left.first, right.first, left.nullable),
            joined(right.last, left.last, right.nullable),
            left.nullable * right.nullable,
            left.limits | right.limits,
        )

    def loop(self, body: Fragment) -> Fragment:
        """One or more of `body`; an empty round ends the loop, as matchers see to."""
        self.link(body, body.first)
        return replace(body, nullable=min(body.nullable, 1))


def joined(near: dict[int, int], far: dict[int, int], ways: int) -> dict[int, int]:
    """The positions of `near`, and those of `far` seen through `ways` empty matches."""
    result = dict(near)
    for position, count in far.items() if ways else ():
        result[position] = result.get(position, 0) + count * ways
    return result
