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
        f"{HEADER}def run(x):\n    {QUERY}\n\ndef hand_on(x):\n    run(x)\n\ndef change(x):\n    run(x + ' ')\n\n"
        "def asked():\n    return request.args['q']\n\ndef same(x):\n    return x\n\n"
        f"def run_same(x):\n    x = same(x)\n    {QUERY}\n"
    )
    tree = MemoryTree({path: code.encode() for path, code in files.items()}, "memory")
    flags = {"rules": ("sql-injection",), "tier": tiers}
    return [finding.check for finding in scan_tree(tree, ScanRequest(Path("."), None, flags)).report.findings]


DIRECT = "other.run(request.args['q'])"
HANDED_ON = "other.hand_on(request.args['q'])"
DOWN = "other.change(request.args['q'])"
ACCESSED = "other.run_same(request.args['q'])"
UP = QUERY.replace("+ x", "+ other.asked()")


def and_back(times: int) -> str:
    """Pass the value to a function that returns it, and so on."""
    return QUERY.replace("+ x", "+ " + "other.same(" * times + "request.args['q']" + ")" * times)


@pytest.mark.parametrize(
    ("sink", "n_files", "view", "is_default"),
    [
        ("store/run.py", LAYER, DIRECT, True),
        ("store/run.py", LAYER, HANDED_ON, True),
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


LAYERS = {
    "java": {
        "web/Orders.java": """package shop.web;

import org.springframework.web.bind.annotation.*;
import shop.service.OrderService;

@RestController
public class Orders {
    private final OrderService orders;

    public Orders(OrderService orders) {
        this.orders = orders;
    }

    @GetMapping("/orders")
    public Object list(@RequestParam String sort) {
        return orders.list(sort);
    }
}
""",
        "service/OrderService.java": """package shop.service;

public interface OrderService {
    Object list(String sort);
}
""",
        "service/StoredOrders.java": """package shop.service;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import shop.store.OrderStore;

public class StoredOrders implements OrderService {
    private static final Logger log = LoggerFactory.getLogger(StoredOrders.class);
    private OrderStore store;
    private Columns columns;

    @Override
    public Object list(String sort) {
        HAND_ON
    }
}
""",
        "store/OrderStore.java": """package shop.store;

import org.springframework.jdbc.core.JdbcTemplate;

public class OrderStore {
    private JdbcTemplate jdbc;
    private String sort;

    public void setSort(String sort) {
        this.sort = sort;
    }

    public Object list(String sort) {
        return jdbc.queryForList("select name from orders order by " + sort);
    }

    public Object all() {
        return jdbc.queryForList("select name from orders order by " + sort);
    }
}
""",
        "web/A.java": "", "web/B.java": "", "store/A.java": "", "store/B.java": "",
    },
    "typescript": {
        "web/orders.controller.ts": """import { Controller, Get, Query } from "@nestjs/common";
import { OrderService } from "../service/orders.service";

@Controller("orders")
export class OrderController {
  constructor(private readonly orders: OrderService) {}

  @Get()
  list(@Query("sort") sort: string) {
    return this.orders.list(sort);
  }
}
""",
        "service/orders.service.ts": """import { Injectable, Logger } from "@nestjs/common";
import { OrderStore } from "../store/orders.store";
import { Columns } from "columns";

@Injectable()
export class OrderService {
  constructor(private readonly store: OrderStore, private readonly columns: Columns) {}

  async list(sort: string) {
    HAND_ON
  }
}
""",
        "store/orders.store.ts": """import { Injectable } from "@nestjs/common";
import { DataSource } from "typeorm";

@Injectable()
export class OrderStore {
  private sort: string;

  constructor(private readonly source: DataSource) {}

  setSort(sort: string) {
    this.sort = sort;
  }

  list(sort: string) {
    return this.source.query(`select name from orders order by ${sort}`);
  }

  all() {
    return this.source.query(`select name from orders order by ${this.sort}`);
  }
}
""",
        "web/a.ts": "", "web/b.ts": "", "store/a.ts": "", "store/b.ts": "",
    },
    "go": {
        "go.mod": "module shop\n",
        "web/orders.go": """package web

import (
	"net/http"
	"shop/service"
)

type Orders struct{ orders *service.Orders }

func (o *Orders) List(w http.ResponseWriter, r *http.Request) {
	o.orders.List(r.FormValue("sort"))
}
""",
        "service/orders.go": """package service

import (
	"shop/columns"
	"shop/store"
)

type Orders struct{ store *store.Orders }

func (o *Orders) List(sort string) error {
	HAND_ON
}
""",
        "columns/columns.go": """package columns

func Check(name string) {}
""",
        "store/orders.go": """package store

import "database/sql"

type Orders struct {
	db   *sql.DB
	sort string
}

func (o *Orders) SetSort(sort string) { o.sort = sort }

func (o *Orders) List(sort string) error {
	_, err := o.db.Query("select name from orders order by " + sort)
	return err
}

func (o *Orders) All() error {
	_, err := o.db.Query("select name from orders order by " + o.sort)
	return err
}
""",
        "web/a.go": "package web\n", "web/b.go": "package web\n",
        "store/a.go": "package store\n", "store/b.go": "package store\n",
    },
    "python": {
        "web/views.py": """from flask import Flask, request
from service.orders import list_orders

app = Flask(__name__)


@app.route("/orders")
def orders():
    return list_orders(request.args["sort"])
""",
        "service/orders.py": """import columns
from store import orders


def list_orders(sort):
    HAND_ON
""",
        "store/orders.py": """import sqlite3

kept = {}


def set_sort(sort):
    kept["sort"] = sort


def find(sort):
    return sqlite3.connect("a").execute("select name from orders order by " + sort)


def find_all():
    return sqlite3.connect("a").execute("select name from orders order by " + kept["sort"])
""",
        "web/a.py": "", "web/b.py": "", "store/a.py": "", "store/b.py": "",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "hand_on", "is_default"),
    [
        ("java", "return store.list(sort);", True),
        ("java", 'log.info("orders by {}", sort); return store.list(sort);', True),
        ("java", "columns.check(sort); return store.list(sort);", False),
        ("java", 'return sort.isEmpty() ? null : store.list(sort);', False),
        ("java", 'return store.list("lower(" + sort + ")");', False),
        ("java", "store.setSort(sort); return store.all();", False),
        ("typescript", "return this.store.list(sort);", True),
        ("typescript", "return await this.store.list(sort);", True),
        ("typescript", "this.columns.check(sort); return this.store.list(sort);", False),
        ("typescript", "if (sort.length > 9) return []; return this.store.list(sort);", False),
        ("typescript", "this.store.setSort(sort); return this.store.all();", False),
        ("go", "return o.store.List(sort)", True),
        ("go", "columns.Check(sort); return o.store.List(sort)", False),
        ("go", 'if sort == "" { return nil }; return o.store.List(sort)', False),
        ("go", "o.store.SetSort(sort); return o.store.All()", False),
        ("python", "return orders.find(sort)", True),
        ("python", "columns.check(sort); return orders.find(sort)", False),
        ("python", "orders.set_sort(sort); return orders.find_all()", False),
    ],
)  # fmt: skip
def test_layers_that_only_hand_on_are_no_way_down(language, hand_on, is_default):
    files = {path: code.replace("HAND_ON", hand_on) for path, code in LAYERS[language].items()}
    assert n_found_and_left(files) == (is_default, not is_default)


def n_found_and_left(files: dict[str, str]) -> tuple[int, int]:
    """Return the numbers of SQL injections that are found, and of those that are left to the audit tier."""
    tree = MemoryTree({path: code.encode() for path, code in files.items()}, "memory")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("sql-injection",)})).report
    return len(report.findings), report.coverage.n_weaker


def test_a_layer_with_several_implementations_may_test():
    files = {path: code.replace("HAND_ON", "return store.list(sort);") for path, code in LAYERS["java"].items()}
    files["store/OrderStore.java"] = files["store/OrderStore.java"].replace(
        "OrderStore {", "DirectStore implements OrderStore {"
    )
    files["store/DirectStore.java"] = files.pop("store/OrderStore.java")
    files["store/OrderStore.java"] = (
        "package shop.store;\n\npublic interface OrderStore {\n    Object list(String sort);\n}\n"
    )
    assert n_found_and_left(files) == (1, 0)
    files["store/TestedStore.java"] = (
        files["store/DirectStore.java"]
        .replace("DirectStore", "TestedStore")
        .replace('return jdbc.queryForList("select name from orders order by " + sort);', "return null;", 1)
    )
    assert n_found_and_left(files) == (0, 1)
