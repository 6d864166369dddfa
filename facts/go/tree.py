"""The grammar of tree-sitter-go: parser, kind and field numbers, and tables of handlers by kind."""

import tree_sitter_go
from tree_sitter import Node

from facts.tree_sitter_grammar import Grammar, Handlers

GRAMMAR = Grammar(tree_sitter_go.language(), "comment")
kind_ids, field_id = GRAMMAR.kind_ids, GRAMMAR.field_id
children, only_child, with_fields = GRAMMAR.children, GRAMMAR.only_child, GRAMMAR.with_fields

NAME, VALUE, LEFT, RIGHT, TYPE, KEY = map(field_id, ("name", "value", "left", "right", "type", "key"))
BODY, CONDITION, CONSEQUENCE, ALTERNATIVE = map(field_id, ("body", "condition", "consequence", "alternative"))
OPERATOR, OPERAND, ARGUMENTS, FUNCTION = map(field_id, ("operator", "operand", "arguments", "function"))
PARAMETERS, RESULT, RECEIVER, TYPE_PARAMETERS = map(field_id, ("parameters", "result", "receiver", "type_parameters"))
INITIALIZER, UPDATE, LABEL, ALIAS, PATH = map(field_id, ("initializer", "update", "label", "alias", "path"))
START, END, CAPACITY, INDEX, FIELD = map(field_id, ("start", "end", "capacity", "index", "field"))
CHANNEL, COMMUNICATION, ELEMENT, LENGTH, TAG = map(field_id, ("channel", "communication", "element", "length", "tag"))
TYPE_ARGUMENTS, PACKAGE = map(field_id, ("type_arguments", "package"))

IDENTIFIER = kind_ids("identifier")
PARENTHESES = kind_ids("parenthesized_expression")
UNARY, BINARY, COMPOSITE = map(kind_ids, ("unary_expression", "binary_expression", "composite_literal"))

STATEMENTS, EXPRESSIONS = Handlers(GRAMMAR), Handlers(GRAMMAR)


def inside(node: Node | None) -> Node | None:
    """Return the expression that parentheses hold."""
    while node is not None and node.kind_id in PARENTHESES:
        node = only_child(node)
    return node


def listed(node: Node | None) -> list[Node]:
    """Return the expressions of a list; none without one."""
    if node is None:
        return []
    return children(node) if node.type == "expression_list" else [node]


def operator_of(node: Node) -> str:
    """Return the text of the operator of an expression or assignment."""
    operator = node.child_by_field_id(OPERATOR)
    return operator.type if operator is not None else ""
