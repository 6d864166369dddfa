"""The files of a tree to analyse, and those left out with the reason. Nothing is left out silently."""

from __future__ import annotations

import codecs
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import facts
from analyzer.configuration.advice import unheeded_settings
from analyzer.configuration.config import Config
from analyzer.extraction.own_packages import own_packages
from analyzer.report import Problem
from analyzer.sources.ignore import IgnoreRules
from analyzer.sources.trees import Entry, Tree

IGNORE_FILE = ".analyzeignore"
VENDORED = frozenset(
    {"node_modules", "bower_components", "vendor", "vendors", "_vendor", "vendored"}
    | {"third_party", "third-party", "thirdparty", "3rdparty", "3rd-party", "flow-typed"}
    | {"site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox", ".eggs", "__pypackages__"}
)
SERVED = frozenset({"static", "_static", "public", "assets", "wwwroot", "webroot", "htdocs", "webapp", "WebContent"})
LIBRARY_FOLDERS = frozenset({"lib", "libs"})
LIBRARY_NAME = re.compile(
    r"(ace|angular|backbone|bootstrap|chart|codemirror|d3|ember|fabric|handlebars|hammer|highcharts|html5shiv|jquery"
    r"|knockout|leaflet|lodash|lunr|mathjax|modernizr|moment|mootools|mustache|prototype|raphael|react|require|select2"
    r"|socket\.io|sortable|swagger|three|tinymce|underscore|video|vue|zepto)"
    r"([-.](v?\d[\w.]*|all|bundle|core|esm|full|global|min|slim|ui|umd|[a-z]{2}))*\.js"
)
"""Matches the names of libraries for browsers, as programs serve copies of them (GitHub's linguist, vendor.yml)."""
OF_PYTHON = frozenset({"__future__.py", "_weakrefset.py", "codecs.py", "os.py", "site.py"})
"""Modules that stand together where Python's own library does, in each version; INTERPRETER is beside it at home."""
INTERPRETER = "Include/Python.h"
MINIFIED_NAME = re.compile(r"[.-]min\.[cm]?js$")
MINIFIED_SUFFIXES = (".js", ".mjs", ".cjs")
MINIFIED_BYTES = 4 * 1024
BANNER = re.compile(rb"\s*/\*(\*?!|\*)?(.*?)\*/", re.DOTALL)
LINE_BANNER = re.compile(rb"\s*((//[^\n]*\n)+)")
RELEASE = re.compile(rb"(?<![\d.])\d+\.\d+\.\d+\b")
TERMS = re.compile(rb"licen[cs]e|copyright", re.IGNORECASE)
BANNER_BYTES = 2 * 1024
BUNDLED = re.compile(
    rb"\bwebpackBootstrap\b|\(function webpackUniversalModuleDefinition\(|\bvar __webpack_(modules|exports)__ = "
    rb"|\(function(\(\)\{function)? ?\w\(\w,\w,\w\)\{function \w\(\w,\w\)\{if\(!\w\[\w\]\)\{if\(!\w\[\w\]\)"
    rb"|typeof exports === 'object' && typeof module !== 'undefined' \? (module\.exports = )?factory\("
    rb"|['\"]object['\"] ?== ?typeof exports\s*&& ?['\"]object['\"] ?== ?typeof module\b"
    rb"|\bvar Module ?= ?typeof Module ?!==? ?['\"]undefined['\"]"
    rb"|(window|self|this|globalThis|global)(\.|\[['\"])(webpackJsonp|webpackChunk|TURBOPACK\b|parcelRequire)"
    rb"|\bvar __commonJS(Min)? = \(cb, mod\) =>|\bconst __vite__mapDeps ?="
)
"""Matches what bundlers (webpack, Browserify, Rollup, Emscripten, Turbopack, Parcel, esbuild, Vite) write in front of a
program, or a part of one, that they made of its modules.
"""
HASHED_NAME = re.compile(
    r"[.-](?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])(?=[0-9a-f]{8,32}\.)[0-9a-f]+(\.(chunk|bundle|entry))?\.m?js$"
)
"""Matches names that bundlers give to what they made, by a digest of it: `main.3f2a9c1d.js`."""
HASHED_ASSET = re.compile(
    r"(^|/)(assets|_astro|immutable|chunks)/([^/]+/)*[^/]+[.-](?=[\w-]{8}\.m?js$)"
    r"[\w-]*([0-9][\w-]*[A-Za-z]|[A-Za-z][\w-]*[0-9]|[a-z][\w-]*[A-Z]{2}|[A-Z]{2}[\w-]*[a-z])"
)
"""Matches such names by digests of 64 signs, in folders where Rollup and Vite put them: `index-DxB3k_9a.js`."""
BUNDLED_BYTES = 4 * 1024
EDITOR_PART = re.compile(
    rb"\bace\.define\(['\"]ace/|\bdefine\(['\"](ace|vs)/|\bACE_NAMESPACE = |\A['\"]no use strict['\"];"
    rb"|\A\s*// CodeMirror, copyright \(c\) by |\A\s*tinymce\.addI18n\(|\bCKEDITOR_TRANSLATIONS\b"
    rb"|\bCKEDITOR\.plugins\.setLang\("
)
"""Matches how the many files of a built editor begin: Ace, Monaco, CodeMirror, TinyMCE, CKEditor."""
SCRIPT_BYTES = 128 * 1024
"""Files without a suffix that are larger are data."""
DISTRIBUTIONS = frozenset(
    {"bs4", "certifi", "chardet", "charset_normalizer", "cherrypy", "click", "dateutil", "idna", "jinja2", "mako"}
    | {"markupsafe", "pkg_resources", "pytz", "requests", "simplejson", "six", "soupsieve", "tornado", "urllib3"}
    | {"werkzeug", "yaml"}
)
"""Packages of Python that many others need. A folder that holds several of them is no part of the program."""
COPIES = 3
LICENCE = re.compile(r"(LICEN[CS]E|COPYING)([.-][A-Za-z0-9.-]+)?", re.IGNORECASE)
MANIFESTS = frozenset({"package.json", "pyproject.toml", "setup.py", "go.mod", "Cargo.toml", "pom.xml", "build.gradle"})
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# A control character before anything that may begin a comment or a string, in any of the languages.
_LEADING_CONTROL = re.compile(rb"[^\x01-\x08\x0e-\x19\x1b-\x1f\x7f/#\"'`<\\-]*+[\x01-\x08\x0e-\x19\x1b-\x1f\x7f]")
KIND_REASONS = {"symlink": "symbolic link", "special": "not a regular file"}


@dataclass(slots=True)
class Discovery:
    """`files` are (path, language) of the files to read, ordered by path; `skipped` maps a reason to paths."""

    files: list[tuple[str, str]] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def skip(self, reason: str, path: str) -> None:
        self.skipped.setdefault(reason, []).append(path)


def discover(tree: Tree, config: Config) -> Discovery:
    """Divide the entries of `tree` into files to read and skipped ones. Sizes are checked if the tree has them."""
    found = Discovery()
    entries = tree.entries()
    found.problems += tree.problems()
    ignore = _ignore_rules(tree, config, [entry.path for entry in entries], found.problems)
    regular = [entry.path for entry in entries if entry.kind not in ("submodule", *KIND_REASONS)]
    copies = _copied_libraries(entry.path for entry in entries)
    own = own_packages(tree, set(regular))
    settings = (path for path in regular if not (ignore.ignores(path) or _is_vendored(path, copies, own)))
    found.problems += unheeded_settings(tree, settings, (*config.models, *config.rules_dir))
    for entry in entries:
        if entry.kind == "submodule":
            found.skip("submodule", entry.path.rstrip("/"))
            continue
        language = facts.language_of(entry.path) or _language_of_script(tree, entry)
        if language is None:
            continue
        if ignore.ignores(entry.path):
            found.skip("ignored", entry.path)
        elif not config.include_vendored and _is_vendored(entry.path, copies, own):
            found.skip("vendored", entry.path)
        elif entry.kind in KIND_REASONS:
            found.skip(KIND_REASONS[entry.kind], entry.path)
        elif MINIFIED_NAME.search(entry.path):
            found.skip("minified", entry.path)
        elif entry.size is not None and entry.size > config.max_file_kb * 1024:
            found.skip(size_reason(config), entry.path)
        else:
            found.files.append((entry.path, language))
    return found


def _language_of_script(tree: Tree, entry: Entry) -> str | None:
    """Return the language that a file without a suffix names in its first line, None if it is no script."""
    large = entry.size is not None and entry.size > SCRIPT_BYTES
    if large or entry.kind != "file" or not facts.may_be_script(entry.path):
        return None
    try:
        return facts.language_of_script(tree.read(entry.path))
    except OSError:
        return None


def _copied_libraries(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders of copied libraries.

    They are `…/libs/NAME`, with a licence of their own and no manifest, those that hold several of DISTRIBUTIONS, and
    Python's own library, which comes with an interpreter, but for the repository of that.
    """
    names: dict[str, set[str]] = {}
    held_packages: dict[str, set[str]] = {}
    of_python: Counter[str] = Counter()
    is_python = False
    for path in paths:
        folder, _, name = path.rpartition("/")
        of_python[folder] += name in OF_PYTHON
        is_python |= path == INTERPRETER
        if name == "__init__.py":
            above, _, package = folder.rpartition("/")
            if above and package in DISTRIBUTIONS:
                held_packages.setdefault(above, set()).add(package)
        if folder.rpartition("/")[0].rpartition("/")[2] == "libs":
            names.setdefault(folder, set()).add(name)
    gathered = {folder for folder, packages in held_packages.items() if len(packages) >= COPIES}
    if not is_python:
        gathered.update(folder for folder, n in of_python.items() if n == len(OF_PYTHON))
    return frozenset(gathered) | frozenset(
        folder
        for folder, held in names.items()
        if MANIFESTS.isdisjoint(held) and any(LICENCE.fullmatch(name) for name in held)
    )


def _is_vendored(path: str, copies: Collection[str], own: Collection[str]) -> bool:
    *folders, name = path.split("/")
    if own:
        folders = next((folders[at:] for at in range(1, len(folders) + 1) if "/".join(folders[:at]) in own), folders)
    if not VENDORED.isdisjoint(folders):
        return True
    if copies and any("/".join(folders[: at + 1]) in copies for at in range(len(folders))):
        return True
    served = next((at for at, folder in enumerate(folders) if folder in SERVED), len(folders))
    return "libs" in folders[served:] or (served < len(folders) and LIBRARY_NAME.fullmatch(name.lower()) is not None)


def is_binary(data: bytes) -> bool:
    """Return True if no compiler accepts the file as source text: its leading code has a control character.

    Within comments and strings compilers take any, and null characters between words, too.
    """
    return not data.startswith(UTF_16) and _LEADING_CONTROL.match(data) is not None


def is_minified(path: str, data: bytes) -> bool:
    """Return True if a file is minified JavaScript: not small, three quarters of it in lines of 300 bytes of code."""
    return path.endswith(MINIFIED_SUFFIXES) and facts.is_minified(data, MINIFIED_BYTES)


def is_released(path: str, data: bytes) -> bool:
    """Return True if a script begins with the banner of a library's release, which names a version and its terms.

    It is a comment that minifiers keep (`/*!`), or the script stands in a folder of libraries, where it may consist of
    lines of comments. Others may precede it.
    """
    if not path.endswith(MINIFIED_SUFFIXES):
        return False
    in_library = not LIBRARY_FOLDERS.isdisjoint(path.split("/")[:-1])
    if in_library and (lines := LINE_BANNER.match(data, 0, BANNER_BYTES)) and _names_release(lines[1]):
        return True
    at = 0
    while banner := BANNER.match(data, at, BANNER_BYTES):
        sign, text = banner.groups()
        if sign and (in_library or sign.endswith(b"!")) and _names_release(text):
            return True
        at = banner.end()
    return False


def is_editor_part(path: str, data: bytes) -> bool:
    """Return True if a script that a program serves is a file of a built editor: a mode, a theme, a language."""
    served = not (SERVED | LIBRARY_FOLDERS).isdisjoint(path.split("/")[:-1])
    return served and path.endswith(MINIFIED_SUFFIXES) and EDITOR_PART.search(data[:BUNDLED_BYTES]) is not None


def _names_release(text: bytes) -> bool:
    return RELEASE.search(text) is not None and TERMS.search(text) is not None


def is_bundled(path: str, data: bytes) -> bool:
    """Return True if a tool made a script of the modules of a program: the modules themselves are the source."""
    if HASHED_NAME.search(path) or HASHED_ASSET.search(path):
        return True
    return path.endswith(MINIFIED_SUFFIXES) and BUNDLED.search(data[:BUNDLED_BYTES]) is not None


def size_reason(config: Config) -> str:
    kb = config.max_file_kb
    return f"over {kb // 1024} MB" if kb % 1024 == 0 else f"over {kb} KB"


def _ignore_rules(tree: Tree, config: Config, paths: list[str], problems: list[Problem]) -> IgnoreRules:
    ignore = IgnoreRules()
    for path in paths:
        if posixpath.basename(path) == IGNORE_FILE:
            try:
                ignore.add_file(posixpath.dirname(path), tree.read(path))
            except OSError as error:
                problems.append(Problem(f"not applied: {error.strerror or error}", path, level="warning"))
    if config.exclude:
        ignore.add("", config.exclude)
    return ignore
