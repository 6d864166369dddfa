"""The grammar of tree-sitter-c: parser, kind and field numbers, and tables of handlers by kind."""

import tree_sitter_c

from facts.tree_sitter_grammar import Grammar, Handlers

GRAMMAR = Grammar(tree_sitter_c.language(), "comment")
kind_ids, field_id = GRAMMAR.kind_ids, GRAMMAR.field_id
children, only_child, with_fields = GRAMMAR.children, GRAMMAR.only_child, GRAMMAR.with_fields

NAME, VALUE, LEFT, RIGHT, TYPE = map(field_id, ("name", "value", "left", "right", "type"))
BODY, CONDITION, CONSEQUENCE, ALTERNATIVE = map(field_id, ("body", "condition", "consequence", "alternative"))
OPERATOR, ARGUMENT, ARGUMENTS, FUNCTION = map(field_id, ("operator", "argument", "arguments", "function"))
DECLARATOR, PARAMETERS, SIZE, FIELD, INDEX = map(field_id, ("declarator", "parameters", "size", "field", "index"))
INITIALIZER, UPDATE, LABEL, FILTER, PATH = map(field_id, ("initializer", "update", "label", "filter", "path"))
DESIGNATOR, START, END, MEMBER, OPERAND = map(field_id, ("designator", "start", "end", "member", "operand"))
OUTPUTS, INPUTS, GOTO_LABELS = map(field_id, ("output_operands", "input_operands", "goto_labels"))

IDENTIFIER = kind_ids("identifier")
PARENTHESES = kind_ids("parenthesized_expression")
CONDITIONALS = kind_ids("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef")

STATEMENTS, EXPRESSIONS = Handlers(GRAMMAR), Handlers(GRAMMAR)


def inside(node):
    """Return the expression that parentheses hold."""
    while node is not None and node.kind_id in PARENTHESES:
        node = only_child(node)
    return node


def sides(node):
    """Yield the statements of every side of an `#if`, as a list."""
    while node is not None:
        alternative = node.child_by_field_id(ALTERNATIVE)
        named = (node.child_by_field_id(CONDITION), node.child_by_field_id(NAME), alternative)
        yield [child for child in children(node) if child not in named]
        node = alternative


def flattened(node):
    """Yield the parts of a list with `#if`s in it: those of every side, in order."""
    named = (node.child_by_field_id(CONDITION), node.child_by_field_id(NAME))
    for child in children(node):
        if child.kind_id in CONDITIONALS:
            yield from flattened(child)
        elif node.kind_id not in CONDITIONALS or child not in named:
            yield child


def untyped_head(node):
    """Return the call that `main(argc, argv)` before a block looks like, a function without a type; else None."""
    call = only_child(node) if node is not None and node.type == "expression_statement" else None
    following = node.next_named_sibling if call is not None and call.type == "call_expression" else None
    if following is None or following.type != "compound_statement":
        return None
    parts = [call.child_by_field_id(FUNCTION), *children(call.child_by_field_id(ARGUMENTS))]
    is_macro = parts[0].text.isupper()
    return call if not is_macro and all(part.kind_id in IDENTIFIER for part in parts) else None
