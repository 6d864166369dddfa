"""Packages below `node_modules` that a repository holds the source of.

npm installs packages there, but a repository may also keep its own ones in `packages/node_modules`, so that they find
each other without links. A package is the program's own if its manifest names the repository that a manifest further up
names, or if that one lists it among its workspaces.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from analyzer.sources.trees import Tree

MODULES = "node_modules"
MANIFEST = "package.json"
PACKAGE = re.compile(rf"((?:.*/)?{MODULES}/(?:@[^/]+/)?[^/@][^/]*)/{MANIFEST}")
MANIFEST_BYTES = 256 * 1024
ADDRESS_LENGTH = 300
ADDRESS = re.compile(r"(?:git\+)?(?:[a-z]+://|git@|github:)?(?:[^/@]+@)?(?:github\.com[/:])?(.+?)(?:\.git)?/?(?:#.*)?")


def own_packages(tree: Tree, paths: Collection[str]) -> frozenset[str]:
    """Return the folders below `node_modules` that hold packages of the program itself."""
    candidates = [found[1] for path in paths if MODULES in path and (found := PACKAGE.fullmatch(path))]
    outermost = [folder for folder in candidates if folder.split("/").count(MODULES) == 1]
    roots = _manifests(tree, _above(outermost).intersection(paths))
    return frozenset(folder for folder in outermost if roots and _is_own(folder, tree, roots))


def _above(folders: Iterable[str]) -> set[str]:
    """Return the paths that manifests above the folders of packages would have."""
    result = set()
    for folder in folders:
        directory = folder[: folder.index(MODULES)].rstrip("/")
        while directory:
            result.add(f"{directory}/{MANIFEST}")
            directory = posixpath.dirname(directory)
        result.add(MANIFEST)
    return result


def _manifests(tree: Tree, paths: Iterable[str]) -> dict[str, dict]:
    return {posixpath.dirname(path): manifest for path in paths if (manifest := _manifest(tree, path))}


def _manifest(tree: Tree, path: str) -> dict:
    try:
        data = tree.read(path)
        manifest = json.loads(data) if len(data) <= MANIFEST_BYTES else None
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _is_own(folder: str, tree: Tree, roots: dict[str, dict]) -> bool:
    above = {
        directory: root for directory, root in roots.items() if not directory or folder.startswith(directory + "/")
    }
    if any(_lists(root, posixpath.relpath(folder, directory or ".")) for directory, root in above.items()):
        return True
    repositories = {_repository(root) for root in above.values()} - {""}
    return bool(repositories) and _repository(_manifest(tree, f"{folder}/{MANIFEST}")) in repositories


def _lists(root: dict, folder: str) -> bool:
    workspaces = root.get("workspaces")
    patterns = workspaces.get("packages") if isinstance(workspaces, dict) else workspaces
    if not isinstance(patterns, list):
        return False
    return any(isinstance(pattern, str) and _matches(folder, pattern) for pattern in patterns)


def _matches(folder: str, pattern: str) -> bool:
    parts, wanted = folder.split("/"), posixpath.normpath(pattern).split("/")
    return MODULES in wanted and len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _repository(manifest: dict) -> str:
    """Return the repository that a manifest names, without scheme, user and suffix; "" if it names none."""
    named = manifest.get("repository")
    address = named.get("url") if isinstance(named, dict) else named
    if not isinstance(address, str) or len(address) > ADDRESS_LENGTH:
        return ""
    found = ADDRESS.fullmatch(address.strip().lower())
    return found[1] if found else ""
