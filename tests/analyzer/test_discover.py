"""Minified and bundled JavaScript and copies of known libraries are left out, and said to be."""

import json
from pathlib import Path

import pytest

from analyzer.extraction.discovery import (
    MINIFIED_BYTES,
    SCRIPT_BYTES,
    is_bundled,
    is_editor_part,
    is_minified,
    is_released,
)
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree
from facts import language_of_script
from facts.minified import LINE_BYTES

LINE = b"f(1);" * (LINE_BYTES // 5)
BUNDLE = LINE * (MINIFIED_BYTES // len(LINE) + 2)
TABLE = b"a:/x+/,b:[/y/,/z/]," * (LINE_BYTES // 10)
PROSE = b"Words, and more of them: a long text of one line that people wrote. " * (LINE_BYTES // 10)


@pytest.mark.parametrize(
    ("path", "data", "minified"),
    [
        ("a.js", BUNDLE, True),
        ("a.mjs", BUNDLE + b"\n//# sourceMappingURL=a.js.map\n", True),
        ("a.js", BUNDLE[: MINIFIED_BYTES - 1], False),
        ("a.js", (b"f(1);" * 80 + b"\n") * 20, True),  # as Closure Compiler breaks lines
        ("a.js", (b"f(1);" * 24 + b"\n") * 60, False),
        ("a.js", BUNDLE.replace(b";", b";\n"), False),
        ("a.js", b"/* A library.\n" + b" * by its authors\n" * 20 + b" */\n" + BUNDLE, True),
        ("a.js", b"let a = 1;\n" * (len(BUNDLE) // 20) + BUNDLE, False),
        ("a.js", b"let picture = '" + b"aGVsbG8" * MINIFIED_BYTES + b"';\n", False),
        ("a.js", (b"q({" + TABLE + b"});\n") * 20, True),  # grammars as regular expressions
        ("a.js", (b"q('" + PROSE + b"');\n") * 20, False),
        ("a.ts", BUNDLE, False),
        ("a.py", BUNDLE, False),
    ],
)
def test_large_files_of_long_lines_are_minified(path, data, minified):
    assert is_minified(path, data) is minified


def test_minified_files_are_skipped_and_counted(tmp_path):
    files = {"a.js": b"f()\n", "b.min.js": b"f()\n", "c-min.cjs": b"f()\n", "d.js": BUNDLE, "mint.js": b"f()\n"}
    report = scan_tree(MemoryTree(files, "memory"), ScanRequest(tmp_path, None, {"rules": ("unused-import",)})).report
    assert sorted(report.coverage.skipped["minified"]) == ["b.min.js", "c-min.cjs", "d.js"]
    assert report.coverage.languages["javascript"] == 2


def test_scripts_without_a_suffix_are_read_by_what_their_first_line_names(tmp_path):
    code = b"import re\n\nre.compile('(a+)+b')\n"
    files = {
        "tool": b"#!/usr/bin/env python3\n" + code,
        "bin/run-all": b"#!/usr/bin/python -u\n" + code,
        "bin/serve": b"#! /usr/bin/env -S node --trace\nf()\n",
        "bin/start": b"#!/bin/sh\n" + code,
        "bin/table": code,
        "bin/pythonic": b"#!/usr/bin/pythonic\n" + code,
        "bin/large": b"#!/usr/bin/env python3\n" + code + b"#" * SCRIPT_BYTES,
        "data/0f1e2d3c4b5a69788796": b"#!/usr/bin/env python3\n" + code,
        "LICENSE": b"#!/usr/bin/env python3\n" + code,
        "tool.txt": b"#!/usr/bin/env python3\n" + code,
    }
    report = scan_tree(
        MemoryTree(files, "memory"), ScanRequest(tmp_path, None, {"rules": ("exponential-regex",)})
    ).report
    assert report.coverage.languages == {"python": 2, "javascript": 1}
    assert [finding.place.file for finding in report.findings] == ["bin/run-all", "tool"]
    assert not report.problems


def test_a_first_line_longer_than_systems_read_names_no_interpreter():
    assert language_of_script(b"#!/" + b"bin/" * 20 + b"python\n") == "python"
    assert language_of_script(b"#!/" + b"bin/" * 100 + b"python\n") is None
    assert language_of_script(b"#!" + b"/" * (1 << 17)) is None


@pytest.mark.parametrize(
    ("path", "text", "bundled"),
    [
        ("a.js", "(function webpackUniversalModuleDefinition(root, factory) {\n})(this, f);", True),
        ("a.js", "/* a */\n/******/ (() => { // webpackBootstrap\n/******/ })();", True),
        ("a.js", "(function(){function r(e,n,t){function o(i,f){if(!n[i]){if(!e[i]){var c=1}}}}})()", True),
        ("a.js", "(function e(t,n,r){function s(o,u){if(!n[o]){if(!t[o]){var a=1}}}})({})", True),
        ("a.js", "(function e(t,n,r){function s(o,u){return n[o]}})({})", False),
        (
            "a.js",
            "(function (global, f) {\n  typeof exports === 'object' && typeof module !== 'undefined' ? factory()",
            True,
        ),
        ("a.js", "(function (root, f) { if (typeof exports === 'object') { module.exports = f(); } })()", False),
        (
            "a.js",
            "!(function (e, t) {\n  'object' == typeof exports && 'object' == typeof module\n    ? e.exports = t()",
            True,
        ),
        ("a.js", '!function(e,t){"object"==typeof exports&&"object"==typeof module?module.exports=t():e.A=t()}', True),
        ("a.js", "if (typeof exports === 'object' && typeof module === 'object') module.exports = f();", False),
        ("a.js", "// Shared memory\nvar Module = typeof Module !== 'undefined' ? Module : {};", True),
        ("a.js", "let a;\n" * 1000 + "(function webpackUniversalModuleDefinition(root, factory) {", False),
        ("a.js", '(window["webpackJsonp"] = window["webpackJsonp"] || []).push([["a"], {}]);', True),
        ("a.js", '"use strict";\n(self["webpackChunkshop"] = self["webpackChunkshop"] || []).push([[1], {}]);', True),
        ("a.js", "window.webpackage = read();", False),
        ("a.mjs", "var __commonJS = (cb, mod) => function __require() {};", True),
        ("dist/main.3f2a9c1d.js", "show();", True),
        ("dist/vendors-3f2a9c1d5e.chunk.js", "show();", True),
        ("dist/assets/index-Dx8k_3Qa.js", "show();", True),
        ("public/assets/shop-DKwRgTda.js", "show();", True),
        ("build/_app/immutable/nodes/0.Bq9xTz-f.js", "show();", True),
        ("src/index-Dx8k_3Qa.js", "show();", False),
        ("static/assets/shop-validate.js", "show();", False),
        ("static/assets/shop-20240131.js", "show();", False),
        ("static/assets/shop-LoginBox.js", "show();", False),
        ("migrations/shop-20240131.js", "show();", False),
        ("pages/shop-facade.js", "show();", False),
        ("a.py", "# webpackBootstrap is written by webpack\nwebpackBootstrap = 1", False),
        ("a.ts", "// webpackBootstrap is written by webpack\n", False),
    ],
)
def test_scripts_that_a_tool_made_of_modules_are_bundled(path, text, bundled):
    assert is_bundled(path, text.encode()) is bundled
    report = scan_tree(MemoryTree({path: text.encode()}, "memory"), ScanRequest(Path(), None, {})).report
    assert report.coverage.skipped.get("bundled", ()) == (path,) * bundled


def test_known_libraries_among_served_files_are_vendored(tmp_path):
    vendored = ["app/static/jquery.js", "public/js/bootstrap-4.1.0.js", "_static/lunr.de.js", "web/vendors/shop.js"]
    vendored += ["static/js/libs/pdf.js", "src/main/webapp/script/prototype.js"]
    own = ["src/jquery.js", "app/static/chart-editor.js", "app/static/shop.js", "underscore.js", "static/jquery.ts"]
    own += ["libs/static/shop.js", "libs/shop.js"]
    files = dict.fromkeys([*vendored, *own], b"f()\n")
    report = scan_tree(MemoryTree(files, "memory"), ScanRequest(tmp_path, None, {"rules": ("unused-import",)})).report
    assert sorted(report.coverage.skipped["vendored"]) == sorted(vendored)
    assert report.coverage.parsed == len(own)


def test_folders_that_hold_several_distributions_are_vendored(tmp_path):
    vendored = ["lib/requests/api.py", "lib/own.py", "app/ext/yaml/nodes.py"]
    own = ["app/shop.py", "src/click/core.py", "requests/api.py", "idna/core.py", "certifi/core.py"]
    packages = ["lib/requests", "lib/idna", "lib/certifi", "app/ext/yaml", "app/ext/six", "app/ext/pytz"]
    packages += ["src/click", "src/idna", "requests", "idna", "certifi"]
    files = {path: b"a = 1\n" for path in (*vendored, *own, *(f"{folder}/__init__.py" for folder in packages))}
    report = scan_tree(MemoryTree(files, "memory"), ScanRequest(tmp_path, None, {"rules": ("unused-import",)})).report
    assert set(vendored) <= set(report.coverage.skipped["vendored"])
    assert not set(own) & set(report.coverage.skipped["vendored"])


def test_libraries_that_a_folder_libs_holds_with_their_licences_are_vendored(tmp_path):
    vendored = ["server/libs/zip/index.js", "server/libs/zip/lib/entry.js"]
    own = ["libs/shop/a.js", "libs/cart/a.js", "libs/a.js", "src/zip/a.js", "server/libs.js"]
    licences = [
        "server/libs/zip/LICENSE",
        "libs/cart/LICENSE",
        "libs/cart/package.json",
        "libs/LICENSE",
        "src/zip/LICENSE",
    ]
    files = dict.fromkeys([*vendored, *own, *licences], b"f()\n")
    report = scan_tree(MemoryTree(files, "memory"), ScanRequest(tmp_path, None, {"rules": ("unused-import",)})).report
    assert sorted(report.coverage.skipped["vendored"]) == sorted(vendored)
    assert report.coverage.parsed == len(own)


def skipped_as_vendored(files: dict[str, bytes]) -> set[str]:
    report = scan_tree(MemoryTree(files, "memory"), ScanRequest(Path(), None, {"rules": ("unused-import",)})).report
    return set(report.coverage.skipped.get("vendored", ()))


@pytest.mark.parametrize("folder", ["Portable/python-3.8/lib", "runtime"])
def test_the_library_of_an_interpreter_that_comes_along_is_vendored(folder):
    library = ["__future__.py", "_weakrefset.py", "codecs.py", "os.py", "site.py", "json/decoder.py"]
    files = {f"{folder}/{name}": b"a = 1\n" for name in library}
    own = {"shop.py": b"a = 1\n", "tools/os.py": b"a = 1\n", "tools/site.py": b"a = 1\n"}
    assert skipped_as_vendored(files | own) == files.keys()
    assert skipped_as_vendored(files | own | {"Include/Python.h": b"int a;\n"}) == set()


@pytest.mark.parametrize(
    ("root", "package", "own"),
    [
        (
            {"repository": {"url": "git+https://host.example/a/shop.git"}},
            {"repository": "https://host.example/a/shop"},
            True,
        ),
        ({"repository": "github:a/shop"}, {"repository": {"url": "git@github.com:a/shop.git"}}, True),
        ({"workspaces": ["packages/node_modules/@shop/*"]}, {}, True),
        ({"workspaces": {"packages": ["packages/node_modules/*/mail"]}}, {}, True),
        ({"repository": "github:a/shop"}, {"repository": "github:b/mail"}, False),
        ({"repository": "github:a/shop", "workspaces": ["packages/*", 1]}, {}, False),
        ({}, {}, False),
        ([], {"repository": "a/shop"}, False),
    ],
)
def test_packages_of_the_repository_itself_are_not_vendored(root, package, own):
    folder = "packages/node_modules/@shop/mail"
    files = {
        "package.json": json.dumps(root).encode(),
        f"{folder}/package.json": json.dumps(package).encode(),
        f"{folder}/lib/a.js": b"f()\n",
        f"{folder}/vendor/b.js": b"f()\n",
        f"{folder}/node_modules/zip/package.json": json.dumps(package).encode(),
        f"{folder}/node_modules/zip/c.js": b"f()\n",
        "packages/node_modules/d.js": b"f()\n",
    }
    always = {f"{folder}/vendor/b.js", f"{folder}/node_modules/zip/c.js", "packages/node_modules/d.js"}
    assert skipped_as_vendored(files) == always | ({f"{folder}/lib/a.js"} if not own else set())


def test_manifests_that_are_no_json_are_no_evidence():
    files = {"package.json": b"{" * 5000, "node_modules/zip/package.json": b"[" * 9999, "node_modules/zip/a.js": b"f()"}
    assert skipped_as_vendored(files) == {"node_modules/zip/a.js"}


def test_an_address_as_long_as_a_manifest_is_none():
    """Matched as one, it would be gone through again for each of its signs."""
    manifest = json.dumps({"repository": "#" * 200_000 + "\n#"}).encode()
    files = {"package.json": manifest, "node_modules/zip/package.json": manifest, "node_modules/zip/a.js": b"f()"}
    assert skipped_as_vendored(files) == {"node_modules/zip/a.js"}


@pytest.mark.parametrize(
    ("path", "text", "released"),
    [
        ("src/a.js", "/*!\n * Sprinkle v2.1.0\n * (c) Sprinkle contributors, MIT License\n */\nf();\n", True),
        ("src/a.js", "/**!\n * Sprinkle 2.1.0\n * @license MIT\n */\nf();\n", True),
        ("src/a.js", "/* Put together for the shop. */\n\n/*! Sprinkle 2.1.0, MIT License */\nf();\n", True),
        ("src/a.js", "/* Put together. */ f();\n/*! Sprinkle 2.1.0, MIT License */\nf();\n", False),
        ("public/lib/a.js", "/**\n * Sprinkle 2.1.0\n * @license MIT\n */\nf();\n", True),
        ("src/a.js", "/**\n * Of the shop, 2.1.0\n * @license MIT\n */\nf();\n", False),
        ("src/a.js", "/*!\n * shop\n * Copyright (c) 2019-2021 The shop\n * MPL 2.0 License\n */\nf();\n", False),
        ("src/a.js", "/*! Sprinkle v2.1.0 */\nf();\n", False),
        ("src/a.js", "f();\n/*! Sprinkle v2.1.0, MIT License */\n", False),
        ("public/lib/a.js", "// Sprinkle, v2.1.0\n// Copyright (c) 2015 Sprinkle\n// MIT\nf();\n", True),
        ("public/lib/a.js", "// Of the shop, v2.1.0\nf();\n// MIT License\n", False),
        ("src/a.js", "// Sprinkle, v2.1.0\n// MIT License\nf();\n", False),
        ("src/a.ts", "/*! Sprinkle v2.1.0, MIT License */\nf();\n", False),
    ],
)
def test_scripts_under_the_banner_of_a_release_are_vendored(path, text, released):
    assert is_released(path, text.encode()) is released
    tree = MemoryTree({path: text.encode()}, "memory")
    report = scan_tree(tree, ScanRequest(Path(), None, {})).report
    assert report.coverage.skipped.get("vendored", ()) == (path,) * released
    everything = scan_tree(tree, ScanRequest(Path(), None, {"include_vendored": True})).report
    assert "vendored" not in everything.coverage.skipped


@pytest.mark.parametrize(
    ("path", "text", "part"),
    [
        ("static/js/ace/mode-shop.js", 'ace.define("ace/mode/shop",["require"], function(require) {});', True),
        ("static/js/ace/mode-shop.js", "define('ace/mode/shop', ['require'], function(require) {});", True),
        ("static/js/ace/worker-shop.js", '"no use strict";\n!(function(window) {})(this);', True),
        ("public/vs/shop/shop.js", 'define("vs/shop/shop", ["require"], (require) => {});', True),
        ("public/lib/mode/shop.js", "// CodeMirror, copyright (c) by Marijn Haverbeke and others\nf();", True),
        ("public/editor/langs/de.js", "tinymce.addI18n('de', {});", True),
        ("public/editor/lang/de.js", "CKEDITOR.plugins.setLang('shop', 'de', {});", True),
        ("lib/shop.js", 'define("shop/cart", ["ace/ace"], function (ace) {});', False),
        ("static/shop.js", "// Opens CodeMirror, copyright (c) by Marijn Haverbeke\nf();", False),
        ("static/shop.js", "CKEDITOR.replace('text');", False),
        ("static/shop.js", "const editor = ace.edit('text');", False),
        ("src/mode/shop.js", "// CodeMirror, copyright (c) by Marijn Haverbeke and others\nf();", False),
        ("static/mode.ts", 'ace.define("ace/mode/shop",["require"], function(require) {});', False),
    ],
)
def test_files_of_editors_that_a_program_serves_are_vendored(path, text, part):
    assert is_editor_part(path, text.encode()) is part
    report = scan_tree(MemoryTree({path: text.encode()}, "memory"), ScanRequest(Path(), None, {})).report
    assert report.coverage.skipped.get("vendored", ()) == (path,) * part
