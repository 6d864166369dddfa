"""The bundled analyses on small programs, with rules of a test's own."""

from functools import cache

import pytest

import engine
from analyzer.program import compile_cached
from engine.plan.part import part_on
from facts import extract, mount, schema_text
from facts.languages import language_of
from rules import library


@pytest.fixture(scope="session")
def evaluate():
    """Evaluate a program on files, given as texts by path, as far as they can have wanted relations: by default all."""

    def evaluate(program, files, wanted=None):
        mounted = mount((path, extract(text.encode(), language_of(path))) for path, text in files.items())
        database = engine.Database(engine.Symbols(mounted.symbols), {"Entity": mounted.entities}, mounted.relations)
        return engine.evaluate(part_on(program, database, wanted or program.relations), database, threads=1)

    return evaluate


@pytest.fixture(scope="session")
def analysis(shared_state):
    """Compile the analyses as far as they derive some relations, once."""

    @cache
    def compiled(*wanted, rules=""):
        sources = [("facts/schema.dl", schema_text()), *library.analysis(), ("test.dl", rules)]
        return compile_cached([engine.Source(name, text) for name, text in sources], shared_state, wanted)

    return compiled


@pytest.fixture(scope="session")
def rows(analysis, evaluate):
    """The rows, as texts, of a relation of symbols that the analyses derive for files."""

    def rows(relation, files, rules=""):
        result = evaluate(analysis(relation, rules=rules), files, [relation])
        return list(zip(*(result.symbols.texts(column) for column in result.relation(relation)), strict=True))

    return rows
