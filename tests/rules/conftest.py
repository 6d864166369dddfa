"""The bundled analyses on small programs, with rules of a test's own."""

import re
import sys
from functools import cache
from pathlib import Path

import pytest

import engine
from analyzer.evaluation.program import compile_cached
from analyzer.evaluation.rule_sources import bundled, fact_schema
from analyzer.extraction.collect_facts import silent
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree
from facts import extract, mount

sys.path.insert(0, str(Path(__file__).parent))  # For `marked_lines`.
from facts.languages import language_of
from rules import catalogue


@pytest.fixture(scope="session")
def evaluate():
    """Evaluate an outlined program on files, given as texts by path, as far as they can have wanted relations.

    By default these are all.
    """

    def evaluate(program, files, wanted=None):
        mounted = mount((path, extract(text.encode(), language_of(path))) for path, text in files.items())
        database = engine.Database(engine.Symbols(mounted.symbols), {"Entity": mounted.entities}, mounted.relations)
        part, database = program.part_on(database, wanted or program.names)
        return engine.evaluate(part, database, threads=1)

    return evaluate


@pytest.fixture(scope="session")
def analysis(shared_state):
    """Compile the analyses as far as they derive some relations, once."""

    @cache
    def compiled(*wanted, rules=""):
        bundle = map(bundled, catalogue.library())
        sources = [fact_schema(), *bundle, engine.Source("test.dl", rules)]
        return compile_cached(sources, shared_state, wanted)

    return compiled


@pytest.fixture(scope="session")
def rows(analysis, evaluate):
    """The rows, as texts, of a relation of symbols that the analyses derive for files."""

    def rows(relation, files, rules=""):
        result = evaluate(analysis(relation, rules=rules), files, [relation])
        columns = result.program.relations[relation].columns
        assert {column.type.kind for column in columns} == {"symbol"}, "not of symbols"
        return list(zip(*(result.symbols.texts(column) for column in result.relation(relation)), strict=True))

    return rows


FLOW = """\
// @id test/flow
// @name Flow
// @severity error   @precision high
// @message {source} flows here.
taint_check("test/flow", "test").
"""


@pytest.fixture(scope="session")
def flows(tmp_path_factory):
    """Return {name: lines where what is tainted arrives} for files by name; `model` says what taints and what harms."""

    def flows(model, files):
        directory = tmp_path_factory.mktemp("flows")
        (directory / "models.dl").write_text('text_kind("test").\n' + model)
        (directory / "rules").mkdir()
        (directory / "rules" / "flow.dl").write_text(FLOW)
        own = {"models": (directory / "models.dl",), "rules_dirs": (directory / "rules",)}
        tree = MemoryTree({name: code.encode() for name, code in files.items()}, "flows")
        report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("test/flow",)}, **own), silent).report
        assert [problem.message for problem in report.problems] == []
        places = [finding.place for finding in report.findings]
        return {name: {place.line for place in places if place.file == name} for name in files}

    return flows


@pytest.fixture(scope="session")
def marked():
    """Return the lines of a text that end with a comment that says `found`."""
    return lambda code: {n for n, line in enumerate(code.splitlines(), 1) if re.search("(#|//|/\\*) found", line)}
