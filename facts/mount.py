"""Puts the facts of many files together: global symbols and entities, paths, module names, resolved imports."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from facts import schema
from facts.file_facts import Columns, FileFacts
from facts.languages import LANGUAGES, module_layout
from facts.row_builder import Symbols

NIL = 0
"""The record id of no entity."""


@dataclass
class Mounted:
    """The facts of a set of files, each at its path.

    `entities` is int32, 3 × n: scope (a record id, 0 for none), label (an index into `symbols`), ordinal. Column i is
    the entity with record id i + 1. `relations` holds an int32 array of arity × rows for every relation of the schema.
    """

    symbols: list[str]
    entities: Columns
    relations: Mapping[str, Columns]


LAID_OUT = ("module", "submodule", "resolves")
"""The relations that depend on the paths and imports of all files; rows of all others are those of one file."""

Imports = Mapping[str, Mapping[str, list[tuple[int, str]]]]
"""Imports of files, (level, name), by language and path."""


def mount(files: Iterable[tuple[str, FileFacts]]) -> Mounted:
    """Return the facts of files at their paths: posix paths relative to the mounted root, each once.

    The result depends on the files and their order only. Modules get their names, and imports their targets, by the
    layout of the paths (see the language's `module_layout`).
    """
    collector = _Collector()
    for path, facts in files:
        collector.add(path, facts)
    collector.lay_out()
    return collector.result()


def mount_files(files: Iterable[tuple[str, FileFacts]]) -> Mounted:
    """Return the facts of files at their paths without those of their layout: no rows are in `LAID_OUT`."""
    collector = _Collector()
    for path, facts in files:
        collector.add(path, facts)
    return collector.result()


def mount_layout(imports: Imports) -> Mounted:
    """Return what `mount` adds for the layout of files with these imports: rows are in `LAID_OUT` alone."""
    collector = _Collector()
    for language, paths in imports.items():
        for path, imported in paths.items():
            collector.name(language, path, imported)
    collector.lay_out()
    return collector.result()


class _Collector:
    """Global columns, gathered file by file."""

    def __init__(self) -> None:
        self._symbols = Symbols()
        self._declared = schema.relations()
        self._local = schema.local_relations()
        self._entities: list[Columns] = []
        self._count = 0
        self._rows: dict[str, list[Columns]] = defaultdict(list)
        # By family of languages: the modules' record ids and imports (level, name), by path.
        self._modules: dict[str, dict[str, int]] = defaultdict(dict)
        self._directories: Counter[str] = Counter()
        self._imports: dict[str, dict[str, list[tuple[int, str]]]] = defaultdict(dict)

    def add(self, path: str, facts: FileFacts) -> None:
        """Add one file's facts."""
        symbols = self._symbols.numbers(facts.symbols)
        file = self._symbols[path]
        offset = self._count + 1
        family = LANGUAGES[facts.language].family
        self._modules[family][path] = offset
        self._imports[family][path] = imports_of(facts)
        scopes, labels, ordinals = facts.entities
        labels = symbols[labels]
        labels[0] = file
        self._add_entities(np.stack([_shifted(scopes, offset), labels, ordinals]))
        for name, columns in facts.relations.items():
            local = self._local[name]
            shifted = [
                _shifted(column, offset)
                if kind == schema.ENTITY
                else symbols[column]
                if kind == schema.SYMBOL
                else column
                for kind, column in zip(local.kinds, columns, strict=True)
            ]
            if "file" in self._declared[name].columns:
                shifted.insert(self._declared[name].columns.index("file"), np.full(columns.shape[1], file, np.int32))
            self._rows[name].append(np.stack(shifted))

    def name(self, language: str, path: str, imports: list[tuple[int, str]]) -> None:
        """Add a file as a module with its imports, and nothing that is in it."""
        family = LANGUAGES[language].family
        self._modules[family][path] = self._count + 1
        self._imports[family][path] = imports
        self._add_entities(np.array([[NIL], [self._symbols[path]], [0]], np.int32))

    def _add_entities(self, entities: Columns) -> None:
        self._entities.append(entities.astype(np.int32))
        self._count += entities.shape[1]

    def lay_out(self) -> None:
        """Name the modules and resolve their imports, each family of languages on its own."""
        for family in LANGUAGES:
            if family in self._modules:
                self._lay_out(family, self._modules[family])

    def _lay_out(self, family: str, ids: dict[str, int]) -> None:
        layout = module_layout(family, self._imports[family])
        for directory in layout.directories:
            ids[directory] = self._count + 1
            # A directory is a package of Go and of Python where it has files of both: two entities.
            packages = self._directories[directory]
            self._directories[directory] += 1
            self._add_entities(np.array([[NIL], [self._symbols[directory]], [packages]], np.int32))
        text = self._symbols.__getitem__
        self._add_rows(
            "module", ((ids[path], text(name), text(package), text(path)) for path, name, package in layout.names)
        )
        self._add_rows(
            "submodule", ((ids[package], text(name), ids[child]) for package, name, child in layout.children)
        )
        self._add_rows(
            "resolves",
            ((ids[importer], level, text(name), ids[target]) for importer, level, name, target in layout.resolved),
        )

    def _add_rows(self, relation: str, rows: Iterable[tuple[int, ...]]) -> None:
        rows = list(rows)
        if rows:
            self._rows[relation].append(np.array(rows, np.int32).T)

    def result(self) -> Mounted:
        """Return what was gathered; relations without rows too."""
        relations = {
            name: np.concatenate(self._rows[name], axis=1)
            if name in self._rows
            else np.empty((relation.arity, 0), np.int32)
            for name, relation in self._declared.items()
        }
        entities = np.concatenate(self._entities, axis=1) if self._entities else np.empty((3, 0), np.int32)
        return Mounted(list(self._symbols), entities, relations)


def _shifted(column: Columns, offset: int) -> Columns:
    """Return local entities as record ids."""
    return np.where(column < 0, NIL, column + offset).astype(np.int32)


def imports_of(facts: FileFacts) -> list[tuple[int, str]]:
    """Return the modules that a file names in imports: (level, dotted name), each once, in order."""
    found: dict[tuple[int, str], None] = {}
    for name in ("import_module", "import_member", "import_star"):
        columns = facts.relations.get(name)
        if columns is None:
            continue
        names = schema.local_relations()[name].columns
        levels, texts = columns[names.index("level")].tolist(), columns[names.index("name")].tolist()
        found.update(((level, facts.symbols[text]), None) for level, text in zip(levels, texts, strict=True))
    return list(found)
