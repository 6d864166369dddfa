"""Modifiers, and Java's annotations: data about a definition, not calls."""

from tree_sitter import Node

from facts.instructions import allocate
from facts.java import tree
from facts.java.tree import EXPRESSIONS, children
from facts.java.unit import Unit
from facts.row_builder import tail

_ANNOTATIONS = tree.kind_ids("marker_annotation", "annotation")


def modifiers_of(unit: Unit, node: Node) -> tuple[list[str], list[int]]:
    """Return the keywords before a declaration, and the values of its annotations."""
    words, annotations = [], []
    for child in tree.modifiers(node):
        if child.kind_id in _ANNOTATIONS:
            annotations.append(unit.value(child))
        elif not child.is_named:
            words.append(child.type)
    return words, annotations


def state_modifiers(unit: Unit, definition: int, node: Node, *implied: str) -> None:
    """State the modifiers and annotations of a definition, and the modifiers that its place implies."""
    words, annotations = modifiers_of(unit, node)
    for word in dict.fromkeys((*words, *implied)):
        unit.emit("modifier", definition, word)
    decorate(unit, definition, annotations)


def decorate(unit: Unit, definition: int, annotations: list[int]) -> None:
    """State that annotations stand at a definition; the last written has position 0."""
    for position, value in enumerate(reversed(annotations)):
        unit.emit("decorates", value, definition, position)


@EXPRESSIONS("marker_annotation", "annotation")
def _annotation(unit: Unit, node: Node) -> int:
    """`@A` is the type `A`; with arguments, an object of kind annotation that has them as attributes."""
    kind = unit.qualifier(node.child_by_field_id(tree.NAME))
    arguments = node.child_by_field_id(tree.ARGUMENTS)
    if arguments is None:
        return kind
    value = unit.entity(tail("@" + unit.label(kind)), node)
    allocate(unit, value, "annotation")
    unit.emit("annotation_type", value, kind)
    for argument in children(arguments):
        _element(unit, value, argument)
    return value


def _element(unit: Unit, annotation: int, node: Node) -> None:
    """State `name = value`, or the value alone, which is that of `value`."""
    name, source = "value", node
    if node.type == "element_value_pair":
        name, source = unit.text(node.child_by_field_id(tree.KEY)), node.child_by_field_id(tree.VALUE)
    element = unit.value(source)
    store = unit.body.allocation(unit.entity(tail(f"{unit.label(annotation)}.{name} ="), node))
    unit.emit("store_attribute", store, annotation, name, element)
