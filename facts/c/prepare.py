"""A text that parses: what macros and conditionals break is mended, in the places of the file.

tree-sitter-c reads code before the preprocessor. It knows `#if` around whole statements and declarations only, and no
macro that is neither an expression nor a type. Where the text has errors, one thing after the other is tried: macros
that stand for attributes are blanked, statements get the semicolon that a macro brings along, types among arguments
become names, and of conditionals that divide a construct the directives are blanked: all code between them stays, but
where there is an `#else` only one side can. What reduces the damage is kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tree_sitter import Node, Tree

from facts.c import attributes, tree
from facts.c.conditionals import Group, blank, groups, settled

_ROUNDS = 4
# Errors hurt more than code that is left out: what stands around them is read wrongly.
_WEIGHT = 4
_LONGEST_SIDE = 4000
_LARGEST_ERROR = 5000


@dataclass
class Parsed:
    """A text as it was parsed: `dropped` are the spans left out, `types` where a type stands as a name."""

    source: bytes
    types: dict[int, int] = field(default_factory=dict)
    dropped: list[tuple[int, int]] = field(default_factory=list)
    tree: Tree | None = None

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def parsed(self) -> "Parsed":
        self.tree = tree.GRAMMAR.parser.parse(self.source)
        return self

    def damage(self) -> int:
        """Return how many bytes are lost, those in errors with their weight."""
        lost = sum(end - start for start, end in self.dropped)
        return lost + _WEIGHT * sum(end - start + 1 for start, end in _unsound(self.root))


def parse(text: bytes) -> Parsed:
    """Return a file's text as it can be parsed best, with its tree."""
    source = settled(text)
    types = attributes.type_arguments(source, [])
    best = Parsed(attributes.named(source, types), types).parsed()
    if not best.root.has_error:
        return best
    best = _better(best, replace(best, source=attributes.without_attributes(best.source)))
    for _ in range(_ROUNDS):
        if not best.root.has_error:
            break
        tried = _better(best, _punctuated(best))
        for side in (0, -1):
            tried = _better(tried, _undivided(tried, side))
        if tried is best:
            break
        best = tried
    return best


def _better(best: Parsed, other: Parsed) -> Parsed:
    """Return the version of a text with less damage."""
    if other.source == best.source:
        return best
    return min(best, other.parsed(), key=Parsed.damage)


def _unsound(root: Node) -> Iterator[tuple[int, int]]:
    """Yield the spans of what errors cost: their parts that are no statements, and what is missing."""
    for node in _errors(root):
        if not node.child_count:
            yield node.start_byte, node.end_byte
        for child in node.children:
            if child.kind_id not in tree.STATEMENTS:
                yield child.start_byte, child.end_byte


def _errors(root: Node) -> Iterator[Node]:
    """Yield the nodes that are errors or missing."""
    work = [root]
    while work:
        node = work.pop()
        if node.is_error or node.is_missing:
            yield node
        if node.has_error:
            work.extend(node.children)


def _punctuated(parsed: Parsed) -> Parsed:
    """Return the text with the semicolons that macros bring along, and with names for types among arguments."""
    source = bytearray(parsed.source)
    starts = []
    for node in _errors(parsed.root):
        if node.is_missing and node.type == ";":
            _put_semicolon(source, node.start_byte)
        elif node.is_error or node.type == "identifier":
            starts.append(node.start_byte)
    types = attributes.type_arguments(bytes(source), starts)
    return replace(parsed, source=attributes.named(bytes(source), types), types={**parsed.types, **types})


def _put_semicolon(source: bytearray, position: int) -> None:
    """Put a semicolon in the blank behind a call, if one is there and no directive follows."""
    match = _BLANK.match(source, position)
    if match is not None and source[:position].rstrip()[-1:] == b")":
        source[match.start(1)] = ord(";")


_BLANK = re.compile(rb"[ \t]*(?:\r?\n(?=[ \t]))?([ \t\n])(?![ \t]*#)")


def _undivided(parsed: Parsed, side: int) -> Parsed:
    """Return the text without the directives of the conditionals that errors stand at; one `side` of each stays."""
    source, dropped = bytearray(parsed.source), list(parsed.dropped)
    for group in _at_errors(parsed):
        sides = group.sides
        left_out = [span for span in sides if len(sides) > 1 and span != sides[side]]
        if sum(end - start for start, end in left_out) > _LONGEST_SIDE:
            continue
        for start, end in (*group.directives, *left_out):
            blank(source, start, end)
        dropped += [span for span in left_out if parsed.source[slice(*span)].strip()]
    return replace(parsed, source=bytes(source), dropped=dropped)


def _divides(mask: bytes, group: Group) -> bool:
    """Whether some side of a group is no sequence of whole statements; `mask` has no comments and directives."""
    return any(_is_partial(mask[start:end].strip()) for start, end in group.sides)


def _is_partial(side: bytes) -> bool:
    if not side:
        return False
    uneven = side.count(b"{") != side.count(b"}") or side.count(b"(") != side.count(b")")
    return uneven or side[-1:] not in b";}:" or side.startswith(_CONTINUING)


_CONTINUING = (b"else", b"&", b"|", b",", b")", b"}", b"?", b":", b"=", b"+", b".")


def _at_errors(parsed: Parsed) -> list[Group]:
    """Return the conditionals that have an error at a directive of theirs, and the innermost ones around errors."""
    found = groups(parsed.source)
    mask = attributes.masked(parsed.source) if found else b""
    chosen = {}
    for node in _errors(parsed.root):
        small = node.end_byte - node.start_byte < _LARGEST_ERROR
        ends = (node.start_byte, node.end_byte) if small else (node.start_byte,)
        for index, group in enumerate(found):
            if small and any(node.start_byte <= end and start <= node.end_byte for start, end in group.directives):
                chosen[index] = group
        for position in ends:
            around = (
                index
                for index, group in enumerate(found)
                if group.start <= position <= group.end and _divides(mask, group)
            )
            index = min(around, key=lambda index: found[index].end - found[index].start, default=None)
            if index is not None:
                chosen[index] = found[index]
    return list(chosen.values())
