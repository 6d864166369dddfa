"""Bundled files as modules: each says what it imports, and documents what it offers."""

import re

import pytest

import engine
from analyzer.evaluation.rule_sources import bundled, fact_schema
from docs import relations
from rules import catalogue, library

FILES = (*catalogue.library(), *catalogue.models(), *(check.file for check in catalogue.checks()))
LIBRARY = {bundled(file).module: file.text for file in catalogue.library()}
EXPORTS = (*library.call_graph()[-1:], library.contexts(), library.line_question(), library.pointer_graph())


def test_modules_have_names_of_their_own():
    names = [bundled(file).module for file in FILES]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"\w+(\.\w+)*", name) for name in names)
    assert {"points_to", "java.call_graph", "models.go.gin", "checks.quality.dead_store"} <= set(names)


def test_the_analysis_has_what_languages_add_to_its_files():
    """A file that uses what is not of the analysis is left out of it."""
    added = {file.name for file in catalogue.library() if re.search(r"/lib/\w+/", file.name)}
    wanted = {name for name in added if name.rpartition("/")[2] in library.ANALYSIS}
    assert wanted - {file.name for file in library.analysis()} == set()


IMPORTING_NOTHING = [file for file in (*FILES, *EXPORTS) if "\n.use " not in file.text]


@pytest.mark.parametrize("file", IMPORTING_NOTHING, ids=lambda file: file.module)
def test_a_module_without_imports_names_its_own_relations_and_facts(file):
    """It would see everything that others offer. Imports of others are checked when they are compiled."""
    try:
        engine.compile([fact_schema(), bundled(file)])
    except engine.ProgramError as error:
        assert "E010" not in {diagnostic.code for diagnostic in error.diagnostics}


def test_the_files_of_the_analysis_use_no_others():
    """They are a unit that is compiled once, whatever else changes: `rules/library.py` lists the core's."""
    files = library.analysis()
    assert {name for file in files for name in library.used(file.text)} <= {file.module for file in files}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.module)
def test_what_a_module_offers_is_documented(file):
    offered = relations.OFFERED.finditer(file.text)
    assert [found["relation"] or found["component"] for found in offered if not found["comment"]] == []


@pytest.mark.parametrize("file", [*FILES, *EXPORTS], ids=lambda file: file.module)
def test_lines_are_short_but_for_texts_that_cannot_be_broken(file):
    long = [line for line in file.text.splitlines() if len(line) > 120]
    assert [line for line in long if not re.search(r'"[^"]{60,}"|^// @message', line)] == []


def test_the_page_of_relations_is_what_the_files_say():
    assert relations.PAGE.read_text(encoding="utf-8") == relations.page(), "run 'python docs/relations.py'"


def test_no_rule_negates_an_order_of_places():
    """It is evaluated by itself then, for all places of the program: hundreds of millions of rows for a large one."""
    orders = set(re.findall(r"\.decl (\w+)\([^)]*\) public inline", LIBRARY["execution_order"]))
    assert {"always_before", "dominates"} <= orders
    negated = re.compile(rf"!({'|'.join(orders)})\(")
    assert [file.name for file in FILES if negated.search(file.text)] == []
