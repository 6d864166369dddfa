"""Build the automaton of a regular expression from its parts, as the standard library parses them."""

from __future__ import annotations

import re
import re._constants as sre
import re._parser as parser
import warnings
from dataclasses import replace
from typing import Any

from facts.regex_ambiguity import ambiguous_components
from facts.regex_automaton import LATIN_BITS, Alphabet, Automaton, Fragment, Items

MAX_COPIES = 4
FEW_REPEATS = 8
"""A part that is repeated so many times at most multiplies the ways to match it by a constant."""
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
END_ANCHORS = (sre.AT_END, sre.AT_END_STRING, sre.AT_END_LINE)


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
