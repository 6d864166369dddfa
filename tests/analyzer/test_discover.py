"""Minified JavaScript and copies of known libraries are left out, and said to be."""

import pytest

from analyzer.extraction.discovery import MINIFIED_BYTES, MINIFIED_LINE_BYTES, is_minified
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

LINE = b"f(1);" * (MINIFIED_LINE_BYTES // 5)
BUNDLE = LINE * (MINIFIED_BYTES // len(LINE) + 2)


@pytest.mark.parametrize(
    ("path", "data", "minified"),
    [
        ("a.js", BUNDLE, True),
        ("a.mjs", BUNDLE + b"\n//# sourceMappingURL=a.js.map\n", True),
        ("a.js", BUNDLE[: MINIFIED_BYTES - 1], False),
        ("a.js", BUNDLE.replace(b";", b";\n"), False),
        ("a.js", b"/* A library.\n" + b" * by its authors\n" * 20 + b" */\n" + BUNDLE, True),
        ("a.js", b"let a = 1;\n" * (len(BUNDLE) // 20) + BUNDLE, False),
        ("a.js", b"let picture = '" + b"aGVsbG8" * MINIFIED_BYTES + b"';\n", False),
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


def test_known_libraries_among_served_files_are_vendored(tmp_path):
    vendored = ["app/static/jquery.js", "public/js/bootstrap-4.1.0.js", "_static/lunr.de.js", "web/vendors/shop.js"]
    vendored += ["static/js/libs/pdf.js"]
    own = ["src/jquery.js", "app/static/chart-editor.js", "app/static/shop.js", "underscore.js", "static/jquery.ts"]
    own += ["libs/static/shop.js", "libs/shop.js"]
    files = dict.fromkeys([*vendored, *own], b"f()\n")
    report = scan_tree(MemoryTree(files, "memory"), ScanRequest(tmp_path, None, {"rules": ("unused-import",)})).report
    assert sorted(report.coverage.skipped["vendored"]) == sorted(vendored)
    assert report.coverage.parsed == len(own)
