"""Walks consecutive commits of a repository; after each, an update must equal a fresh scan.

    python tests/replay/replay.py REPO --commits 50 [--from REV] [--policy NAME] [--states DIR] [--json FILE]
                                  [--every N]

REPO is a git directory. For each commit, first parents only: the relations are moved there from the commit before, and
independently made from scratch. The SARIF of both must be the same bytes, all relations the same tuples; the first
difference ends the walk with exit code 1. The table shows seconds of evaluation (update, full) and from the commit to
the report (all, full), facts and derived tuples changed, and tuples that only moved to another iteration. With --states
relations are saved there after each commit, and loaded again, before they are compared. With --every N each N-th
commit, and the last, is compared; the others are reached by updates alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from engine.operating_system import n_cores

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]

from contents import differing_relations  # noqa: E402

from analyzer.evaluation.program import compile_rulebook, evaluate_program, prepare_rulebook  # noqa: E402
from analyzer.extraction.collect_facts import collect  # noqa: E402
from analyzer.extraction.machine import ThisMachine  # noqa: E402
from analyzer.findings.assemble_report import assemble  # noqa: E402
from analyzer.findings.source_texts import Texts  # noqa: E402
from analyzer.history.commit_update import CannotFollow, Follower, Reader  # noqa: E402
from analyzer.history.states import StateKey, States, scanned_digest  # noqa: E402
from analyzer.outputs.sarif import render_sarif  # noqa: E402
from analyzer.scan import ScanRequest, load_config, load_rulebook  # noqa: E402
from analyzer.sources.trees import GitTree  # noqa: E402
from analyzer.state_directory import StateDirectory  # noqa: E402
from engine.incremental import POLICIES  # noqa: E402
from facts import schema  # noqa: E402

FEW_FILES = 5


@dataclass
class Row:
    """What one commit took."""

    commit: str
    files: int
    facts: int
    tuples: int
    moved: int
    strategy: str
    update_s: float
    full_s: float
    update_all_s: float
    full_all_s: float
    reason: str = ""

    def line(self) -> str:
        why = f"  {self.reason}" if self.strategy == "bootstrap" else ""
        return (
            f"{self.commit[:10]} {self.files:5} {self.facts:8} {self.tuples:8} {self.moved:8} {self.strategy:>10} "
            f"{self.update_s:8.3f} {self.full_s:8.3f} {self.update_all_s:8.3f} {self.full_all_s:8.3f}{why}"
        )


HEADING = "commit     files    facts   tuples    moved   strategy   update     full      all     full"


class Replay:
    """A repository, and the relations of the commit that the walk has reached."""

    def __init__(self, path: Path, policy: str | None, jobs: int, states: Path | None) -> None:
        self.path, self.policy, self.jobs = path, policy, jobs
        self.states = States(states, sys.maxsize) if states else None
        self.state, self.machine = StateDirectory(), ThisMachine(jobs)
        self.follower: Follower | None = None
        self.sources: object = None

    def step(self, commit: str, before: str | None, *, compared: bool) -> Row:
        """Go to a commit, and see, if it is to be `compared`, that it is as a fresh scan has it. Raises Different."""
        tree = GitTree.at(self.path, commit)
        config = load_config(tree)
        book = load_rulebook(tree, config, ScanRequest(self.path, commit))
        program, prepared = compile_rulebook(book, self.state.path), prepare_rulebook(book, self.state.path)
        reader = Reader(config, self.state.path, self.machine, threads=self.jobs)
        collect(tree, config, self.state.path, self.machine)  # So that neither side extracts: both find the cache warm.

        row = Row(commit, 0, 0, 0, 0, "begin", 0.0, 0.0, 0.0, 0.0)
        if compared:
            begin = perf_counter()
            collected = collect(tree, config, self.state.path, self.machine)
            evaluating = perf_counter()
            full = evaluate_program(program, collected.mounted, self.machine, program.names)
            row.full_s = perf_counter() - evaluating
            expected = render_sarif(assemble(Texts(tree), config, book, collected, full), "replay")
            row.full_all_s = perf_counter() - begin

        begin = perf_counter()
        sources = (config, [(source.name, source.text) for source in book.sources])
        try:
            if self.follower is None or before is None or sources != self.sources:
                self.begin(prepared, tree, reader, row)
            else:
                self.move(before, tree, reader, row)
        except CannotFollow as reason:
            raise Different(f"{commit}: {reason}") from None
        self.sources = sources
        if self.states:
            key = StateKey(tree.content, scanned_digest(config, tree.prefix))
            self.states.save(key, self.follower)
            self.follower = self.states.load(key, prepared, tree, reader)
            if self.states.warnings or self.follower is None:
                raise Different(f"{commit}: no state: {self.states.warnings}")
        view = self.follower.view
        found = render_sarif(assemble(Texts(tree), config, book, self.follower.collected(), view.result()), "replay")
        row.update_all_s = perf_counter() - begin
        tree.close()
        if compared and (wrong := differing_relations(program.whole, view.result(), full)):
            raise Different(f"{commit}: " + "; ".join(wrong))
        if compared and found != expected:
            raise Different(f"{commit}: the SARIF differs")
        return row

    def begin(self, program, tree: GitTree, reader: Reader, row: Row) -> None:
        policy = POLICIES[self.policy]() if self.policy else None
        self.follower = Follower.begin(program, tree, reader, policy)
        row.strategy, row.update_s = "begin", self.follower.maintainer.durations.bootstrap_s

    def move(self, before: str, tree: GitTree, reader: Reader, row: Row) -> None:
        old = GitTree.at(self.path, before)
        move = self.follower.move(old, tree, reader)
        old.close()
        row.files, row.facts = len(move.files), move.n_facts
        row.strategy, row.reason = move.outcome.strategy, move.outcome.reason
        changes = {name: c for name, c in move.outcome.changes.items() if name not in schema.relations()}
        row.tuples = sum(change.inserted.shape[1] + change.deleted.shape[1] for change in changes.values())
        row.moved = sum(change.moved for change in changes.values())
        row.update_s = move.outcome.elapsed_s


class Different(Exception):
    """An update has not led to what a fresh scan says."""


def commits_of(path: Path, revision: str, n: int) -> list[str]:
    """Return n + 1 commits that lead to a revision, the oldest first."""
    command = ["git", "-C", str(path), "rev-list", "--first-parent", f"--max-count={n + 1}", revision]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[::-1]


def summary(rows: list[Row]) -> str:
    """Medians over all commits that were updates or fallbacks, and over those with few files."""
    walked = [row for row in rows if row.strategy != "begin" and row.full_s]
    few = [row for row in walked if 0 < row.files <= FEW_FILES]
    lines = []
    for name, chosen in (("all", walked), (f"≤ {FEW_FILES} files", few)):
        if not chosen:
            continue
        updated = sum(row.strategy == "update" for row in chosen)
        evaluation = median(row.update_s / row.full_s for row in chosen)
        whole = median(row.update_all_s / row.full_all_s for row in chosen)
        total = sum(row.update_s for row in chosen) / sum(row.full_s for row in chosen)
        lines.append(
            f"{name}: {len(chosen)} commits, {updated} by update; "
            f"median of update / full: evaluation {evaluation:.1%}, "
            f"commit to report {whole:.1%}; sum of evaluations {total:.1%}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--from", dest="revision", default="HEAD", help="the last commit of the walk")
    parser.add_argument("--policy", choices=POLICIES, help="by default that of analyze ci")
    parser.add_argument("--jobs", type=int, default=n_cores())
    parser.add_argument("--states", type=Path, help="save the relations of each commit there, and load them")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="compare each N-th commit, and the last")
    parser.add_argument("--json", type=Path, help="write the rows there too")
    arguments = parser.parse_args()
    replay, rows, before = Replay(arguments.repo, arguments.policy, arguments.jobs, arguments.states), [], None
    print(HEADING)
    try:
        for number, commit in enumerate(commits_of(arguments.repo, arguments.revision, arguments.commits)):
            is_compared = not number % arguments.every or number == arguments.commits
            rows.append(replay.step(commit, before, compared=is_compared))
            print(rows[-1].line(), flush=True)
            before = commit
    except Different as difference:
        print(f"different: {difference}")
        return 1
    finally:
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    print(summary(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
