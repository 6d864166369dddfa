"""The grammar of tree-sitter-java: parser, kind and field numbers, and tables of handlers by kind."""

import re

import tree_sitter_java
from tree_sitter import Node

from facts.tree_sitter_grammar import Grammar, Handlers

GRAMMAR = Grammar(tree_sitter_java.language(), "line_comment", "block_comment")
kind_ids, field_id = GRAMMAR.kind_ids, GRAMMAR.field_id
children, only_child, with_fields = GRAMMAR.children, GRAMMAR.only_child, GRAMMAR.with_fields

NAME, VALUE, KEY, LEFT, RIGHT = map(field_id, ("name", "value", "key", "left", "right"))
BODY, CONDITION, CONSEQUENCE, ALTERNATIVE = map(field_id, ("body", "condition", "consequence", "alternative"))
INIT, UPDATE, OPERATOR, OPERAND, PATTERN = map(field_id, ("init", "update", "operator", "operand", "pattern"))
OBJECT, FIELD, ARRAY, INDEX, SCOPE = map(field_id, ("object", "field", "array", "index", "scope"))
ARGUMENTS, PARAMETERS, TYPE, ELEMENT = map(field_id, ("arguments", "parameters", "type", "element"))
DIMENSIONS, DECLARATOR, CONSTRUCTOR, RESOURCES = map(field_id, ("dimensions", "declarator", "constructor", "resources"))
SUPERCLASS, INTERFACES, TYPE_PARAMETERS = map(field_id, ("superclass", "interfaces", "type_parameters"))
TEMPLATE_PROCESSOR, TEMPLATE_ARGUMENT = map(field_id, ("template_processor", "template_argument"))

IDENTIFIER = min(kind_ids("identifier"))

STATEMENTS, EXPRESSIONS = Handlers(GRAMMAR), Handlers(GRAMMAR)

_MODIFIERS = kind_ids("modifiers")
# Annotations in places where the grammar (0.23) knows none: `String @A ... names` and `case @A("x") T t`.
_UNKNOWN_ANNOTATION = re.compile(rb"""@[\w.]*\w(?=\s*\.\.\.)|(?<=\bcase )@[\w.]+(?:\("[^"\n]*"\))?""")


# Names of inner records in patterns: `case Shape.Circle(var r)`, `case Line(Shape.Point(int x, int y), var end)`; Java
# 25's `import module java.base`.
_UNKNOWN_NAME = re.compile(
    rb"""(?<=\bcase\ )(?:\w+\.)+(?=\w+\s*\()|(?<=\binstanceof\ )(?:\w+\.)+(?=\w+\s*\()
    |(?<=[(,\s])(?:\w+\.)+(?=[A-Z]\w*\s*\(\w+(?:<[^<>()]*>)?\s+\w+\s*[,)])|(?<=\bimport\ )module(?=\ [\w.]+;)""",
    re.VERBOSE,
)
# Java 25 lets statements stand before these calls, which the grammar wants first.
_LATE_CONSTRUCTOR = re.compile(rb"(?<![\w.])(?:super|this)(?=\s*\()")


def parse(source: bytes) -> Node:
    """Return the tree of a file, without what the parser would stumble over."""
    if b"..." in source or b"case @" in source:
        source = _UNKNOWN_ANNOTATION.sub(_blank, source)
    root = GRAMMAR.parser.parse(source).root_node
    if not root.has_error:
        return root
    mended = _LATE_CONSTRUCTOR.sub(_method_name, _UNKNOWN_NAME.sub(_blank, source))
    return root if mended == source else GRAMMAR.parser.parse(mended).root_node


def _blank(match: re.Match) -> bytes:
    return b" " * len(match[0])


def _method_name(match: re.Match) -> bytes:
    return b"_" * len(match[0])


def modifiers(node: Node) -> list[Node]:
    """Return the keywords and annotations that stand before a declaration."""
    found = next((child for child in node.named_children if child.kind_id in _MODIFIERS), None)
    return [] if found is None else [child for child in found.children if child.kind_id not in GRAMMAR.extras]


def has_modifier(node: Node, word: str) -> bool:
    """Return True if the keyword stands before a declaration."""
    return any(child.type == word for child in modifiers(node))


def child_of_type(node: Node, *types: str) -> Node | None:
    """Return the first named child of one of these kinds."""
    return next((child for child in node.named_children if child.type in types), None)
