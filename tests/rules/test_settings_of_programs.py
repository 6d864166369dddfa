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
