"""The groups of `#if … #elif … #else … #endif` in a text, and which of their parts no C compiler of today ever sees.

A compiler of today takes C17, as gcc and clang do unless they are told otherwise.
"""

import re
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(
    rb"(?:^|(?<=:;))[ \t]*#[ \t]*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b((?:\\\r?\n|[^\n])*)\n?",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"/\*.*?\*/|//.*", re.DOTALL)
_NEVER = re.compile(
    rb"if (?:0|!1|(?:defined\(?__cplusplus\)?|__cplusplus>=?[0-9L]+|__cplusplus)(?:&&[^|]*)?)|ifdef __cplusplus"
    rb"|if (?:!defined\(?__STDC_VERSION__\)?(?:\|\|)?)?(?:\(?__STDC_VERSION__(?:[-+]0)?<(?:199901|201112|201710)L?\)?)?"
    rb"|if !\(defined\(?__STDC_VERSION__\)?&&__STDC_VERSION__(?:[-+]0)?>=(?:199901|201112|201710)L?\)"
    rb"|ifndef __STDC_VERSION__"
)
_ALWAYS = re.compile(
    rb"if (?:1|!0|!defined\(__cplusplus\))|ifndef __cplusplus|ifdef __STDC_VERSION__"
    rb"|if (?:defined\(?__STDC_VERSION__\)?(?:&&)?)?(?:\(?__STDC_VERSION__(?:[-+]0)?>=(?:199901|201112|201710)L?\)?)?"
)
_DECIDED = re.compile(rb"__cplusplus|__STDC_VERSION__|#[ \t]*if[ \t]+!?[01]\b")


@dataclass
class Group:
    """One `#if` to its `#endif`: the spans of its directives, and between them those of its sides."""

    kind: bytes
    condition: bytes
    directives: list[tuple[int, int]] = field(default_factory=list)

    @property
    def start(self) -> int:
        return self.directives[0][0]

    @property
    def end(self) -> int:
        return self.directives[-1][1]

    @property
    def sides(self) -> list[tuple[int, int]]:
        """The spans of the code between the directives."""
        return [(left[1], right[0]) for left, right in zip(self.directives, self.directives[1:], strict=False)]


def groups(text: bytes) -> list[Group]:
    """Return the complete groups of a text, inner ones before those around them."""
    found: list[Group] = []
    stack: list[Group] = []
    for match in _DIRECTIVE.finditer(text):
        kind, span = match[1], match.span()
        if kind in (b"if", b"ifdef", b"ifndef"):
            condition = b"".join(_COMMENT.sub(b"", match[2]).split())
            stack.append(Group(kind, condition, [span]))
        elif stack:
            stack[-1].directives.append(span)
            if kind == b"endif":
                found.append(stack.pop())
    return found


def blank(text: bytearray, start: int, end: int) -> None:
    """Overwrite a span by spaces; lines stay."""
    text[start:end] = re.sub(rb"[^\r\n]", b" ", text[start:end])


def settled(text: bytes) -> bytes:
    """Return the text without what is only there for C++ or an older C, or switched off by `#if 0`."""
    if not _DECIDED.search(text):
        return text
    result = bytearray(text)
    for group in reversed(groups(text)):
        if not result[slice(*group.directives[0])].strip():
            continue  # A group around it is switched off.
        first, *others = group.sides
        condition = group.kind + b" " + group.condition
        if _NEVER.fullmatch(condition):
            blank(result, *first)
        elif _ALWAYS.fullmatch(condition):
            for side in others:
                blank(result, *side)
    return bytes(result)


def continued(text: bytes) -> bytes:
    """Return the text without the directives around an `else` that goes on with the statement in front of them.

    Where an `#if` has no other side, the `else` would be read as the name of a type.
    """
    if not _BEGINS_WITH_ELSE.search(text):
        return text
    result = bytearray(text)
    for group in groups(text):
        alone = len(group.directives) == 2 and _BEGINS_WITH_ELSE.match(text, group.start)
        if alone and not text[: group.start].rstrip().rpartition(b"\n")[2].lstrip().startswith(b"#"):
            for directive in group.directives:
                blank(result, *directive)
    return bytes(result)


_BEGINS_WITH_ELSE = re.compile(rb"^[ \t]*#[ \t]*if[^\n]*\n\s*else\b", re.MULTILINE)
