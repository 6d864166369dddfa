"""Names that Python in a Mako template binds: `<%! from a import b %>`, `<% c = 1 %>`.

Mako does not look for these in what the template is rendered with. Only statements at the indentation of the first line
are read. Source: the documentation of Mako, Syntax (Module-level Blocks) and The Mako Runtime Environment (Context
Variables).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_STATEMENT = re.compile(
    rb"^([ \t]*)(?:"
    rb"(?:from[ \t]+([\w.]+)[ \t]+)?import\b[ \t]*(\([^()]*\)|[^\n;#]*)"
    rb"|(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"
    rb"|(\w+)[ \t]*(?::[^=\n]*)?=(?!=)"
    rb"|\S)",
    re.MULTILINE,
)
_IMPORTED = re.compile(rb"([\w.]+)(?:\s+as\s+(\w+))?")


class Bound(NamedTuple):
    """A name that a block binds, the bytes where it stands, and, of an import, the module and its member."""

    name: str
    start: int
    end: int
    module: str = ""
    member: str = ""


def bound_names(source: bytes, start: int, end: int) -> Iterator[Bound]:
    """Yield the names that the block between the two places binds."""
    block = source[start:end]
    opening_line, indentation = block.find(b"\n"), None
    for statement in _STATEMENT.finditer(block):
        if statement.start() > opening_line >= 0:
            if indentation is None:
                indentation = statement[1]
            if statement[1] != indentation:
                continue
        for bound in _bound(statement):
            yield bound._replace(start=start + bound.start, end=start + bound.end)


def _bound(statement: re.Match[bytes]) -> Iterator[Bound]:
    if statement[3] is not None:
        yield from _imported(statement)
    for group in (4, 5):
        if statement[group] is not None:
            yield Bound(statement[group].decode(), *statement.span(group))


def _imported(statement: re.Match[bytes]) -> Iterator[Bound]:
    """Yield what an import binds: `import a.b as c`, `from a import b, c as d`."""
    module = (statement[2] or b"").decode()
    for found in _IMPORTED.finditer(statement.string, *statement.span(3)):
        path, alias = found[1].decode(), (found[2] or b"").decode()
        if module:
            yield Bound(alias or path, *found.span(), module, path)
        else:
            yield Bound(alias or path.split(".")[0], *found.span(), path if alias else path.split(".")[0])
