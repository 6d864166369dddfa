"""Findings show the places that they are about, and their messages name what data comes from."""

from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

CASES = {
    "use-after-free": (
        "a.c",
        """\
#include <stdlib.h>
void done(char *p) { free(p); }
int f(int n, char *p) {
    if (n > 3) {
        done(p);
        n = 1;
        return p[0];
    }
    return 0;
}
""",
        [(5, "freed here"), (7, "used here")],
    ),
    "double-free": (
        "a.c",
        "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    free(p);\n}\n",
        [(3, "freed here"), (4, "freed again here")],
    ),
    "memory-leak": (
        "a.c",
        """\
#include <stdlib.h>
int f(int n) {
    char *q = malloc(10);
    if (!q) return 1;
    q[0] = n;
    if (n > 3)
        return 2;
    free(q);
    return 0;
}
""",
        [(3, "allocated here"), (6, "lost, if this is true")],
    ),
    "lock-not-released": (
        "a.py",
        """\
import threading
lock = threading.Lock()
def f(x):
    lock.acquire()
    if not x.ok():
        return x.value()
    lock.release()
    return 1
""",
        [(4, "acquired here"), (6, "still held")],
    ),
    "resource-leak": (
        "a.py",
        """\
def f(path):
    file = open(path)
    if path != "a":
        file.close()
        return 1
    return file.read()
""",
        [(2, "opened here"), (6, "still open")],
    ),
}


@pytest.mark.parametrize("check", CASES)
def test_a_finding_shows_where_what_it_is_about_happens(check):
    path, text, expected = CASES[check]
    tree = MemoryTree({path: text.encode()}, "memory")
    (finding,) = scan_tree(tree, ScanRequest(Path("."), None, {"rules": (check,)})).report.findings
    assert [(step.place.line, step.message) for step in finding.path] == expected


@pytest.mark.parametrize(
    ("given", "source"),
    [("packet", "packet"), ("packet + 4", "packet"), ('getenv("A")', 'getenv("A")'), ("argv[1]", "argv")],
)
def test_a_message_quotes_what_data_comes_from(given, source):
    """Of a variable that a call fills it is the name, though the value stands at the function's beginning."""
    text = f"""\
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
static void keep(char *text) {{
    char copy[60];
    strcpy(copy, text);
}}
int main(int argc, char **argv) {{
    char packet[512];
    while (recv(argc, packet, 511, 0) > 0)
        keep({given});
    return 0;
}}
"""
    tree = MemoryTree({"a.c": text.encode()}, "memory")
    (finding,) = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("unbounded-copy",)})).report.findings
    assert f"depends on '{source}'," in finding.message


def test_a_message_names_a_variable_that_branches_set():
    text = """\
function query(text) {
  if (typeof text === "undefined")
    text = document.location.search;
  return text.split("&");
}
function show() {
  document.body.innerHTML = "<b>" + query()[0];
}
show();
"""
    tree = MemoryTree({"a.js": text.encode()}, "memory")
    (finding,) = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("cross-site-scripting",)})).report.findings
    assert "depends on 'text'," in finding.message
