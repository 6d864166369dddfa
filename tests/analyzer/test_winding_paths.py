"""A path that winds, or that a guess or a shared variable is part of, proves little: it is for the audit tier."""

from pathlib import Path

import pytest

from analyzer.findings.winding_paths import LAYER, MAX_CALLS_OF_LAYERS, MAX_FILES
from analyzer.report import Report
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree
from rules.catalogue import MAX_CALLS

HEADER = "import logging, sqlite3\nfrom flask import request\n\n"


def handed_on(calls: int, end: str) -> str:
    """Return a program whose data passes through so many calls to the end."""
    functions = [f"def f{n}(x):\n    f{n + 1}(x)\n\n" for n in range(1, calls)]
    last = f"def f{calls}(x):\n    {end}\n\n" if calls else ""
    first = "    f1(request.args['q'])\n" if calls else f"    x = request.args['q']\n    {end}\n"
    return HEADER + "".join(functions) + last + "def view():\n" + first


QUERY = "sqlite3.connect('a').execute('select ' + x)"


def reported(code: str, *tiers: str) -> Report:
    tree = MemoryTree({"app.py": code.encode()}, "memory")
    flags = {"rules": ("sql-injection",), "tier": tiers}
    return scan_tree(tree, ScanRequest(Path("."), None, flags)).report


def found(code: str, *tiers: str) -> list[str]:
    return [finding.check for finding in reported(code, *tiers).findings]


def test_paths_through_many_calls_are_for_the_audit_tier():
    assert found(handed_on(MAX_CALLS, QUERY)) == ["sql-injection"]
    assert found(handed_on(MAX_CALLS + 1, QUERY)) == []
    assert found(handed_on(MAX_CALLS + 1, QUERY), "audit") == ["sql-injection"]
    assert [reported(handed_on(n, QUERY)).coverage.n_weaker for n in (MAX_CALLS, MAX_CALLS + 1)] == [0, 1]


def in_files(n: int, *tiers: str, folders: bool = True) -> list[str]:
    """Return what is found where data passes through so many files, each in a folder of its own."""

    def module(at: int) -> str:
        return f"d{at}.m{at}" if folders else f"m{at}"

    code = {at: f"from {module(at + 1)} import f{at + 1}\n\ndef f{at}(x):\n    f{at + 1}(x)\n" for at in range(2, n)}
    code[n] = f"{HEADER}def f{n}(x):\n    {QUERY}\n"
    code[1] = f"{HEADER}from {module(2)} import f2\n\ndef view():\n    f2(request.args['q'])\n"
    files = {module(at).replace(".", "/") + ".py": text for at, text in code.items()}
    tree = MemoryTree({path: code.encode() for path, code in files.items()}, "memory")
    flags = {"rules": ("sql-injection",), "tier": tiers}
    return [finding.check for finding in scan_tree(tree, ScanRequest(Path("."), None, flags)).report.findings]


def test_paths_through_many_files_are_for_the_audit_tier():
    assert in_files(MAX_FILES) == ["sql-injection"]
    assert in_files(MAX_FILES + 1) == []
    assert in_files(MAX_FILES + 1, "audit") == ["sql-injection"]
    assert in_files(MAX_FILES + 1, folders=False) == ["sql-injection"]


def across(sink: str, n_files: int, view: str, *tiers: str) -> list[str]:
    """Return what is found where a view calls the function `run` in the file `sink`, beside others."""
    files = {f"{folder}/m{at}.py": "" for folder in ("web", "store") for at in range(1, n_files)}
    files["web/view.py"] = f"{HEADER}import {sink.replace('/', '.')[:-3]} as other\n\ndef view():\n    {view}\n"
    files[sink] = (
        f"{HEADER}def run(x):\n    {QUERY}\n\ndef hand_on(x):\n    run(x)\n\n"
        "def asked():\n    return request.args['q']\n\ndef same(x):\n    return x\n\n"
        f"def run_same(x):\n    x = same(x)\n    {QUERY}\n"
    )
    tree = MemoryTree({path: code.encode() for path, code in files.items()}, "memory")
    flags = {"rules": ("sql-injection",), "tier": tiers}
    return [finding.check for finding in scan_tree(tree, ScanRequest(Path("."), None, flags)).report.findings]


DIRECT = "other.run(request.args['q'])"
DOWN = "other.hand_on(request.args['q'])"
ACCESSED = "other.run_same(request.args['q'])"
UP = QUERY.replace("+ x", "+ other.asked()")


def and_back(times: int) -> str:
    """Pass the value to a function that returns it, and so on."""
    return QUERY.replace("+ x", "+ " + "other.same(" * times + "request.args['q']" + ")" * times)


@pytest.mark.parametrize(
    ("sink", "n_files", "view", "is_default"),
    [
        ("store/run.py", LAYER, DIRECT, True),
        ("store/run.py", LAYER, DOWN, False),
        ("store/run.py", LAYER, ACCESSED, True),
        ("store/run.py", LAYER - 1, DOWN, True),
        ("web/run.py", LAYER, DOWN, True),
        ("store/run.py", LAYER, UP, True),
        ("store/run.py", LAYER, and_back(MAX_CALLS_OF_LAYERS // 2), True),
        ("store/run.py", LAYER, and_back(MAX_CALLS_OF_LAYERS // 2 + 1), False),
        ("store/run.py", LAYER - 1, and_back(MAX_CALLS_OF_LAYERS // 2 + 1), True),
        ("web/run.py", LAYER, and_back(MAX_CALLS_OF_LAYERS // 2 + 1), True),
    ],
)
def test_paths_through_several_layers_are_for_the_audit_tier(sink, n_files, view, is_default):
    assert across(sink, n_files, view) == ["sql-injection"] * is_default
    assert across(sink, n_files, view, "audit") == ["sql-injection"]


@pytest.mark.parametrize("n_files", [1, LAYER])
def test_templates_are_no_layer(n_files):
    files = {f"web/m{at}.py": "" for at in range(n_files)}
    files |= {f"web/templates/t{at}.html": "<p></p>" for at in range(n_files)}
    files["web/view.py"] = (
        "from flask import Flask, render_template, request\n\napp = Flask(__name__)\n\n\n@app.route('/')\n"
        "def view():\n    return render_template('asked.html', name=request.args['q'])\n"
    )
    files["web/templates/asked.html"] = "<p>{{ name|safe }}</p>"
    tree = MemoryTree({path: code.encode() for path, code in files.items()}, "memory")
    flags = {"rules": ("cross-site-scripting",)}
    report = scan_tree(tree, ScanRequest(Path("."), None, flags)).report
    assert [finding.check for finding in report.findings] == ["cross-site-scripting"]


@pytest.mark.parametrize(
    ("passing", "known"),
    [
        ("x.strip()", True),
        ("', '.join([x])", True),
        ("json.loads(x)", True),
        ("serializer.loads(x)", True),
        ("x.rest()", True),
        ("shelf.place_of(x)", False),
        ("hook(x)", False),
    ],
)
def test_paths_through_calls_of_unknown_code_are_for_the_audit_tier(passing, known):
    view = f"def view(shelf, serializer, hook):\n    x = request.args['q']\n    x = {passing}\n    {QUERY}\n"
    code = f"{HEADER}import json\n\n{view}"
    assert found(code) == ["sql-injection"] * known
    assert found(code, "audit") == ["sql-injection"]


def found_in(files: dict[str, str], check: str, *tiers: str) -> list[str]:
    tree = MemoryTree({path: code.encode() for path, code in files.items()}, "memory")
    flags = {"rules": (check,), "tier": tiers}
    return [finding.check for finding in scan_tree(tree, ScanRequest(Path("."), None, flags)).report.findings]


SETTINGS = (
    "settings = {}\n\ndef change(value):\n    settings['theme'] = value\n\ndef of(name):\n    return settings[name]\n\n"
)
CHANGE = "def change_theme():\n    change(request.args['theme'])\n\n"
READ = "def view():\n    x = of('theme')\n    " + QUERY + "\n"


def test_paths_over_what_functions_share_are_for_the_audit_tier():
    files = {"settings.py": SETTINGS, "app.py": f"{HEADER}from settings import change, of\n\n{CHANGE}{READ}"}
    assert found_in(files, "sql-injection") == []
    assert found_in(files, "sql-injection", "audit") == ["sql-injection"]


def test_a_file_that_shares_with_itself_is_seen_as_a_whole():
    assert found_in({"app.py": f"{HEADER}{SETTINGS}{CHANGE}{READ}"}, "sql-injection") == ["sql-injection"]


def test_a_variable_of_its_own_holds_nothing_else():
    theme = "theme = ''\n\ndef change(value):\n    global theme\n    theme = value\n\ndef of(name):\n    return theme\n"
    files = {"settings.py": theme, "app.py": f"{HEADER}from settings import change, of\n\n{CHANGE}{READ}"}
    assert found_in(files, "sql-injection") == ["sql-injection"]


def test_what_a_function_around_holds_is_not_shared_by_others():
    ask = "    def ask():\n        nonlocal x\n        x = asked()\n\n    ask()\n"
    files = {
        "reading.py": f"{HEADER}def asked():\n    return request.args['q']\n",
        "app.py": f"{HEADER}from reading import asked\n\ndef view():\n    x = ''\n{ask}    {QUERY}\n",
    }
    assert found_in(files, "sql-injection") == ["sql-injection"]


ASKED = "def target():\n    return request.args['next']\n"
MADE = (
    "def target():\n    address = request.args['next']\n    parts = address.strip().split('#')\n"
    "    address = parts[0] + '?again'\n    return address\n"
)


@pytest.mark.parametrize(
    ("function", "is_elsewhere", "is_default"),
    [(ASKED, True, True), (MADE, True, False), (MADE, False, True), (ASKED, False, True)],
)
def test_addresses_that_another_file_makes_are_for_the_audit_tier(function, is_elsewhere, is_default):
    view = "\n\ndef view():\n    return redirect(target())\n"
    header = "from flask import redirect, request\n\n"
    files = {"app.py": f"{header}{function}{view}"}
    if is_elsewhere:
        files = {"app.py": f"{header}from addresses import target\n{view}", "addresses.py": f"{header}{function}"}
    assert found_in(files, "open-redirect") == ["open-redirect"] * is_default
    assert found_in(files, "open-redirect", "audit") == ["open-redirect"]
