"""The schema that `schema.dl` declares, as data: which columns a relation has and what they hold."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

ENTITY, SYMBOL, NUMBER = "Entity", "symbol", "number"
_DECLARATION = re.compile(r"^\.decl\s+(\w+)\((.*)\)", re.MULTILINE)


@dataclass(frozen=True)
class Relation:
    """A relation's name and its columns: their names and what each holds (`Entity`, `symbol` or `number`)."""

    name: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def arity(self) -> int:
        return len(self.columns)

    def without(self, column: str) -> "Relation":
        """Return the relation that lacks `column`; itself if it has none of that name."""
        kept = [(name, kind) for name, kind in zip(self.columns, self.kinds, strict=True) if name != column]
        return Relation(self.name, tuple(name for name, _ in kept), tuple(kind for _, kind in kept))


def text() -> str:
    """Return the text of `schema.dl`."""
    return Path(__file__).with_name("schema.dl").read_text(encoding="utf-8")


@functools.cache
def relations() -> dict[str, Relation]:
    """Return every relation of the schema, as rules see it, by name."""
    return {name: Relation(name, *_columns(columns)) for name, columns in _DECLARATION.findall(text())}


@functools.cache
def local_relations() -> dict[str, Relation]:
    """Return the relations of one file's facts, which know no path: without `file` columns, nor what mounting binds."""
    bound = {"module", "resolves", "submodule"}
    return {name: relation.without("file") for name, relation in relations().items() if name not in bound}


def _columns(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pairs = [column.split(":") for column in text.split(",") if column.strip()]
    return tuple(name.strip() for name, _ in pairs), tuple(kind.strip() for _, kind in pairs)
