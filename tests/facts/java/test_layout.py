"""Module names and import targets by the declared packages and the layout of a tree."""

import pytest

from facts.java.module_layout import OWN_PACKAGE, layout


def tree(**packages):
    """Return the imports of files, given by path with `__` for `/`, that declare these packages."""
    return {f"{path.replace('__', '/')}.java": [(OWN_PACKAGE, name)] if name else [] for path, name in packages.items()}


def resolve(importer, name, files):
    files = {**files, importer: [*files[importer], (0, name)]}
    return {target for path, level, _, target in layout(files).resolved if path == importer and level == 0}


FILES = tree(
    src__main__p__q__A="p.q",
    src__main__p__q__B="p.q",
    src__test__p__q__ATest="p.q",
    src__main__p__C="p",
    other__p__C="p",
    Top="",
    flat__X="x.y",
    flat__Y="z",
)


def test_files_are_named_by_their_package():
    names = {path: (name, package) for path, name, package in layout(FILES).names}
    assert names == {
        "src/main/p/q/A.java": ("p.q.A", "p.q"),
        "src/main/p/q/B.java": ("p.q.B", "p.q"),
        "src/test/p/q/ATest.java": ("p.q.ATest", "p.q"),
        "src/main/p/C.java": ("p.C", "p"),
        "other/p/C.java": ("p.C", "p"),
        "Top.java": ("Top", ""),
        "flat/X.java": ("x.y.X", "x.y"),
        "flat/Y.java": ("z.Y", "z"),
        "src/main/p/q/": ("p.q", "p.q"),
        "src/test/p/q/": ("p.q", "p.q"),
        "src/main/p/": ("p", "p"),
        "src/test/p/": ("p", "p"),
        "other/p/": ("p", "p"),
        "flat/": ("x.y", "x.y"),
        "flat/z/": ("z", "z"),
    }


def test_children_are_members_of_their_package():
    assert set(layout(FILES).children) == {
        ("src/main/p/q/", "A", "src/main/p/q/A.java"),
        ("src/main/p/q/", "B", "src/main/p/q/B.java"),
        ("src/test/p/q/", "ATest", "src/test/p/q/ATest.java"),
        ("src/main/p/", "C", "src/main/p/C.java"),
        ("other/p/", "C", "other/p/C.java"),
        ("flat/", "X", "flat/X.java"),
        ("flat/z/", "Y", "flat/Y.java"),
        ("src/main/p/", "q", "src/main/p/q/"),
        ("src/test/p/", "q", "src/test/p/q/"),
    }


@pytest.mark.parametrize(
    ("importer", "name", "targets"),
    [
        ("Top.java", "p.q", {"src/main/p/q/", "src/test/p/q/"}),
        ("Top.java", "p.q.A", {"src/main/p/q/A.java"}),
        ("Top.java", "p.q.A.Inner", {"src/main/p/q/A.java"}),
        ("src/main/p/q/A.java", "p.C", {"src/main/p/C.java"}),
        ("Top.java", "p.C", {"other/p/C.java"}),
        ("Top.java", "z", {"flat/z/"}),
        ("Top.java", "java.util", set()),
        ("Top.java", "p.q.Unknown", set()),
    ],
)
def test_imports_mean(importer, name, targets):
    assert resolve(importer, name, FILES) == targets


def test_a_file_finds_its_own_package():
    found = {(path, target) for path, level, _, target in layout(FILES).resolved if level == OWN_PACKAGE}
    assert ("src/main/p/q/A.java", "src/test/p/q/") in found
    assert ("flat/Y.java", "flat/z/") in found
