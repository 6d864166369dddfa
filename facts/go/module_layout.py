"""Go's files by their paths: a package is a directory, a module without a file of its own; its files are its parts.

The package that a file belongs to is what it says: an import of level 1 names it (`facts.go.imports.OWN_PACKAGE`). The
directory is the package that most of its files other than tests name; files of another one (`p_test`, or those that
builds leave out) know each other alone.

Import paths start with the path of a module, which only `go.mod` says. It is inferred: where paths that files import
end like paths of directories, what stands before is the path of the module for most of them. Parts such as `v3`, which
tell a major version, need no directory, but may have one. Packages that a directory `vendor` holds are found under
their full path. A module may hold another: then no import leads into the inner directory by the path of the outer one,
and their paths show that they belong together. No package imports itself: what files of a directory import
is another one, but for tests of a package of their own.

A module's root has no name to find it by. Where nothing else tells its path, it is the path that ends in the name of
the root's package (`go-box` for `box`) and that only files below the root import.
"""

import posixpath
import re
from collections import Counter, defaultdict

from facts.module_layout import Layout

OWN_PACKAGE = 1
_VERSION = re.compile(r"v[0-9]+")
_DECORATION = re.compile(r"^go-|[-.]go$|\.v[0-9]+$|-")
_LIBRARY = frozenset(
    """
archive compress container crypto database debug embed encoding go hash html image index internal io log math mime net
os path regexp runtime sync testing text time unicode
""".split()
)


def layout(imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and targets for the files at the paths that `imports` has: their imports as (level, name)."""
    packages = _Packages(imports)
    modules = _Modules(imports, packages)
    result = Layout(directories=[directory + "/" for directory in packages.directories])
    for directory in packages.directories:
        result.names.append((directory + "/", directory, directory))
    for path in imports:
        directory = posixpath.dirname(path)
        result.names.append((path, path.removesuffix(".go"), directory))
        if packages.is_own(path):
            result.children.append((directory + "/", posixpath.basename(path), path))
    for importer, wanted in imports.items():
        for level, name in wanted:
            targets = packages.own(importer) if level == OWN_PACKAGE else modules.resolve(name)
            result.resolved += [(importer, level, name, target) for target in targets]
    return result


class _Packages:
    """The package named by each file, and the package of each directory."""

    def __init__(self, imports: dict[str, list[tuple[int, str]]]) -> None:
        self._names = {path: _package(wanted) for path, wanted in imports.items()}
        self._files: dict[tuple[str, str], list[str]] = defaultdict(list)
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for path, name in sorted(self._names.items()):
            self._files[posixpath.dirname(path), name].append(path)
            # Any file that is no test outweighs all that are.
            votes[posixpath.dirname(path)][name] += 1 if path.endswith("_test.go") else 1_000_000
        self.directories = {
            directory: min(counted, key=lambda name: (-counted[name], name))
            for directory, counted in sorted(votes.items())
        }

    def is_own(self, path: str) -> bool:
        """Return True if a file belongs to the package that its directory is."""
        return self.directories[posixpath.dirname(path)] == self._names[path]

    def own(self, path: str) -> list[str]:
        """Return the modules that hold the names of a file's own package."""
        directory = posixpath.dirname(path)
        return [directory + "/"] if self.is_own(path) else self._files[directory, self._names[path]]


def _package(wanted: list[tuple[int, str]]) -> str:
    return next((name for level, name in wanted if level == OWN_PACKAGE), "")


class _Modules:
    """The paths of modules, by the directories that they start at."""

    def __init__(self, imports: dict[str, list[tuple[int, str]]], packages: _Packages) -> None:
        self._every = packages.directories.keys()
        self._directories = {_plain(directory): directory for directory in reversed(list(packages.directories))}
        self._by_last: dict[str, list[str]] = defaultdict(list)
        for directory in self._directories:
            self._by_last[posixpath.basename(directory)].append(directory)
        self._importers: dict[str, set[str]] = {}
        users: dict[str, set[str]] = defaultdict(set)
        for importer, names in imports.items():
            directory = posixpath.dirname(importer)
            own = {_plain(directory)} if packages.is_own(importer) else set()
            for name in (name for level, name in names if level != OWN_PACKAGE):
                self._importers.setdefault(_plain(name), set()).update(own)
                users[name].add(directory)
        self._modules = self._infer(sorted(self._importers))
        self._modules += self._roots(users, packages.directories)

    def _infer(self, wanted: list[str]) -> list[tuple[str, str]]:
        """Return (directory, path of the module in it), those that most imports speak for first."""
        votes: Counter[tuple[str, str]] = Counter()
        for name in wanted:
            votes.update(self._splits(name, self._importers[name]))
        found: list[tuple[str, str]] = []
        for root, path in sorted(votes, key=lambda split: (-votes[split], not _named_after(*split), split)):
            if path and path.partition("/")[0] in _LIBRARY:
                continue
            if all(self._apart((root, path), other, wanted) for other in found):
                found.append((root, path))
        return found

    def _roots(self, users: dict[str, set[str]], packages: dict[str, str]) -> list[tuple[str, str]]:
        """Return (directory, path) of modules of which only the root is imported, and only from below it."""
        by_package: dict[str, list[str]] = defaultdict(list)
        for directory, package in packages.items():
            if not any(_holds(root, directory) for root, _ in self._modules):
                by_package[package].append(directory)
        votes: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for name, directories in users.items():
            if "." not in name.partition("/")[0] or self.resolve(name):
                continue
            for root in by_package.get(_package_of(name), ()):
                if _plain(root) not in self._importers[_plain(name)] and all(
                    not root or directory == root or directory.startswith(root + "/") for directory in directories
                ):
                    votes[root].append((-len(directories), _plain(name)))
        return [(root, min(names)[1]) for root, names in sorted(votes.items())]

    def _apart(self, module: tuple[str, str], other: tuple[str, str], wanted: list[str]) -> bool:
        """Return True if both may be modules: beside each other, or one in the other and known by its own path only."""
        outer, inner = sorted((module, other), key=lambda split: len(split[0]))
        if not _holds(outer[0], inner[0]):
            return True
        if outer[0] == inner[0] or not (_named_after(*inner) or _same_owner(outer[1], inner[1])):
            return False
        below = "/".join([outer[1], *inner[0].removeprefix(outer[0]).strip("/").split("/")])
        return not any(plain == below or plain.startswith(below + "/") for plain in map(_plain, wanted))

    def _splits(self, name: str, importers: set[str]) -> list[tuple[str, str]]:
        """Return how an import may be another directory below the root of a module: the longest common ends."""
        parts, longest = name.split("/"), 0
        found: list[tuple[str, str]] = []
        for directory in self._by_last.get(parts[-1], ()):
            if directory in importers:
                continue
            ends = directory.split("/")
            count = 0
            while count < min(len(parts), len(ends)) and parts[-1 - count] == ends[-1 - count]:
                count += 1
            if count > longest:
                longest, found = count, []
            vendored = directory.split("/")[:-count][-1:] == ["vendor"]
            if count == longest and (count < len(parts) or vendored):
                found.append(("/".join(ends[:-count]), "/".join(parts[:-count])))
            elif count == longest and count > 1:
                # The directory at which the module starts has the module's name.
                found.append(("/".join(ends[: 1 - count]), parts[0]))
        return found

    def resolve(self, name: str) -> list[str]:
        """Return the package that an import means, none if it is not in the mount."""
        plain = _plain(name)
        for root, path in self._modules:
            if name.startswith(path + "/") and (exact := posixpath.join(root, name[len(path) + 1 :])) in self._every:
                return [exact + "/"]
            if plain == path or plain.startswith(path + "/" if path else ""):
                rest = plain[len(path) :].strip("/")
                directory = self._directories.get(posixpath.join(root, rest).rstrip("/"))
                if directory is not None:
                    return [directory + "/"]
        return []


def _package_of(path: str) -> str:
    """Return the name that the package at an import path has by custom."""
    return _DECORATION.sub("", posixpath.basename(_plain(path))).lower()


def _named_after(root: str, path: str) -> bool:
    """Return True if the directory of a module, or one around it, has the last name of the module's path."""
    return posixpath.basename(path) in root.split("/")


def _same_owner(path: str, other: str) -> bool:
    """Return True if two paths begin with the same host and owner."""
    return path.count("/") > 1 < other.count("/") and path.split("/")[:2] == other.split("/")[:2]


def _holds(root: str, other: str) -> bool:
    """Return True if the first directory is the second or around it; `vendor` holds modules of others."""
    if posixpath.basename(other) == "vendor" or posixpath.basename(root) == "vendor":
        return root == other
    return not root or other == root or other.startswith(root + "/")


def _plain(path: str) -> str:
    """Return a path without the parts that tell a major version."""
    return "/".join(part for part in path.split("/") if not _VERSION.fullmatch(part))
