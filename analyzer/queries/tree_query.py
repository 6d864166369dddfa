"""A query on a tree: the rules of a scan with one more, of which only what the query demands is derived."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import engine
import facts
from analyzer.errors import ProgramErrors
from analyzer.evaluation.program import compile_whole_rulebook, database_of, evaluation_errors
from analyzer.evaluation.recursion_bounds import BOUNDED, INTO, widenings
from analyzer.evaluation.scan_limits import leaving_out
from analyzer.extraction.collect_facts import Progress, collect, silent
from analyzer.extraction.machine import Machine
from analyzer.findings.assemble_report import from_scanned
from analyzer.findings.incompleteness import UNPARSED, incompleteness
from analyzer.findings.source_texts import Texts
from analyzer.queries.answers import Answers
from analyzer.queries.query import Query
from analyzer.queries.read_answers import Reader
from analyzer.scan import ScanRequest, configured, load_rulebook, machine_for, open_tree
from analyzer.sources.trees import Tree
from analyzer.state_directory import StateDirectory
from engine import ANSWERS

LOCATION = "location"


def ask_tree(request: ScanRequest, query: Query, progress: Progress = silent) -> Answers:
    """Answer a query on a working tree, or a commit. Raises AnalyzeError."""
    tree, state = open_tree(request.path, request.revision), StateDirectory(trees=request.paths)
    try:
        return TreeQuery(tree, request, query, state.path, progress).answers()
    finally:
        tree.close()
        state.close()


@dataclass(slots=True)
class TreeQuery:
    tree: Tree
    request: ScanRequest
    query: Query
    directory: Path
    progress: Progress

    def answers(self) -> Answers:
        config = configured(self.tree, self.request)
        book = load_rulebook(self.tree, config, self.request)
        program = compile_whole_rulebook(book, self.directory)
        extension = extension_of(program.declarations, self.query)
        with machine_for(self.request, config, self.request.limits.ends_s) as machine:
            collected = collect(self.tree, config, self.directory, machine, self.progress)
            self.progress("Evaluating rules", 0, None)

            def evaluated() -> engine.Result:
                kept = program.only_sources({source.name for source in book.sources})
                budget = self.request.limits.budget(kept, book)
                return evaluate(kept.extended(extension), collected.mounted, machine, budget)

            with evaluation_errors(), engine.memory_limited(self.request.limits.memory_bytes):
                result = leaving_out(book, evaluated)
        unparsed = collected.mounted.relations[UNPARSED]
        lacking = incompleteness(collected.problems, unparsed, result)
        problems = (*from_scanned(book.problems, self.tree), *lacking)
        found = read(result, extension, Texts(self.tree)).answers(self.query.limit)
        return replace(found, problems=problems, prefix=self.tree.prefix)


def evaluate(
    program: engine.OutlinedProgram, mounted: facts.Mounted, machine: Machine, budget: engine.Budget | None
) -> engine.Result:
    """Return the answers, the locations of entities, and where points-to is derived, the values that it was cut at.

    Magic sets serve where points-to is not needed: what demands some of it demands nearly all, over and over, and its
    bound would not hold for the parts.
    """
    part, database = program.part_on(database_of(mounted), [ANSWERS])
    wanted = [ANSWERS, INTO] if BOUNDED in part.relations else [ANSWERS]
    if BOUNDED not in part.relations:
        part = engine.answering(part)
    result = machine.evaluate(part, database, wanted, widenings(mounted), budget)
    found = {name: result.relation(name) for name in wanted}
    return replace(result, relations={**found, LOCATION: mounted.relations[LOCATION]})


def extension_of(program: engine.CheckedProgram, query: Query) -> engine.CheckedProgram:
    """Return the program of a query. Raises ProgramErrors."""
    try:
        return engine.question(program, query.text, query.sources)
    except engine.ProgramError as error:
        raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None


def read(result: engine.Result, extension: engine.CheckedProgram, texts: Texts | None = None) -> Reader:
    """Return what reads the answers of a result."""
    printer = engine.Printer(extension.records, result.records, result.symbols)
    return Reader(result, ANSWERS, extension.relations[ANSWERS].columns, printer, texts)
