"""The core of the rules, `rules/lib/*.dl`, names nothing of a language: what languages add stands in their folders."""

import re
from collections import defaultdict
from functools import cache

import pytest

from facts import LANGUAGES, extract, schema_text
from facts.schema import local_relations
from rules.catalogue import checks
from rules.library import HERE

FAMILIES = sorted({language.family for language in LANGUAGES.values()})
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\])*")|(\w+)(?=\()', re.S)
IMPORTED = re.compile(r"^\.use (.*)$", re.M)
SPECIAL = re.compile(r"\.?__\w+__")
QUALIFIED = re.compile(r"\.?[A-Za-z_]\w*(/\w+)*\.(\w+(\.\w+)*)?")
"""A name of a library, or the part of one that others are added to: `builtins.str`, `net/http.Request`, `builtins.`."""


def tokens(path):
    """Yield (line, text of a string literal or None, name of an atom or None) for a file of rules, comments apart."""
    text = path.read_text(encoding="utf-8")
    for found in TOKEN.finditer(text):
        literal, name = found.groups()
        if literal or name:
            yield text.count("\n", 0, found.start()) + 1, literal and literal[1:-1], name


def files(folder):
    return sorted((HERE / folder).glob("*.dl"))


@cache
def words_of_one_language():
    """Return {word: language} for kinds and operators that one language alone has, and that the schema does not name.

    The facts are those of the examples of all checks.
    """
    languages = defaultdict(set)
    for language, code in (example for check in checks() for example in check.examples if example[0] in LANGUAGES):
        facts = extract(code.encode(), language)
        for name, rows in facts.relations.items():
            for column, values in zip(local_relations()[name].columns, rows, strict=True):
                if column in ("kind", "operator"):
                    for value in set(values.tolist()):
                        languages[facts.symbols[value]].add(LANGUAGES[language].family)
    neutral = set(re.findall(r"\w+", schema_text()))
    own = {word: only for word, only in languages.items() if len(only) == 1 and word not in neutral}
    return {word: next(iter(only)) for word, only in own.items() if re.fullmatch(r"[a-z ]+", word)}


def language_of_literal(literal):
    """Return what in a literal belongs to a language, None if nothing does."""
    if literal in LANGUAGES and literal != "html":  # That is a kind of harm, too.
        return literal
    if SPECIAL.fullmatch(literal) or QUALIFIED.fullmatch(literal):
        return "a name of a library"
    return words_of_one_language().get(literal)


def test_examples_tell_languages_apart():
    """The words that the next test looks for."""
    assert {"sizeof": "c", "func": "go", "not in": "python"}.items() <= words_of_one_language().items()


@pytest.mark.parametrize("path", files("."), ids=lambda path: path.stem)
def test_the_core_has_no_literal_of_a_language(path):
    wrong = [(line, text, language_of_literal(text)) for line, text, _ in tokens(path) if text is not None]
    assert [place for place in wrong if place[2]] == []


@pytest.mark.parametrize("path", files("."), ids=lambda path: path.stem)
def test_no_relation_of_the_core_is_named_after_a_language(path):
    names = {name for _, _, name in tokens(path) if name and set(name.split("_")) & {*LANGUAGES}}
    assert names == set()


def imported(path):
    return {name.strip() for names in IMPORTED.findall(path.read_text(encoding="utf-8")) for name in names.split(",")}


@pytest.mark.parametrize("path", files("."), ids=lambda path: path.stem)
def test_the_core_imports_nothing_of_a_language(path):
    assert {name for name in imported(path) if "." in name} == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_language_imports_nothing_of_another_one(family):
    names = {name for path in files(family) for name in imported(path) if "." in name}
    assert {name for name in names if not name.startswith(f"{family}.")} == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_models_of_a_language_import_nothing_of_another_one(family):
    """Rules in the folder of a language hold where there is code in it alone."""
    others = {other for other in FAMILIES if other != family}
    paths = sorted((HERE.parent / "models" / family).glob("*.dl"))
    named = {name for path in paths for name in imported(path)}
    assert {name for name in named if others.intersection(name.split(".")[:-1])} == set()
