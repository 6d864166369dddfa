"""Packages, and what imports mean, by the layout of a tree."""

from facts.go.module_layout import layout

MODULE = "example.com/shop"


def tree(**files):
    """Return the imports of files: keyword `a__b` is the file a/b.go, its value package and imports."""
    return {
        name.replace("__", "/") + ".go": [(1, package), *((0, path) for path in imports)]
        for name, (package, *imports) in files.items()
    }


def targets(imports, importer, level=0):
    found = layout(imports).resolved
    return {name: target for path, other, name, target in found if path == importer and other == level}


SHOP = tree(
    main=("main", f"{MODULE}/store", f"{MODULE}/store/cache", "fmt", "net/http"),
    store__store=("store", f"{MODULE}/store/cache", "github.com/other/cache", "github.com/other/lib"),
    store__disk=("store", f"{MODULE}/log"),
    store__cache__cache=("cache", f"{MODULE}/log", "log", "encoding/json"),
    log__log=("log", "os"),
)


def test_a_directory_is_a_package():
    found = layout(SHOP)
    assert found.directories == ["/", "log/", "store/", "store/cache/"]
    assert ("store/", "store", "store") in found.names
    assert ("store/disk.go", "store/disk", "store") in found.names
    assert ("store/", "disk.go", "store/disk.go") in found.children
    assert ("/", "main.go", "main.go") in found.children


def test_files_know_the_names_of_their_package():
    assert targets(SHOP, "store/disk.go", level=1) == {"store": "store/"}


def test_imports_below_the_path_of_the_module_are_directories():
    assert targets(SHOP, "main.go") == {f"{MODULE}/store": "store/", f"{MODULE}/store/cache": "store/cache/"}
    assert targets(SHOP, "store/cache/cache.go") == {f"{MODULE}/log": "log/"}


def test_packages_of_others_that_are_called_alike_lead_out():
    assert targets(SHOP, "store/store.go") == {f"{MODULE}/store/cache": "store/cache/"}


def test_the_module_may_start_anywhere():
    moved = {f"src/shop/{path}": wanted for path, wanted in SHOP.items()}
    assert targets(moved, "src/shop/store/disk.go") == {f"{MODULE}/log": "src/shop/log/"}


def test_the_root_of_a_module_is_a_package():
    imports = tree(shop=("shop",), a__b__c=("c", MODULE, f"{MODULE}/a/d"), a__d__d=("d",))
    assert targets(imports, "a/b/c.go") == {MODULE: "/", f"{MODULE}/a/d": "a/d/"}


def test_versions_need_no_directory():
    imports = tree(
        server__main=("main", "go.example.io/x/server/v3/storage", "go.example.io/x/pkg/v3/fileutil"),
        server__storage__storage=("storage",),
        pkg__fileutil__fileutil=("fileutil",),
    )
    assert targets(imports, "server/main.go") == {
        "go.example.io/x/server/v3/storage": "server/storage/",
        "go.example.io/x/pkg/v3/fileutil": "pkg/fileutil/",
    }


def test_a_directory_that_is_called_like_a_version_is_a_package():
    imports = tree(
        main=("main", f"{MODULE}/api", f"{MODULE}/api/v2", f"{MODULE}/api/v3"),
        api__api=("api",),
        api__v2__api=("v2",),
    )
    assert targets(imports, "main.go") == {
        f"{MODULE}/api": "api/",
        f"{MODULE}/api/v2": "api/v2/",
        f"{MODULE}/api/v3": "api/",
    }


def test_two_modules_side_by_side():
    imports = tree(
        one__main=("main", "example.com/one/a", "example.com/two/b"),
        one__a__a=("a",),
        two__main=("main", "example.com/two/b", "example.com/two/c"),
        two__b__b=("b",),
        two__c__c=("c",),
    )
    assert targets(imports, "one/main.go") == {"example.com/one/a": "one/a/", "example.com/two/b": "two/b/"}


def test_vendored_packages_are_found_by_their_full_path():
    imports = {
        "main.go": [(1, "main"), (0, "example.com/shop/a"), (0, "github.com/x/y")],
        "a/a.go": [(1, "a")],
        "vendor/github.com/x/y/y.go": [(1, "y")],
    }
    assert targets(imports, "main.go") == {
        "example.com/shop/a": "a/",
        "github.com/x/y": "vendor/github.com/x/y/",
    }


def test_tests_of_a_package_are_in_it_or_beside_it():
    imports = tree(a__a=("a",), a__a_test=("a", "testing"), a__b_test=("a_test",), a__c_test=("a_test",))
    assert targets(imports, "a/a_test.go", level=1) == {"a": "a/"}
    found = {target for path, _, _, target in layout(imports).resolved if path == "a/b_test.go"}
    assert found == {"a/b_test.go", "a/c_test.go"}
    assert {child for _, _, child in layout(imports).children} == {"a/a.go", "a/a_test.go"}


def test_a_module_in_another_is_known_by_its_own_path():
    imports = tree(
        main=("main", "example.com/org/shop/v2/store", "example.com/org/x/log", "example.com/org/x/text"),
        store__store=("store", "example.com/org/x/log"),
        kit__log__log=("log", "example.com/org/x/text"),
        kit__text__text=("text",),
    )
    assert targets(imports, "main.go") == {
        "example.com/org/shop/v2/store": "store/",
        "example.com/org/x/log": "kit/log/",
        "example.com/org/x/text": "kit/text/",
    }
    # The outer module is found first, too.
    more = imports | tree(
        a__a=("a", "example.com/org/shop/v2/b"),
        b__b=("b", "example.com/org/shop/c"),
        c__c=("c", "example.com/org/shop/a"),
    )
    assert targets(more, "main.go") == targets(imports, "main.go")


def test_directories_called_like_those_of_a_library_are_no_module():
    imports = tree(
        main=("main", f"{MODULE}/internal/service/s3", f"{MODULE}/internal/names"),
        internal__service__s3__a=("s3", "example.com/cloud/sdk/service/s3", f"{MODULE}/internal/names"),
        internal__names__names=("names",),
    )
    assert targets(imports, "internal/service/s3/a.go") == {f"{MODULE}/internal/names": "internal/names/"}
    # Nor where nothing imports them by the path of the module, and the library is another owner's.
    imports = tree(
        main=("main", f"{MODULE}/a"),
        a__a=("a", f"{MODULE}/b"),
        b__b=("b",),
        tools__kit__gen=("main", "other.org/cloud/sdk/kit"),
    )
    assert targets(imports, "tools/kit/gen.go") == {}


def test_no_package_imports_itself():
    imports = tree(main=("main",), jwt__sign=("jwt", "other.org/kit/jwt/v5"), web__view=("web", "other.org/kit/jwt/v5"))
    assert targets(imports, "jwt/sign.go") == targets(imports, "web/view.go") == {}
    tested = tree(jwt__sign=("jwt",), jwt__sign_test=("jwt_test", "example.com/shop/jwt"))
    assert targets(tested, "jwt/sign_test.go") == {"example.com/shop/jwt": "jwt/"}


def test_a_root_that_alone_is_imported():
    box = tree(
        box=("box", "github.com/pkg/errors"),
        box_test=("box_test", "example.com/go-box/v2"),
        zip__zip=("zip", "example.com/go-box/v2", "archive/zip"),
        cmd__box__main=("main", "example.com/go-box/v2", "github.com/other/box"),
    )
    assert targets(box, "zip/zip.go") == {"example.com/go-box/v2": "/"}
    assert targets(box, "box_test.go") == {"example.com/go-box/v2": "/"}
    assert targets(box, "cmd/box/main.go") == {"example.com/go-box/v2": "/"}


def test_a_root_in_a_directory_is_imported_from_below_it():
    names = tree(
        libs__box__box=("box", "strings"),
        libs__box__zip__zip=("zip", "example.com/box"),
        libs__log__log=("log", "fmt"),
        libs__log__text__text=("text", "log", "github.com/pkg/errors"),
        libs__errors__errors=("errors", "github.com/pkg/errors"),
        libs__errors__wrap__wrap=("wrap", "github.com/pkg/errors"),
    )
    assert targets(names, "libs/box/zip/zip.go") == {"example.com/box": "libs/box/"}
    assert targets(names, "libs/log/text/text.go") == {}
    assert targets(names, "libs/errors/wrap/wrap.go") == {}
