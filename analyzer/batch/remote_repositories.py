"""Commits of repositories given by URL, fetched into bare clones in the state directory.

The user gives the URL, so its protocol is allowed; hooks, prompts and submodules are not.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

from filelock import FileLock

from analyzer.errors import AnalyzeError
from analyzer.sources.git import environment

COMMAND = ("git", "-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
COMMIT = re.compile(r"[0-9a-f]{40}")


class Unreachable(Exception):
    """A repository that does not answer, or does not provide its objects; the text is git's message."""


def fetch(url: str, revision: str, clones: Path, timeout_s: float) -> tuple[Path, str]:
    """Return a bare repository that contains the commit of a URL's revision (HEAD if ""), and the commit.

    Raises Unreachable, or AnalyzeError B004 if the repository answers but has no such branch or tag.
    """
    commit = resolve(url, revision or "HEAD", timeout_s)
    clone = clones / hashlib.sha256(url.encode()).hexdigest()[:20]
    clone.mkdir(parents=True, exist_ok=True)
    with FileLock(clone.with_suffix(".lock")):  # One at a time works on a clone, of all threads and processes.
        if not (clone / "HEAD").exists():
            git(clone, timeout_s, "init", "--quiet", "--bare")
        if run(clone, timeout_s, "cat-file", "-e", commit + "^{tree}").returncode:
            where = f"+{commit}:refs/analyze/{commit}"
            git(clone, timeout_s, "fetch", "--quiet", "--depth=1", "--no-tags", "--", url, where)
    return clone, commit


def resolve(url: str, revision: str, timeout_s: float) -> str:
    """Return the commit of a branch, tag or full hash in a repository."""
    if COMMIT.fullmatch(revision):
        return revision
    wanted = [f"refs/tags/{revision}^{{}}", f"refs/tags/{revision}", f"refs/heads/{revision}", revision]
    listed = git(Path("/"), timeout_s, "ls-remote", "--", url, *wanted)
    found = {name: commit for commit, name in (line.split("\t", 1) for line in listed.splitlines())}
    for name in wanted:
        if name in found:
            return found[name]
    if revision == "HEAD":
        raise Unreachable("the repository has no commit")
    help = "name a branch, a tag, or all 40 digits of a commit"
    raise AnalyzeError("B004", f"unknown revision '{revision}' in {url}", help=help)


def git(directory: Path, timeout_s: float, *arguments: str) -> str:
    done = run(directory, timeout_s, *arguments)
    if done.returncode:
        words = done.stderr.strip().splitlines() or [f"git {arguments[0]} failed"]
        raise Unreachable(words[0].removeprefix("fatal: "))
    return done.stdout


def run(directory: Path, timeout_s: float, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = environment(in_hook=False) | {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
    env.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    try:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=directory,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
        )
    except FileNotFoundError:
        raise AnalyzeError("G003", "git is not installed", help="apt-get install git") from None
    except subprocess.TimeoutExpired:
        raise Unreachable(f"no answer within {timeout_s:g} s") from None
