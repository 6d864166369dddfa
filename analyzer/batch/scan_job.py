"""The input of a task: a repository, and the options of its scan. It can be written as JSON for another process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analyzer.batch.batch_plan import Target
from analyzer.scan import ScanRequest


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a repository: seconds and bytes per attempt, and the number of retries.

    Without `memory_bytes`, the limit is its share of the machine's or executor's memory.
    """

    timeout_s: float
    memory_bytes: int | None
    retries: int


@dataclass(frozen=True, slots=True)
class Job:
    """The scan of one repository. `workspace` and `cache` are directories at the same path on all executors.

    `n_lost` is the number of attempts lost before. `share_bytes` is a task's share of the executor's memory.
    """

    target: Target
    workspace: str
    cache: str
    limits: Limits
    flags: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    rules_dirs: tuple[str, ...] = ()
    n_lost: int = 0
    share_bytes: int = 0

    @property
    def memory_bytes(self) -> int:
        return self.limits.memory_bytes or self.share_bytes

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self) | {"memory_bytes": self.memory_bytes}), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Job:
        fields = json.loads(path.read_text(encoding="utf-8"))
        del fields["memory_bytes"]
        target, limits = Target(**fields.pop("target")), Limits(**fields.pop("limits"))
        return cls(target=target, limits=limits, **fields)

    def request(self, threads: int) -> ScanRequest:
        """Return the scan request of this repository, with this number of processes and threads."""
        flags = {name: tuple(value) if isinstance(value, list) else value for name, value in self.flags.items()}
        models, rules_dirs = (tuple(map(Path, paths)) for paths in (self.models, self.rules_dirs))
        return ScanRequest(Path(self.target.path), self.target.commit, {**flags, "jobs": threads}, models, rules_dirs)
