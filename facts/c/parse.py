"""A text that parses: what macros and conditionals break is mended, in the places of the file.

tree-sitter-c reads code before the preprocessor. It knows `#if` around whole statements and declarations only, and no
macro that is neither an expression nor a type. Where the text has errors, one thing after the other is tried: macros
that stand for attributes are blanked, statements get the semicolon that a macro brings along, and so do labels before a
directive, types among arguments become names, and of conditionals that divide a construct the directives are blanked:
all code between them stays, but where there is an `#else` only one side can. What reduces the damage is kept.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from tree_sitter import Node, Query, QueryCursor, Tree

from facts.c import attributes, misread, tree
from facts.c.block_arguments import without_block_arguments
from facts.c.conditionals import Group, blank, continued, groups, settled

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
    return _with_loops(_mended(text))


def _with_loops(parsed: Parsed) -> Parsed:
    """Return the text with a semicolon behind macros of one argument that stand before a block in a function.

    `EACH(item) { … }` and `EACH(first(list)) { … }` have the shape of a nested function, which there is none of.
    """
    if not _MAY_BE_LOOP.search(parsed.source):
        return parsed
    source = bytearray(parsed.source)
    for node in QueryCursor(_LIKE_FUNCTION).captures(parsed.root).get("head", ()):
        if _in_block(node.parent):
            _put_semicolon(source, node.end_byte)
    if source == parsed.source:
        return parsed
    return min(replace(parsed, source=bytes(source)).parsed(), parsed, key=Parsed.damage)


_MAY_BE_LOOP = re.compile(
    rb"^[ \t]+(?!if\b|while\b|for\b|switch\b|return\b)[A-Za-z_]\w*[ \t]*\([^;{}\n]{1,200}\)\s*\{", re.MULTILINE
)
_LIKE_FUNCTION = Query(
    tree.GRAMMAR.language,
    "(function_definition type: (type_identifier) declarator: (parenthesized_declarator) @head)",
)


def _in_block(node: Node | None) -> bool:
    while node is not None and node.type != "compound_statement":
        node = node.parent
    return node is not None


def _mended(text: bytes) -> Parsed:
    source = continued(settled(_without_names_of_rest(_without_remarks_in_macros(text))))
    source = misread.without_misread(without_block_arguments(source))
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
        found = _Conditionals(base.source)
        spans = [(node.start_byte, node.end_byte) for node in _errors(base.root)]
        for chosen, side in product((_near_errors(found, spans), _at_errors(found, spans)), (0, -1)):
            tried = _better(tried, _undivided(base, found, chosen, side))
        if tried is best:
            break
        best = tried
    return best


def _without_names_of_rest(text: bytes) -> bytes:
    """Return the text with `...` for the `rest...` of GNU macros, which tree-sitter-c does not know."""
    return _NAMED_REST.sub(lambda match: match[1] + b" " * len(match[2]) + b"...", text) if b"..." in text else text


_NAMED_REST = re.compile(
    rb"^([ \t]*#[ \t]*define[ \t]+\w+\([^()\n]*?)(\b[A-Za-z_]\w*[ \t]*)\.\.\.(?=[ \t]*\))", re.MULTILINE
)


def _without_remarks_in_macros(text: bytes) -> bytes:
    """Return the text with comments blanked in macros: to tree-sitter-c, they end at what looks like one."""
    return _MACRO.sub(_without_remarks, text) if b"/*" in text else text


def _without_remarks(macro: re.Match) -> bytes:
    """Return a macro with its comments blanked, unless it has nothing else: blanks are no text to the grammar."""
    blanked = _TEXT_OR_REMARK.sub(_blank_remark, macro[0]) if b"/*" in macro[0] else macro[0]
    return macro[0] if _EMPTY_MACRO.fullmatch(blanked) else blanked


def _blank_remark(found: re.Match) -> bytes:
    return re.sub(rb"[^\r\n\\]", b" ", found[0]) if found[0][:1] == b"/" else found[0].replace(b"/*", b"/ ")


_EMPTY_MACRO = re.compile(rb"[ \t]*#[ \t]*define[ \t]+\w+\s*")
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*", re.MULTILINE)
_TEXT_OR_REMARK = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/", re.DOTALL)
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
            end = attributes.end_of_call(mask, node.start_byte, beside=node.is_error)
            if end is not None:
                _put_semicolon(source, end)
    starts.sort()
    for start, end in attributes.declaring(mask):
        if bisect_left(starts, start) < bisect_left(starts, end):
            blank(source, start, end)
    for start, end in attributes.names_alone(mask):
        _end_line(source, start, end, parsed.root)
    types = attributes.type_arguments(bytes(source), starts)
    return replace(parsed, source=attributes.named(bytes(source), types), types={**parsed.types, **types})


def _put_semicolon(source: bytearray, position: int) -> None:
    """Put a semicolon in the blank behind a call, if no directive follows, or behind a label.

    A block that follows without a blank moves on into the one behind its bracket.
    """
    if _BLOCK_AT_ONCE.match(source, position) and source[:position].endswith(b")"):
        source[position : position + 2] = b";{"
        return
    match = _BLANK.match(source, position)
    before = source[:position].rstrip()[-1:]
    if match is not None and before == b")" and not _DIRECTIVE.match(source, match.end()):
        source[match.start(1)] = ord(";")
    elif before == b":" and source[position : position + 1].isspace():
        source[position] = ord(";")


_BLANK = re.compile(rb"[ \t]*(?:\r?\n(?=[ \t]))?([ \t\n])")
_BLOCK_AT_ONCE = re.compile(rb"\{\s(?!\s*#)")
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


def _undivided(parsed: Parsed, found: "_Conditionals", chosen: list[int], side: int) -> Parsed:
    """Return the text without the directives of these conditionals; one `side` of each stays."""
    source, dropped, lost = bytearray(parsed.source), list(parsed.dropped), parsed.lost
    mask = found.mask
    for index in chosen:
        group = found.groups[index]
        sides = group.sides
        left_out = [span for span in sides if len(sides) > 1 and span != sides[side]]
        if sum(end - start for start, end in left_out) > _LONGEST_SIDE:
            continue
        for start, end in (*group.directives, *left_out):
            blank(source, start, end)
        dropped += [span for span in left_out if mask[slice(*span)].strip()]
        lost += sum(len(b"".join(mask[slice(*span)].split())) for span in left_out)
    return replace(parsed, source=bytes(source), dropped=dropped, lost=lost)


class _Conditionals:
    """The groups of a text, and what its code says of them; questions cost no more than a search each.

    `mask` is the text without comments and directives. Groups are told by their numbers: inner ones come first.
    """

    def __init__(self, text: bytes) -> None:
        self.groups = groups(text)
        self.mask = attributes.masked(text) if self.groups else b""
        octets = np.frombuffer(self.mask, np.uint8)
        self._code = np.flatnonzero(~np.isin(octets, np.frombuffer(b" \t\n\r\v\f", np.uint8)))
        self._depth = {
            pair: np.concatenate(([0], np.cumsum((octets == pair[0]).astype(np.int32) - (octets == pair[1]))))
            for pair in (b"{}", b"()")
        }
        spans = sorted((*span, index) for index, group in enumerate(self.groups) for span in group.directives)
        self._starts, self._ends, self._owners = zip(*spans, strict=True) if spans else ((), (), ())
        self.divides = [any(map(self._is_partial, group.sides)) for group in self.groups]
        self.uneven = [any(self._opens(b"{}", side) for side in group.sides) for group in self.groups]

    def first(self, start: int) -> int:
        """Return where the first code from a place on stands; the end of the text if there is none."""
        index = np.searchsorted(self._code, start)
        return int(self._code[index]) if index < len(self._code) else len(self.mask)

    def last(self, end: int) -> int:
        """Return where the last code before a place ends; 0 if there is none."""
        index = np.searchsorted(self._code, end)
        return int(self._code[index - 1]) + 1 if index else 0

    def touching(self, start: int, end: int) -> set[int]:
        """Return the groups that have a directive at a span."""
        return set(self._owners[bisect_left(self._ends, start) : bisect_right(self._starts, end)])

    def around(self, positions: Iterable[int]) -> set[int]:
        """Return the innermost groups that divide something around each position."""
        dividing = (index for index, divides in enumerate(self.divides) if divides)
        waiting = sorted(dividing, key=lambda index: self.groups[index].start, reverse=True)
        found, opened = set(), []
        for position in sorted(positions):
            while waiting and self.groups[waiting[-1]].start <= position:
                index = waiting.pop()
                while opened and self.groups[opened[-1]].end < self.groups[index].start:
                    opened.pop()
                opened.append(index)
            while opened and self.groups[opened[-1]].end < position:
                opened.pop()
            if opened:
                found.add(opened[-1])
        return found

    def goes_on(self, index: int) -> bool:
        """Return True if a statement goes on into a group, from its sides, or behind it."""
        group = self.groups[index]
        before = self.mask[max(0, group.start - _NEAR) : group.start].rstrip()
        unfinished = before[-1:] not in b";{}:" or before.endswith(b"else")
        behind = self.mask[group.end : group.end + _NEAR].lstrip()
        return unfinished or self.divides[index] or behind.startswith(b"else")

    def begins_with_else(self, index: int) -> bool:
        """Return True if the first code of a group is an `else`."""
        return self.mask.startswith(b"else", self.first(self.groups[index].start), self.groups[index].end)

    def _opens(self, pair: bytes, side: tuple[int, int]) -> bool:
        """Return True if a side has more of one bracket than of the other."""
        start, end = side
        return self._depth[pair][start] != self._depth[pair][end]

    def _is_partial(self, side: tuple[int, int]) -> bool:
        """Return True if the code of a side is no sequence of whole statements."""
        first, last = self.first(side[0]), self.last(side[1])
        if first >= last:
            return False
        uneven = self._opens(b"{}", side) or self._opens(b"()", side)
        return uneven or self.mask[last - 1] not in b";}:" or self.mask.startswith(_CONTINUING, first, last)


_CONTINUING = (b"else", b"&", b"|", b",", b")", b"}", b"?", b":", b"=", b"+", b".")


def _at_errors(found: _Conditionals, spans: list[tuple[int, int]]) -> list[int]:
    """Return the conditionals that have an error at a directive of theirs, and the innermost ones around errors."""
    chosen, positions = set(), []
    for start, end in spans:
        small = end - start < _LARGEST_ERROR
        positions += (start, end) if small else (start,)
        chosen |= found.touching(start, end) if small else set()
    return sorted(chosen | found.around(positions))


def _near_errors(found: _Conditionals, spans: list[tuple[int, int]]) -> list[int]:
    """Return the conditionals at errors, and those that divide a statement with only blanks between them and an error.

    What one of them opens others of the same condition close, and what one begins an `else` behind it goes on with:
    they are taken together.
    """
    near = set().union(*(found.touching(*_with_blanks(found, *span)) for span in spans)) if found.groups else set()
    chosen = {index for index in near if found.goes_on(index)} | set(_at_errors(found, spans))
    conditions = {_condition(found.groups[index]) for index in chosen if found.uneven[index]}
    uneven = (index for index in range(len(found.groups)) if found.uneven[index])
    chosen |= {index for index in uneven if _condition(found.groups[index]) in conditions}
    ends = sorted((group.end, index) for index, group in enumerate(found.groups))
    work = list(chosen)
    while work:
        index = work.pop()
        if not found.begins_with_else(index):
            continue
        start = found.groups[index].start
        # Those with nothing but blanks between their end and this one's start.
        before = ends[bisect_left(ends, (found.last(start),)) : bisect_right(ends, (start, len(ends)))]
        fresh = {other for _, other in before} - chosen
        chosen |= fresh
        work += fresh
    return sorted(chosen)


def _condition(group: Group) -> tuple[bytes, bytes]:
    return group.kind, group.condition


def _with_blanks(found: _Conditionals, start: int, end: int) -> tuple[int, int]:
    """Return a span, and an `else` before it, with the blanks, comments and directives around it."""
    last = found.last(start)
    if found.mask.endswith(b"else", 0, last):
        last = found.last(last - len(b"else"))
    return max(last, start - _LONGEST_SIDE, 0), found.first(end)
