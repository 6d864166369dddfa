"""Every node kind of every grammar: where it is handled, and rows written by hand for a snippet of each.

A case in `LANGUAGE/cases/*.txt` reads `== kinds`, the source, `--` and the rows: a relation, then its columns between
` ; `. A relation that a case names has exactly the rows it lists. ⏎ and → stand for a line end and a tab in a symbol.
`LANGUAGE/kinds.toml` tells of the kinds that have no handler of their own.
"""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

import facts
from facts.render_facts import render

HERE = Path(__file__).parent
GRAMMARS = [name for name, language in facts.LANGUAGES.items() if not language.module]
"""Languages that tree-sitter parses as a whole: not templates."""


def tree_of(language):
    importlib.import_module(f"facts.{language}.extract")  # Its handlers fill the tables.
    return importlib.import_module(f"facts.{language}.tree")


def family_of(language):
    return facts.LANGUAGES[language].family


def dialects_of(family):
    return [language for language in GRAMMARS if family_of(language) == family]


def kinds_of(language):
    return tomllib.loads((HERE / family_of(language) / "kinds.toml").read_text(encoding="utf-8"))


def read_cases(family):
    """Yield name, kinds, source and rows of each case."""
    for path in sorted((HERE / family / "cases").glob("*.txt")):
        for number, text in enumerate(re.split("^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]):
            kinds, _, rest = text.partition("\n")
            source, _, rows = rest.partition("\n--\n")
            name = f"{path.stem}-{number}-{kinds.split(', ')[0]}"
            yield name, kinds.split(", "), source + "\n", rows.strip().splitlines()


def row(line):
    relation, _, columns = line.partition(" ")
    return relation, tuple(column.replace("⏎", "\n").replace("→", "\t") for column in columns.split(" ; "))


def named_kinds(grammar):
    language = grammar.language
    return {
        language.node_kind_for_id(kind)
        for kind in range(language.node_kind_count)
        if language.node_kind_is_named(kind) and language.node_kind_is_visible(kind)
    }


def kinds_in(grammar, source):
    found, work = set(), [grammar.parser.parse(source.encode()).root_node]
    while work:
        node = work.pop()
        found.add(node.type)
        work += node.children
    return found


def cases():
    """Yield each case with every language that has its kinds."""
    for family in {family_of(language): None for language in GRAMMARS}:
        known = {language: named_kinds(tree_of(language).GRAMMAR) for language in dialects_of(family)}
        for name, kinds, source, rows in read_cases(family):
            languages = [language for language in known if known[language] >= set(kinds)]
            assert languages, f"no grammar of {family} has all of {kinds}"
            for language in languages:
                yield language, f"{language}-{name}", kinds, source, rows


CASES = list(cases())


@pytest.mark.parametrize(
    ("language", "kinds", "source", "expected"),
    [pytest.param(language, *case, id=name) for language, name, *case in CASES],
)
def test_snippet_gives_the_rows_written_for_it(language, kinds, source, expected):
    assert set(kinds) <= kinds_in(tree_of(language).GRAMMAR, source)
    found = render(facts.extract(source.encode(), language))
    wanted = {}
    for line in expected:
        relation, columns = row(line)
        wanted.setdefault(relation, set()).add(columns)
    for relation, rows in wanted.items():
        assert set(found.get(relation, [])) == rows, relation
        assert len(found[relation]) == len(rows), f"{relation} has a row twice"


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_kind_of_the_grammar_is_handled_or_silent(language):
    tree, told = tree_of(language), kinds_of(language)
    known = named_kinds(tree.GRAMMAR)
    handled = tree.STATEMENTS.names() | tree.EXPRESSIONS.names() | known & told["parts"].keys()
    assert known == handled | known & told["silent"].keys()
    assert not handled & told["silent"].keys()


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_kind_that_is_told_of_stands_in_a_grammar(language):
    known = set().union(*(named_kinds(tree_of(dialect).GRAMMAR) for dialect in dialects_of(family_of(language))))
    told = kinds_of(language)
    assert told["parts"].keys() | told["silent"].keys() <= known


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_kind_of_the_grammar_has_a_case(language):
    covered = {kind for other, _, kinds, *_ in CASES if other == language for kind in kinds}
    told = kinds_of(language)
    absent = told.get("absent", {}).get(language, [])
    assert named_kinds(tree_of(language).GRAMMAR) - covered <= told["silent"].keys() | set(absent)


@pytest.mark.parametrize(
    ("language", "place"),
    [
        (family, place)
        for family in GRAMMARS
        if family == family_of(family)
        for place in sorted({*kinds_of(family)["parts"].values()})
    ],
)
def test_parts_are_handled_where_it_is_said(language, place):
    module, *names = place.split(".")
    found = importlib.import_module(f"facts.{language}" if module == "__init__" else f"facts.{language}.{module}")
    for name in names:
        found = getattr(found, name)
    assert callable(found)
