"""Facts as tab-separated files, `NAME.facts` for every relation, in the form that Soufflé reads."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from facts import schema
from facts.mount import Mounted

# What would end a field, a record's element or a line.
_SPECIAL = re.compile(r"[\\\t\n\r,\[\]]")


def create_in_place(path: Path) -> BinaryIO:
    return open(path, "wb")


def export(
    mounted: Mounted,
    directory: Path,
    create: Callable[[Path], AbstractContextManager[BinaryIO]] = create_in_place,
) -> None:
    """Write each relation to `directory/NAME.facts`, one row a line; entities as records `[scope, label, ordinal]`.

    `create` makes a file to write to.

    Characters of a symbol that would end it are written as a backslash, x and two hexadecimal digits.
    """
    directory.mkdir(parents=True, exist_ok=True)
    symbols = [_SPECIAL.sub(lambda match: f"\\x{ord(match[0]):02x}", text) for text in mounted.symbols]
    entities = _records(mounted, symbols)
    for name, columns in mounted.relations.items():
        texts = [
            _texts(kind, column.tolist(), symbols, entities)
            for kind, column in zip(schema.relations()[name].kinds, columns, strict=True)
        ]
        with create(directory / f"{name}.facts") as file:
            rows = ("\t".join(row) + "\n" for row in zip(*texts, strict=True))
            file.writelines(row.encode("utf-8", "surrogateescape") for row in rows)


def _texts(kind: str, column: list[int], symbols: list[str], entities: list[str]) -> list[str]:
    if kind == schema.NUMBER:
        return list(map(str, column))
    table = entities if kind == schema.ENTITY else symbols
    return [table[value] for value in column]


def _records(mounted: Mounted, symbols: list[str]) -> list[str]:
    """Return every entity as text, by record id."""
    scopes, labels, ordinals = mounted.entities.tolist()
    texts = ["nil"] * (len(scopes) + 1)
    pending = list(range(len(scopes), 0, -1))
    while pending:
        record = pending[-1]
        scope = scopes[record - 1]
        if texts[record] == "nil" and scope and texts[scope] == "nil":
            pending.append(scope)
            continue
        texts[record] = f"[{texts[scope]}, {symbols[labels[record - 1]]}, {ordinals[record - 1]}]"
        pending.pop()
    return texts
