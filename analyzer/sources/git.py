"""Read-only access to a git repository's objects and index through the `git` command.

A scanned repository is not trusted: its configuration may name programs that git would run. Monitors, hooks and lazy
fetches are switched off, and none of the commands used applies filters.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analyzer.errors import AnalyzeError
from analyzer.sources.safe_open import MOST_BYTES, too_large

HARDENED = (
    *("-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never", "--no-pager", "--literal-pathspecs"),
)
# Set by git for its hooks; they would redirect every command to the repository of the hook.
LOCAL_VARIABLES = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS"),
)

WARNING = re.compile(r"^warning: (.*(?:\n(?!warning: ).+)*)", re.MULTILINE)
"""A warning may span several lines, since names of files may."""
HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def blob_hash(data: bytes) -> str:
    """Return git's name for a file of these bytes, so that commits and working trees share cache entries."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class GitEntry:
    """A path in a tree or an index. `kind` is file, symlink or submodule; `path` is relative to the repository."""

    path: str
    kind: str
    blob: str


def environment(*, in_hook: bool) -> dict[str, str]:
    """Return the environment of a git child process: no fetches, prompts or optional locks.

    In a hook, the variables that name its repository and index are kept, the index by an absolute path.
    """
    env = dict(os.environ)
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    env |= {"GIT_ALLOW_PROTOCOL": "none"}
    if not in_hook:
        for name in LOCAL_VARIABLES:
            env.pop(name, None)
    elif index := env.get("GIT_INDEX_FILE"):
        env["GIT_INDEX_FILE"] = os.path.abspath(index)
    return env


class Repository:
    """The repository that holds `path`: its `top` (None when bare), and `prefix`, which leads from there to `path`."""

    def __init__(self, path: Path, *, in_hook: bool = False) -> None:
        """Raises AnalyzeError G001 where `path` is in no git repository, G003 where git is not installed."""
        self.path = path
        self._env = environment(in_hook=in_hook)
        found = self._run("rev-parse", "--is-bare-repository", "--show-prefix")
        if found.returncode:
            raise AnalyzeError(
                "G001", f"{path} is not in a git repository", help="analyze scan, without --rev, scans its files"
            )
        bare, _, prefix = os.fsdecode(found.stdout).partition("\n")
        self.bare = bare == "true"
        self.prefix = prefix.rstrip("\n")
        shown = self._run("rev-parse", "--show-toplevel")
        self.top = Path(os.fsdecode(shown.stdout).removesuffix("\n")) if not shown.returncode else None
        if self.top and not in_hook and not os.path.lexists(self.top / ".git"):
            message = f"{path} is in a repository that names another directory as its working tree"
            raise AnalyzeError("G001", message, help="git config --unset core.worktree")

    @classmethod
    def find(cls, path: Path) -> Repository | None:
        """Return the repository that holds `path`, or None (also where git is not installed)."""
        try:
            return cls(path)
        except AnalyzeError:
            return None

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(["git", *HARDENED, *arguments], cwd=self.path, env=self._env, capture_output=True)
        except FileNotFoundError:
            raise AnalyzeError("G003", "git is not installed", help="apt-get install git") from None

    def git(self, *arguments: str) -> bytes:
        """Return what a git command prints. Raises AnalyzeError G004 with git's own words when it fails."""
        return self._succeeded(*arguments).stdout

    def _succeeded(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        done = self._run(*arguments)
        if done.returncode:
            words = os.fsdecode(done.stderr).strip() or f"git {arguments[0]} failed"
            raise AnalyzeError("G004", words)
        return done

    def resolve(self, revision: str) -> str:
        """Return the commit that `revision` names. Raises AnalyzeError G002."""
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        if done.returncode:
            shallow = self._run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
            deepen = "the clone is shallow: git fetch --deepen=100, or a checkout with fetch-depth: 0"
            hint = deepen if shallow else "git log --oneline lists commits; git fetch origin gets those of others"
            raise AnalyzeError("G002", f"unknown revision '{revision}' in {self.path}", help=hint)
        return done.stdout.decode().strip()

    def merge_base(self, revision: str, commit: str) -> str:
        """Return the best common ancestor of two commits, "" where none is known."""
        done = self._run("merge-base", "--end-of-options", revision, commit)
        return done.stdout.decode().strip()

    def names(self, revision: str) -> bool:
        """Return True if `revision` names an object, there or not."""
        return self._run("rev-parse", "--verify", "--quiet", "--end-of-options", revision).returncode == 0

    def ignores(self, path: Path) -> bool:
        """Return True if the repository's ignore rules exclude `path` itself."""
        return self._run("check-ignore", "--quiet", "--", str(path)).returncode == 0

    def working_paths(self) -> tuple[list[str], list[str]]:
        """Return tracked and untracked, not ignored, paths below `path`, relative to it; repositories end in "/".

        And git's warnings, as of directories that it cannot read.
        """
        listed = self._succeeded("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        warnings = WARNING.findall(os.fsdecode(listed.stderr))
        return sorted(os.fsdecode(path) for path in listed.stdout.split(b"\0") if path), warnings

    def tree(self, commit: str) -> Iterator[GitEntry]:
        """Yield every entry of the commit."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", commit)
        for row in listed.split(b"\0"):
            if row:
                meta, path = row.split(b"\t", 1)
                mode, _, blob = meta.split(b" ")
                yield GitEntry(os.fsdecode(path), _kind(mode), blob.decode())

    def sizes(self, commit: str) -> Iterator[tuple[str, int]]:
        """Yield path and size in bytes of every file of the commit below `prefix` that is there, as not all may be."""
        below = [self.prefix] if self.prefix else []
        for row in self.git("ls-tree", "-r", "-z", "--long", "--full-tree", commit, *below).split(b"\0"):
            if row:
                meta, path = row.split(b"\t", 1)
                size = meta.split()[3]
                if size.isdigit():  # A submodule has "-"; of a blob that a partial clone has not, git says "BAD".
                    yield os.fsdecode(path), int(size)

    def changed_lines(self, base: str, head: str) -> dict[str, list[int]]:
        """Return the lines of `head` that differ from `base`, in order, by path from the top; renames are followed.

        Attributes of the repository are ignored: no file counts as binary. A deletion is represented by the line
        before it.
        """
        listed = self.git(
            *("-c", "core.quotePath=false", "diff-tree", "-r", "-p", "-M", "-U0", "--no-color", "--no-ext-diff"),
            *("--no-textconv", "--text", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", base, head),
        )
        changed: dict[str, list[int]] = {}
        lines: list[int] = []
        for row in listed.split(b"\n"):
            if row.startswith(b"diff --git "):
                lines = []
            elif row.startswith(b"+++ b/") and not lines:
                changed[os.fsdecode(row[6:].rstrip(b"\t"))] = lines
            elif hunk := HUNK.match(row):
                first, count = int(hunk[1]), int(hunk[2] or 1)
                lines += range(first, first + count) if count else [max(first, 1)]
        return changed

    def index(self) -> Iterator[GitEntry]:
        """Yield every entry of the index below `prefix`; of a conflict, our side."""
        for row in self.git("ls-files", "-z", "--stage", "--full-name").split(b"\0"):
            if row:
                meta, path = row.split(b"\t", 1)
                mode, blob, stage = meta.split(b" ")
                if stage in (b"0", b"2"):
                    yield GitEntry(os.fsdecode(path), _kind(mode), blob.decode())

    def staged_paths(self) -> set[str]:
        """Return the paths whose staged content differs from HEAD's, all of them before the first commit.

        What is only meant to be added (`git add --intent-to-add`) is not staged.
        """
        if self._run("rev-parse", "--verify", "--quiet", "HEAD").returncode:
            return {entry.path for entry in self.index()}
        shown = ("--cached", "--ita-invisible-in-index", "--name-only", "--no-renames", "-z")
        listed = self.git("diff-index", *shown, "HEAD")
        return {os.fsdecode(path) for path in listed.split(b"\0") if path}

    def blobs(self) -> Blobs:
        return Blobs(self.path, self._env)


class Blobs:
    """A reader of blobs through one `git cat-file --batch` process. Close it, or use it as a context manager."""

    def __init__(self, path: Path, env: dict[str, str]) -> None:
        self._path, self._env = path, env
        self._process: subprocess.Popen[bytes] | None = None

    def _started(self) -> subprocess.Popen[bytes]:
        """Return the process, started on first use."""
        if self._process is None:
            command = ["git", *HARDENED, "cat-file", "--batch"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._path,
                env=self._env,
                start_new_session=True,
            )
        return self._process

    def read(self, blob: str) -> bytes:
        """Return the content. Raises OSError where the object is missing, as in a partial or damaged clone."""
        process = self._started()
        stdin, stdout = process.stdin, process.stdout
        assert stdin and stdout
        stdin.write(blob.encode() + b"\n")
        stdin.flush()
        header = stdout.readline().split()
        if len(header) != 3:
            raise OSError(f"git object {blob} is missing")
        size = int(header[2])
        if size > MOST_BYTES:
            self.close()
            raise too_large(blob)
        data = stdout.read(size)
        stdout.read(1)
        return data

    def close(self) -> None:
        """End the process; its next use begins another one."""
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream:
                    stream.close()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _kind(mode: bytes) -> str:
    return {b"120000": "symlink", b"160000": "submodule"}.get(mode, "file")
