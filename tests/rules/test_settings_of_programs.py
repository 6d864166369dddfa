"""Settings that hold for a whole program, wherever it sets them."""

import pytest
from marked_lines import lines_with_findings

READER = """\
import com.alibaba.fastjson.JSON;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

class Reader extends HttpServlet {
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        JSON.parseObject(request.getParameter("text"));
    }
}
"""
SETTING = """\
import com.alibaba.fastjson.parser.ParserConfig;

class Start {
    static void prepare() {
        ParserConfig.getGlobalInstance().setAutoTypeSupport(%s);
    }
}
"""


@pytest.mark.parametrize(("value", "expected"), [("true", {("Reader.java", 9)}), ("false", set())])
def test_fastjson_makes_what_texts_name_where_the_program_says_so(value, expected):
    assert lines_with_findings({"Reader.java": READER, "Start.java": SETTING % value}) == expected


SHOP = """\
from flask import Flask
from flask_cors import CORS

app = Flask(__name__)
app.config.from_object("settings")
CORS(app, supports_credentials=True)
"""


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", {("shop.py", 6)}),
        ('CORS_ORIGINS = "*"\n', {("shop.py", 6)}),
        ('CORS_ORIGINS = ["https://shop.example"]\n', set()),
        ('CONFIG = {}\nCONFIG["CORS_ORIGINS"] = load()\n', set()),
    ],
)
def test_origins_that_a_program_allows_by_its_settings(setting, expected):
    assert lines_with_findings({"shop.py": SHOP, "settings.py": setting}, "credentialed-cors") == expected


ORDERS = """\
from flask import Flask, request
from lxml import etree

app = Flask(__name__)


@app.route("/order", methods=["POST"])
def order():
    etree.fromstring(request.data)
    etree.fromstring(request.data, etree.XMLParser())
    return "ordered"
"""
PARSER = "from lxml import etree\n\netree.set_default_parser(%s)\n"


@pytest.mark.parametrize(
    ("parser", "expected"),
    [
        ("etree.XMLParser(resolve_entities=False)", {("orders.py", 10)}),
        ("parser=etree.XMLParser(resolve_entities=False)", {("orders.py", 10)}),
        ("etree.XMLParser(remove_blank_text=True)", {("orders.py", 9), ("orders.py", 10)}),
    ],
)
def test_the_default_parser_of_a_program_leaves_entities_alone(parser, expected):
    files = {"orders.py": ORDERS, "parsing.py": PARSER % parser}
    assert lines_with_findings(files, "xml-external-entity") == expected


SWITCHES = """\
package app

var (
	stored  bool
	flagged bool
	counted int
	unset   bool
)
"""
START = """\
package app

import (
	"flag"

	"shop.example/app/settings"
)

func start() {
	stored = flag.Parsed()
	flag.BoolVar(&flagged, "flagged", false, "")
	flag.BoolVar(&settings.Shared, "shared", false, "")
	counted++
}
"""
SETTINGS = """\
package settings

import (
	"net/http"
	"os"
)

var Shared, Unset bool

func Remove(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	if Shared {
		os.Remove(name) // expect: path-traversal
	}
	if Unset {
		os.Remove(name)
	}
}
"""
USE = """\
package app

import (
	"net/http"
	"os"
)

func remove(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	if stored {
		os.Remove(name) // expect: path-traversal
	}
	if flagged {
		os.Remove(name) // expect: path-traversal
	}
	if counted > 0 {
		os.Remove(name) // expect: path-traversal
	}
	if unset {
		os.Remove(name)
	}
}
"""


def test_variables_of_a_package_that_other_files_set_are_no_constants():
    files = {
        "go.mod": "module shop.example/app\n",
        "switches.go": SWITCHES,
        "start.go": START,
        "settings/settings.go": SETTINGS,
        "use.go": USE,
    }
    assert lines_with_findings(files, "path-traversal") == {
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if "expect:" in line
    }


REMOVER = """\
import os

from flask import Flask, request

ENABLED = False
app = Flask(__name__)


@app.route("/remove")
def remove():
    if ENABLED:
        os.remove(request.args["name"])
    return ""
"""


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("import remover\n\nremover.ENABLED = bool(input())\n", {("remover.py", 12)}),
        ("import remover\n\nprint(remover.ENABLED)\n", set()),
    ],
)
def test_variables_of_a_module_that_another_module_sets_are_no_constants(start, expected):
    assert lines_with_findings({"remover.py": REMOVER, "start.py": start}, "path-traversal") == expected


OPEN_COOKIES = "SESSION_COOKIE_SECURE = False\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"shop/settings/dev.py": OPEN_COOKIES}, set()),
        ({"shop/settings_local.py": OPEN_COOKIES}, set()),
        ({"shop/settings/production.py": OPEN_COOKIES}, {("shop/settings/production.py", 1)}),
        (
            {"shop/settings/dev.py": OPEN_COOKIES, "shop/settings/live.py": "from .dev import *\n"},
            {("shop/settings/dev.py", 1)},
        ),
        ({"config.py": "class DevelopmentConfig:\n    SESSION_COOKIE_SECURE = False\n"}, set()),
        (
            {
                "config.py": "class DevConfig:\n    SESSION_COOKIE_SECURE = False\n\n\n"
                "class LiveConfig(DevConfig):\n    DEBUG = False\n"
            },
            {("config.py", 2)},
        ),
    ],
)
def test_cookies_of_settings_for_development(files, expected):
    assert lines_with_findings(files, "insecure-cookie") == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("config/config.development.js", set()),
        ("config/development.js", set()),
        ("config/local.js", set()),
        ("config/passport-local.js", {("config/passport-local.js", 1)}),
        ("config/local-auth.js", {("config/local-auth.js", 1)}),
        ("config/config.production.js", {("config/config.production.js", 1)}),
    ],
)
def test_secrets_of_settings_for_development(path, expected):
    text = 'module.exports = { jwtSecret: "ahd8273hdas98d7has9d87has" };\n'
    assert lines_with_findings({path: text}, "hard-coded-credentials") == expected


BY_TOKEN = """\
const cors = require("cors");
const app = require("express")();
const jwt = require("jsonwebtoken");

app.use(cors({ origin: true, credentials: true }));
app.use((req, res, next) => {
  req.user = jwt.verify(req.headers.authorization, process.env.KEY);
  next();
});
"""


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("", set()),
        ('app.use(require("cookie-parser")());\n', {("shop.js", 5)}),
        ('app.use(require("express-session")({ secret: process.env.KEY }));\n', {("shop.js", 5)}),
        ('app.get("/", (req, res) => res.cookie("id", "7"));\n', {("shop.js", 5)}),
    ],
)
def test_origins_that_a_program_without_cookies_allows(beside, expected):
    assert lines_with_findings({"shop.js": BY_TOKEN + beside}, "credentialed-cors") == expected
