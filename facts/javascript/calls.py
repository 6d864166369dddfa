"""Calls, members and indices, which form chains; `new`, `require` and `import()`."""

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.function_body import MODULE
from facts.instructions import allocate, awaited, load_attribute, load_index, merged
from facts.javascript.handler_tables import EXPRESSIONS, child_of_type, children, field, only_child, tokens
from facts.javascript.literals import (
    string_text,
    string_value,
    template_parts,
    undefined,
)
from facts.javascript.names import evaluate_named
from facts.javascript.operators import is_nullish
from facts.javascript.unit import Unit
from facts.row_builder import head, tail

LINKS = {
    "member_expression": "object",
    "subscript_expression": "object",
    "call_expression": "function",
    "non_null_expression": "",
}


@EXPRESSIONS("member_expression", "subscript_expression", "call_expression", "non_null_expression")
def _chain(unit: Unit, node: Node) -> int:
    """A chain from its start; an optional link ends all of it where there is nothing to go on with."""
    links = []
    start: Node | None = node
    while start is not None and start.type in LINKS and not (unit.broken and start.has_error and links):
        links.append(start)
        start = field(start, LINKS[start.type]) if LINKS[start.type] else only_child(start)
    operand = _awaited_operand(unit, start, links[-1])
    if operand is not None:
        return awaited(unit, _follow(unit, unit.value(operand), links[:-1], node), node)
    value, links = _start(unit, start, links)
    return _follow(unit, value, links, node)


def _awaited_operand(unit: Unit, start: Node | None, first: Node) -> Node | None:
    """Return (x) of `await (x).y`, which the grammar reads as a call of a function named await."""
    if start is None or start.type != "identifier" or unit.text(start) != "await" or first.type != "call_expression":
        return None
    if unit.scope.meaning("await") is not None:
        return None
    parts = children(field(first, "arguments"))
    return parts[0] if len(parts) == 1 and parts[0].type != "spread_element" else None


def _follow(unit: Unit, value: int, links: list[Node], node: Node) -> int:
    """Go along the links, the last of the list first."""
    ends: list[tuple[int, Block]] = []
    after: Block | None = None
    for link in reversed(links):
        if _is_optional(link):
            after = after or unit.body.new_block("after " + tail(unit.label(value) + "?."))
            following = unit.body.new_block(tail(unit.label(value) + "?."))
            condition = is_nullish(unit, value, link)
            ends.append((undefined(unit), unit.body.block))
            unit.body.branch(condition, after, following)
            unit.body.start(following)
        value = _LINK[link.type](unit, link, value)
    if after is None:
        return value
    ends.append((value, unit.body.block))
    unit.body.goto(after)
    unit.body.start(after)
    return merged(unit, tail(unit.label(value) + "?"), ends, node)


def _start(unit: Unit, start: Node | None, links: list[Node]) -> tuple[int, list[Node]]:
    """Evaluate what a chain starts with; return it with the links that are left. A module is `require("literal")`."""
    call = links[-1] if links[-1].type == "call_expression" else None
    if call is not None and start is not None:
        if start.type == "import":
            return _import(unit, call, links)
        if start.type == "identifier" and (name := _required(unit, start, call)) is not None:
            return import_module(unit, name, f"require({head(name)!r})", call), links[:-1]
    return unit.value(start), links


def _required(unit: Unit, start: Node, call: Node) -> str | None:
    """Return the module that a call is known to load."""
    if unit.text(start) != "require" or unit.scope.meaning("require") is not None:
        return None
    return _literal(unit, call)


def _literal(unit: Unit, call: Node) -> str | None:
    """Return the only argument of a call, if it is a string."""
    arguments = field(call, "arguments")
    parts = children(arguments) if arguments is not None and arguments.type == "arguments" else []
    return string_text(unit, parts[0]) if len(parts) == 1 and parts[0].type == "string" else None


def import_module(unit: Unit, name: str, label: str, node: Node) -> int:
    """Return the module `name`."""
    value = unit.body.running(unit.entity(tail(label), node))
    unit.emit("import_module", value, MODULE, 0, name)
    return value


def _import(unit: Unit, call: Node, links: list[Node]) -> tuple[int, list[Node]]:
    """`import(name)`: a promise of a module. In a type, `import("m").Name`, the module itself."""
    name = _literal(unit, call)
    if name is None:
        return unit.value(field(call, "function")), links
    module = import_module(unit, name, f"import({head(name)!r})", call)
    if len(links) > 1 and links[-2].type == "member_expression" and _is_type_import(unit, links[-2]):
        return module, links[:-1]
    promise = unit.entity("promise", call)
    unit.emit("element", promise, module)
    return allocate(unit, promise, "promise"), links[:-1]


def _is_type_import(unit: Unit, link: Node) -> bool:
    return unit.text(field(link, "property")) not in ("then", "catch", "finally")


def _is_optional(link: Node) -> bool:
    if link.child_count < 3:
        return False
    return field(link, "optional_chain") is not None or "?." in tokens(link)


def _member(unit: Unit, node: Node, base: int) -> int:
    return load_attribute(unit, base, unit.text(field(node, "property")), node)


def _subscript(unit: Unit, node: Node, base: int) -> int:
    key = subscript_key(unit, node)
    return load_attribute(unit, base, key, node) if isinstance(key, str) else load_index(unit, base, key, node)


def subscript_key(unit: Unit, node: Node) -> str | int:
    """Return the name of a property that is given as a literal string, else the value of the index."""
    index = field(node, "index")
    return string_text(unit, index) if index is not None and index.type == "string" else unit.value(index)


def _call(unit: Unit, node: Node, callee: int) -> int:
    arguments = field(node, "arguments")
    if arguments is not None and arguments.type == "template_string":
        return _tagged(unit, arguments, callee, node)
    result = call(unit, callee, arguments, node, unit.label(callee) + "()")
    if unit.fields is not None and field(node, "function").type == "super":
        unit.fields()
    return result


_LINK = {
    "member_expression": _member,
    "subscript_expression": _subscript,
    "call_expression": _call,
    "non_null_expression": lambda unit, node, base: base,
}


def state_type_arguments(unit: Unit, node: Node, value: int) -> None:
    """State what stands in `<…>` behind a value."""
    given = field(node, "type_arguments") or child_of_type(node, "type_arguments")
    for position, argument in enumerate(children(given)):
        unit.emit("type_argument", value, position, unit.value(argument))


@EXPRESSIONS("instantiation_expression")
def _instantiation(unit: Unit, node: Node) -> int:
    """`f<T>`: the function itself, with arguments for its types."""
    return with_type_arguments(unit, node, unit.value(only_child(node)))


def with_type_arguments(unit: Unit, node: Node, source: int) -> int:
    """Return `source`, as a value of its own if it is given arguments for its types."""
    if field(node, "type_arguments") is None and child_of_type(node, "type_arguments") is None:
        return source
    value = unit.entity(tail(unit.label(source) + "<>"), node)
    unit.emit("assign", value, source)
    state_type_arguments(unit, node, value)
    return value


# ---- Calls


def call(unit: Unit, callee: int, arguments: Node | None, node: Node, label: str) -> int:
    """Evaluate arguments and return the result of a call."""
    values = evaluate_arguments(unit, arguments, unit.label(callee))
    result = unit.entity(tail(label), node)
    unit.body.running(result)
    unit.emit("call", result, unit.body.entity, callee)
    state_type_arguments(unit, node, result)
    starred = False
    for position, (is_spread, value) in enumerate(values):
        if is_spread:
            unit.emit("rest_argument", result, position, value)
            starred = True
        elif starred:
            unit.emit("rest_argument", result, position, _boxed(unit, value, node))
        else:
            unit.emit("argument", result, position, value)
    return result


def evaluate_arguments(unit: Unit, arguments: Node | None, callee: str) -> list[tuple[bool, int]]:
    """Evaluate arguments in order: whether it is `...`, value. Functions are named by the call and its first string."""
    name, values = callee, []
    for argument in children(arguments):
        if argument.type == "spread_element":
            values.append((True, unit.value(only_child(argument))))
            continue
        if argument.type == "string" and not values:
            name = f"{callee}({head(string_text(unit, argument))!r})"
        values.append((False, evaluate_named(unit, argument, f"<{tail(name)}>")))
    return values


def _boxed(unit: Unit, value: int, node: Node) -> int:
    """Return an array that holds `value`: an argument behind `...xs`, whose position is unknown."""
    container = unit.entity("array", node)
    unit.emit("element", container, value)
    return allocate(unit, container, "array")


def _tagged(unit: Unit, template: Node, callee: int, node: Node) -> int:
    """A tagged template: the tag is called with the texts and the values between them."""
    texts, values = template_parts(unit, template)
    strings = unit.entity("array", template)
    for position, text in enumerate(texts):
        unit.emit("position_item", strings, position, string_value(unit, text, template))
    allocate(unit, strings, "array")
    result = unit.body.running(unit.entity(tail(unit.label(callee) + "``"), node))
    unit.emit("call", result, unit.body.entity, callee)
    for position, value in enumerate([strings, *values]):
        unit.emit("argument", result, position, value)
    # Types that a tag is given, `tag<T>`…``, may be blanked in the tree; the file has them.
    between = unit.source[field(node, "function").end_byte : template.start_byte]
    if b"<" in between:
        unit.emit("type_comment", MODULE, " ".join(between.decode(errors="replace").split()))
    return result


@EXPRESSIONS("new_expression")
def _new(unit: Unit, node: Node) -> int:
    callee = unit.value(field(node, "constructor"))
    result = call(unit, callee, field(node, "arguments"), node, f"new {unit.label(callee)}()")
    unit.emit("construction", result)
    return result
