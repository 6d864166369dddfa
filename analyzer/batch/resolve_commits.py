"""Resolve the listed revisions to commits, with their sizes.

Mistakes in the list (no repository, no such revision) end the batch before anything is scanned. An existing repository
that cannot be read fails alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import facts
from analyzer.batch.batch_plan import Target
from analyzer.batch.remote_repositories import COMMIT, Unreachable, fetch
from analyzer.batch.repository_list import Listed, is_repository
from analyzer.errors import AnalyzeError
from analyzer.extraction.collect_facts import Progress
from analyzer.sources.git import Repository

AT_ONCE = 8


def resolve_all(listed: Iterable[Listed], clones: Path, timeout_s: float, progress: Progress) -> list[Target]:
    """Return the repositories at their commits, fetched if necessary, in the order of the list.

    Raises AnalyzeError: B003 if one is not a repository, B004 for an unknown revision, G003 without git.
    """
    items = list(listed)
    targets = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [pool.submit(partial(resolve, item, clones, timeout_s)) for item in items]
        try:
            for number, future in enumerate(futures):
                progress("Resolving", number, len(items))
                targets.append(future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    progress("Resolving", len(items), len(items))
    return targets


def resolve(item: Listed, clones: Path, timeout_s: float) -> Target:
    try:
        if item.is_url:
            path, commit = fetch(item.source, item.revision, clones, timeout_s)
        else:
            path, commit = local(item)
        size = size_of(path, commit)
    except Unreachable as error:
        return Target(item.name, item.source, item.revision, problem=f"cannot be read: {error}")
    except AnalyzeError as error:
        if error.code in ("B003", "B004", "G003"):
            raise
        return Target(item.name, item.source, item.revision, problem=f"cannot be read: {error.message}")
    return Target(item.name, item.source, item.revision, commit, size, path=str(path.resolve()))


def local(item: Listed) -> tuple[Path, str]:
    path = Path(item.source)
    if not path.is_dir():
        help = "paths are relative to the working directory; REV follows an @"
        raise AnalyzeError("B003", f"no such directory: {item.source}", help=help)
    try:
        repository = Repository(path.resolve())
    except AnalyzeError as error:
        if error.code == "G001" and not is_repository(path):
            help = f"git init && git commit it first, or scan it alone: analyze scan {item.source}"
            raise AnalyzeError("B003", f"{item.source} is not a git repository", help=help) from None
        if error.code == "G001":
            raise Unreachable("git does not recognise it as a repository") from None
        raise
    if repository.prefix and is_repository(path):  # Git passed it over, and found another one around it.
        raise Unreachable("git does not recognise it as a repository")
    return path, commit_of(repository, item)


def commit_of(repository: Repository, item: Listed) -> str:
    """Return the listed commit of a local repository."""
    try:
        return repository.resolve(item.revision or "HEAD")
    except AnalyzeError as error:
        if not item.revision:
            raise Unreachable("it has no commit at HEAD, or objects are missing") from None
        if not COMMIT.fullmatch(item.revision) and repository.names(item.revision):
            raise Unreachable(f"the object of revision '{item.revision}' is missing or damaged") from None
        raise AnalyzeError("B004", error.message, help=error.help) from None


def size_of(path: Path, commit: str) -> int:
    """Return the total size of files that have an extractor; 0 if they cannot be listed, which the scan reports."""
    try:
        sizes = Repository(path.resolve()).sizes(commit)
        return sum(n_bytes for file, n_bytes in sizes if facts.language_of(file))
    except AnalyzeError:
        return 0
