"""The hook's report from relations that are maintained: on what is staged, as the client has read it from its index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analyzer.history.hook import taken_away
from analyzer.live.live_repository import LiveRepository
from analyzer.scan import ScanRequest, ScanResult
from analyzer.sources.git import GitEntry, Repository
from analyzer.sources.trees import GitTree


def staged_report(live: LiveRepository, staged: Mapping[str, Any], request: ScanRequest) -> ScanResult:
    """Return the report on an index as far as it concerns the paths that are staged, or on all of it without any."""
    repository = Repository(live.path)
    entries = [GitEntry(path, kind, blob) for path, kind, blob in staged["entries"]]
    tree = GitTree(repository, entries, str(live.path), "")
    result = live.report(tree, request, set(staged["paths"]) or None)
    told = taken_away(repository, tree, request, live.settings_for(tree, request))
    return replace(result, report=replace(result.report, problems=(*result.report.problems, *told)))
