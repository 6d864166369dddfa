"""match statements: patterns as tests of the subject, branches, and loads of its parts."""

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.instructions import allocate, load_attribute, load_index, operation
from facts.python import tree
from facts.python.expressions import display
from facts.python.literals import constant, number
from facts.python.operators import decide
from facts.python.tree import EXPRESSIONS, STATEMENTS, children, only_child, with_fields
from facts.python.unit import Unit
from facts.row_builder import tail
from facts.tree_sitter_grammar import has_token


@STATEMENTS("match_statement")
def _match(unit: Unit, node: Node) -> None:
    body = unit.body
    subjects = list(with_fields(node, tree.SUBJECT))
    is_tuple = len(subjects) > 1 or has_token(node, ",")
    subject = display(unit, "tuple", subjects, node) if is_tuple else unit.value(subjects[0])
    after = body.new_block("after match " + unit.label(subject))
    for case in children(node.child_by_field_id(tree.BODY)):
        if case.type != "case_clause":
            unit.unknown(case)
        elif body.block is not None:
            _case(unit, case, subject, after)
    body.goto(after)
    unit.continue_at(after)


def _case(unit: Unit, node: Node, subject: int, after: Block) -> None:
    """Test one case; go on at the next when it does not match."""
    body = unit.body
    patterns = [child for child in children(node) if child.type == "case_pattern"]
    label = tail(",".join(unit.words(pattern) for pattern in patterns))
    otherwise = body.new_block("not case " + label)
    if len(patterns) == 1 and not has_token(node, ","):
        test(unit, patterns[0], subject, otherwise)
    else:
        _sequence(unit, patterns, subject, otherwise, node)
    guard = node.child_by_field_id(tree.GUARD)
    inside = body.new_block("case " + label)
    if guard is not None:
        decide(unit, only_child(guard), inside, otherwise)
    else:
        body.goto(inside)
    body.start(inside)
    unit.statements(node.child_by_field_id(tree.CONSEQUENCE))
    body.goto(after)
    unit.continue_at(otherwise)


def test(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """Match `subject` with a pattern: control goes on in the current block if it matches, else at `otherwise`."""
    if node.type == "case_pattern":
        parts = children(node)
        if not parts:
            return  # the wildcard
        if node.children[0].type == "-":
            _compare(unit, _negative(unit, parts[0]), subject, otherwise, node)
            return
        node = parts[0]
    if node.type == "_":
        return
    handler = _PATTERNS.get(node.type)
    if handler is not None:
        handler(unit, node, subject, otherwise)
    elif node.kind_id in EXPRESSIONS:
        _compare(unit, unit.value(node), subject, otherwise, node)
    else:
        unit.unknown(node)


def _compare(unit: Unit, value: int, subject: int, otherwise: Block, node: Node) -> None:
    operator = "is" if node.type in ("none", "true", "false") else "=="
    _require(unit, operation(unit, operator, [subject, value], node), otherwise)


def _require(unit: Unit, condition: int, otherwise: Block) -> None:
    """Go on only if `condition` holds."""
    following = unit.body.new_block("if " + unit.label(condition))
    unit.body.branch(condition, following, otherwise)
    unit.body.start(following)


def _negative(unit: Unit, node: Node) -> int:
    kind, text = number(unit.text(node))
    return constant(unit, kind, "-" + text)


def _dotted_name(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """A name is bound to the subject; a dotted name is a value that it must equal."""
    names = children(node)
    if len(names) == 1:
        unit.assign(unit.text(names[0]), subject, "pattern", names[0])
    else:
        _compare(unit, _value_of(unit, node), subject, otherwise, node)


def _value_of(unit: Unit, node: Node) -> int:
    """Return the value of a dotted name."""
    first, *rest = children(node)
    value = unit.read(unit.text(first))
    for part in rest:
        value = load_attribute(unit, value, unit.text(part), node)
    return value


def _complex(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """A real and an imaginary number, each perhaps negative: `-1 + 2j`."""
    text = "".join(unit.text(child) for child in node.children).replace("_", "").lower()
    _compare(unit, constant(unit, "complex", text), subject, otherwise, node)


def _as(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    pattern, *_, name = children(node)
    test(unit, pattern, subject, otherwise)
    unit.assign(unit.text(name), subject, "pattern", name)


def _union(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """Alternatives are tried in order; the first that matches decides."""
    body = unit.body
    matched = body.new_block("matches " + unit.words(node))
    alternatives = _signed(node)
    for index, (negative, part) in enumerate(alternatives):
        following = otherwise if index == len(alternatives) - 1 else body.new_block("not " + unit.words(part))
        if negative:
            _compare(unit, _negative(unit, part), subject, following, part)
        else:
            test(unit, part, subject, following)
        body.goto(matched)
        if following is not otherwise:
            unit.continue_at(following)
            if body.block is None:
                break
    unit.continue_at(matched)


def _signed(node: Node) -> list[tuple[bool, Node]]:
    """Return the alternatives of a union, each with whether a minus stands before it."""
    result, negative = [], False
    for child in node.children:
        if child.type == "_" or (child.is_named and child.kind_id not in tree.GRAMMAR.extras):
            result.append((negative, child))
        negative = child.type == "-"
    return result


def _list(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    parts = children(node)
    if node.type == "tuple_pattern" and len(parts) == 1 and not has_token(node, ",") and not _is_splat(parts[0]):
        test(unit, parts[0], subject, otherwise)  # parentheses
    else:
        _sequence(unit, parts, subject, otherwise, node)


def _is_splat(pattern: Node) -> bool:
    inner = only_child(pattern) if pattern.type == "case_pattern" else pattern
    return inner is not None and inner.type == "splat_pattern"


def _sequence(unit: Unit, parts: list[Node], subject: int, otherwise: Block, node: Node) -> None:
    """The subject is a sequence of fitting length, and its elements match."""
    _require(unit, operation(unit, "sequence", [subject], node), otherwise)
    star = next((index for index, part in enumerate(parts) if _is_splat(part)), len(parts))
    for index, part in enumerate(parts):
        if index == star:
            value = unit.body.instruction(unit.entity(tail(f"*{unit.label(subject)}"), part))
            unit.emit("unpack_rest", value, subject, index, len(parts) - index - 1)
            _bind_splat(unit, part, value)
        else:
            position = index if index < star else index - len(parts)
            value = unit.body.instruction(unit.entity(tail(f"{unit.label(subject)}[{position}]"), part))
            unit.emit("unpack", value, subject, position)
            test(unit, part, value, otherwise)


def _bind_splat(unit: Unit, node: Node, value: int) -> None:
    splat = only_child(node) if node.type == "case_pattern" else node
    name = only_child(splat)
    if name is not None and unit.text(name) != "_":
        unit.assign(unit.text(name), value, "pattern", name)


def _dict(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """The subject is a mapping that has the keys, and their values match."""
    _require(unit, operation(unit, "mapping", [subject], node), otherwise)
    keys, values = with_fields(node, tree.KEY), with_fields(node, tree.VALUE)
    for key, part in zip(keys, values, strict=False):
        index = _value_of(unit, key) if key.type == "dotted_name" else unit.value(key)
        _require(unit, operation(unit, "in", [index, subject], key), otherwise)
        test(unit, part, load_index(unit, subject, index, key), otherwise)
    for splat in children(node):
        if splat.type == "splat_pattern":
            rest = allocate(unit, unit.entity("dict", splat), "dict")
            unit.emit("spread", rest, subject, -1)
            _bind_splat(unit, splat, rest)


def _class(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """The subject is an instance of the class, and the attributes that the arguments name match."""
    name, *arguments = children(node)
    kind = _value_of(unit, name)
    _require(unit, operation(unit, "isinstance", [subject, kind], node), otherwise)
    for position, argument in enumerate(arguments):
        inner = only_child(argument)
        if inner is not None and inner.type == "keyword_pattern":
            _keyword(unit, inner, subject, otherwise)
        else:
            value = unit.body.instruction(unit.entity(tail(f"{unit.label(subject)}.{position}"), argument))
            unit.emit("match_argument", value, subject, kind, position)
            test(unit, argument, value, otherwise)


def _keyword(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """`name=pattern`; the wildcard is no node of its own."""
    name, *pattern = children(node)
    value = load_attribute(unit, subject, unit.scope.mangled(unit.text(name)), node)
    if not pattern:
        return
    if any(child.type == "-" for child in node.children):
        _compare(unit, _negative(unit, pattern[0]), value, otherwise, pattern[0])
    else:
        test(unit, pattern[0], value, otherwise)


def _splat(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    _bind_splat(unit, node, subject)


_PATTERNS = {
    "dotted_name": _dotted_name,
    "complex_pattern": _complex,
    "as_pattern": _as,
    "union_pattern": _union,
    "list_pattern": _list,
    "tuple_pattern": _list,
    "dict_pattern": _dict,
    "class_pattern": _class,
    "case_pattern": test,
    "splat_pattern": _splat,
}
