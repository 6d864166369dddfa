#!/usr/bin/env python3
"""Walk commits of a repository under each policy, and print what the evaluations took.

    commits.py REPO [--commits 60] [--from REV] [--policy NAME …] [--every K] [--minutes M] [--json FILE]

REPO is a git directory; walked are its first parents that change Python files. Each policy keeps relations of its own,
and all go from commit to commit in turn, so that what else the machine does meets all of them alike. Seconds are CPU
time of this process, on one thread; policies decide by it, too. Extraction is not part of it. What takes as long for
any commit, an evaluation from scratch (full) and policy bootstrap, is measured at every K-th commit; their sums are
those, times K. After M minutes the walk ends where it is. Nothing is compared: tests/replay does that.
"""

import argparse
import gc
import json
import subprocess
from pathlib import Path
from statistics import median
from time import monotonic, process_time

from analyzer.evaluation.program import compile_rulebook, evaluate_program
from analyzer.extraction.collect_facts import collect
from analyzer.extraction.machine import ThisMachine
from analyzer.history.commit_update import Follower, Reader
from analyzer.scan import ScanRequest, load_config, load_rulebook
from analyzer.sources.trees import GitTree
from analyzer.state_directory import StateDirectory
from engine.incremental.update_policy import POLICIES


def main():
    options = parse()
    limit_s = monotonic() + 60 * options.minutes
    walk = Walk(options.repo, commits_of(options.repo, options.revision, options.commits))
    sampled = walk.commits[1 :: options.every]
    rows = {"full": [walk.evaluated(commit) for commit in sampled]}
    followers = {name: walk.begin(POLICIES[name]()) for name in options.policy}
    for at, commit in enumerate(walk.commits[1:], 1):
        if monotonic() > limit_s:
            break
        for name, follower in followers.items():
            if name != "bootstrap" or commit in sampled:
                rows.setdefault(name, []).append(walk.step(follower, commit))
        done = at
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    table(rows, done)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path)
    parser.add_argument("--commits", type=int, default=60)
    parser.add_argument("--from", dest="revision", default="HEAD", help="the last commit of the walk")
    parser.add_argument("--policy", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def commits_of(path, revision, n):
    """Return n + 1 commits that change Python files, the oldest first."""
    command = ["git", "-C", str(path), "rev-list", "--first-parent", f"--max-count={n + 1}", revision, "--", "*.py"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[::-1]


class Walk:
    """The commits, and the program and configuration of the first."""

    def __init__(self, path, commits):
        self.path, self.commits, state, self.machine = path, commits, StateDirectory(), ThisMachine(1)
        tree = self.tree(commits[0])
        config = load_config(tree)
        self.program = compile_rulebook(load_rulebook(tree, config, ScanRequest(path, commits[0])), state.path)
        self.reader = Reader(config, state.path, self.machine, threads=1)
        self.at = {}

    def tree(self, commit):
        return GitTree.at(self.path, commit)

    def evaluated(self, commit):
        """The seconds of an evaluation from scratch."""
        tree = self.tree(commit)
        collected = collect(tree, self.reader.config, self.reader.directory, self.machine)
        tree.close()
        begin = process_time()
        evaluate_program(self.program, collected.mounted, self.machine)
        return {"strategy": "full", "elapsed_s": process_time() - begin}

    def begin(self, policy):
        """Relations of the first commit, and how long a bootstrap takes when kernels are there."""
        follower = Follower.begin(self.program.whole, self.tree(self.commits[0]), self.reader, policy)
        follower.maintainer.clock = process_time
        follower.maintainer.restart({}, {}, "")
        self.at[policy.name] = self.commits[0]
        return follower

    def step(self, follower, commit):
        name = follower.maintainer.policy.name
        old, new = self.tree(self.at[name]), self.tree(commit)
        gc.collect()
        gc.serialize()  # So that nobody's update pays for looking through the relations of all.
        move = follower.move(old, new, self.reader)
        old.close()
        new.close()
        self.at[name] = commit
        outcome, updates = move.outcome, follower.maintainer.durations.updates
        return {
            "strategy": outcome.strategy,
            "elapsed_s": outcome.elapsed_s,
            "wasted_s": outcome.wasted_s,
            "planned_s": outcome.planned_s,
            "weight": updates[-1][0] if updates else 0.0,
            "facts": move.n_facts,
            "reason": outcome.reason,
        }


def table(rows, n):
    full_s, totals = 0.0, {}
    print(f"{n} commits; CPU seconds\n{'':<12}    total   median    worst   by update   / full")
    for name, found in rows.items():
        seconds = [row["elapsed_s"] for row in found]
        totals[name] = sum(seconds) * n / len(seconds)
        full_s = full_s or totals[name]
        updated = sum(row["strategy"] == "update" for row in found)
        print(
            f"{name:<12} {totals[name]:>8.1f} {median(seconds):>8.3f} {max(seconds):>8.3f} "
            f"{f'{updated} of {len(found)}':>11} {totals[name] / full_s:>8.2f}"
        )
    better_s = min(totals.get("update", full_s), totals.get("bootstrap", full_s))
    for name in ("predicted", "elastic", "raced"):
        if name in totals:
            print(f"{name}: {totals[name] / better_s:.2f} times the better of always updating, always bootstrapping")


if __name__ == "__main__":
    main()
