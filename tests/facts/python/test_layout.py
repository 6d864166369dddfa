"""Module names and import targets by the layout of a tree."""

import pytest

from facts.python.module_layout import layout


def resolve(importer, level, name, *others):
    """Return the path that an import means in a tree of the importer and other files."""
    result = layout({importer: [(level, name)], **dict.fromkeys(others, [])})
    return next((target for _, _, _, target in result.resolved), None)


def names(*paths):
    return {path: (name, package) for path, name, package in layout(dict.fromkeys(paths, [])).names}


def test_names_start_at_the_outermost_package():
    assert names("lib/a/__init__.py", "lib/a/b/__init__.py", "lib/a/b/c.py", "lib/a/d.py") == {
        "lib/a/__init__.py": ("a", "a"),
        "lib/a/b/__init__.py": ("a.b", "a.b"),
        "lib/a/b/c.py": ("a.b.c", "a.b"),
        "lib/a/d.py": ("a.d", "a"),
        "lib/": ("lib", "lib"),
    }


def test_modules_outside_of_packages_are_named_by_their_path():
    assert names("main.py", "tests/unit/test_x.py", "src/a.py", "src/ns/b.py", "x/src/c.py") == {
        "main.py": ("main", ""),
        "tests/unit/test_x.py": ("tests.unit.test_x", "tests.unit"),
        "src/a.py": ("a", ""),
        "src/ns/b.py": ("ns.b", "ns"),
        "x/src/c.py": ("c", ""),
        "tests/": ("tests", "tests"),
        "src/": ("src", "src"),
        "tests/unit/": ("tests.unit", "tests.unit"),
        "src/ns/": ("ns", "ns"),
        "x/": ("x", "x"),
        "x/src/": ("x.src", "x.src"),
    }


def test_a_package_can_be_the_mounted_root_itself():
    assert names("__init__.py", "a.py") == {"__init__.py": ("__init__", "__init__"), "a.py": ("a", "")}


@pytest.mark.parametrize(
    ("importer", "level", "name", "others", "target"),
    [
        # scripts: their own directory first, without __init__.py
        ("x/main.py", 0, "util", ["x/util.py", "util.py"], "x/util.py"),
        ("x/main.py", 0, "A.b", ["x/A/b.py", "x/A/__init__.py"], "x/A/b.py"),
        ("x/main.py", 0, "A", ["x/A/__init__.py"], "x/A/__init__.py"),
        ("x/main.py", 0, "A", ["x/A/b.py"], "x/A/"),
        ("x/main.py", 0, "A.b", ["x/A/b.py"], "x/A/b.py"),
        ("x/main.py", 0, "json", ["x/json.py"], "x/json.py"),
        ("x/main.py", 0, "json", ["x/json/data.py"], None),
        # packages: absolute names from the directory that holds the package
        ("src/p/a.py", 0, "p.b", ["src/p/__init__.py", "src/p/b.py"], "src/p/b.py"),
        ("src/p/a.py", 0, "p", ["src/p/__init__.py"], "src/p/__init__.py"),
        ("src/p/a.py", 0, "q.b", ["src/p/__init__.py", "src/q/b.py"], "src/q/b.py"),
        ("p/a.py", 0, "typing", ["p/__init__.py", "p/typing.py"], None),
        ("p/a.py", 0, "celery", ["p/__init__.py", "p/celery.py"], None),
        ("p/a.py", 0, "logging", ["p/__init__.py", "logging/x.py"], None),
        # the nearest package of that name, elsewhere in the tree
        ("tests/test_a.py", 0, "p.a", ["src/p/__init__.py", "src/p/a.py"], "src/p/a.py"),
        ("two/tests/t.py", 0, "p", ["one/p/__init__.py", "two/lib/p/__init__.py"], "two/lib/p/__init__.py"),
        ("tests/test_a.py", 0, "helpers", ["helpers.py"], "helpers.py"),
        # relative
        ("p/q/a.py", 1, "b", ["p/__init__.py", "p/q/__init__.py", "p/q/b.py"], "p/q/b.py"),
        ("p/q/a.py", 1, "", ["p/__init__.py", "p/q/__init__.py"], "p/q/__init__.py"),
        ("p/q/__init__.py", 1, "b", ["p/__init__.py", "p/q/b.py"], "p/q/b.py"),
        ("p/q/a.py", 2, "r.b", ["p/__init__.py", "p/q/__init__.py", "p/r/b.py"], "p/r/b.py"),
        ("p/q/a.py", 2, "", ["p/__init__.py", "p/q/__init__.py"], "p/__init__.py"),
        ("p/q/a.py", 1, "b", ["p/q/b.py"], "p/q/b.py"),
        ("p/a.py", 4, "b", ["p/__init__.py", "b.py"], None),
        # packages before modules, sources before stubs
        ("m.py", 0, "a", ["a.py", "a/__init__.py"], "a/__init__.py"),
        ("m.py", 0, "a", ["a.py", "a.pyi"], "a.py"),
        ("m.py", 0, "a", ["a.pyi"], "a.pyi"),
        ("m.py", 0, "a", ["a/b.py", "a.py"], "a.py"),
        ("m.py", 0, "unknown", ["a.py"], None),
    ],
)
def test_imports_mean(importer, level, name, others, target):
    assert resolve(importer, level, name, *others) == target


def test_children_are_attributes_of_their_package():
    paths = ("p/__init__.py", "p/a.py", "p/q/__init__.py", "n/b.py", "n/b.pyi", "top.py")
    assert set(layout(dict.fromkeys(paths, [])).children) == {
        ("p/__init__.py", "a", "p/a.py"),
        ("p/__init__.py", "q", "p/q/__init__.py"),
        ("n/", "b", "n/b.py"),
    }


@pytest.mark.parametrize(
    ("importer", "others", "target"),
    [
        ("src/main.py", {"src/__init__.py": []}, "src/tools.py"),
        ("src/views/a.py", {"src/__init__.py": [], "src/views/__init__.py": []}, "src/tools.py"),
        # what Python finds first
        ("src/main.py", {"src/__init__.py": [], "tools.py": []}, "tools.py"),
        # the root has an `__init__.py`, too
        ("src/main.py", {"src/__init__.py": [], "__init__.py": []}, "src/tools.py"),
        ("main.py", {"__init__.py": []}, "src/tools.py"),
        # imports in it say that it is a package
        ("src/a.py", {"src/__init__.py": [], "src/b.py": [(0, "src.tools")]}, None),
        ("src/a.py", {"src/__init__.py": [(1, "a")]}, None),
    ],
)
def test_scripts_in_a_package_import_what_stands_beside_them(importer, others, target):
    beside = {"src/tools.py": [(0, "config")], "src/config.py": []}
    result = layout({importer: [(0, "tools"), (0, "json")], **beside, "src/json.py": [], **others})
    assert [to for path, _, _, to in result.resolved if path == importer] == [target] * (target is not None)


@pytest.mark.parametrize(
    ("others", "target"),
    [
        ({"web/views.py": [(0, "lib.users")]}, "bin/lib/core.py"),
        # Names that one directory has by chance, of a library that the program uses.
        ({}, None),
        ({"web/views.py": [(0, "lib.core")]}, None),
        # Of a package only its outermost name is on the path.
        ({"web/views.py": [(0, "lib.users")], "bin/__init__.py": []}, None),
        ({"web/views.py": [(0, "lib.users")], "lib/core.py": []}, "lib/core.py"),
    ],
)
def test_directories_that_programs_put_on_the_path(others, target):
    files = {"web/app.py": [(0, "lib.core")], "bin/lib/core.py": [], "bin/lib/users.py": []}
    result = layout({**files, **others})
    assert [to for path, _, _, to in result.resolved if path == "web/app.py"] == [target] * (target is not None)
