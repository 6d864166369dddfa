"""The facts of a C file, from its bytes."""

from facts.c import (  # noqa: F401
    calls,
    classes,
    control,
    declarations,
    functions,
    includes,
    literals,
    macros,
    operators,
    places,
    statements,
    type_values,
)
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
        unit.body.finish()
        while unit.waiting:
            unit.build_next()
    return unit.facts.finish()
