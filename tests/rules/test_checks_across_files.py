"""Checks that depend on where code stands: tests, packages, and what other modules ask for."""

from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

SECRET = 'DB_PASSWORD = "tr0ub4dor"\n'
FACADE = "from collections import OrderedDict, defaultdict, deque\nfrom typing import Any\n\n\ndef f():\n    pass\n"
USERS = "from {} import OrderedDict, defaultdict, deque\n\nprint(OrderedDict, defaultdict, deque)\n"
SERVER = """import express from "express";
import { createServer } from "vite";

const app = express();
app.use(async (req, res) => {
  const server = await createServer({});
  const page = await server.ssrLoadModule("/src/page.js");
  res.write(page.show(req.url));
  res.write(page.title(req.url));
});
"""
PAGE = 'export const show = (url) => "<p>" + url + "</p>";\nexport const title = (url) => "<p>Title</p>";\n'
TYPES = """const express = require("express");
const app = express();
app.use((request, response, next) => {
  response.type("json");
  next();
});
app.use("/api", require("./routes"));
"""
ROUTES = """const express = require("express");
const router = express.Router();
router.get("/", (request, response) => {
  response.send("<p>" + request.query.name);
});
module.exports = router;
"""
MOUNTS = 'const express = require("express");\nconst routes = require("./routes");\nexpress().use("/all", routes);\n'
WRITER = "export const say = (text) => { document.body.innerHTML = text; };\n"
ASKS = 'import {{ say }} from "{}say.js";\n\nsay(decodeURIComponent(location.hash));\n'
VIEW = """import flask

app = flask.Flask(__name__)


@app.route("/")
def hello():
    return "<p>" + flask.request.args["name"]
"""
ADDRESSES = """from django.conf import settings
from django.urls import include, path

from shop import views

urlpatterns = [path("page/<str:name>", views.show), path("both/<str:name>", views.both)]

if settings.DEBUG:
    urlpatterns += [path("dev/", include("shop.dev.urls")), path("late/<str:name>", views.late)]
    urlpatterns += [path("dev/both/<str:name>", views.both)]
"""
SHOWN = """from django.http import HttpResponse


def show(request, name):
    return HttpResponse("<p>" + name)


def both(request, name):
    return HttpResponse("<h1>" + name)


def late(request, name):
    return HttpResponse("<h2>" + name)
"""
DEBUGS = "DEBUG = True\nINSTALLED_APPS = []\n"
DECLARES = 'import Shop from "shop";\n\ndeclare module "shop" {\n  export const open: boolean;\n}\n'
SETTINGS = "static uid_t most = 0;\n"
SETS_MOST = '#include "settings.h"\n\nvoid set(int n) { most = n; }\n'
ASKS_MOST = "int limited(void) { if (most > (uid_t) 0) return 1; return 2; }\n"
HANDLERS = """from bus import listen


@listen(on="message")
def on_message(text):
    print(text)


def helper(text):
    print(text)
"""
REGISTERS = """def start(bus):
    from .handlers import on_message
    from .handlers import helper

    bus.run()
"""
VIEWS = """from dataclasses import dataclass

from shop.registry import register


@register("shop", detail=False)
class ShopView:
    pass
"""
PLAIN = """from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    number: int
"""
MAKES_TABLES = """from app import tables
from app.tables import Row
from base import Base, engine


def start():
    Base.metadata.create_all(engine)
"""
LEAVES = """#define LEAVE do { leaving(); return; } while (0)
#define END do { leaving(); exit(1); } while (0)
#define NOTE leaving()
"""
LEAVE_OR = """#include "leave.h"

static void {0}(int *p) {{ if (!p) {1}; *p = 1; {1}; }}

int f_{0}(int n, int *p) {{
  if (n < 3) {0}(p);
  if (n < 3) return {0}(0), 1;
  return 2;
}}
"""
REGISTERED = """from bus import listen


def listens(function):
    for name in ("message", "note"):
        function = listen(on=name)(function)
    return function


def counted(function):
    function.count = 0
    return function


@listens
def on_message(text):
    print(text)


@counted
def helper(text):
    print(text)
"""
PRODUCTION = """from .base import *

with open("/run/secrets/db") as file:
    DB_PASSWORD = file.read()
"""
NAMES = "exports.shopName = /^shop-[a-z]+$/;\nexports.beginning = /^shop-/;\n"
SHOWS = """const app = require("express")();
const { shopName, beginning } = require("./names");

app.get("/shop", (req, res) => {
  const name = req.query.name;
  if (shopName.test(name)) {
    return res.send("<p>" + name);
  }
  if (beginning.test(name)) {
    res.send("<p>" + name);
  }
});
"""
DJANGO_ROUTES = """from django.urls import path, re_path

from .views import Users, hello

urlpatterns = [path("hello/<str:name>/<int:times>/", hello), re_path("users/(?P<name>.*)", Users.as_view())]
"""
DJANGO_VIEWS = """from django.http import HttpResponse
from django.views import View


def hello(request, name, times):
    if times > 1:
        return HttpResponse("<p>" * times)
    return HttpResponse("<p>" + name)


def helper(request, name):
    return HttpResponse("<p>" + name)


class Users(View):
    def get(self, request, name):
        return HttpResponse("<p>" + name)

    def post(self, request):
        return HttpResponse("<p>" + request.POST["name"])
"""
DJANGO_PARTS = "def answer(request):\n    from .pages import page\n\n    return page(request.GET['name'])\n"
DJANGO_PAGES = "from django.http import HttpResponse\n\n\ndef page(name):\n    return HttpResponse('<p>' + name)\n"
WINDOW = """struct window {{ int kind; }};

int {}(struct window *window) {{
  return window->kind + 1;
}}
"""
CALLS_WITH_NULL = """struct window;
int {0}(struct window *window);
int check_{0}(void) {{
  return {0}(0);
}}
"""
FILLED = """package main

var password = "fj39GmXc0w4Rz"
"""

CASES = {
    "code is checked": ({"app/settings.py": SECRET}, ["app/settings.py:1"]),
    "test code is not": (
        {"tests/a.py": SECRET, "app/test_a.py": SECRET, "app/conftest.py": SECRET, "app/testing/a.py": SECRET},
        [],
    ),
    "a directory that only sounds like tests is": ({"contest/settings.py": SECRET}, ["contest/settings.py:1"]),
    "a package offers what it imports": ({"app/__init__.py": "from json import loads\n\nNAME = 1\n"}, []),
    "a module that defines something does not": (
        {"app/__init__.py": "", "app/a.py": "from json import loads\n\nNAME = 1\n"},
        ["app/a.py:1"],
    ),
    "a module that only imports does": ({"app/a.py": "from json import loads\n"}, []),
    "another module uses the name": (
        {"a.py": "from json import loads\n\nNAME = 1\n", "b.py": "from a import loads\n\nprint(loads)\n"},
        [],
    ),
    "another module asks the module for the name": (
        {"a.py": "from json import loads\n\nNAME = 1\n", "b.py": "import a\n\nprint(a.loads)\n"},
        [],
    ),
    "a star import brings the name": (
        {"a.py": "from json import loads\n\nNAME = 1\n", "b.py": "from a import *\n\nprint(loads)\n"},
        [],
    ),
    "a module that others ask for three imports offers all": ({"a.py": FACADE, "b.py": USERS.format("a")}, []),
    "a check is silent in languages that it does not speak of": (
        {"A.java": "import java.util.List;\n\nclass A {}\n", "a.js": "import { loads } from 'json';\nconst f = 1;\n"},
        ["a.js:1"],
    ),
    "a library loads a module by its address": ({"server.js": SERVER, "src/page.js": PAGE}, ["server.js:8"]),
    "a handler in front of a router says what type its answers have": ({"app.js": TYPES, "routes.js": ROUTES}, []),
    "a router that is mounted twice has its own": (
        {"app.js": TYPES, "routes.js": ROUTES, "other.js": MOUNTS},
        ["routes.js:4"],
    ),
    "a router by itself has its own": (
        {"app.js": TYPES.replace('"json"', '"html"'), "routes.js": ROUTES},
        ["routes.js:4"],
    ),
    "what only a test gives is no threat": ({"say.js": WRITER, "tests/say.js": ASKS.format("../")}, []),
    "what the program gives is one": ({"say.js": WRITER, "app.js": ASKS.format("./")}, ["say.js:1"]),
    "a folder that is named like a library does not hide it": (
        {"flask/notes.py": "TEXT = 1\n", "app.py": VIEW},
        ["app.py:8"],
    ),
    "a module that is named like the library that it imports does not hide it": ({"flask.py": VIEW}, ["flask.py:8"]),
    "a module of the program with what is asked for hides a library": (
        {"flask/__init__.py": "class Flask:\n    pass\n\n\nrequest = {}\n", "app.py": VIEW},
        [],
    ),
    "routes say what a view takes from the address": (
        {"site/__init__.py": "", "site/urls.py": DJANGO_ROUTES, "site/views.py": DJANGO_VIEWS},
        ["site/views.py:8", "site/views.py:17", "site/views.py:20"],
    ),
    "a module that imports no framework has requests of the one that the program uses": (
        {"site/__init__.py": "", "site/parts.py": DJANGO_PARTS, "site/pages.py": DJANGO_PAGES},
        ["site/pages.py:5"],
    ),
    "made-up records of a seed are no secrets": (
        {"app/a.py": SECRET, "db/seeds/users.py": SECRET, "db/seed.py": SECRET, "db/seedling.py": SECRET},
        ["app/a.py:1", "db/seedling.py:1"],
    ),
    "a decorator of the program registers what is imported": (
        {"app/__init__.py": "", "app/handlers.py": REGISTERED, "app/start.py": REGISTERS},
        ["app/start.py:3"],
    ),
    "settings of production replace a secret": (
        {"app/__init__.py": "", "app/base.py": SECRET, "app/production.py": PRODUCTION},
        [],
    ),
    "settings that take the secret do not": (
        {"app/__init__.py": "", "app/base.py": SECRET, "app/production.py": "from .base import *\n\nDEBUG = False\n"},
        ["app/base.py:1"],
    ),
    "another module's pattern is a test": ({"names.js": NAMES, "shop.js": SHOWS}, ["shop.js:10"]),
    "settings for development hold no secrets": (
        {"settings/local_dev.py": SECRET, "settings/main.py": SECRET, "devices/settings.py": SECRET},
        ["devices/settings.py:1", "settings/main.py:1"],
    ),
    "views that addresses lead to in development only are given nothing": (
        {
            "shop/urls.py": ADDRESSES,
            "shop/views.py": SHOWN,
            "shop/dev/urls.py": "from django.urls import path\n\nfrom shop.dev import views\n\n"
            'urlpatterns = [path("page/<str:name>", views.show)]\n',
            "shop/dev/views.py": SHOWN,
        },
        ["shop/views.py:5", "shop/views.py:9"],
    ),
    "settings that others take and set anew are not in use": (
        {"a/common.py": DEBUGS, "a/live.py": "from .common import *\n\nDEBUG = False\n", "b/common.py": DEBUGS},
        ["b/common.py:1"],
    ),
    "what the program asks its modules for by name": (
        {
            "a/engine.py": "def setup():\n    pass\n\n\ndef helper():\n    pass\n",
            "a/other.py": "from .engine import helper, setup\n\nNAME = 1\n",
            "a/load.py": "def load(module):\n    return getattr(module, 'setup', None)\n",
        },
        ["a/other.py:1"],
    ),
    "an import makes a file of declarations a module": (
        {"a.d.ts": DECLARES, "b.ts": DECLARES.replace("declare module", "export namespace").replace('"shop" {', "S {")},
        ["b.ts:1"],
    ),
    "what a library registers is imported for that": (
        {"app/handlers.py": HANDLERS, "app/a.py": REGISTERS},
        ["app/a.py:3"],
    ),
    "a module that registers what it defines is imported for that": (
        {
            "app/__init__.py": "",
            "app/views.py": VIEWS,
            "app/pages.py": PLAIN,
            "app/urls.py": "from . import views\nfrom . import pages\n\nurlpatterns = []\n",
        },
        ["app/urls.py:2", "app/views.py:1"],
    ),
    "modules of tables are imported for what makes all tables": (
        {"app/__init__.py": "", "app/tables.py": "class Row:\n    pass\n", "app/start.py": MAKES_TABLES},
        ["app/start.py:2"],
    ),
    "a variable of a header is set where it is asked for": (
        {"settings.h": SETTINGS, "a.c": SETS_MOST + ASKS_MOST},
        [],
    ),
    "a constant of a header decides": (
        {
            "settings.h": "#define MOST 5\n",
            "a.c": '#include "settings.h"\n\nint f(int n) {\n'
            "  if (n < 3) {\n    if (n > MOST) return 1;\n  }\n  return 2;\n}\n",
        },
        ["a.c:5"],
    ),
    "a macro of a header without parameters returns, ends the program, or does neither": (
        {
            "leave.h": LEAVES,
            "a.c": LEAVE_OR.format("set", "LEAVE"),
            "b.c": LEAVE_OR.format("end", "END"),
            "c.c": LEAVE_OR.format("note", "NOTE"),
        },
        ["b.c:7", "c.c:7"],
    ),
    "tests alone call it by name: the program has other callers": (
        {"a.c": WINDOW.format("shown"), "tests/a.c": CALLS_WITH_NULL.format("shown")},
        [],
    ),
    "the program itself calls it with null": (
        {"a.c": WINDOW.format("drawn"), "b.c": CALLS_WITH_NULL.format("drawn")},
        ["a.c:4", "b.c:4"],
    ),
    "another program of the folder defines the name, too, and a file of both does": (
        {
            "one.c": CALLS_WITH_NULL.format("opened") + "int main(void) { return 0; }\n",
            "two.c": WINDOW.format("opened") + "int main(void) { return 0; }\n",
            "both.c": "struct window;\nint opened(struct window *window) {\n  return window != 0;\n}\n",
        },
        [],
    ),
    "a file of the program defines the name, and one of both does": (
        {
            "one.c": CALLS_WITH_NULL.format("closed") + "int main(void) { return 0; }\n",
            "two.c": WINDOW.format("closed"),
            "both.c": "struct window;\nint closed(struct window *window) {\n  return window != 0;\n}\n",
        },
        ["two.c:4"],
    ),
    "a folder of what demonstrates the program holds no secrets": (
        {
            "demoData/main.go": FILLED.replace("main", "demo"),
            "server/main.go": FILLED,
            "demonstrator/main.go": FILLED,
        },
        ["demonstrator/main.go:3", "server/main.go:3"],
    ),
    "nobody asks": ({"a.py": FACADE, "b.py": USERS.format("collections")}, ["a.py:1", "a.py:1", "a.py:1", "a.py:2"]),
}


@pytest.fixture(scope="module")
def places():
    """Where checks report, by case: each case is a directory of one tree."""
    tree = MemoryTree(
        {
            f"{number}/{name}": text.encode()
            for number, (files, _) in enumerate(CASES.values())
            for name, text in files.items()
        },
        "memory",
    )
    flags = {
        "rules": (
            "hard-coded-credentials",
            "unused-import",
            "cross-site-scripting",
            "debug-mode",
            "constant-condition",
            "null-dereference",
        )
    }
    report = scan_tree(tree, ScanRequest(Path("."), None, flags)).report
    return [f"{finding.place.file}:{finding.place.line}" for finding in report.findings]


@pytest.mark.parametrize("case", CASES)
def test_reports_depend_on_other_files(case, places):
    prefix = f"{list(CASES).index(case)}/"
    assert [place.removeprefix(prefix) for place in places if place.startswith(prefix)] == CASES[case][1]


FALCON = "import falcon\n\napp = falcon.App()\n"
HELPER = "def find(req):\n    return open(req.params['name'])\n"
READER = """import express from "express";
import mongoose from "mongoose";

const app = express();
const User = mongoose.model("User", new mongoose.Schema({ name: String }));

class Chart {
  constructor(user) {
    this.user = user;
  }

  owner() {
    return User.findOne({ _id: this.user });
  }
}

app.get("/charts/:id", (req) => new Chart(req.params.id).owner());
"""


def test_names_of_parameters_are_those_of_libraries_of_their_language():
    """`req` of a program that imports falcon is falcon's in other modules of Python, and not in JavaScript's."""
    tree = MemoryTree({"app.py": FALCON.encode(), "find.py": HELPER.encode(), "users.js": READER.encode()}, ".")
    flags = {"rules": ("path-traversal", "nosql-injection")}
    findings = scan_tree(tree, ScanRequest(Path("."), None, flags)).report.findings
    assert [(f.check, f.place.file, f.place.line) for f in findings] == [("path-traversal", "find.py", 2)]


TRACK = """#include "track.h"

struct track { int kind; long marks[20]; };

void mark(track *t) {
  t->marks[20] = 1;
}
"""


@pytest.mark.parametrize(("others", "lines"), [({}, [6]), ({"b.c": "struct track { long marks[40]; };\n"}, [])])
def test_one_file_says_what_a_structure_of_a_header_is_made_of(others, lines):
    """The header names a structure that one file defines; two that define one of the name are two programs, perhaps."""
    files = {"track.h": "typedef struct track track;\n", "a.c": TRACK} | others
    tree = MemoryTree({name: text.encode() for name, text in files.items()}, ".")
    findings = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("array-bounds",)})).report.findings
    assert [finding.place.line for finding in findings] == lines


SHOP_GO = """package main

import (
	"log"

	"example.com/shop/labels"
)

func main() {
	log.Printf("using %s", labels.AuthToken)
	log.Printf("using %s", labels.Current.AuthToken)
}
"""
LABELS_GO = 'package labels\n\ntype set struct{ AuthToken string }\n\nvar Current set\n\nconst AuthToken = "X-Auth"\n'


@pytest.mark.parametrize(
    ("files", "check", "lines"),
    [
        (
            {"main.go": SHOP_GO, "labels/labels.go": LABELS_GO, "go.mod": "module example.com/shop\n"},
            "secret-in-log",
            [11],
        ),
        (
            {
                "settings.py": "OPEN = False\nCHECK = True\n",
                "app.py": "import requests\nimport settings\n\n\ndef get(url):\n"
                "    requests.get(url, timeout=9, verify=settings.OPEN)\n"
                "    requests.get(url, timeout=9, verify=settings.CHECK)\n",
            },
            "certificate-check-off",
            [6],
        ),
        (
            {
                "settings.py": "OPEN = False\n",
                "app.py": "import requests\nimport settings\n\n\ndef get(url, check):\n    settings.OPEN = check\n"
                "    requests.get(url, timeout=9, verify=settings.OPEN)\n",
            },
            "certificate-check-off",
            [],
        ),
    ],
)
def test_a_variable_of_another_module_that_is_written_once_is_constant(files, check, lines):
    tree = MemoryTree({name: text.encode() for name, text in files.items()}, ".")
    findings = scan_tree(tree, ScanRequest(Path("."), None, {"rules": (check,)})).report.findings
    assert [finding.place.line for finding in findings] == lines
