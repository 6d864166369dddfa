"""The staged index as a tree: what a commit would hold, whatever the working tree looks like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analyzer.collect import Progress, silent
from analyzer.git import Repository
from analyzer.scan import ScanRequest, ScanResult, scan_tree
from analyzer.trees import GitTree


def scan_index(flags: Mapping[str, Any], progress: Progress = silent, path: Path | None = None) -> ScanResult:
    """Scan the whole index of the repository at `path`, and report what concerns the staged files.

    With nothing staged, every file concerns us. Git's variables for hooks (GIT_DIR, GIT_INDEX_FILE) are heeded.
    Raises AnalyzeError G001 outside a repository.
    """
    here = (path or Path.cwd()).resolve()
    repository = Repository(here, in_hook=True)
    top = repository.top or here
    whole = Repository(top, in_hook=True)
    tree = GitTree(whole, whole.index(), str(top), "")
    try:
        staged = whole.staged_paths()
        return scan_tree(tree, ScanRequest.from_flags(top, None, flags), progress, only=staged or None)
    finally:
        tree.close()
