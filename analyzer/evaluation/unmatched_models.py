"""User models that match nothing: their library is imported, but the modelled name never occurs in the code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache

import numpy as np

import facts
from analyzer.report import Problem
from facts import schema
from rules import catalogue

DECLARED = re.compile(r"^\.decl (\w+)\(([^)]*)\)", re.MULTILINE)
FACT = re.compile(r"(?:^|\.[ \t]+)(\w+)\(([^()\n]*)\)\.", re.MULTILINE)
ARGUMENT = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|[^\s,]+")
ALIAS = re.compile(r"\balias\(\"[^\"]*\", \"([^\"]*)\"\)")
NAMING = frozenset({"function", "decorator", "annotation"})
"""Attributes of models that hold names expected in the code; also `name` of `source_value`. Classes may not occur."""
SAID = (
    *("load_attribute", "store_attribute", "load_name", "import_member", "import_module"),
    *("function", "class", "cell", "member", "field"),
)
"""The relations whose symbols are the names in the code."""


def unmatched_models(file: str, text: str, mounted: facts.Mounted) -> Iterator[Problem]:
    """Yield facts of a model whose name never occurs in a tree that imports its library."""
    imported, said = imports(mounted), names_said(mounted)
    for match in FACT.finditer(text):
        for name in qualified_names(match[1], match[2]):
            library = next((each for each in _prefixes(name) if each in imported), None)
            last = re.split(r"[./]", name)[-1]
            if library is not None and library != name and last not in said:
                near = get_close_matches(last, said, n=1)
                begin = text.rfind("\n", 0, match.start(1)) + 1
                yield Problem(
                    f"this matches nothing: {library} is imported, but '{last}' never occurs in the code",
                    file,
                    text.count("\n", 0, begin) + 1,
                    "warning",
                    column=match.start(1) - begin + 1,
                    end_column=match.end(2) - begin + 2,
                    code=text[begin:].split("\n", 1)[0],
                    help=f"did you mean '{near[0]}'?" if near else "",
                )


def qualified_names(relation: str, arguments: str) -> list[str]:
    """Return the qualified names among the arguments of a fact of `rules/lib/model_vocabulary.dl`."""
    columns = naming_columns().get(relation, ())
    given = [match[1] or "" for match in ARGUMENT.finditer(arguments)]
    names = [".".join(given[i] for i in positions) for positions in columns if max(positions) < len(given)]
    return [name for name in names if "." in name.strip(".") and name not in canonical_names()]


@cache
def naming_columns() -> dict[str, list[tuple[int, ...]]]:
    """Return, by relation of models, the positions of qualified names: one column, or a class and an attribute."""
    (text,) = (file.text for file in catalogue.library() if file.name == "rules/lib/model_vocabulary.dl")
    found: dict[str, list[tuple[int, ...]]] = {}
    for relation, attributes in DECLARED.findall(text):
        names = [attribute.split(":")[0].strip() for attribute in attributes.split(",")]
        wanted = NAMING | ({"name"} if relation == "source_value" else set())
        found[relation] = [(i,) for i, name in enumerate(names) if name in wanted]
        if {"class", "attribute"} <= set(names):
            found[relation].append((names.index("class"), names.index("attribute")))
    return found


@cache
def canonical_names() -> frozenset[str]:
    """Return the names for which bundled models have aliases."""
    return frozenset(name for file in catalogue.models() for name in ALIAS.findall(file.text))


def imports(mounted: facts.Mounted) -> set[str]:
    """Return the modules that the tree imports by their names."""
    return {name for relation in ("import_module", "import_member") for name in _symbols(mounted, relation, "name")}


def names_said(mounted: facts.Mounted) -> set[str]:
    """Return the names in the code, and the components of dotted ones."""
    said: set[str] = set()
    for relation in SAID:
        for column in ("name", "member"):
            if column in schema.relations()[relation].columns:
                said |= {part for name in _symbols(mounted, relation, column) for part in re.split(r"[./]", name)}
    return said


def _symbols(mounted: facts.Mounted, relation: str, column: str) -> Iterable[str]:
    rows = mounted.relations[relation][schema.relations()[relation].columns.index(column)]
    return (mounted.symbols[symbol] for symbol in np.unique(rows).tolist())


def _prefixes(name: str) -> Iterator[str]:
    """Yield the name and its dotted prefixes, the longest first."""
    while name:
        yield name
        name = name.rpartition(".")[0]
