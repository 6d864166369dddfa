"""The grammar of tree-sitter-python: parser, kind and field numbers, and tables of handlers by kind."""

from collections.abc import Callable, Iterator

import tree_sitter_python
from tree_sitter import Language, Node, Parser

LANGUAGE = Language(tree_sitter_python.language())
PARSER = Parser(LANGUAGE)


def kind_ids(*names: str) -> frozenset[int]:
    """Return the numbers of the named node kinds with these names; a name may have several."""
    ids = {
        index
        for index in range(LANGUAGE.node_kind_count)
        if LANGUAGE.node_kind_for_id(index) in names and LANGUAGE.node_kind_is_named(index)
    }
    assert {LANGUAGE.node_kind_for_id(index) for index in ids} == set(names), names
    return frozenset(ids)


def field_id(name: str) -> int:
    """Return the number of a field of the grammar."""
    index = LANGUAGE.field_id_for_name(name)
    assert index is not None, name
    return index


NAME, VALUE, LEFT, RIGHT = map(field_id, ("name", "value", "left", "right"))
BODY, CONDITION, CONSEQUENCE, ALTERNATIVE = map(field_id, ("body", "condition", "consequence", "alternative"))
OPERATOR, OPERATORS, ARGUMENT, ARGUMENTS = map(field_id, ("operator", "operators", "argument", "arguments"))
FUNCTION, OBJECT, ATTRIBUTE, SUBSCRIPT = map(field_id, ("function", "object", "attribute", "subscript"))
PARAMETERS, RETURN_TYPE, TYPE, DEFINITION = map(field_id, ("parameters", "return_type", "type", "definition"))
SUPERCLASSES, ALIAS, MODULE_NAME, CAUSE = map(field_id, ("superclasses", "alias", "module_name", "cause"))
SUBJECT, GUARD, KEY, CODE, EXPRESSION = map(field_id, ("subject", "guard", "key", "code", "expression"))
FORMAT_SPECIFIER, TYPE_PARAMETERS = map(field_id, ("format_specifier", "type_parameters"))

IDENTIFIER = min(kind_ids("identifier"))
EXTRAS = kind_ids("comment", "line_continuation")


def children(node: Node) -> list[Node]:
    """Return the named children that carry meaning: neither comments nor line continuations."""
    return [child for child in node.named_children if child.kind_id not in EXTRAS]


def only_child(node: Node) -> Node | None:
    """Return the first named child that carries meaning, None if there is none."""
    for child in node.named_children:
        if child.kind_id not in EXTRAS:
            return child
    return None


def is_broken(node: Node) -> bool:
    """Whether a syntax error stands directly in `node`, so that its fields may be missing."""
    return node.has_error and (node.is_error or any(child.is_error or child.is_missing for child in node.children))


def has_token(node: Node, token: str) -> bool:
    """Whether `token` stands among the direct children, such as the `async` of a definition."""
    return any(child.type == token for child in node.children if not child.is_named)


def with_fields(node: Node, field: int) -> Iterator[Node]:
    """Yield the children that stand in `field`."""
    return (child for child in node.children_by_field_id(field) if child.is_named and child.kind_id not in EXTRAS)


class Handlers(dict):
    """The functions that handle nodes, by kind number. They enter it by decoration: `@EXPRESSIONS("call")`."""

    def __call__(self, *names: str) -> Callable[[Callable], Callable]:
        def enter(handler: Callable) -> Callable:
            self.update(dict.fromkeys(kind_ids(*names), handler))
            return handler

        return enter

    def names(self) -> set[str]:
        """Return the names of all handled kinds."""
        return {LANGUAGE.node_kind_for_id(kind) for kind in self}


STATEMENTS = Handlers()
EXPRESSIONS = Handlers()
