"""Queries and explanations, answered by a live process from its relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analyzer.evaluation.line_query import Question
from analyzer.explanation.questions import Extent, Silence
from analyzer.explanation.tree_questions import explained_findings, explained_tuples, render_findings, scanned
from analyzer.explanation.why_not import why_silent
from analyzer.live.live_repository import LiveRepository
from analyzer.live.server import Method, as_flags
from analyzer.queries.ask_live import written
from analyzer.queries.live_queries import TreeQueries
from analyzer.queries.query import Query
from analyzer.scan import ScanRequest
from analyzer.sources.frozen_tree import FrozenTree
from engine import Source

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LiveMethods:
    """The methods of a live process that answer from its relations, beside reports."""

    repository: LiveRepository
    queries: TreeQueries

    @classmethod
    def of(cls, repository: LiveRepository) -> LiveMethods:
        return cls(repository, TreeQueries(repository))

    @property
    def methods(self) -> Mapping[str, Method]:
        return {"query": self.query, "explain": self.explain, "why_not": self.why_not}

    def query(self, params: Params, tree: FrozenTree) -> str:
        sources = tuple(Source(str(name), str(text), trusted=False) for name, text in params["sources"])
        query = Query(str(params["text"]), sources, params["limit"])
        return written(self.queries.answers(query, self._request(params), tree))

    def explain(self, params: Params, tree: FrozenTree) -> str:
        what, format, request = str(params["what"]), str(params["format"]), self._request(params)
        if "(" in what:
            return explained_tuples(self.repository, what, Extent(*params["extent"]), request, tree).render(format)
        held = scanned(self.repository, request, tree)
        line = Question(*params["line"]) if params["line"] else None
        return render_findings(explained_findings(held, what, line, bool(params["full"])), format)

    def why_not(self, params: Params, tree: FrozenTree) -> str:
        line, begin = (Question(*given) if given else None for given in (params["line"], params["begin"]))
        assert line is not None
        asked = Silence(str(params["check"]), str(params["where"]), line, begin)
        return why_silent(self.repository, asked, self._request(params), tree).render(str(params["format"]))

    def _request(self, params: Params) -> ScanRequest:
        return ScanRequest.from_flags(self.repository.path, None, as_flags(params.get("flags", {})))
