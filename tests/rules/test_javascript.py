"""The call graph of small JavaScript programs, each against the edges that running it takes."""

import pytest

from analyzer.graphs import callgraph

PROGRAMS = {
    "new makes an object with the function's prototype": (
        {
            "main.js": "function A() { this.init(); }\nA.prototype.init = function init() { this.run(); };\n"
            "A.prototype.run = function run() {};\nfunction B() {}\nB.prototype.run = function other() {};\nnew A();\n"
        },
        {"main": ["main.A"], "main.A": ["main.init"], "main.init": ["main.run"]},
    ),
    "types of all values, and of numbers and texts, are no classes of a library": (
        {
            "main.ts": 'import { Client } from "pkg";\n'
            "function run(x: any, y: Client, s: string) { x.go(); y.go(); s.trim(); }\n"
        },
        {"main.run": ["pkg.Client.go"]},
    ),
    "a sum of arrays is a text": (
        {"main.js": "function g() {}\nconst all = [g] + [g];\nall[0]();\n"},
        {},
    ),
    "prototypes form chains": (
        {
            "main.js": "function A() {}\nA.prototype.m = function m() {};\nfunction B() {}\n"
            "B.prototype = Object.create(A.prototype);\nnew B().m();\n"
        },
        {"main": ["Object.create", "main.B", "main.m"]},
    ),
    "super runs the base's constructor and method": (
        {
            "main.js": "class A { constructor() {} m() {} }\nclass B extends A {\n"
            "  constructor() { super(); }\n  m() { super.m(); }\n}\nnew B().m();\n"
        },
        {
            "main": ["main.B.constructor", "main.B.m"],
            "main.B.constructor": ["main.A.constructor"],
            "main.B.m": ["main.A.m"],
        },
    ),
    "a class without a constructor has its base's": (
        {"main.js": "class A { constructor() {} }\nclass B extends A {}\nnew B();\n"},
        {"main": ["main.A.constructor"]},
    ),
    "getters and setters run": (
        {"main.js": "class A { get x() { return 1; } set x(v) {} }\nconst a = new A();\na.x;\na.x = 2;\n"},
        {"main": ["main.A.x"]},
    ),
    "static methods have the class as this": (
        {"main.js": "class A { static f() { this.g(); } static g() {} }\nA.f();\n"},
        {"main": ["main.A.f"], "main.A.f": ["main.A.g"]},
    ),
    "call, apply and bind": (
        {
            "main.js": "function f(g) { g(); }\nfunction a() {}\nfunction b() {}\nfunction c() {}\n"
            "f.call(null, a);\nf.apply(null, [b]);\nf.bind(null, c)();\n"
        },
        {"main": ["main.f"], "main.f": ["main.a", "main.b", "main.c"]},
    ),
    "ES modules: default, renamed, of all, and of a namespace": (
        {
            "main.js": 'import f, { h as k } from "./lib.js";\nimport * as lib from "./lib.js";\n'
            "f();\nk();\nlib.i();\n",
            "lib.js": "export default function f() {}\nfunction g() {}\nexport { g as h };\n"
            'export * from "./more.js";\n',
            "more.js": "export function i() {}\n",
        },
        {"main": ["lib.f", "lib.g", "more.i"]},
    ),
    "a variable that is not exported is not seen": (
        {
            "main.js": 'import { f } from "./lib.js";\nf();\n',
            "lib.js": "function f() {}\nexport { g as f };\nfunction g() {}\n",
        },
        {"main": ["lib.g"]},
    ),
    "CommonJS modules": (
        {
            "main.js": 'const { f } = require("./lib");\nconst g = require("./one");\n'
            'f();\ng();\nrequire("./lib").h();\n',
            "lib.js": "function f() {}\nmodule.exports = { f };\nmodule.exports.h = function h() {};\n",
            "one.js": "module.exports = function g() {};\n",
        },
        {"main": ["lib.f", "lib.h", "one.g"]},
    ),
    "names of packages": (
        {
            "main.js": 'import { exec } from "node:child_process";\nimport express from "express";\nexec("ls");\n'
            'express().get("/", null);\nsetTimeout(null);\nwindow.fetch("/");\n'
        },
        {"main": ["child_process.exec", "express", "express.get", "fetch", "setTimeout"]},
    ),
    "functions that methods of arrays and timers call": (
        {"main.js": "function f() {}\nfunction g(x) { x(); }\n[f].forEach(g);\nfunction h() {}\nsetTimeout(h, 1);\n"},
        {"main": ["main.g", "main.h", "setTimeout"], "main.g": ["main.f"]},
    ),
    "promises hand on what they are fulfilled with": (
        {
            "main.js": "function f() {}\nfunction use(x) { x(); }\n"
            "function start(resolve) { resolve(f); }\nnew Promise(start).then(use);\n"
        },
        {"main": ["Promise", "main.start", "main.use"], "main.use": ["main.f"]},
    ),
    "maps by key": (
        {
            "main.js": 'function f() {}\nfunction g() {}\nconst m = new Map([["a", f]]);\n'
            'm.set("b", g);\nm.get("b")();\n'
        },
        {"main": ["Map", "main.g"]},
    ),
    "a name that a parameter holds": (
        {"main.js": 'class A { m() {} n() {} }\nfunction run(o, name) { o[name](); }\nrun(new A(), "n");\n'},
        {"main": ["main.run"], "main.run": ["main.A.n"]},
    ),
    "events reach their listeners": (
        {
            "main.js": 'const EventEmitter = require("events");\nconst e = new EventEmitter();\n'
            'function f(x) { x(); }\nfunction g() {}\ne.on("a", f);\ne.emit("a", g);\n'
        },
        {"main": ["events", "events.emit", "events.on", "main.f"], "main.f": ["main.g"]},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_call_graph_has_the_edges_that_run(rows, name):
    files, expected = PROGRAMS[name]
    assert callgraph.render(rows("call_edge", files)) == expected
