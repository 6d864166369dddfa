"""The rules of a scan as one plain program for Soufflé: no modules, qualified names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import engine
from analyzer.errors import ProgramErrors
from analyzer.evaluation.rule_sources import fact_schema
from analyzer.evaluation.rulebook import build_rulebook, files_on_disk

HEADER = """\
// The rules of analyze {version}, for Soufflé. They read the facts that 'analyze facts DIR -o FACTS' writes:
//
//     .include "FACTS/facts.dl"
//     .include "this file"
//     .output finding
//
// Run it with -F FACTS. A relation that one file of rules keeps to itself has the file's name before its own.

"""


def exported_rules(models: Iterable[Path], rules_dirs: Iterable[Path], version: str) -> str:
    """Return the library, all models and checks, and the user's own. Raises AnalyzeError, ProgramErrors."""
    book = build_rulebook(files_on_disk(models, rules_dirs), [])
    schema = fact_schema().name
    try:
        text = engine.souffle_text(item for item in engine.flatten(book.sources) if item.span.source != schema)
    except engine.ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None
    return HEADER.format(version=version) + text
