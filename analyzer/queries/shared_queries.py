"""Queries one after the other that the live process of a directory answers, as long as one does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from analyzer.explanation.questions import Extent
from analyzer.extraction.collect_facts import Progress
from analyzer.live.client import asked
from analyzer.queries.answer_files import from_here
from analyzer.queries.answers import Answers
from analyzer.queries.ask_live import Live, ask_live, explain_live
from analyzer.queries.live_queries import Queries, TreeQueries
from analyzer.queries.query import Query
from analyzer.queries.relation_list import ListedRelation, relations_of_rules
from analyzer.scan import ScanRequest
from engine.explanation import Explanation

Answer = TypeVar("Answer")


def queries_on(path: Path, live: Live, progress: Progress) -> tuple[Queries, str]:
    """Return queries on a working tree: of its live process, or on relations of their own, which are derived now.

    With it comes a warning where a live process was asked for and none answers. Raises AnalyzeError.
    """
    mode, flags = live
    status, warning = asked(path, mode, lambda client: client.call("status"))
    if status is not None and (status["ready"] or mode == "on"):
        return SharedQueries(path, live), warning
    own = TreeQueries.on(path, flags, progress)
    own.relations()
    return own, warning


class SharedQueries:
    """Queries on a working tree. What a live process does not answer is derived here, from then on maintained."""

    def __init__(self, path: Path, live: Live) -> None:
        self.path, self.live = path, live
        self._own: TreeQueries | None = None

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    def ask(self, query: Query) -> Answers:
        answers = self._asked(lambda: ask_live(self.path, self.live, query))
        return self._derived().ask(query) if answers is None else from_here(answers, str(self.path))

    def relations(self) -> list[ListedRelation]:
        return relations_of_rules(ScanRequest.from_flags(self.path, None, self.live[1]))

    def plan(self, query: Query) -> Explanation:
        return self._derived().plan(query)

    def why(self, atom: str) -> str:
        text = self._asked(lambda: explain_live(self.path, self.live, atom, Extent(), False, "text"))
        return self._derived().why(atom) if text is None else text

    def _asked(self, ask: Callable[[], tuple[Answer | None, str]]) -> Answer | None:
        """Return the answer of the live process, unless relations of our own are there."""
        return ask()[0] if self._own is None else None

    def _derived(self) -> TreeQueries:
        if self._own is None:
            self._own = TreeQueries.on(self.path, self.live[1])
        return self._own
