"""Models that a repository lacks, and models derived from a package's code."""

import pytest

from analyzer.graphs.library_models import derived_models, missing_models
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

APP = """\
import shop
from flask import Flask, request
app = Flask(__name__)
@app.route("/")
def index():
    name = request.args["name"]
    shop.put("constant")
    shop.put(name)
    shop.put(name + "!")
    shop.log.write(name)
    unknown().send(name)
    return len(name)
"""
PACKAGE = {
    "__init__.py": """\
import os
import shlex
from shop.tools import join
class Box:
    def __init__(self, value):
        self.value = value
    def run(self, command, *, quiet=False):
        os.system(command)
    def get(self, key):
        return key
def clean(name):
    os.system("ls " + shlex.quote(name))
def both(a, b):
    return join(a, b)
def second(a, b):
    return b
def _hidden(command):
    os.system(command)
""",
    "tools.py": "def join(x, *, end):\n    return x + end\n",
}


@pytest.fixture
def package(tmp_path):
    (tmp_path / "shop").mkdir()
    for name, text in PACKAGE.items():
        (tmp_path / "shop" / name).write_text(text)
    return tmp_path / "shop"


def test_missing_models_are_ranked_by_places_that_tainted_data_enters(tmp_path):
    (tmp_path / "app.py").write_text(APP)
    found = [(each.name, [place.line for place in each.places]) for each in missing_models(tmp_path, 1)[0]]
    assert found == [("shop.put", [8, 9]), (".send", [11]), ("shop.log.write", [10])]


DERIVED = [
    'sink_argument("command", "shop.Box.run", "0").',
    'summary("shop.Box.get", "0", "return").',
    'summary("shop.both", "0", "return").',
    'summary("shop.second", "1", "return").',
    'summary("shop.tools.join", "0", "return").',
    'summary("shop.tools.join", "end", "return").',
]


def test_models_are_derived_from_a_package_or_what_contains_it(package):
    called = PACKAGE["__init__.py"].replace("join(a, b)", "join(a, end=a)")
    (package / "__init__.py").write_text(called)
    assert derived_models(package, 1) == (DERIVED, [])
    assert derived_models(package.parent, 1) == (DERIVED, [])


def test_a_scan_with_derived_models_finds_what_the_package_does(package, tmp_path):
    model = tmp_path / "shop.dl"
    model.write_text("\n".join(derived_models(package, 1)[0]))
    app = APP.replace("shop.put(name)", "shop.Box(1).run(shop.second(1, name))")
    request = ScanRequest(tmp_path, None, {"rules": ("command-injection",)}, models=(model,))
    report = scan_tree(MemoryTree({"app.py": app.encode()}, "memory"), request).report
    assert [finding.place.line for finding in report.findings] == [8]
