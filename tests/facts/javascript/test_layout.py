"""Names of modules and targets of imports by paths, across JavaScript and TypeScript."""

import pytest

import facts
from facts.javascript.module_layout import layout


@pytest.mark.parametrize(
    ("importer", "name", "others", "target"),
    [
        ("a.js", "./b", ["b.js"], "b.js"),
        ("a.js", "./b.js", ["b.js"], "b.js"),
        ("x/a.mjs", "../b.mjs", ["b.mjs"], "b.mjs"),
        ("x/a.js", "..", ["index.js"], "index.js"),
        ("x/a.js", ".", ["x/index.jsx"], "x/index.jsx"),
        ("a.js", "./b", ["b/index.cjs"], "b/index.cjs"),
        ("a.js", "./b/", ["b/index.ts"], "b/index.ts"),
        ("a.js", "./b", ["b.js", "b/index.js"], "b.js"),
        ("a.ts", "./b", ["b.tsx", "b.js"], "b.tsx"),
        ("a.ts", "./b.js", ["b.ts"], "b.ts"),
        ("a.ts", "./b.jsx", ["b.tsx"], "b.tsx"),
        ("a.ts", "./b.mjs", ["b.mts"], "b.mts"),
        ("a.ts", "./b", ["b.d.ts"], "b.d.ts"),
        ("a.js", "./b.config", ["b.config.js"], "b.config.js"),
        ("a.js", "b", ["b.js"], None),
        ("a.js", "@b/c", ["@b/c.js"], None),
        ("a.js", "/b", ["b.js"], None),
        ("a.js", "../b", ["b.js"], None),
        ("a.js", "./data.json", ["data.js"], None),
        # from the root of the project
        ("src/a/b.ts", "@/lib/db", ["src/lib/db.ts"], "src/lib/db.ts"),
        ("app/api/route.ts", "@/lib/db", ["lib/db.ts", "app/api/lib/db.ts"], "lib/db.ts"),
        ("web/src/a.ts", "~/lib/db.js", ["web/src/lib/db.ts", "lib.ts"], "web/src/lib/db.ts"),
        ("web/src/a.ts", "@/lib", ["web/src/lib/index.ts"], "web/src/lib/index.ts"),
        ("back/src/a.ts", "src/users/service", ["back/src/users/service.ts"], "back/src/users/service.ts"),
        ("a.ts", "@/../../lib", ["lib.ts"], None),
        ("src/a.ts", "@", ["src/index.ts"], None),
        ("src/a.ts", "@scope/lib", ["src/lib.ts"], None),
        ("src/a.ts", "lib/db", ["src/lib/db.ts"], None),
        ("web/src/routes/a.ts", "$lib/db", ["web/src/lib/db.ts", "lib/db.ts"], "web/src/lib/db.ts"),
        ("src/routes/a.ts", "$lib", ["src/lib/index.ts"], "src/lib/index.ts"),
        ("src/a.ts", "@components/list", ["src/components/list.tsx"], "src/components/list.tsx"),
        ("src/a.ts", "@components/list", ["components/list.tsx", "src/list.tsx"], None),
        ("src/a.ts", "$lib/../db", ["src/lib/a.ts", "db.ts"], None),
        # packages below node_modules, the innermost first
        (
            "p/node_modules/@shop/cart/a.js",
            "@shop/mail",
            ["p/node_modules/@shop/mail/lib/index.js"],
            "p/node_modules/@shop/mail/lib/index.js",
        ),
        (
            "p/node_modules/cart/lib/a.js",
            "mail/send",
            ["p/node_modules/mail/send.js", "node_modules/mail/send.js"],
            "p/node_modules/mail/send.js",
        ),
        ("src/a.js", "mail/../send", ["node_modules/mail/a.js", "node_modules/send.js"], None),
        ("src/a.js", "mail", ["p/node_modules/mail/index.js"], None),
    ],
)
def test_imports_mean(importer, name, others, target):
    result = layout({importer: [(0, name)], **dict.fromkeys(others, [])})
    assert next((found for _, _, _, found in result.resolved), None) == target


SHOP = ["@shop/prices", "@shop/mail"]


@pytest.mark.parametrize(
    ("names", "others", "target"),
    [
        (SHOP, ["packages/prices/index.ts", "packages/mail/index.ts"], "packages/prices/index.ts"),
        (SHOP, ["libs/prices/src/index.ts", "libs/mail/src/index.ts"], "libs/prices/src/index.ts"),
        (["@shop/prices/of/day", *SHOP], ["libs/prices/src/of/day.ts", "apps/mail/a.ts"], "libs/prices/src/of/day.ts"),
        (["@shop/prices/day", *SHOP], ["libs/prices/src/lib/day.ts", "libs/mail/a.ts"], "libs/prices/src/lib/day.ts"),
        # the scope is not the repository's own
        (["@shop/prices"], ["packages/prices/index.ts"], None),
        ([*SHOP, "@shop/log", "@shop/net"], ["packages/prices/index.ts", "packages/mail/index.ts"], None),
        (SHOP, ["src/prices/index.ts", "src/mail/index.ts"], None),
        # outside of the package
        (["@shop/prices/../../a", *SHOP], ["packages/prices/index.ts", "packages/mail/index.ts", "a.ts"], None),
        (["@/prices", "@/mail"], ["packages/prices/index.ts", "packages/mail/index.ts"], None),
    ],
)
def test_scopes_of_the_repository_name_its_packages(names, others, target):
    result = layout({"apps/shop/a.ts": [(0, name) for name in names], **dict.fromkeys(others, [])})
    assert next((found for _, _, name, found in result.resolved if name == names[0]), None) == target


def test_modules_are_named_by_their_paths():
    paths = ["a.js", "src/index.ts", "src/b/index.d.ts", "src/c.d.mts", "index.mjs"]
    assert layout(dict.fromkeys(paths, [])).names == [
        ("a.js", "a", ""),
        ("index.mjs", "index", ""),
        ("src/b/index.d.ts", "src/b", "src/b"),
        ("src/c.d.mts", "src/c", "src"),
        ("src/index.ts", "src", "src"),
    ]


def test_dialects_import_each_other():
    sources = {"a.js": b'require("./b")', "b.ts": b'import "./c"', "c.tsx": b'import "./a.js"', "d.py": b"import a"}
    extracted = [(path, facts.extract(source, facts.language_of(path))) for path, source in sources.items()]
    for mounted in (
        facts.mount(extracted),
        facts.mount_layout({path: facts.modules_of(found) for path, found in extracted}),
    ):
        resolves = mounted.relations["resolves"]
        module_of = {row[0]: mounted.symbols[row[3]] for row in mounted.relations["module"].T.tolist()}
        found = {(module_of[row[0]], mounted.symbols[row[2]], module_of[row[3]]) for row in resolves.T.tolist()}
        assert found == {("a.js", "./b", "b.ts"), ("b.ts", "./c", "c.tsx"), ("c.tsx", "./a.js", "a.js")}
