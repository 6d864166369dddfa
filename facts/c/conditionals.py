"""The groups of `#if … #elif … #else … #endif` in a text, and which of their parts no C compiler ever sees."""

import re
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(
    rb"(?:^|(?<=:;))[ \t]*#[ \t]*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b((?:\\\r?\n|[^\n])*)\n?",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"/\*.*?\*/|//.*", re.DOTALL)
_NEVER = re.compile(
    rb"if (?:0|!1|(?:defined\(?__cplusplus\)?|__cplusplus>=?[0-9L]+|__cplusplus)(?:&&[^|]*)?)|ifdef __cplusplus"
)
_ALWAYS = {(b"if", b"1"), (b"ifndef", b"__cplusplus"), (b"if", b"!defined(__cplusplus)"), (b"if", b"!0")}


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
    """Return the text without what is only there for C++ or switched off by `#if 0`."""
    if b"__cplusplus" not in text and not re.search(rb"#[ \t]*if[ \t]+!?[01]\b", text):
        return text
    result = bytearray(text)
    for group in reversed(groups(text)):
        if not result[slice(*group.directives[0])].strip():
            continue  # A group around it is switched off.
        first, *others = group.sides
        if _NEVER.fullmatch(group.kind + b" " + group.condition):
            blank(result, *first)
        elif (group.kind, group.condition) in _ALWAYS:
            for side in others:
                blank(result, *side)
    return bytes(result)
