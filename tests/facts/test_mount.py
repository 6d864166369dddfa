"""Files put together: global ids, paths, names, resolved imports; and facts as text files."""

import numpy as np

import facts
from facts import schema

FILES = {
    "pkg/__init__.py": "from .a import f\n",
    "pkg/a.py": "def f(x):\n    return g(x)  \n# analyze: ignore\n",
    "main.py": "import pkg.a\npkg.a.f('a, [b]\\t')\nx = = 1\n",
}


def mounted(files):
    return facts.mount((path, facts.extract(text.encode(), "python")) for path, text in files.items())


def readable(result):
    """Return the rows of all relations with entities as (scope, label, ordinal) all the way up."""
    scopes, labels, ordinals = result.entities.tolist()

    def entity(record):
        return record and (entity(scopes[record - 1]), result.symbols[labels[record - 1]], ordinals[record - 1])

    convert = {schema.ENTITY: entity, schema.SYMBOL: result.symbols.__getitem__, schema.NUMBER: int}
    return {
        name: {
            tuple(convert[kind](value) for kind, value in zip(schema.relations()[name].kinds, row, strict=True))
            for row in columns.T.tolist()
        }
        for name, columns in result.relations.items()
    }


def test_every_relation_of_the_schema_is_there_with_its_columns():
    for files in ({}, FILES):
        result = mounted(files)
        assert result.relations.keys() == schema.relations().keys()
        for name, columns in result.relations.items():
            assert columns.dtype == np.int32
            assert columns.shape[0] == schema.relations()[name].arity, name


def test_modules_are_roots_named_by_their_path():
    rows = readable(mounted(FILES))
    assert rows["module"] == {
        ((0, "pkg/__init__.py", 0), "pkg", "pkg", "pkg/__init__.py"),
        ((0, "pkg/a.py", 0), "pkg.a", "pkg", "pkg/a.py"),
        ((0, "main.py", 0), "main", "", "main.py"),
    }
    assert rows["language"] == {((0, path, 0), "python") for path in FILES}


def test_paths_are_bound():
    rows = readable(mounted(FILES))
    assert rows["unparsed"] == {("main.py", 3)}
    assert rows["directive_comment"] == {("pkg/a.py", 3, "# analyze: ignore")}
    f = ((0, "pkg/a.py", 0), "def f", 0)
    assert (f, "pkg/a.py", 1, 1, 2, 16) in rows["location"]
    assert ((f, "x", 0), "pkg/a.py", 1, 7, 1, 8) in rows["location"]


def test_imports_are_resolved_and_packages_have_children():
    rows = readable(mounted(FILES))
    package, module, main = ((0, path, 0) for path in FILES)
    assert rows["resolves"] == {(package, 1, "a", module), (main, 0, "pkg", package), (main, 0, "pkg.a", module)}
    assert rows["submodule"] == {(package, "a", module)}


def test_directories_of_modules_are_modules_too():
    rows = readable(mounted({"n/m.py": "x = 1\n", "main.py": "import n.m\n"}))
    assert ((0, "n/", 0), "n", "n", "n/") in rows["module"]
    assert rows["submodule"] == {((0, "n/", 0), "m", (0, "n/m.py", 0))}
    assert ((0, "main.py", 0), 0, "n", (0, "n/", 0)) in rows["resolves"]


def test_a_directory_with_packages_of_two_languages_is_two_modules():
    files = {"n/m.py": "x = 1\n", "main.py": "import n.m\n", "n/m.go": "package n\n", "n/o.go": "package n\n"}
    extracted = (
        (path, facts.extract(text.encode(), path.rsplit(".")[-1].replace("py", "python")))
        for path, text in files.items()
    )
    result = facts.mount(extracted)
    assert len(set(map(tuple, result.entities.T.tolist()))) == result.entities.shape[1]
    assert {row[0] for row in readable(result)["module"] if row[3] == "n/"} == {(0, "n/", 0), (0, "n/", 1)}


def test_a_mount_is_the_union_of_its_files_whatever_their_order():
    together, reversed_order = readable(mounted(FILES)), readable(mounted(dict(reversed(FILES.items()))))
    assert together == reversed_order
    alone = [readable(mounted({path: text})) for path, text in FILES.items()]
    for name in schema.local_relations():
        assert together[name] == set().union(*(rows[name] for rows in alone)), name


def test_entities_are_distinct():
    result = mounted(FILES)
    assert len(set(map(tuple, result.entities.T.tolist()))) == result.entities.shape[1]


def test_languages_that_there_is_code_in_are_told_once():
    texts = {
        "a.ts": ("typescript", "export const x = 1\n"),
        "b.jsp": ("jsp", '<%= request.getParameter("a") %>\n'),
        "c.html": ("html", "<p>{{ name }}</p><script>f(1)</script>\n"),
        "user_mapper.xml": ("mybatis", "<mapper><select id='f'>select ${x}</select></mapper>\n"),
        "d.py": ("python", "x = 1\n"),
        "e.py": ("python", "y = 1\n"),
    }

    def written_in(*paths):
        files = [(path, facts.extract(text.encode(), language)) for path, (language, text) in texts.items()]
        return readable(facts.mount(each for each in files if each[0] in paths))["written_in"]

    assert written_in() == set()
    assert written_in("d.py", "e.py") == {("python",)}
    assert written_in("a.ts") == {("javascript",)}
    assert written_in("b.jsp") == {("java",)}
    assert written_in("c.html") == {("html",), ("javascript",)}
    assert written_in("user_mapper.xml") == {("java",)}
    assert written_in(*texts) == {("html",), ("java",), ("javascript",), ("python",)}
