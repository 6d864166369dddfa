"""Trees of files: a working tree, a commit, the staged index, or memory, behind one interface.

Paths are relative to the scanned directory, with "/" between parts. Symbolic links are never followed, so neither
loops of links nor links out of the tree do harm.
"""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from analyzer.errors import AnalyzeError
from analyzer.report import Problem
from analyzer.sources.git import GitEntry, Repository
from analyzer.sources.ignore import IgnoreRules
from analyzer.sources.safe_open import list_beneath, read_beneath, stat_beneath

Stamp = tuple[int, ...]
UNREADABLE_BEGIN = "could not open directory "
UNREADABLE = re.compile(UNREADABLE_BEGIN + r"'(.*)': ([^']*)", re.DOTALL)
"""Git's message about an unreadable directory: its path from the top, and the reason."""


def scanned_directory(target: str | Path) -> str:
    """Return the absolute path of the directory that paths of a report are relative to; the target is what is named."""
    path = os.path.abspath(target)
    return os.path.dirname(path) if os.path.isfile(path) else path


@dataclass(frozen=True, slots=True)
class Entry:
    """A path of a tree. `kind` is file, symlink, submodule or special (a pipe, socket or device).

    `stamp` is another one when a file on disk has been written: its inode, size and times.
    """

    path: str
    kind: str
    size: int | None = None
    stamp: Stamp = field(default=(), compare=False)


class Tree(Protocol):
    """A tree: `target` as named by the user, `revision` a commit or "", `prefix` from the repository's top to it."""

    target: str
    revision: str
    prefix: str

    def entries(self) -> list[Entry]:
        """Return every entry, ordered by path."""
        ...

    def problems(self) -> list[Problem]:
        """Return a problem for each directory that `entries` could not list."""
        ...

    def read(self, path: str) -> bytes:
        """Return a file's bytes. Raises OSError."""
        ...

    def read_top(self, path: str) -> bytes:
        """Return the bytes of a regular file by its path from the repository's top. Raises OSError."""
        ...

    def list_top(self, directory: str) -> list[str]:
        """Return the paths, from the top, of the entries of `directory` that are not directories; [] without it.

        Raises OSError if it lies behind a link.
        """
        ...

    def close(self) -> None: ...


class NamedTree(Tree, Protocol):
    """A tree that knows its files by git's names, so that two of them can be compared without reading both."""

    def object(self, path: str) -> str:
        """Return the blob hash at a path, or ""."""
        ...


def find_upwards(tree: Tree, name: str) -> tuple[str, bytes] | None:
    """Return path (from the top) and bytes of the file `name` nearest to the scanned directory, going up to the top.

    Raises OSError if it cannot be read.
    """
    for directory in upwards(tree.prefix):
        path = posixpath.join(directory, name)
        try:
            return path, tree.read_top(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
    return None


def upwards(prefix: str) -> Iterator[str]:
    """Yield the scanned directory and its parents up to the repository's top (""), as paths from the top."""
    directory = prefix.rstrip("/")
    while directory:
        yield directory
        directory = posixpath.dirname(directory)
    yield ""


def path_from_scanned(tree: Tree, path: str) -> str:
    """Return a path from the top relative to the scanned directory; absolute and empty paths are unchanged."""
    return path if not path or os.path.isabs(path) else posixpath.relpath("/" + path, "/" + tree.prefix)


class WorkingTree:
    """Files on disk; in a git repository, those that git lists (tracked files are never ignored)."""

    revision = ""

    def __init__(self, path: Path) -> None:
        """`path` is a directory or a file. Raises AnalyzeError: A001 it is neither, A002 it is a bare repository."""
        if not path.exists():
            raise AnalyzeError("A001", f"no such file or directory: {path}")
        self.target = str(path)
        self._only = path.name if path.is_file() else None
        self.root = (path.parent if self._only else path).resolve()
        repository = Repository.find(self.root)
        if repository and repository.bare:
            raise AnalyzeError("A002", f"{path} is a bare repository", help="name a commit: --rev HEAD")
        # An ignored directory that is scanned by name is scanned as a plain one.
        if repository and repository.prefix and repository.ignores(self.root):
            repository = None
        self._repository = repository
        self.prefix = repository.prefix if repository else ""
        self._top = self.root.parents[self.prefix.count("/") - 1] if self.prefix else self.root
        self._problems: list[Problem] = []

    def entries(self) -> list[Entry]:
        self._problems.clear()
        if self._only:
            return [self._entry(self._only)]
        if self._repository:
            paths, warnings = self._repository.working_paths()
            self._problems += (self._problem_of(warning) for warning in warnings)
            return [entry for path in paths if (entry := self._listed(path))]
        return sorted(self._walk(), key=lambda entry: entry.path)

    def problems(self) -> list[Problem]:
        return self._problems

    def read(self, path: str) -> bytes:
        return read_beneath(self.root, path)

    def read_top(self, path: str) -> bytes:
        return read_beneath(self._top, path)

    def list_top(self, directory: str) -> list[str]:
        try:
            found = list_beneath(self._top, directory)
        except (FileNotFoundError, NotADirectoryError):
            return []
        files = (name for name, status in found.items() if kind_of(status) != "submodule")
        return sorted(posixpath.join(directory, name) for name in files)

    def close(self) -> None:
        pass

    def _problem_of(self, warning: str) -> Problem:
        """Return the problem for a warning of git: an unreadable directory is not analysed, which is an error."""
        found = UNREADABLE.fullmatch(warning)
        if found is None:  # Of a path that is very long, git leaves out the end, and the reason.
            return Problem(f"git: {warning}", level="error" if warning.startswith(UNREADABLE_BEGIN) else "warning")
        return Problem(f"cannot list directory: {found[2]}", file=found[1].removeprefix(self.prefix).rstrip("/"))

    def _listed(self, path: str) -> Entry | None:
        """Return the entry of a path that git lists; None where the file was deleted since."""
        try:
            return Entry(path, "submodule") if path.endswith("/") else self._entry(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:  # It lies behind a link.
            return Entry(path, "symlink")

    def _entry(self, path: str) -> Entry:
        """Return the entry; a directory has the kind submodule, since git lists no other directories."""
        return entry_of(path, stat_beneath(self.root, path))

    def _walk(self) -> Iterable[Entry]:
        """Yield the entries of a directory outside of repositories; .gitignore files apply."""
        ignore = IgnoreRules()
        pending = [""]
        while pending:
            directory = pending.pop()
            try:
                found = list_beneath(self.root, directory)
            except OSError as error:
                self._problems.append(Problem(f"cannot list directory: {error.strerror}", file=directory))
                continue
            if ".gitignore" in found:
                ignore.add_file(directory, self._read_or_empty(posixpath.join(directory, ".gitignore")))
            for name, status in sorted(found.items()):
                path = posixpath.join(directory, name)
                entry = entry_of(path, status)
                if name == ".git" or ignore.ignores(path, is_directory=entry.kind == "submodule"):
                    continue
                if entry.kind == "submodule":
                    pending.append(path)
                else:
                    yield entry

    def _read_or_empty(self, path: str) -> bytes:
        try:
            return self.read(path)
        except OSError:
            return b""


class SeveralPaths:
    """Directories and files on disk as one tree below their common directory.

    Each is listed as if it were scanned alone; settings are found from the common directory upwards.
    """

    revision = ""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Raises AnalyzeError A001, A002."""
        self._parts = [WorkingTree(path) for path in paths]
        self._whole = WorkingTree(common_directory(paths))
        self.target, self.prefix = self._whole.target, self._whole.prefix

    def entries(self) -> list[Entry]:
        found: dict[str, Entry] = {}
        for part in self._parts:
            below = self._below(part)
            found |= {path: replace(e, path=path) for e in part.entries() if (path := below + e.path) not in found}
        return sorted(found.values(), key=lambda entry: entry.path)

    def problems(self) -> list[Problem]:
        found = [
            replace(problem, file=problem.file and self._below(part) + problem.file)
            for part in self._parts
            for problem in part.problems()
        ]
        return list(dict.fromkeys(found))

    def _below(self, part: WorkingTree) -> str:
        """Return the path prefix from the common directory to a part."""
        below = part.root.relative_to(self._whole.root).as_posix()
        return "" if below == "." else below + "/"

    def read(self, path: str) -> bytes:
        return self._whole.read(path)

    def read_top(self, path: str) -> bytes:
        return self._whole.read_top(path)

    def list_top(self, directory: str) -> list[str]:
        return self._whole.list_top(directory)

    def close(self) -> None:
        pass


def common_directory(paths: Sequence[Path]) -> Path:
    """Return the deepest directory that contains all paths. Raises AnalyzeError A001."""
    try:
        return Path(os.path.commonpath([(path.parent if path.is_file() else path).resolve() for path in paths]))
    except ValueError:
        raise AnalyzeError("A001", "the paths have no common directory", help="scan them one by one") from None


class GitTree:
    """The files of a commit, or of the index, read from git's objects; the working tree is ignored."""

    def __init__(self, repository: Repository, entries: Iterable[GitEntry], target: str, revision: str) -> None:
        self.target, self.revision, self.prefix = target, revision, repository.prefix
        self._files = {entry.path: entry for entry in entries}
        self._repository, self._blobs = repository, repository.blobs()

    @classmethod
    def at(cls, path: Path, revision: str) -> GitTree:
        """Return the tree of `revision` below `path`. Raises AnalyzeError G001 … G004."""
        if not path.is_dir():
            raise AnalyzeError("A001", f"no such directory: {path}")
        repository = Repository(path.resolve())
        commit = repository.resolve(revision)
        return cls(repository, repository.tree(commit), str(path), commit)

    def entries(self) -> list[Entry]:
        inside = (entry for entry in self._files.values() if entry.path.startswith(self.prefix))
        found = [Entry(entry.path[len(self.prefix) :], entry.kind) for entry in inside]
        return sorted(found, key=lambda entry: entry.path)

    def problems(self) -> list[Problem]:
        return []

    @property
    def content(self) -> str:
        """A digest of all paths and contents: equal for a commit and the index it was made from."""
        rows = sorted(f"{entry.path}\0{entry.kind}\0{entry.blob}" for entry in self._files.values())
        data = "\0".join(rows).encode("utf-8", "surrogateescape")
        return hashlib.blake2b(data, digest_size=16).hexdigest()

    def of_objects(self, objects: Mapping[str, str]) -> GitTree:
        """Return a tree of the same repository with exactly these files: blob hashes by path."""
        entries = (GitEntry(self.prefix + path, "file", blob) for path, blob in objects.items())
        return GitTree(self._repository, entries, self.target, "")

    def with_files_of(self, other: GitTree, paths: Collection[str]) -> GitTree:
        """Return this tree with the files at these paths, from the top, replaced by those of `other`, or removed."""
        entries = {path: entry for path, entry in self._files.items() if path not in paths}
        entries |= {path: entry for path, entry in other._files.items() if path in paths}
        return GitTree(self._repository, entries.values(), self.target, self.revision)

    def object(self, path: str) -> str:
        """Return the blob hash at a path, or ""."""
        entry = self._files.get(self.prefix + path)
        return entry.blob if entry else ""

    def read(self, path: str) -> bytes:
        return self.read_top(self.prefix + path)

    def read_top(self, path: str) -> bytes:
        entry = self._files.get(path)
        if entry is None or entry.kind == "submodule":
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        if entry.kind == "symlink":
            raise OSError(errno.ELOOP, "is a symbolic link, which is not followed", path)
        return self._blobs.read(entry.blob)

    def list_top(self, directory: str) -> list[str]:
        for part in upwards(directory):
            if part in self._files and self._files[part].kind == "symlink":
                raise OSError(errno.ELOOP, "lies behind a symbolic link, which is not followed", directory)
        files = (path for path, entry in self._files.items() if entry.kind != "submodule")
        return sorted(path for path in files if posixpath.dirname(path) == directory)

    def close(self) -> None:
        self._blobs.close()


class MemoryTree:
    """Files given as a mapping from path to bytes."""

    revision = prefix = ""

    def __init__(self, files: Mapping[str, bytes], target: str = "<memory>") -> None:
        self.target, self._files = target, files

    def entries(self) -> list[Entry]:
        return [Entry(path, "file", len(data)) for path, data in sorted(self._files.items())]

    def problems(self) -> list[Problem]:
        return []

    def read(self, path: str) -> bytes:
        if path not in self._files:
            raise FileNotFoundError(path)
        return self._files[path]

    read_top = read

    def list_top(self, directory: str) -> list[str]:
        return sorted(path for path in self._files if posixpath.dirname(path) == directory)

    def close(self) -> None:
        pass


def entry_of(path: str, status: os.stat_result) -> Entry:
    """Return the entry of a path on disk; a directory has the kind submodule."""
    stamp = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return Entry(path, kind_of(status), status.st_size, stamp)


def kind_of(status: os.stat_result) -> str:
    """Return the kind of an entry; that of a directory is submodule."""
    kinds = {stat.S_IFREG: "file", stat.S_IFLNK: "symlink", stat.S_IFDIR: "submodule"}
    return kinds.get(stat.S_IFMT(status.st_mode), "special")
