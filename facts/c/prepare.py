"""A text that parses: what macros and conditionals break is mended, in the places of the file.

tree-sitter-c reads code before the preprocessor. It knows `#if` around whole statements and declarations only, and no
macro that is neither an expression nor a type. Where the text has errors, one thing after the other is tried: macros
that stand for attributes are blanked, statements get the semicolon that a macro brings along, and so do labels before a
directive, types among arguments become names, and of conditionals that divide a construct the directives are blanked:
all code between them stays, but where there is an `#else` only one side can. What reduces the damage is kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from tree_sitter import Node, Tree

from facts.c import attributes, tree
from facts.c.conditionals import Group, blank, groups, settled

_ROUNDS = 6
# Errors hurt more than code that is left out: what stands around them is read wrongly. What one costs, in bytes.
_ERROR, _WEIGHT = 100, 4
_LONGEST_SIDE = 4000
# How far back the end of the statement before is looked for.
_NEAR = 400
_LARGEST_ERROR = 5000


@dataclass
class Parsed:
    """A text as it was parsed: `dropped` are the spans left out, `types` where a type stands as a name.

    `lost` is how many bytes of code the spans left out had.
    """

    source: bytes
    types: dict[int, int] = field(default_factory=dict)
    dropped: list[tuple[int, int]] = field(default_factory=list)
    lost: int = 0
    tree: Tree | None = None

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def parsed(self) -> "Parsed":
        self.tree = tree.GRAMMAR.parser.parse(self.source)
        return self

    def damage(self) -> int:
        """Return how many bytes are lost, those in errors with their weight."""
        return self.lost + sum(_ERROR + _WEIGHT * _unsound(node) for node in _errors(self.root))


def parse(text: bytes) -> Parsed:
    """Return a file's text as it can be parsed best, with its tree."""
    source = settled(text)
    types = attributes.type_arguments(source, [])
    best = Parsed(attributes.named(source, types), types).parsed()
    if not best.root.has_error:
        return best
    best = replace(best, source=_REMARK.sub(lambda match: b" " * len(match[0]), best.source)).parsed()
    best = _better(best, replace(best, source=attributes.without_attributes(best.source)))
    for _ in range(_ROUNDS):
        if not best.root.has_error:
            break
        tried = base = _better(best, _punctuated(best))
        for chosen, side in product((_near_errors(base), _at_errors(base)), (0, -1)):
            tried = _better(tried, _undivided(base, chosen, side))
        if tried is best:
            break
        best = tried
    return best


# A directive that may stand within a statement.
_REMARK = re.compile(rb"^[ \t]*#[ \t]*(?:pragma|error|warning)\b[^\n]*", re.MULTILINE)


def _better(best: Parsed, other: Parsed) -> Parsed:
    """Return the version of a text with less damage."""
    if other.source == best.source:
        return best
    return min(best, other.parsed(), key=Parsed.damage)


def _unsound(error: Node) -> int:
    """Return how many bytes an error costs: those of its parts that are no statements."""
    if not error.child_count:
        return error.end_byte - error.start_byte
    return sum(child.end_byte - child.start_byte for child in error.children if child.kind_id not in tree.STATEMENTS)


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
    source, mask = bytearray(parsed.source), attributes.masked(parsed.source)
    starts = []
    for node in _errors(parsed.root):
        if node.is_missing and node.type == ";":
            _put_semicolon(source, node.start_byte)
        elif node.is_error or node.type == "identifier":
            starts.append(node.start_byte)
            end = attributes.end_of_call(mask, node.start_byte)
            if end is not None:
                _put_semicolon(source, end)
    for start, end in attributes.declaring(mask):
        if any(start <= position < end for position in starts):
            blank(source, start, end)
    for start, end in attributes.names_alone(mask):
        _end_line(source, start, end, parsed.root)
    types = attributes.type_arguments(bytes(source), starts)
    return replace(parsed, source=attributes.named(bytes(source), types), types={**parsed.types, **types})


def _put_semicolon(source: bytearray, position: int) -> None:
    """Put a semicolon in the blank behind a call, if no directive follows, or behind a label."""
    match = _BLANK.match(source, position)
    before = source[:position].rstrip()[-1:]
    if match is not None and before == b")" and not _DIRECTIVE.match(source, match.end()):
        source[match.start(1)] = ord(";")
    elif before == b":" and source[position : position + 1].isspace():
        source[position] = ord(";")


_BLANK = re.compile(rb"[ \t]*(?:\r?\n(?=[ \t]))?([ \t\n])")
_DIRECTIVE = re.compile(rb"\s*#")


def _end_line(source: bytearray, start: int, end: int, root: Node) -> None:
    """End a macro that is all of a line: by a semicolon among statements; among declarations it is blanked."""
    node = root.descendant_for_byte_range(start, end)
    while node is not None and node.type not in _LISTS:
        node = node.parent
    if node is None or node.type == "field_declaration_list" or _DIRECTIVE.match(source, end):
        blank(source, start, end)
    elif node.type == "compound_statement" and end < len(source):
        source[end] = ord(";")


_LISTS = frozenset({"compound_statement", "field_declaration_list", "enumerator_list", "initializer_list"})


def _undivided(parsed: Parsed, chosen: list[Group], side: int) -> Parsed:
    """Return the text without the directives of these conditionals; one `side` of each stays."""
    source, dropped, lost = bytearray(parsed.source), list(parsed.dropped), parsed.lost
    mask = attributes.masked(parsed.source) if chosen else b""
    for group in chosen:
        sides = group.sides
        left_out = [span for span in sides if len(sides) > 1 and span != sides[side]]
        if sum(end - start for start, end in left_out) > _LONGEST_SIDE:
            continue
        for start, end in (*group.directives, *left_out):
            blank(source, start, end)
        dropped += [span for span in left_out if mask[slice(*span)].strip()]
        lost += sum(len(b"".join(mask[slice(*span)].split())) for span in left_out)
    return replace(parsed, source=bytes(source), dropped=dropped, lost=lost)


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


def _near_errors(parsed: Parsed) -> list[Group]:
    """Return the conditionals at errors, and those that divide a statement with only blanks between them and an error.

    What one of them opens others of the same condition close, and what one begins an `else` behind it goes on with:
    they are taken together.
    """
    found = groups(parsed.source)
    mask = attributes.masked(parsed.source) if found else b""
    spans = [_with_blanks(mask, node) for node in _errors(parsed.root)] if found else []
    chosen = [group for group in found if _is_near(group, spans) and _goes_on(mask, group)]
    chosen += [group for group in _at_errors(parsed) if group not in chosen]
    conditions = {(group.kind, group.condition) for group in chosen if _is_uneven(mask, group)}
    chosen += [
        group
        for group in found
        if (group.kind, group.condition) in conditions and _is_uneven(mask, group) and group not in chosen
    ]
    for group in chosen:
        if mask[group.start : group.end].lstrip().startswith(b"else"):
            chosen += [other for other in found if other not in chosen and _stands_before(mask, other, group)]
    return chosen


def _is_near(group: Group, spans: list[tuple[int, int]]) -> bool:
    return any(first <= end and start <= last for first, last in spans for start, end in group.directives)


def _stands_before(mask: bytes, group: Group, other: Group) -> bool:
    """Whether nothing but blanks separates a group from the other one."""
    return group.end <= other.start and not mask[group.end : other.start].strip()


def _goes_on(mask: bytes, group: Group) -> bool:
    """Whether a statement goes on into a group, from its sides, or behind it."""
    before = mask[max(0, group.start - _NEAR) : group.start].rstrip()
    unfinished = before[-1:] not in b";{}:" or before.endswith(b"else")
    return unfinished or _divides(mask, group) or mask[group.end : group.end + _NEAR].lstrip().startswith(b"else")


def _with_blanks(mask: bytes, node: Node) -> tuple[int, int]:
    """Return the span of a node, and of an `else` before it, with the blanks, comments and directives around it."""
    window = max(0, node.start_byte - _LONGEST_SIDE)
    before = mask[window : node.start_byte].rstrip().removesuffix(b"else").rstrip()
    return window + len(before), _BLANKS.match(mask, node.end_byte).end()


_BLANKS = re.compile(rb"\s*")


def _is_uneven(mask: bytes, group: Group) -> bool:
    """Whether a side of a group opens a block and does not close it, or the other way round."""
    return any(mask.count(b"{", *side) != mask.count(b"}", *side) for side in group.sides)
