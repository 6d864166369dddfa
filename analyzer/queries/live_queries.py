"""Queries one after the other on relations that stay in memory: those of a working tree, or of a program and facts.

Before each query the relations are moved to the tree as it is then, at the cost of what has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import engine
from analyzer.engine_errors import coded_errors
from analyzer.errors import AnalyzeError
from analyzer.evaluation.program import compile_whole_rulebook, evaluation_errors
from analyzer.evaluation.recursion_bounds import BOUNDED, INTO
from analyzer.evaluation.rulebook import Rulebook
from analyzer.explanation.program_tuples import explain_atom
from analyzer.explanation.questions import Extent
from analyzer.explanation.tree_questions import explained_tuples
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.findings.assemble_report import from_scanned
from analyzer.findings.incompleteness import UNPARSED, incompleteness
from analyzer.findings.source_texts import Texts
from analyzer.history.ci import MAX_STATE_BYTES
from analyzer.live.live_repository import LiveRepository, Refused
from analyzer.queries.answer_files import from_here
from analyzer.queries.answers import Answers
from analyzer.queries.program_query import ask_loaded, load_program
from analyzer.queries.query import Query
from analyzer.queries.read_answers import Reader
from analyzer.queries.relation_list import ListedRelation, listed, relations_of_program
from analyzer.queries.tree_query import extension_of
from analyzer.report import Problem
from analyzer.scan import ScanRequest
from analyzer.sources.frozen_tree import FrozenTree
from analyzer.state_directory import StateDirectory
from engine.explanation import Explanation


def history_file(path: Path) -> Path | None:
    """Return where the lines typed in a shell are kept: with the user's other state; None where that is of no use."""
    state = StateDirectory(trees=[path])
    try:
        return state.path / "query_history" if state.is_kept else None
    finally:
        state.close()


class Queries(Protocol):
    """What a shell asks."""

    def ask(self, query: Query) -> Answers:
        """Return the answers, with paths from the working directory. Raises AnalyzeError."""

    def relations(self) -> list[ListedRelation]:
        """Return the relations that may be asked."""

    def plan(self, query: Query) -> Explanation:
        """Return the plan of a query. Raises AnalyzeError."""

    def why(self, atom: str) -> str:
        """Explain a tuple that matches an atom; if there is none, why not. Raises AnalyzeError."""

    def close(self) -> None: ...


@contextmanager
def by_itself() -> Iterator[None]:
    """Turn a refusal into an error: nobody else can answer."""
    try:
        yield
    except Refused as error:
        raise AnalyzeError("V001", f"{error}: ask without a shell") from None


class TreeQueries:
    """Queries on a working tree."""

    def __init__(self, repository: LiveRepository) -> None:
        self.repository = repository
        self._compiled: tuple[list[engine.Source], engine.OutlinedProgram] | None = None

    @classmethod
    def on(cls, path: Path, flags: Mapping[str, Any], progress: Progress = silent) -> TreeQueries:
        """Return queries on relations of their own."""
        return cls(LiveRepository(path, flags, MAX_STATE_BYTES, progress))

    def close(self) -> None:
        self.repository.close()

    def ask(self, query: Query) -> Answers:
        with by_itself():
            return from_here(self.answers(query), str(self.repository.path))

    def answers(self, query: Query, request: ScanRequest | None = None, tree: FrozenTree | None = None) -> Answers:
        """Return the answers for a tree, or the files as they are, with paths from the directory.

        Raises AnalyzeError, and Refused for options of a request that the relations are not maintained for.
        """
        tree = tree or self.repository.frozen()
        book = self.repository.follow(tree, request)
        extension, program = self._extended(book, query)
        view = self.repository.view
        with evaluation_errors(), engine.answered(view, program) as name:
            result = view.result()
            printer = engine.Printer(program.records, result.records, result.symbols)
            fields = extension.relations[engine.ANSWERS].columns
            found = Reader(result, name, fields, printer, Texts(tree)).answers(query.limit)
        return replace(found, problems=(*self._problems(tree, book, extension),), prefix=tree.prefix)

    def relations(self) -> list[ListedRelation]:
        with by_itself():
            book = self.repository.follow(self.repository.frozen())
        return listed(self._whole(book).declarations, book.sources)

    def plan(self, query: Query) -> Explanation:
        with by_itself():
            _, program = self._extended(self.repository.follow(self.repository.frozen()), query)
        held = self.repository.view.result()
        facts = {name: held.relation(name) for name in program.relations if name in held.relations}
        with evaluation_errors():
            database = engine.Database(held.symbols, held.records, facts)
            result = engine.evaluate(engine.answering(program), database, explain=True, asked=[engine.ANSWERS])
        assert result.plan is not None
        return result.plan

    def why(self, atom: str) -> str:
        with by_itself():
            return explained_tuples(self.repository, atom, Extent()).render("text")

    def _extended(self, book: Rulebook, query: Query) -> tuple[engine.CheckedProgram, engine.CheckedProgram]:
        """Return the query's program, and that with the rules for what is not maintained."""
        program = self._whole(book)
        extension = extension_of(program.declarations, query)
        return extension, program.beyond(extension, self.repository.view.relations)

    def _problems(self, tree: FrozenTree, book: Rulebook, extension: engine.CheckedProgram) -> Iterator[Problem]:
        """Yield what the relations lack, as `ask_tree` does: a cut of points-to concerns what is derived from it."""
        yield from from_scanned(book.problems, tree)
        follower = self.repository.follower
        result = follower.view.result()
        unparsed, is_cut = result.relation(UNPARSED), bool(result.relation(INTO).shape[1])
        if is_cut and not self._rests_on_points_to(book, extension):
            result = replace(result, relations={})
        yield from incompleteness(follower.snapshot.problems, unparsed, result)

    def _rests_on_points_to(self, book: Rulebook, extension: engine.CheckedProgram) -> bool:
        view = self.repository.view
        given = engine.Database(view.symbols, view.result().records, self.repository.follower.given_facts())
        return BOUNDED in self._whole(book).extended(extension).needed_on(given, [engine.ANSWERS])

    def _whole(self, book: Rulebook) -> engine.OutlinedProgram:
        """Return the program with all relations."""
        if self._compiled is None or self._compiled[0] != book.sources:
            program = compile_whole_rulebook(book, self.repository.state.path)
            self._compiled = list(book.sources), program.only_sources({source.name for source in book.sources})
        return self._compiled[1]


class ProgramQueries:
    """Queries on a program and facts in files, which are read once."""

    def __init__(self, program: Path, facts: Path, number_bits: int = 32, threads: int | None = None) -> None:
        self.path, self.facts, self.number_bits, self.threads = program, facts, number_bits, threads
        self.program, self.database = load_program(program, facts, number_bits)

    def close(self) -> None:
        pass

    def ask(self, query: Query) -> Answers:
        return ask_loaded(self.path, self.program, self.database, query, self.threads)

    def relations(self) -> list[ListedRelation]:
        return relations_of_program(self.path)

    def plan(self, query: Query) -> Explanation:
        extension = extension_of(self.program, query)
        with coded_errors(self.path):
            needed = engine.answering(self.program.extended(extension))
            result = engine.evaluate(needed, self.database, explain=True, asked=[engine.ANSWERS])
        assert result.plan is not None
        return result.plan

    def why(self, atom: str) -> str:
        found = explain_atom(self.path, self.facts, atom, Extent(), number_bits=self.number_bits, jobs=self.threads)
        return found.render("text")
