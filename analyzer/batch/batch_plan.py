"""The plan of a batch: repositories at commits, options and rules. Deterministic: equal plans give equal output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import analyzer
from analyzer.errors import AnalyzeError

FORMAT = 1
PACKAGES = ("analyzer", "engine", "facts", "rules")


@dataclass(frozen=True, slots=True)
class Target:
    """A repository at a commit, or with the `problem` of resolving it.

    `n_bytes` is the total size of its files that have an extractor, `path` its local path.
    """

    name: str
    source: str
    revision: str = ""
    commit: str = ""
    n_bytes: int = 0
    problem: str = ""
    path: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """The `targets` by name, the `flags` of their scans, and `digests` of the tool and the user's own rules."""

    targets: tuple[Target, ...]
    flags: Mapping[str, Any]
    digests: Mapping[str, str]

    def to_json(self) -> str:
        rows = [asdict(target) for target in self.targets]
        for row in rows:
            del row["path"]
        document = {"format": FORMAT, **self.digests, "flags": self.flags, "repositories": rows}
        return json.dumps(document, indent=1, sort_keys=True) + "\n"


def digests(models: Iterable[Path], rules_dirs: Iterable[Path]) -> dict[str, str]:
    """Return digests of the installed code and rules, and of the user's files. Raises AnalyzeError A001."""
    top = Path(analyzer.__file__).parents[1]
    installed = (path for package in PACKAGES for path in sorted((top / package).rglob("*")))
    own = (path for given in (*models, *rules_dirs) for path in files_below(given))
    return {"tool": digest(top, installed), "rules": digest(None, own)}


def digest(top: Path | None, paths: Iterable[Path]) -> str:
    """Return a hash of names and contents of source files."""
    found = hashlib.sha256()
    for path in paths:
        if path.suffix in (".py", ".dl", ".md") and path.is_file():
            data = path.read_bytes()
            name = path.relative_to(top) if top else path.name
            found.update(f"{name} {len(data)}\n".encode("utf-8", "surrogateescape") + data)
    return found.hexdigest()[:32]


def files_below(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise AnalyzeError("A001", f"no such file or directory: {path}")
    yield from sorted(path.rglob("*")) if path.is_dir() else [path]


def reconciled(recorded: str, plan: Plan) -> tuple[Plan, str]:
    """Compare a plan with the recorded one of a batch to resume. Return the plan to use, and a difference or "".

    A repository may have been resolved then or now only: the known commit is used.
    """
    before = _parsed(recorded)
    if before is None:
        return plan, "it was not made by this version of analyze"
    for key, text in (("tool", "by another version of analyze"), ("rules", "with other models or rules")):
        if before.get(key) != plan.digests[key]:
            return plan, f"it was made {text}"
    if before["flags"] != json.loads(json.dumps(plan.flags)):
        return plan, "it was made with other options"
    old = {row["name"]: Target(**row) for row in before["repositories"]}
    if old.keys() != {target.name for target in plan.targets}:
        return plan, "it has other repositories"
    targets = []
    for target in plan.targets:
        was = old[target.name]
        if (was.source, was.revision) != (target.source, target.revision):
            return plan, f"{target.name} is {was.source}{'@' * bool(was.revision)}{was.revision} there"
        if was.commit and target.commit and was.commit != target.commit:
            return plan, f"{target.name} was at {was.commit[:12]} and is at {target.commit[:12]}"
        kept = target if target.commit or not was.commit else replace(was, path=target.path)
        targets.append(kept)
    return replace(plan, targets=tuple(targets)), ""


def _parsed(recorded: str) -> dict[str, Any] | None:
    try:
        document = json.loads(recorded)
        return document if document["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError):
        return None
