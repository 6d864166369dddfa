"""Modules of JavaScript and TypeScript by their paths: names, and which file an import means.

A module is named by its path without suffix, `index` by its directory. A relative import is the file of that path, as
written or with a suffix, else the `index` file of the directory; `./a.js` may mean `./a.ts`, which it is compiled from.
`@/a` and `~/a`, which no package is named, are by convention (`paths` of a tsconfig.json, aliases of bundlers) below a
directory around the importer, or its `src`; `src/a` stands in such a directory. The outermost that has the file is
taken. Other imports name packages, which are not looked for.
"""

import posixpath
from collections.abc import Iterator

from facts.module_layout import Layout

SUFFIXES = (
    ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs",
)  # fmt: skip
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}

# Directories of a project that names with this beginning start from.
_PROJECT_ROOTS = {"@": ("src", ""), "~": ("src", ""), "src": ("src",)}


def layout(imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and targets for the modules at the paths that `imports` has: their imports as (level, name)."""
    result = Layout()
    for path in sorted(imports):
        result.names.append((path, _name(path), posixpath.dirname(path)))
    for importer, wanted in imports.items():
        for level, name in wanted:
            target = _resolve(importer, name, imports)
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
    if not rest or alias not in _PROJECT_ROOTS:
        return
    parts = importer.split("/")[:-1]
    for depth in range(len(parts) + 1):
        for source_root in _PROJECT_ROOTS[alias]:
            yield posixpath.normpath(posixpath.join(*parts[:depth], source_root, rest))


def _find(path: str, paths: dict) -> str | None:
    if path.startswith(".."):
        return None
    stem, suffix = posixpath.splitext(path)
    candidates = [path, *(stem + other for other in _COMPILED.get(suffix, ())), *(path + other for other in SUFFIXES)]
    index = "index" if path == "." else path + "/index"
    candidates += [index + other for other in SUFFIXES]
    return next((candidate for candidate in candidates if candidate in paths), None)
