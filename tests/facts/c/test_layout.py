"""Names of C's files, and what `#include`s mean by the layout of a tree."""

import pytest

from facts import extract, mount
from facts.c.module_layout import layout


def resolve(importer, level, name, *others):
    """Return the path that an include means in a tree of the includer and other files."""
    result = layout({importer: [(level, name)], **dict.fromkeys(others, [])})
    return next((target for _, _, _, target in result.resolved), None)


def test_files_are_named_by_their_paths():
    assert layout({"src/a.c": [], "b.h": []}).names == [("b.h", "b.h", ""), ("src/a.c", "src/a.c", "src")]


@pytest.mark.parametrize(
    ("importer", "level", "name", "others", "target"),
    [
        # quotes: beside the file first
        ("src/a.c", 1, "a.h", ["src/a.h", "a.h"], "src/a.h"),
        ("src/x/a.c", 1, "../b.h", ["src/b.h", "b.h"], "src/b.h"),
        ("src/a.c", 1, "sub/b.h", ["src/sub/b.h", "sub/b.h"], "src/sub/b.h"),
        ("src/a.c", 1, "sub\\b.h", ["src/sub/b.h"], "src/sub/b.h"),
        # then where the written path is the end of one
        ("src/a.c", 1, "b.h", ["include/b.h"], "include/b.h"),
        ("lib/vtls/a.c", 1, "curl/b.h", ["include/curl/b.h", "include/b.h"], "include/curl/b.h"),
        ("lib/a/x.c", 1, "b.h", ["other/b.h", "lib/b/b.h"], "lib/b/b.h"),
        ("lib/a/x.c", 1, "../../deps/d/b.h", ["deps/d/b.h"], "deps/d/b.h"),
        ("lib/a/x.c", 1, "../gone/b.h", ["other/gone/b.h"], "other/gone/b.h"),
        ("a.c", 1, "b.h", ["ab.h", "x/b.hpp"], None),
        # angle brackets: no file beside is preferred, the library's headers are none of the mount's
        ("src/a.c", 0, "lua.h", ["deps/lua/lua.h"], "deps/lua/lua.h"),
        ("src/a.c", 0, "stdio.h", ["src/stdio.h"], None),
        ("src/a.c", 0, "sys/types.h", ["compat/sys/types.h"], None),
        ("src/a.c", 0, "openssl/ssl.h", [], None),
        ("src/a.c", 0, "CONFIG", ["src/config.h"], None),
        # the directory of the mount may stand first, before a path from there on
        ("src/core/a.c", 0, "program/src/b.h", ["src/b.h"], "src/b.h"),
        ("src/core/a.c", 1, "program/src/b.h", ["src/b.h", "lib/program/src/b.h"], "lib/program/src/b.h"),
        ("src/a.c", 0, "library/b.h", ["b.h"], None),
        ("src/a.c", 0, "library/src/b.h", ["lib/src/b.h"], None),
    ],
)
def test_includes_mean(importer, level, name, others, target):
    assert resolve(importer, level, name, *others) == target


def test_includes_of_files_resolve_in_a_mount_even_in_circles():
    files = {"src/a.c": b'#include "a.h"\n', "src/a.h": b'#include "b.h"\n', "src/b.h": b'#include "a.h"\n'}
    found = mount((path, extract(data, "c")) for path, data in files.items())
    names = {number + 1: found.symbols[label] for number, label in enumerate(found.entities[1])}
    importers, _, _, targets = found.relations["resolves"]
    assert {(names[importer], names[target]) for importer, target in zip(importers, targets, strict=True)} == {
        ("src/a.c", "src/a.h"),
        ("src/a.h", "src/b.h"),
        ("src/b.h", "src/a.h"),
    }
