"""Names: variables, `this`, `super`; functions and classes that take the name of what they are assigned to."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.function_body import MODULE
from facts.javascript.handler_tables import EXPRESSIONS
from facts.javascript.operators import unwrapped
from facts.javascript.unit import Unit


@EXPRESSIONS("identifier", "shorthand_property_identifier")
def _identifier(unit: Unit, node: Node) -> int:
    return unit.read(unit.text(node))


@EXPRESSIONS("this")
def _this(unit: Unit, node: Node) -> int:
    return unit.read("this")


@EXPRESSIONS("super")
def _super(unit: Unit, node: Node) -> int:
    """Return what the class around inherits from, as the method sees it whose `this` is the receiver."""
    owner = unit.scope.resolve("this")
    function = owner.body_scope.entity if owner is not None else unit.body.entity
    return unit.body.load_once("super", "super", "super", function, NIL)


@EXPRESSIONS("meta_property", "import")
def _meta(unit: Unit, node: Node) -> int:
    text = unit.text(node)
    return unit.body.load_once(text, text, "load_name", MODULE, text)


def evaluate_named(unit: Unit, node: Node | None, name: str) -> int:
    """Evaluate an expression; a function or class without a name of its own takes this one."""
    inner = unwrapped(node)
    if inner is not None and inner.type in _NAMELESS and not inner.has_error:
        unit.given_name = name
    return unit.value(node)


_NAMELESS = frozenset({"function_expression", "generator_function", "arrow_function", "class"})
