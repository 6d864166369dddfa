"""The facts of a C file, from its bytes."""

from facts.c import handlers, includes, macros  # noqa: F401
from facts.c.parse import parse
from facts.c.unit import Unit
from facts.file_facts import FileFacts
from facts.source_text import SourceText
from facts.tree_walk import deep_recursion


def extract(data: bytes) -> FileFacts:
    """Return the facts of a C file."""
    text = SourceText(data)
    parsed = parse(text.utf8)
    with deep_recursion():
        unit = Unit(parsed.root, text, parsed.source, parsed.types)
        for start, end in parsed.dropped:
            unit.facts.unparsed(start, end)
        found = macros.Macros(parsed.source, unit.usage.macros).found
        macros.declare_all(unit, found)
        includes.COMMENTS.state_directives(unit, parsed.root)
        macros.define_all(unit, found)
        unit.statements(parsed.root)
        return unit.finish(Unit.build_next)
