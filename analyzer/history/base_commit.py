"""The commit to compare with, also if the one that a pipeline names does not exist.

The first push of a branch has a base of zeros; after a force push, or in a shallow clone, the base may not have been
fetched. Then the merge base with the default branch is used; without one, the base is empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzer.errors import AnalyzeError
from analyzer.sources.git import Repository

COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
DEFAULT_BRANCHES = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master")


@dataclass(frozen=True, slots=True)
class Base:
    """A commit, or "" for an empty base; `said` is the reason if it is another one than was named."""

    commit: str
    said: str = ""


def find_base(repository: Repository, named: str, head: str, default_branch: str | None, if_none: str) -> Base:
    """Return the base for a commit `head`. Raises AnalyzeError G002 for a missing branch or tag."""
    if not COMMIT.fullmatch(named):
        return Base(repository.resolve(named))
    try:
        return Base(repository.resolve(named))
    except AnalyzeError:
        if if_none == "error":
            raise
    lost = "the base is all zeros" if not named.strip("0") else f"the base {named[:12]} is not in this clone"
    for branch in (default_branch,) if default_branch else DEFAULT_BRANCHES:
        found = repository.merge_base(branch, head)
        if found and found != head:  # On the default branch itself, the head would be compared with itself.
            return Base(found, f"{lost}: compared with {found[:12]}, the merge base with {branch}")
    what = "all findings count as new" if if_none == "new" else "all findings count as unchanged"
    return Base("", f"{lost}, and has no merge base with the default branch: {what}, by the head's settings")
