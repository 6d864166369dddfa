"""Regular expressions whose backtracking match can take exponential or polynomial time.

A pattern is exponentially ambiguous when its automaton has a state that can be left and reached again by the same word
in two ways (Weber and Seidl, 1991, criterion EDA; for backtracking matchers, Weideman et al., 2016). The automaton is
Glushkov's, whose transitions keep their multiplicity: `(a+)+` has one position and two ways from it to itself. A match
suffers only when it can still fail after the loop, so patterns that accept inside the loop are left out.

A search takes quadratic time where one loop leads to another and a character fills both (criterion IDA, for words of
one character): `a.*b.*c`, or ` +$`, which a search begins anew at every place.
"""

from __future__ import annotations

import re
import re._constants as sre
import re._parser as parser
import warnings
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

MAX_POSITIONS = 160
MAX_COPIES = 4
FEW_REPEATS = 8
"""A part that is repeated so many times at most multiplies the ways to match it by a constant."""
LATIN_BITS = 256
# Parts that take fewer characters than they may, or fail for a reason that is no character.
_UNSURE = re.compile(r"\\[bBAZzG\dk]|\(\?[=!<>(]|\(\?P[=>]|[+*?}][?+]")
_SET = r"\\[dswDSW]|\[\^?\]?(?:\\.|[^\]\\])*\]"
_SET_OR_ESCAPE = re.compile(rf"(?P<alone>(?:{_SET})(?=[|)]))|{_SET}|\\.", re.DOTALL)

CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)
LOOKS = (sre.ASSERT, sre.ASSERT_NOT)
START_ANCHORS = (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
END_ANCHORS = (sre.AT_END, sre.AT_END_STRING, sre.AT_END_LINE)

Node = TypeVar("Node", bound=Hashable)
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


def kept_apart(pattern: str) -> str:
    """Return the pattern with an empty assertion behind sets of characters, which the parser then does not merge."""
    return _SET_OR_ESCAPE.sub(lambda found: found[0] + ("(?=)" if found["alone"] else ""), pattern)


def parsed(pattern: str) -> list[tuple[int, Any]]:
    """Return the parts of the pattern; none if it is no valid one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(parser.parse(pattern))
    except (re.error, OverflowError, RecursionError, ValueError):
        return []


def build(automaton: Automaton, items: Items) -> Fragment:
    whole, before, limit = Fragment(), None, -1
    for item in items:
        part = fragment(automaton, *item)
        whole = automaton.concatenate(whole, part)
        asserts = asserted(automaton.alphabet, item)
        if asserts is not None:
            limit &= asserts
            whole = whole.left_for(dict.fromkeys(whole.last, asserts))
            if before is not None:
                automaton.next[before] = automaton.next.get(before, -1) & asserts
        elif part.last:
            before = next(iter(part.last)) if one_character(automaton.alphabet, [item]) is not None else None
            if before is not None:
                automaton.characters[before] &= limit
            limit = -1
    return whole


def one_character(alphabet: Alphabet, items: Items) -> int | None:
    """Return the set of which the items read one character, None if they are something else.

    They may have assertions of nothing beside it, which `kept_apart` makes.
    """
    match [item for item in items if not (item[0] is sre.ASSERT and not len(item[1][1]))]:
        case [(sre.LITERAL | sre.NOT_LITERAL | sre.IN | sre.ANY as operator, argument)]:
            return characters_of(alphabet, operator, argument)
    return None


def asserted(alphabet: Alphabet, item: tuple[int, Any]) -> int | None:
    """Return the set of which the next character is one, by an assertion of one character; None if it is none."""
    operator, argument = item
    if operator not in LOOKS or argument[0] < 0:
        return None
    characters = one_character(alphabet, argument[1])
    return characters if characters is None or operator is sre.ASSERT else alphabet.every & ~characters


def fragment(automaton: Automaton, operator: int, argument: Any) -> Fragment:
    if operator in REPEATS:
        return repeat(automaton, *argument)
    if operator is sre.SUBPATTERN:
        characters = one_character(automaton.alphabet, argument[3])
        if argument[0] is not None and characters is not None:
            automaton.groups[argument[0]] = characters
        return build(automaton, list(argument[3]))
    if operator is sre.BRANCH:
        return alternatives([build(automaton, list(option)) for option in argument[1]])
    if operator is sre.AT:
        # An end anchor can fail, so it stands for one more character that must be read.
        return automaton.position(0) if argument in END_ANCHORS else Fragment()
    if operator in LOOKS:
        return Fragment()
    if operator is sre.GROUPREF:
        return automaton.position(automaton.groups.get(argument, automaton.alphabet.every))
    if operator is sre.ATOMIC_GROUP:
        return atomic(automaton, list(argument))
    if operator is sre.POSSESSIVE_REPEAT:
        return atomic(automaton, [(sre.MAX_REPEAT, argument)])
    if operator is sre.GROUPREF_EXISTS:
        return automaton.position(automaton.alphabet.every)  # one opaque step
    return automaton.position(characters_of(automaton.alphabet, operator, argument))


def atomic(automaton: Automaton, items: list[tuple[int, Any]]) -> Fragment:
    """Build a part that is never backtracked into: a loop at its end takes all characters that it can."""
    alone = Automaton(automaton.alphabet)
    ends = build(alone, items).last.keys()
    ambiguous = ambiguous_components(alone)
    if ambiguous and all(component & ends for component in ambiguous):
        return automaton.position(automaton.alphabet.every)  # fails nowhere inside: one opaque step
    body = build(automaton, items)
    read = automaton.characters
    return body.left_for({p: ~read[p] for p in body.last if p in automaton.follow.get(p, ()) and read[p]})


def alternatives(options: list[Fragment]) -> Fragment:
    # The parser factors common prefixes out, (a|a) is a(|): two ways to be empty are two ways to match.
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    limits: dict[int, int] = {}
    for option in options:
        first |= option.first
        last |= option.last
        limits |= option.limits
    return Fragment(first, last, sum(option.nullable for option in options), limits)


def repeat(automaton: Automaton, low: int, high: int, body: Items) -> Fragment:
    """Unroll `body{low,high}` into MAX_COPIES at most.

    A bound above FEW_REPEATS is read as none, since ambiguity grows with it all the same.
    """
    unbounded = high is sre.MAXREPEAT or high > FEW_REPEATS
    needed = min(low, MAX_COPIES)
    whole = Fragment()
    for _ in range(needed - 1 if unbounded else needed):
        whole = automaton.concatenate(whole, build(automaton, list(body)))
    if unbounded:
        tail = automaton.loop(build(automaton, list(body)))
        return automaton.concatenate(whole, tail if needed else optional(tail))
    rest = Fragment()
    for _ in range(min(int(high), MAX_COPIES) - needed):
        rest = optional(automaton.concatenate(build(automaton, list(body)), rest))
    return automaton.concatenate(whole, rest)


def optional(body: Fragment) -> Fragment:
    return replace(body, nullable=1)


def characters_of(alphabet: Alphabet, operator: int, argument: Any) -> int:
    if operator is sre.ANY:
        return alphabet.every & ~sum(1 << ord(end) for end in alphabet.line_ends)
    if operator is sre.LITERAL:
        return alphabet.between(argument, argument)
    if operator is sre.NOT_LITERAL:
        return alphabet.every & ~alphabet.between(argument, argument)
    if operator is sre.RANGE:
        return alphabet.between(*argument)
    if operator is sre.CATEGORY:
        return category(alphabet, argument)
    if operator is sre.IN:
        negated = argument[0][0] is sre.NEGATE
        mask = 0
        for inner in argument[negated:]:
            mask |= characters_of(alphabet, *inner)
        if not negated:
            return mask
        # Letters beyond Latin-1 that a category takes are not all there are.
        by_category = any(inner[0] is sre.CATEGORY for inner in argument)
        return alphabet.every & ~mask | (alphabet.beyond if by_category else 0)
    return alphabet.every


def category(alphabet: Alphabet, name: int) -> int:
    shorthand = CATEGORIES.get(name)
    if shorthand is None:
        return alphabet.every
    mask = sum(1 << c for c in range(LATIN_BITS) if re.match(shorthand, chr(c)))
    return mask | (alphabet.beyond if re.match(shorthand, chr(LATIN_BITS)) else 0)


def ambiguous_components(automaton: Automaton, without: int | None = None) -> list[set[int]]:
    """Return, for each way to leave a position and come back by one word in two ways, the positions on the way.

    None of them goes by the position `without`.
    """
    graph = {
        p: [q for q in follow if q != without and (automaton.read(p, q) or not automaton.characters[q])]
        for p, follow in automaton.follow.items()
        if p != without
    }
    found = []
    for component in strong_components(graph, range(len(automaton.characters))):
        inner = {p: [q for q in graph.get(p, ()) if q in component] for p in component}
        if doubled(automaton, inner) or diverging(automaton, inner):
            found.append(component)
    return found


def doubled(automaton: Automaton, inner: dict[int, list[int]]) -> bool:
    """Return True if a step inside the component can be taken in two ways."""
    return any(automaton.follow[p][q] > 1 for p, targets in inner.items() for q in targets)


def diverging(automaton: Automaton, inner: dict[int, list[int]]) -> bool:
    """Return True if two different paths from some position to itself read the same word.

    Then (p, p) and (q, r) are in one component of the product.
    """
    product: dict[tuple[int, int], list[tuple[int, int]]] = {}
    todo = [(p, p) for p in inner]
    while todo:
        pair = todo.pop()
        if pair in product:
            continue
        left, right = pair
        product[pair] = [
            (p, q) for p in inner[left] for q in inner[right] if automaton.read(left, p) & automaton.read(right, q)
        ]
        todo.extend(product[pair])
    for component in strong_components(product, product):
        if any(p == q for p, q in component) and any(p != q for p, q in component):
            return True
    return False


def strong_components(graph: Mapping[Node, Collection[Node]], nodes: Iterable[Node]) -> list[set[Node]]:
    """Tarjan's strongly connected components, iteratively; those without an edge inside are left out."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    waiting: set[Node] = set()
    found = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(graph.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        while work:
            node, successors = work[-1]
            step = next((s for s in successors if s not in index or s in waiting), None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(popped(stack, waiting, node))
            elif step in index:
                low[node] = min(low[node], index[step])
            else:
                index[step] = low[step] = len(index)
                stack.append(step)
                waiting.add(step)
                work.append((step, iter(graph.get(step, ()))))
    return [c for c in found if len(c) > 1 or any(n in graph.get(n, ()) for n in c)]


def popped(stack: list[Node], waiting: set[Node], root: Node) -> set[Node]:
    component = set()
    while True:
        node = stack.pop()
        waiting.discard(node)
        component.add(node)
        if node == root:
            return component
