"""Modules of JavaScript and TypeScript by their paths: names, and which file an import means.

A module is named by its path without suffix, `index` by its directory. A relative import is the file of that path, as
written or with a suffix, else the `index` file of the directory; `./a.js` may mean `./a.ts`, which it is compiled from.
`@/a` and `~/a`, which no package is named, are by convention (`paths` of a tsconfig.json, aliases of bundlers) below a
directory around the importer, or its `src`; `src/a` stands in such a directory; `$lib/a`, `@lib/a` are in its
`src/lib`, and so for other directories. The outermost that has the file is taken. `@shop/prices/a` is below
`packages/prices`, or another directory of workspaces, if the scope is the repository's own: at least two, and most, of
the names that files import under it are such directories. What a directory `node_modules` around the importer has is
that package, the innermost first. Other imports name packages, which are not looked for.
"""

import posixpath
from collections.abc import Collection, Iterable, Iterator

from facts.module_layout import Layout

SUFFIXES = (
    ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs",
    ".vue", ".svelte",
)  # fmt: skip
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}

# Directories of a project that names with this beginning start from.
_PROJECT_ROOTS = {"@": ("src", ""), "~": ("src", ""), "src": ("src",)}


# Directories that hold the packages of a repository, and where the modules of one start.
_WORKSPACES = frozenset({"packages", "libs", "libraries", "apps", "modules", "plugins", "services", "shared"})
_PACKAGE_ROOTS = ("", "src", "lib", "src/lib", "src/app")


def layout(imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and targets for the modules at the paths that `imports` has: their imports as (level, name)."""
    result = Layout()
    for path in sorted(imports):
        result.names.append((path, _name(path), posixpath.dirname(path)))
    packages = _own_packages(imports)
    installed = _installed(imports)
    for importer, wanted in imports.items():
        for level, name in wanted:
            target = _resolve(importer, name, imports) or _in_package(name, packages, imports)
            if target is None and installed:
                target = _in_installed(importer, name, installed, imports)
            if target is not None:
                result.resolved.append((importer, level, name, target))
    return result


def _name(path: str) -> str:
    stem = next(
        (path[: -len(suffix)] for suffix in sorted(SUFFIXES, key=len, reverse=True) if path.endswith(suffix)), path
    )
    directory, _, last = stem.rpartition("/")
    return directory if last == "index" and directory else stem


def _resolve(importer: str, name: str, paths: dict) -> str | None:
    if name.startswith("."):
        return _find(posixpath.normpath(posixpath.join(posixpath.dirname(importer), name)), paths)
    return next(filter(None, (_find(path, paths) for path in _by_convention(importer, name))), None)


def _by_convention(importer: str, name: str) -> Iterator[str]:
    """Yield the paths that an import from the root of the importer's project may mean, outermost first."""
    alias, _, rest = name.partition("/")
    if not rest and not alias.startswith("$"):
        return
    if alias in _PROJECT_ROOTS:
        roots = _PROJECT_ROOTS[alias]
    elif alias[:1] in ("@", "$"):
        roots = (f"src/{alias[1:]}",)
    else:
        return
    parts = importer.split("/")[:-1]
    for depth in range(len(parts) + 1):
        for source_root in roots:
            yield posixpath.normpath(posixpath.join(*parts[:depth], source_root, rest))


def _own_packages(imports: dict[str, list[tuple[int, str]]]) -> dict[str, str]:
    """Return the directories of the repository's own packages, by names like `@shop/prices`."""
    directories = _workspaces(imports)
    names: dict[str, set[str]] = {}
    for name in {name for wanted in imports.values() for _, name in wanted}:
        scope, _, rest = name.partition("/")
        if len(scope) > 1 and scope.startswith("@") and rest:
            names.setdefault(scope, set()).add(rest.partition("/")[0])
    return {
        f"{scope}/{package}": directories[package]
        for scope, packages in names.items()
        if len(packages & directories.keys()) > max(1, len(packages) // 2)
        for package in packages & directories.keys()
    }


def _workspaces(paths: Iterable[str]) -> dict[str, str]:
    """Return the directories below those of workspaces by their last parts; of several the first, outermost one."""
    result: dict[str, str] = {}
    for directory in sorted({posixpath.dirname(path) for path in paths}):
        parts = directory.split("/")
        for depth in range(1, len(parts)):
            if parts[depth - 1] in _WORKSPACES:
                result.setdefault(parts[depth], "/".join(parts[: depth + 1]))
                break
    return result


def _installed(paths: Iterable[str]) -> frozenset[str]:
    """Return the directories of packages that stand below `node_modules`."""
    result = set()
    for directory in {posixpath.dirname(path) for path in paths if "node_modules/" in path}:
        parts = directory.split("/")
        for at, part in enumerate(parts):
            if part == "node_modules":
                scoped = parts[at + 1 : at + 2] and parts[at + 1].startswith("@")
                result.add("/".join(parts[: at + (3 if scoped else 2)]))
    return frozenset(result)


def _in_installed(importer: str, name: str, installed: Collection[str], paths: dict) -> str | None:
    parts = name.split("/")
    count = 2 if name.startswith("@") else 1
    package, inner = "/".join(parts[:count]), "/".join(parts[count:])
    above = importer.split("/")[:-1]
    for depth in range(len(above), -1, -1):
        directory = "/".join([*above[:depth], "node_modules", package])
        if directory in installed:
            return _below(directory, inner, paths)
    return None


def _in_package(name: str, packages: dict[str, str], paths: dict) -> str | None:
    scope, _, rest = name.partition("/")
    package, _, inner = rest.partition("/")
    directory = packages.get(f"{scope}/{package}")
    return None if directory is None else _below(directory, inner, paths)


def _below(directory: str, inner: str, paths: dict) -> str | None:
    """Return the file that a path inside of a package means, or the package itself without one."""
    if ".." in inner.split("/"):
        return None
    candidates = (posixpath.normpath(posixpath.join(directory, root, inner)) for root in _PACKAGE_ROOTS)
    return next(filter(None, (_find(path, paths) for path in candidates)), None)


def _find(path: str, paths: dict) -> str | None:
    if path.startswith(".."):
        return None
    stem, suffix = posixpath.splitext(path)
    candidates = [path, *(stem + other for other in _COMPILED.get(suffix, ())), *(path + other for other in SUFFIXES)]
    index = "index" if path == "." else path + "/index"
    candidates += [index + other for other in SUFFIXES]
    return next((candidate for candidate in candidates if candidate in paths), None)
