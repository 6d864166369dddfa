"""The summary of a batch, read from its directory, for both the terminal and the HTML page."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from analyzer.batch.repository_task import Costs
from analyzer.batch.result_database import FILE
from analyzer.batch.workspace import TIMINGS, RunCosts, Timings, read_json
from analyzer.exit_codes import of_all

RULES = """
select rule, severity, count(*), count(distinct repository) from findings where suppressed is null
group by rule, severity order by case severity when 'error' then 0 when 'warning' then 1 else 2 end, 3 desc, rule
"""
REPOSITORIES = """
select name, source, revision, commit_hash, status, reason, exit_code, lines, files_parsed + files_partly_parsed,
  coalesce(sum(severity = 'error'), 0), coalesce(sum(severity = 'warning'), 0), coalesce(sum(severity = 'note'), 0)
from repositories left join findings on repository = name and findings.suppressed is null group by name order by name
"""
CONTENTS = """
select count(*), count(distinct language || blob) from
(select distinct repository, language, blob from files where blob is not null)
"""


@dataclass(frozen=True, slots=True)
class RuleCount:
    """Numbers of a check's open findings, and of repositories with any."""

    rule: str
    severity: str
    findings: int
    repositories: int


@dataclass(frozen=True, slots=True)
class RepositoryCount:
    """A repository, its status (complete, incomplete or failed), and its open findings by severity."""

    name: str
    source: str
    revision: str
    commit_hash: str
    status: str
    reason: str
    exit_code: int
    lines: int
    files: int
    error: int
    warning: int
    note: int

    @property
    def findings(self) -> int:
        return self.error + self.warning + self.note


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary. `costs` are those of each repository, `run` those of the last run.

    `contents` counts distinct files per repository, summed; `distinct_contents` counts them over all repositories.
    """

    output: Path
    rules: tuple[RuleCount, ...]
    repositories: tuple[RepositoryCount, ...]
    costs: Mapping[str, Costs]
    run: RunCosts
    contents: int
    distinct_contents: int

    @property
    def exit_code(self) -> int:
        """3 if any repository is incomplete or failed, else 1 if one has findings at its threshold, else 0."""
        return of_all(repository.exit_code for repository in self.repositories)

    @property
    def extracted(self) -> int:
        """The number of extractions in all runs of the batch."""
        return sum(costs.get("extracted", 0) for costs in self.costs.values())

    def by_status(self, status: str) -> list[RepositoryCount]:
        return [repository for repository in self.repositories if repository.status == status]

    def slowest(self, limit: int) -> list[tuple[RepositoryCount, Costs]]:
        """Return the slowest repositories, with their costs."""
        timed = [(item, self.costs[item.name]) for item in self.repositories if item.name in self.costs]
        return sorted(timed, key=lambda pair: -pair[1]["elapsed_s"])[:limit]


def summarise(workspace: Path, output: Path, timings: Timings | None = None) -> Summary:
    """Return the summary of the batch in a workspace, or in the directory that it has become."""
    recorded: Timings = timings or read_json(workspace / TIMINGS)
    with closing(sqlite3.connect(f"file:{workspace / FILE}?mode=ro", uri=True)) as database:
        rules = tuple(RuleCount(*row) for row in database.execute(RULES))
        repositories = tuple(RepositoryCount(*row) for row in database.execute(REPOSITORIES))
        contents, distinct = database.execute(CONTENTS).fetchone()
    costs = recorded.get("repositories", {})
    return Summary(output, rules, repositories, costs, recorded.get("run", {}), contents, distinct)
