"""Regular expressions of programs: whether a whole text matches one.

They are ECMAScript's as C++ has them: with POSIX classes (`[[:digit:]]`), and an error for a `{` that begins no
quantifier. Those of other syntaxes that `regex` reads are taken as well. A match that may take long has a limit in
time, and to ask the time takes longer than most matches. So a plain pattern goes to RE2, which does not backtrack, or
to the standard library's matcher, on texts that RE2 reads in another way and on which backtracking is bounded. Of many
texts those of one line are the lines of one text, through which RE2 goes once.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import compress
from math import inf, log2
from typing import TYPE_CHECKING

from engine.database import EvaluationError

if TYPE_CHECKING:
    import re2
    import regex

MATCH_S = 5.0
QUICK_BITS = 20
"""The alternatives that a match without a limit in time may try, in powers of two: a part of a second at worst."""

POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
BRACE = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|(?P<quantifier>\{\d+(,\d*)?\})|(?P<stray>\{)", re.DOTALL)
PLAIN = re.compile(
    r"(\(\?[is]+\))?"
    r"([^\\\[\](){}]|\\[dDsSwWbnrt\W]|\[\^?([^\\\[\]^]|\\[dDsSwWnrt\W])+\]|\((\?(-?i)?:)?(?!\?)|\)|\{\d+(,\d*)?\})*",
    re.DOTALL | re.ASCII,
)
"""Patterns that `re` and `regex` read alike: without references, assertions on what is around, and recursion."""
UNCOMMON = re.compile("[\0-\b\v\f\x0e-\x1f\u017f\u212a\ud800-\udfff]")
"""What only some matchers take for white space or for another case of an ASCII letter, and what UTF-8 has no bytes for.

Before the last end of a line `$` matches for some, too.
"""
REPEATED_GROUP = re.compile(r"\)[*+{]")
OPEN_REPETITION = re.compile(r"[*+]|\{\d+,")


class Pattern:
    """A regular expression, compiled when it is first needed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_malformed = any(match["stray"] for match in BRACE.finditer(text))
        self.translated = re.sub(r"\[:(\w+):\]", lambda match: POSIX_CLASSES.get(match[1], match[0]), text)

    @cached_property
    def quick_length(self) -> float:
        """The maximum length of texts on which few alternatives are tried.

        Where no group is repeated, these are the lengths of all repetitions, options, and branches of groups, combined;
        of branches there are most combinations if all groups have equally many.
        """
        pattern = self.translated
        if self.is_malformed or not PLAIN.fullmatch(pattern) or REPEATED_GROUP.search(pattern):
            return -1
        groups = pattern.count("(") + 1
        bits = QUICK_BITS - pattern.count("?") - groups * log2(pattern.count("|") / groups + 1)
        repetitions = len(OPEN_REPETITION.findall(pattern))
        if bits < 0:
            return -1
        return 2 ** (bits / repetitions) - 1 if repetitions else inf

    @cached_property
    def quick(self) -> re.Pattern[str] | None:
        """The pattern as the standard library takes it, or None."""
        try:
            with warnings.catch_warnings(action="ignore", category=FutureWarning):
                return re.compile(self.translated, re.ASCII)
        except re.error:
            return None

    @cached_property
    def linear(self) -> re2._Regexp | None:
        """The pattern as RE2 takes it, or None: it matches in time proportional to the text.

        On most texts all matchers read a plain pattern of ASCII alike (see `is_common`).
        """
        return self.by_re2("{}", is_of_lines=False)

    @cached_property
    def of_lines(self) -> re2._Regexp | None:
        """The same for the lines of a text: it matches no end of a line."""
        return self.by_re2("(?m)^(?:{})$", is_of_lines=True)

    def by_re2(self, form: str, *, is_of_lines: bool) -> re2._Regexp | None:
        """The pattern in a form, for bytes."""
        import re2  # Most programs do not need it.

        if self.is_malformed or not (self.translated.isascii() and PLAIN.fullmatch(self.translated)):
            return None
        options = re2.Options()
        options.never_capture, options.never_nl, options.log_errors = True, is_of_lines, False
        try:
            return re2.compile(form.format(self.translated).encode(), options)
        except re2.error:
            return None

    @cached_property
    def general(self) -> regex.Pattern[str] | None:
        """The pattern with a limit in time, or None if it is malformed."""
        import regex  # Most programs do not need it.

        if self.is_malformed:
            return None
        try:
            with warnings.catch_warnings(action="ignore", category=FutureWarning):
                return regex.compile(self.translated, regex.ASCII)
        except regex.error:
            return None

    def is_common(self, text: str) -> bool:
        """Return True if a text has nothing that RE2 reads in another way than the other matchers."""
        return UNCOMMON.search(text) is None and not ("$" in self.translated and "\n" in text)

    def matches_each(self, texts: Sequence[str]) -> list[bool | None]:
        """Return for each text whether the whole of it matches; None for a malformed pattern.

        Raises EvaluationError if one takes more than MATCH_S.
        """
        if self.of_lines is None:
            return [self.matches(text) for text in texts]
        lines = [is_line(text) for text in texts]
        joined = "\n".join(compress(texts, lines)).encode()
        matched = {found.group().decode() for found in self.of_lines.finditer(joined)}
        return [text in matched if alone else self.matches(text) for text, alone in zip(texts, lines, strict=True)]

    def matches(self, text: str) -> bool | None:
        if self.is_common(text) and self.linear is not None:
            return self.linear.fullmatch(text.encode()) is not None
        if len(text) <= self.quick_length and self.quick is not None:
            return self.quick.fullmatch(text) is not None
        if self.general is None:
            return None
        try:
            return self.general.fullmatch(text, timeout=MATCH_S) is not None
        except TimeoutError:
            message = f"matching {self.text!r} on a text of {len(text):,} characters takes more than {MATCH_S:g} s"
            raise EvaluationError(message) from None


def is_line(text: str) -> bool:
    """Return True if a text is printable ASCII, so without ends of lines."""
    return text.isascii() and text.isprintable()


compiled = cache(Pattern)


def matches(pattern: str, text: str) -> bool | None:
    """Return True if the whole text matches; None for a malformed pattern.

    Raises EvaluationError if that takes more than MATCH_S.
    """
    return compiled(pattern).matches(text)
