"""Relations that a query may read: their modules, columns, and what their files say about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import engine
from analyzer.engine_errors import coded_errors
from analyzer.evaluation.program import compile_whole_rulebook
from analyzer.evaluation.rule_sources import fact_schema
from analyzer.scan import ScanRequest, configured, load_rulebook, open_tree
from analyzer.state_directory import StateDirectory

FACT, PUBLIC, OPEN, PRIVATE = "fact", "public", "open", "private"
FACTS = "facts"
"""The module under which facts are listed: they belong to none."""


@dataclass(frozen=True, slots=True)
class ListedRelation:
    """A relation as a query names it. `kind` says whether others may read it (public), or add to it, too (open)."""

    name: str
    module: str
    kind: str
    columns: tuple[tuple[str, str], ...]
    description: str
    file: str
    line: int

    @property
    def signature(self) -> str:
        return f"{self.name}({', '.join(f'{name}: {type}' for name, type in self.columns)})"

    def fits(self, pattern: str) -> bool:
        """Return True if a pattern is a part of the name or of the module, or matches one of them as a glob."""
        names = (self.name, self.module)
        return any(pattern in name or fnmatchcase(name, pattern) for name in names)


def relations_of_rules(request: ScanRequest) -> list[ListedRelation]:
    """Return the relations of the bundled rules, and of those of a tree. Raises AnalyzeError."""
    tree, state = open_tree(request.path, request.revision), StateDirectory(trees=request.paths)
    try:
        book = load_rulebook(tree, configured(tree, request), request)
        return listed(compile_whole_rulebook(book, state.path).declarations, book.sources)
    finally:
        tree.close()
        state.close()


def relations_of_program(path: Path) -> list[ListedRelation]:
    """Return the relations of the program of a file, and of what it includes. Raises AnalyzeError."""
    with coded_errors(path):
        program = engine.compile_file(path)
        names = {relation.span.source for relation in program.relations.values()}
        return listed(
            program, [engine.Source(name, Path(name).read_text("utf-8", "surrogateescape")) for name in names]
        )


def listed(program: engine.CheckedProgram, sources: Iterable[engine.Source]) -> list[ListedRelation]:
    """Return the relations of a program that can be asked, by module and name; the program's own have no module."""
    by_name = {source.name: source for source in sources}
    lines = {name: source.text.split("\n") for name, source in by_name.items()}
    found = [
        described(relation, by_name[relation.span.source].module, lines)
        for relation in program.relations.values()
        if relation.span.source in by_name and "inline" not in relation.qualifiers
    ]
    return sorted(found, key=lambda each: (each.module, each.name))


def described(relation: engine.Relation, module: str, lines: Mapping[str, list[str]]) -> ListedRelation:
    source, is_exported = relation.span.source, relation.qualifiers & {PUBLIC, OPEN}
    kind = PRIVATE if module and not is_exported else OPEN if OPEN in relation.qualifiers else PUBLIC
    name = relation.name
    if kind == PRIVATE:
        name = f"{module}::{name.removeprefix(f'{module}.')}"
    if source == fact_schema().name:
        module, kind = FACTS, FACT
    columns, line = tuple((column.name, column.type.name) for column in relation.columns), relation.span.line
    return ListedRelation(name, module, kind, columns, comment(lines[source], line), source, line)


def comment(lines: list[str], line: int) -> str:
    """Return the comment that stands right above a line."""
    first = at = line - 1
    while first > 0 and lines[first - 1].lstrip().startswith("//"):
        first -= 1
    return " ".join(text.strip().removeprefix("//").strip() for text in lines[first:at])
