"""The facts of a Java file, from its bytes."""

from tree_sitter import Node

from facts.file_facts import FileFacts
from facts.java import classes, handlers, imports  # noqa: F401
from facts.java.tree import children, parse
from facts.java.unit import Unit
from facts.source_text import SourceText
from facts.tree_walk import deep_recursion


def extract(data: bytes) -> FileFacts:
    """Return the facts of a Java file."""
    text = SourceText(data)
    root = parse(text.utf8)
    with deep_recursion():
        unit = Unit(root, text)
        imports.COMMENTS.state_directives(unit, root)
        return build(unit, root)


def build(unit: Unit, root: Node) -> FileFacts:
    """Return the facts of a whole file, the root of whose tree is given."""
    classes.declare_classes(unit, children(root))
    unit.statements(root)
    while unit.waiting:
        unit.build_next()
    for body in unit.open_bodies:
        body.finish()
    return unit.facts.finish()
