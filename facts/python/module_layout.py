"""Python's modules by their paths: dotted names, packages, and which file an import means.

A directory with `__init__.py` is a package; its name starts at the highest directory of such a chain. A module outside
of packages is named by its path from the mounted root, or from a directory `src` on the way. Other directories that
hold modules are namespace packages.

An absolute import is looked for, as Python would with the script's directory and the roots on its path, in
1. the importer's own directory, if that is no package (the directory of a script comes first on Python's path);
2. the directory that holds the importer's package, and those around it, up to the mounted root;
3. all packages by name, those nearest to the importer first (`src/pkg` from `tests/`);
4. the importer's own directory and those around it, if their package is a folder of scripts that has an `__init__.py`:
   no module in it imports relatively or by the package's name, and two are imported by what stands beside them;
5. directories that programs put on Python's path when they run: two dotted names are imported that only they have.
Names of the standard library are only looked for in 1.
"""

import posixpath
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable

from facts.module_layout import Layout

_SUFFIXES = (".py", ".pyi", ".pyw", "")
_SOURCE_DIRECTORIES = {"src"}


def layout(imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and targets for the modules at the paths that `imports` has: their imports as (level, name)."""
    tree = _Tree(sorted(imports))
    tree.note_imports(imports)
    result = Layout(directories=[path + "/" for path in tree.namespaces])
    for path, name in tree.names.items():
        is_package = path.endswith("/") or _stem(path) == "__init__"
        result.names.append((path, name, name if is_package else name.rpartition(".")[0]))
    result.children = tree.children()
    for importer, wanted in imports.items():
        for level, name in wanted:
            target = tree.resolve(importer, level, name)
            if target is not None:
                result.resolved.append((importer, level, name, target))
    return result


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _up(directory: str) -> str:
    """Return the directory around one; the empty name is the mounted root."""
    return posixpath.dirname(directory).lstrip("/")


class _Tree:
    """The modules of a mount by directory and name."""

    def __init__(self, paths: list[str]) -> None:
        self._modules: dict[tuple[str, str], str] = {}
        self._packages: dict[str, str] = {}
        self._script_folders: set[str] = set()
        self._added_roots: list[str] = []
        for path in sorted(paths, key=lambda path: _SUFFIXES.index(posixpath.splitext(path)[1].lower())):
            directory, stem = _up(path), _stem(path)
            if stem == "__init__":
                self._packages.setdefault(directory, path)
            else:
                self._modules.setdefault((directory, stem), path)
        self._paths = paths
        self.namespaces = self._namespaces()
        self.names = {path: self._name(path) for path in paths}
        self.names.update((directory + "/", self._dotted(directory)) for directory in self.namespaces)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path, name in self.names.items():
            self._by_name[name].append(path)

    def note_imports(self, imports: dict[str, list[tuple[int, str]]]) -> None:
        """Learn which outermost packages are folders of scripts, and which directories are put on the path."""
        beside: dict[str, set[str]] = defaultdict(set)
        imported_as_package = set()
        for importer, wanted in imports.items():
            package = self._outermost(_up(importer))
            own_name = posixpath.basename(package)
            if any(level or name.partition(".")[0] == own_name for level, name in wanted):
                imported_as_package.add(package)
            beside[package].update(filter(None, (self._beside(importer, name) for _, name in wanted)))
        self._script_folders = {
            package
            for package, modules in beside.items()
            if package and len(modules) > 1 and package not in imported_as_package
        }
        dotted = {name for wanted in imports.values() for level, name in wanted if not level and "." in name}
        self._added_roots = self._roots_with_two(name for name in dotted if not _is_standard(name))

    def _roots_with_two(self, dotted_names: Iterable[str]) -> list[str]:
        """Return directories outside of packages, below the mounted root, from which two of the names lead to files."""
        by_stem: dict[str, list[str]] = defaultdict(list)
        for directory, stem in self._modules:
            by_stem[stem].append(directory)
        found: Counter[str] = Counter()
        for name in sorted(dotted_names):
            package, _, stem = name.rpartition(".")
            ending = "/" + package.replace(".", "/")
            found.update(at.removesuffix(ending) for at in by_stem[stem] if at.endswith(ending))
        return sorted(root for root, names in found.items() if names > 1 and root not in self._packages)

    def _outermost(self, directory: str) -> str:
        """Return the outermost package around `directory`; the empty name if that is no package."""
        outermost = ""
        while directory and directory in self._packages:
            outermost, directory = directory, _up(directory)
        return outermost

    def _namespaces(self) -> list[str]:
        found = set()
        for path in self._paths:
            directory = _up(path)
            while directory and directory not in found:
                if directory not in self._packages:
                    found.add(directory)
                directory = _up(directory)
        return sorted(found)

    def _name(self, path: str) -> str:
        directory, stem = _up(path), _stem(path)
        if stem == "__init__" and directory:
            return self._dotted(directory)
        return ".".join(filter(None, (self._prefix(directory), stem)))

    def _dotted(self, directory: str) -> str:
        """Return the dotted name of a directory."""
        around = _up(directory)
        return self._prefix(directory) or ".".join(filter(None, (self._prefix(around), posixpath.basename(directory))))

    def _prefix(self, directory: str) -> str:
        """Return the dotted name that names in a directory start with; empty at a root."""
        root = self._root(directory) if directory in self._packages else self._source_root(directory)
        return directory[len(root) :].strip("/").replace("/", ".")

    def _root(self, directory: str) -> str:
        """Return the directory that holds the outermost package around `directory`, itself if it is no package."""
        while directory and directory in self._packages:
            directory = _up(directory)
        return directory

    @staticmethod
    def _source_root(directory: str) -> str:
        parts = directory.split("/")
        sources = [index for index, part in enumerate(parts) if part in _SOURCE_DIRECTORIES]
        return "/".join(parts[: sources[-1] + 1]) if sources else ""

    def children(self) -> list[tuple[str, str, str]]:
        """Return (package, name, module) for every module in a package or namespace package."""
        found = []
        for path in self.names:
            own = path.rstrip("/") if path.endswith("/") else _up(path) if _stem(path) == "__init__" else None
            parent = _up(path) if own is None else _up(own)
            name = _stem(path) if own is None else posixpath.basename(own)
            package = self._package(parent) if name else None
            if package is not None and self._find(parent, name) == path:
                found.append((package, name, path))
        return found

    def _package(self, directory: str) -> str | None:
        """Return the module that a directory is."""
        if directory in self._packages:
            return self._packages[directory]
        return directory + "/" if directory + "/" in self.names else None

    def _find(self, directory: str, dotted: str) -> str | None:
        """Return the module that `dotted` names from a directory; the directory's own package for the empty name."""
        if not dotted:
            return self._package(directory)
        path = posixpath.join(directory, dotted.replace(".", "/"))
        if path in self._packages:
            return self._packages[path]
        return self._modules.get((_up(path), posixpath.basename(path))) or self._package(path)

    def resolve(self, importer: str, level: int, name: str) -> str | None:
        """Return the module that an import means, None if it is not in the mount."""
        directory = _up(importer)
        if level:
            for _ in range(level - 1):
                if not directory:
                    return None
                directory = _up(directory)
            return self._find(directory, name)
        if directory not in self._packages:
            found = self._find(directory, name)
            if found is not None and (found[-1] != "/" or not _is_standard(name)):
                return found
        if _is_standard(name):
            return None
        return (
            self._from_roots(directory, name)
            or self._nearest(importer, name)
            or self._beside_script(importer, name)
            or self._from_added_roots(importer, name)
        )

    def _from_roots(self, directory: str, name: str) -> str | None:
        root = self._root(directory)
        while True:
            found = self._find(root, name)
            if found is not None or not root:
                return found
            root = _up(root)

    def _beside_script(self, importer: str, name: str) -> str | None:
        return self._beside(importer, name) if self._outermost(_up(importer)) in self._script_folders else None

    def _beside(self, importer: str, name: str) -> str | None:
        """Return the module of that name in the importer's directory, or in one around it within its package."""
        if _is_standard(name):
            return None
        package, directory = self._outermost(_up(importer)), _up(importer)
        while package and directory.startswith(package):
            found = self._find(directory, name)
            if found is not None and found != importer:
                return found
            directory = _up(directory)
        return None

    def _nearest(self, importer: str, name: str) -> str | None:
        return _nearest_of(importer, self._by_name.get(name, []))

    def _from_added_roots(self, importer: str, name: str) -> str | None:
        found = (self._find(root, name) for root in self._added_roots)
        return _nearest_of(importer, list(filter(None, found)))


def _nearest_of(importer: str, candidates: list[str]) -> str | None:
    """Return the path with the longest common beginning with the importer's; the first of several."""
    return min(candidates, key=lambda path: (-len(posixpath.commonprefix([importer, path])), path), default=None)


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names
