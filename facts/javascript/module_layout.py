"""Modules of JavaScript and TypeScript by their paths: names, and which file an import means.

A module is named by its path without suffix, `index` by its directory. A relative import is the file of that path, as
written or with a suffix, else the `index` file of the directory; `./a.js` may mean `./a.ts`, which it is compiled from.
Other imports name packages, which are not looked for.
"""

import posixpath

from facts.module_layout import Layout

SUFFIXES = (
    ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs",
)  # fmt: skip
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}


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
    if not name.startswith("."):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), name))
    if path.startswith(".."):
        return None
    stem, suffix = posixpath.splitext(path)
    candidates = [path, *(stem + other for other in _COMPILED.get(suffix, ())), *(path + other for other in SUFFIXES)]
    index = "index" if path == "." else path + "/index"
    candidates += [index + other for other in SUFFIXES]
    return next((candidate for candidate in candidates if candidate in paths), None)
