"""Java's modules by their paths: a file is a module, named by its package and its own name.

The package is what the file declares: an import of level 1 names it (`facts.java.imports.OWN_PACKAGE`). Packages are
modules without a file of their own, one for every directory that holds files of the package, as sources and tests do;
where the directories are named like the package, so are the packages around it.

An import names a package or a class: `a.b` means all directories of that package, else the file of the class `a.b`,
the nearest to the importer if there are several, else that of the class around it: the nested class `a.B.C` stands in
`a.B`.
"""

import posixpath
from collections import defaultdict

from facts.module_layout import Layout

OWN_PACKAGE = 1


def layout(imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and targets for the modules at the paths that `imports` has: their imports as (level, name)."""
    tree = _Tree(imports)
    result = Layout(directories=sorted(tree.directories))
    for path, name in tree.directories.items():
        result.names.append((path, name, name))
    for path, package in tree.packages.items():
        result.names.append((path, _join(package, _stem(path)), package))
    result.children = tree.children()
    for importer, wanted in imports.items():
        for level, name in wanted:
            result.resolved += [(importer, level, name, target) for target in tree.resolve(importer, level, name)]
    return result


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _join(package: str, name: str) -> str:
    return f"{package}.{name}" if package else name


class _Tree:
    """Files by package and name, and the directories that are packages."""

    def __init__(self, imports: dict[str, list[tuple[int, str]]]) -> None:
        self.packages = {
            path: next((name for level, name in wanted if level == OWN_PACKAGE), "") for path, wanted in imports.items()
        }
        # The path of a package in a directory; by the path, the package's name.
        self._homes: dict[tuple[str, str], str] = {}
        self.directories: dict[str, str] = {}
        for path in sorted(self.packages):
            self._add(posixpath.dirname(path), self.packages[path])
        self._files: dict[str, list[str]] = defaultdict(list)
        for path, package in self.packages.items():
            self._files[_join(package, _stem(path))].append(path)
        self._packages: dict[str, list[str]] = defaultdict(list)
        for path, name in self.directories.items():
            self._packages[name].append(path)

    def _add(self, directory: str, package: str) -> None:
        """Let a package have a module for a directory, and the packages around it for those around the directory."""
        while package and (directory, package) not in self._homes:
            home = directory + "/"
            if home in self.directories:
                # Files of another package stand in the same directory.
                home = f"{directory}/{package}/"
            self._homes[directory, package] = home
            self.directories[home] = package
            around, _, last = package.rpartition(".")
            if posixpath.basename(directory) != last:
                break
            directory, package = posixpath.dirname(directory), around

    def children(self) -> list[tuple[str, str, str]]:
        """Return (package, name, module) for every file and package in a package."""
        found = [
            (self._homes[posixpath.dirname(path), package], _stem(path), path)
            for path, package in self.packages.items()
            if package
        ]
        for (directory, package), home in self._homes.items():
            around, _, last = package.rpartition(".")
            parent = self._homes.get((posixpath.dirname(directory), around))
            if parent is not None and posixpath.basename(directory) == last:
                found.append((parent, last, home))
        return found

    def resolve(self, importer: str, level: int, name: str) -> list[str]:
        """Return the modules that an import means, none if it is not in the mount."""
        if name in self._packages:
            return self._packages[name]
        while name and level == 0:
            if name in self._files:
                return [self._nearest(importer, self._files[name])]
            name = name.rpartition(".")[0]
        return []

    @staticmethod
    def _nearest(importer: str, candidates: list[str]) -> str:
        return min(candidates, key=lambda path: (-len(posixpath.commonprefix([importer, path])), path))
