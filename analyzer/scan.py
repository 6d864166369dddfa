"""The pipeline in order: a tree of files → facts → rules → findings → a report."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.collect import Collected, Progress, collect, silent
from analyzer.config import Config, parse_config
from analyzer.errors import AnalyzeError
from analyzer.report import Coverage, Problem, Report
from analyzer.state import StateDirectory, write_atomically
from analyzer.trees import GitTree, Tree, WorkingTree, find_upwards


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What a user asked for on the command line; `flags` override the configuration of the scanned tree."""

    path: Path
    revision: str | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[Path, ...] = ()
    rules_dirs: tuple[Path, ...] = ()

    @classmethod
    def from_flags(cls, path: Path, revision: str | None, flags: Mapping[str, Any]) -> ScanRequest:
        """Take apart the options that commands share; lists may be given as repeated options or with commas."""
        rest = dict(flags)
        models, rules_dirs = rest.pop("models", ()), rest.pop("rules_dir", ())
        rest["rules"] = tuple(
            part.strip() for item in rest.get("rules", ()) for part in item.split(",") if part.strip()
        )
        return cls(path, revision, rest, tuple(models), tuple(rules_dirs))


@dataclass(slots=True)
class ScanResult:
    """A report, the configuration it was made under, and what it cost. Costs are in no report."""

    report: Report
    config: Config
    elapsed_s: float
    phases_s: dict[str, float]
    strata: list[Any]
    extracted: int


def scan(request: ScanRequest, progress: Progress = silent) -> ScanResult:
    """Scan a working tree, or a commit where the request names one. Raises AnalyzeError."""
    if request.revision is None:
        tree: Tree = WorkingTree(request.path)
    else:
        tree = GitTree.at(request.path, request.revision)
    try:
        return scan_tree(tree, request, progress)
    finally:
        tree.close()
