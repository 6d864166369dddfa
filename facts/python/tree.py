"""The grammar of tree-sitter-python: parser, kind and field numbers, and tables of handlers by kind."""

import tree_sitter_python

from facts.tree_sitter_grammar import Grammar, Handlers

GRAMMAR = Grammar(tree_sitter_python.language(), "comment", "line_continuation")
kind_ids, field_id = GRAMMAR.kind_ids, GRAMMAR.field_id
children, only_child, with_fields = GRAMMAR.children, GRAMMAR.only_child, GRAMMAR.with_fields

NAME, VALUE, LEFT, RIGHT = map(field_id, ("name", "value", "left", "right"))
BODY, CONDITION, CONSEQUENCE, ALTERNATIVE = map(field_id, ("body", "condition", "consequence", "alternative"))
OPERATOR, OPERATORS, ARGUMENT, ARGUMENTS = map(field_id, ("operator", "operators", "argument", "arguments"))
FUNCTION, OBJECT, ATTRIBUTE, SUBSCRIPT = map(field_id, ("function", "object", "attribute", "subscript"))
PARAMETERS, RETURN_TYPE, TYPE, DEFINITION = map(field_id, ("parameters", "return_type", "type", "definition"))
SUPERCLASSES, ALIAS, MODULE_NAME, CAUSE = map(field_id, ("superclasses", "alias", "module_name", "cause"))
SUBJECT, GUARD, KEY, EXPRESSION = map(field_id, ("subject", "guard", "key", "expression"))
FORMAT_SPECIFIER, TYPE_PARAMETERS = map(field_id, ("format_specifier", "type_parameters"))
CONVERSION = field_id("type_conversion")

IDENTIFIER = min(kind_ids("identifier"))

STATEMENTS, EXPRESSIONS = Handlers(GRAMMAR), Handlers(GRAMMAR)
