"""Puts the facts of many files together: global symbols and entities, paths, module names, resolved imports."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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


LAID_OUT = ("module", "submodule", "resolves", "written_in")
"""The relations that depend on the paths, languages and imports of all files; others hold what is in single ones."""

Modules = Sequence[tuple[str, Sequence[tuple[int, str]]]]
"""The modules of a file in order: the language of each and its imports, (level, name)."""


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


def mount_layout(files: Mapping[str, Modules]) -> Mounted:
    """Return what `mount` adds for the layout of files with these modules: rows are in `LAID_OUT` alone."""
    collector = _Collector()
    for path, modules in files.items():
        collector.name(path, modules)
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
        self._modules: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._read_by: set[str] = set()
        self._directories: Counter[str] = Counter()
        self._imports: dict[str, dict[str, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))

    def add(self, path: str, facts: FileFacts) -> None:
        """Add one file's facts."""
        symbols = self._symbols.numbers(facts.symbols)
        file = self._symbols[path]
        offset = self._count + 1
        scopes, labels, ordinals = facts.entities
        roots = np.flatnonzero(scopes < 0)
        for root, (language, imports) in zip(roots.tolist(), modules_of(facts), strict=True):
            self._enter(language, path, offset + root, imports)
        labels = symbols[labels]
        labels[roots] = file
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

    def name(self, path: str, modules: Modules) -> None:
        """Add a file with its modules, and nothing that is in them."""
        for ordinal, (language, imports) in enumerate(modules):
            self._enter(language, path, self._count + 1, imports)
            self._add_entities(np.array([[NIL], [self._symbols[path]], [ordinal]], np.int32))

    def _enter(self, language: str, path: str, module: int, imports: Sequence[tuple[int, str]]) -> None:
        family = LANGUAGES[language].family
        self._read_by.add(LANGUAGES[language].read_by)
        self._modules[family][path].append(module)
        known = self._imports[family][path]
        known += [each for each in imports if each not in known] if known else imports

    def _add_entities(self, entities: Columns) -> None:
        self._entities.append(entities.astype(np.int32))
        self._count += entities.shape[1]

    def lay_out(self) -> None:
        """Name the modules and resolve their imports, each family of languages on its own."""
        self._add_rows("written_in", ((self._symbols[language],) for language in sorted(self._read_by)))
        for family in LANGUAGES:
            if family in self._modules:
                self._lay_out(family, self._modules[family])

    def _lay_out(self, family: str, ids: dict[str, list[int]]) -> None:
        layout = module_layout(family, self._imports[family])
        for directory in layout.directories:
            ids[directory] = [self._count + 1]
            # A directory is a package of Go and of Python where it has files of both: two entities.
            packages = self._directories[directory]
            self._directories[directory] += 1
            self._add_entities(np.array([[NIL], [self._symbols[directory]], [packages]], np.int32))
        text = self._symbols.__getitem__
        self._add_rows(
            "module",
            ((id_, text(name), text(package), text(path)) for path, name, package in layout.names for id_ in ids[path]),
        )
        self._add_rows(
            "submodule", ((ids[package][0], text(name), ids[child][0]) for package, name, child in layout.children)
        )
        self._add_rows(
            "resolves",
            (
                (id_, level, text(name), ids[target][0])
                for importer, level, name, target in layout.resolved
                for id_ in ids[importer]
            ),
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


def modules_of(facts: FileFacts) -> Modules:
    """Return the modules of a file, with what each names in imports: (level, dotted name), each once, in order."""
    modules, languages = facts.relations["language"].tolist()
    found: dict[int, dict[tuple[int, str], None]] = {module: {} for module in modules}
    for name in ("import_module", "import_member", "import_star"):
        columns = facts.relations.get(name)
        if columns is None:
            continue
        names = schema.local_relations()[name].columns
        importers, levels, texts = (columns[names.index(each)].tolist() for each in ("module", "level", "name"))
        for importer, level, text in zip(importers, levels, texts, strict=True):
            found[importer][level, facts.symbols[text]] = None
    return [(facts.symbols[language], list(found[module])) for module, language in zip(modules, languages, strict=True)]
