"""Tests of every element of a whole: in loops, by functions that arrays call, and by flags that a loop sets."""

import pytest
from marked_lines import lines_with_findings, marked_lines

PYTHON = """\
import os
from pathlib import Path
from flask import Flask, abort, request

app = Flask(__name__)
ROOT = Path("/srv")


def plain(name):
    return ".." not in name and not name.startswith("/")


def check_parts(path):
    for part in path.split("/"):
        if part == "..":
            raise ValueError(path)


def check_first(path):
    for part in path.split("/"):
        if part == "..":
            raise ValueError(path)
        break


@app.route("/1")
def loop():
    path = request.args["x"]
    for part in path.split("/"):
        if part == "..":
            abort(400)
    open("/srv/" + path).read()  # harmless


@app.route("/2")
def loop_that_skips():
    path = request.args["x"]
    for part in path.split("/"):
        if part.islower():
            continue
        if part == "..":
            abort(400)
    open("/srv/" + path).read()  # harmful


@app.route("/3")
def loop_in_function():
    path = request.args["x"]
    check_parts(path)
    open("/srv/" + path).read()  # harmless


@app.route("/4")
def loop_in_function_that_ends_early():
    path = request.args["x"]
    check_first(path)
    open("/srv/" + path).read()  # harmful


@app.route("/5")
def filtered():
    for name in filter(plain, request.args.getlist("x")):
        open("/srv/" + name).read()  # harmless
    for name in filter(None, request.args.getlist("x")):
        open("/srv/" + name).read()  # harmful


@app.route("/6")
def chosen():
    for name in [name for name in request.args.getlist("x") if plain(name)]:
        open("/srv/" + name).read()  # harmless
    for name in [name for name in request.args.getlist("x") if name]:
        open("/srv/" + name).read()  # harmful


@app.route("/7")
def flag():
    name = request.args["x"]
    known = False
    for choice in app.config["CHOICES"]:
        if name == choice:
            known = True
            break
    if not known:
        abort(400)
    open("/srv/" + name).read()  # harmless


@app.route("/8")
def flag_set_elsewhere():
    name = request.args["x"]
    known = False
    for choice in app.config["CHOICES"]:
        if name == choice:
            known = True
            break
    if app.debug:
        known = True
    if not known:
        abort(400)
    open("/srv/" + name).read()  # harmful


@app.route("/11")
def flag_that_is_a_test():
    name = request.args["x"]
    known = False
    if app.config["CHOICES"]:
        known = name in app.config["CHOICES"]
    if not known:
        abort(400)
    open("/srv/" + name).read()  # harmless


@app.route("/12")
def flag_that_is_another_test():
    name = request.args["x"]
    known = False
    if app.config["CHOICES"]:
        known = name in app.config["CHOICES"]
    elif app.debug:
        known = len(name) > 3
    if not known:
        abort(400)
    open("/srv/" + name).read()  # harmful


@app.route("/13")
def compared_with_truth():
    name = request.args["x"]
    if plain(name) is not True:
        abort(400)
    open("/srv/" + name).read()  # harmless
    other = request.args["y"]
    if plain(other) != False:
        abort(400)
    open("/srv/" + other).read()  # harmful


@app.route("/9")
def parts():
    path = request.args["x"]
    if ".." in path.split("/"):
        abort(400)
    open("/srv/" + path).read()  # harmless
    other = request.args["y"]
    if ".." in other.split("."):
        abort(400)
    open("/srv/" + other).read()  # harmful


def below(follow, name):
    try:
        joined = ROOT.joinpath(name)
        if follow:
            normal = Path(os.path.normpath(joined))
            normal.relative_to(ROOT)
            path = normal.resolve()
        else:
            path = joined.resolve()
            path.relative_to(ROOT)
    except ValueError as error:
        raise RuntimeError(name) from error
    return path.read_text()  # harmless


def below_or_not(follow, name):
    if follow:
        path = ROOT.joinpath(name).resolve()
    else:
        path = ROOT.joinpath(name).resolve()
        path.relative_to(ROOT)
    return path.read_text()  # harmful


def returned(name):
    path = (ROOT / name).resolve()
    path.relative_to(ROOT)
    return path


@app.route("/10")
def in_one_block():
    below(request.args["f"], request.args["x"])
    below_or_not(request.args["f"], request.args["x"])
    return open(returned(request.args["x"])).read()  # harmless
"""

JAVASCRIPT = """\
const fs = require("fs");
const path = require("path");
const app = require("express")();

const isPlain = (name) => /^[a-z]+$/.test(name);
const isEmpty = (name) => name === "";
const UP = /(?:^|[\\\\/])\\.\\.(?:[\\\\/]|$)/;

app.get("/1", (req, res) => {
  const names = req.query.x.split(",");
  if (!names.every(isPlain)) return res.end();
  for (const name of names) fs.readFileSync("/srv/" + name); // harmless
});
app.get("/2", (req, res) => {
  const names = req.query.x.split(",");
  if (names.every(isEmpty)) return res.end();
  for (const name of names) fs.readFileSync("/srv/" + name); // harmful
});
app.get("/3", (req, res) => {
  req.query.x.split(",").filter(isPlain).forEach((name) => fs.readFileSync("/srv/" + name)); // harmless
  req.query.y.split(",").filter(Boolean).forEach((name) => fs.readFileSync("/srv/" + name)); // harmful
});
app.get("/4", (req, res) => {
  if (req.query.x.split("/").some((part) => part === "..")) return res.end();
  fs.readFileSync("/srv/" + req.query.x); // harmless
  if (req.query.y.split("/").some((part) => part === ".")) return res.end();
  fs.readFileSync("/srv/" + req.query.y); // harmful
});
app.get("/5", (req, res) => {
  const name = decodeURIComponent(req.query.x);
  if (UP.test(path.normalize("./" + name))) return res.end();
  fs.readFileSync(path.join("/srv", name)); // harmless
});
app.get("/6", (req, res) => {
  const name = decodeURIComponent(req.query.x);
  if (!UP.test(path.normalize("./" + name))) return res.end();
  fs.readFileSync(path.join("/srv", name)); // harmful
});
app.get("/7", (req, res) => {
  let allowed = false;
  for (const pattern of app.get("patterns")) {
    if (new RegExp(pattern).test(req.query.x)) { allowed = true; break; }
  }
  if (!allowed) throw new Error("no");
  res.redirect(req.query.x); // harmless
});
app.get("/8", (req, res) => {
  let allowed = false;
  for (const pattern of app.get("patterns")) {
    allowed = true;
    if (new RegExp(pattern).test(req.query.x)) break;
  }
  if (!allowed) throw new Error("no");
  res.redirect(req.query.x); // harmful
});
const TABLE = { a: { folder: "x" }, b: { folder: "y" } };
const known = {};
app.get("/10", (req, res) => {
  const name = req.query.x, other = req.query.y;
  if (TABLE[name]) fs.readFileSync("/srv/" + name); // harmless
  if (!TABLE[other]) return res.end();
  fs.readFileSync("/srv/" + other); // harmless
});
app.get("/11", (req, res) => {
  known[req.query.y] = true;
  if (known[req.query.x]) fs.readFileSync("/srv/" + req.query.x); // harmful
});
app.get("/12", (req, res) => {
  const name = req.query.x, other = req.query.y;
  if (isPlain(name) === false) return res.end();
  fs.readFileSync("/srv/" + name); // harmless
  if (isPlain(other) === true) return res.end();
  fs.readFileSync("/srv/" + other); // harmful
});
app.get("/9", (req, res) => {
  for (const part of req.query.x.split("/")) { if (part === "..") return res.end(); }
  fs.readFileSync("/srv/" + req.query.x); // harmless
});
"""

GO = """\
package shop

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

func inLoop(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("x")
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return
		}
	}
	os.ReadFile("/srv/" + name) // harmless
}

func checked(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return false
		}
	}
	return true
}

func inFunction(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("x")
	if !checked(name) {
		return
	}
	os.ReadFile("/srv/" + name) // harmless
}

func withoutEffect(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("x")
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			w.WriteHeader(400)
		}
	}
	os.ReadFile("/srv/" + name) // harmful
}

func trimmed(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/"+strings.TrimLeft(r.FormValue("x"), "/"), 302) // harmless
	http.Redirect(w, r, "/"+strings.TrimLeft(r.FormValue("x"), " "), 302) // harmful
}

func joined(w http.ResponseWriter, r *http.Request) {
	os.ReadFile(filepath.Join("/srv", r.FormValue("x"))) // harmful
}
"""

JAVA = """\
import java.io.*;
import java.util.*;
import java.util.stream.*;
import javax.servlet.http.*;

class Files extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        List<String> names = Arrays.asList(request.getParameterValues("x"));
        for (String name : names.stream().filter(n -> !n.contains("..")).collect(Collectors.toList()))
            new FileInputStream("/srv/" + name).close(); // harmless
        for (String name : names.stream().filter(n -> !n.isEmpty()).collect(Collectors.toList()))
            new FileInputStream("/srv/" + name).close(); // harmful
        for (String part : names) {
            if (part.contains("..")) throw new IOException(part);
        }
        for (String name : names)
            new FileInputStream("/srv/" + name).close(); // harmless
    }
}
"""

PROGRAMS = {"guards.py": PYTHON, "main.go": GO, "Files.java": JAVA, "guards.js": JAVASCRIPT}
LINES = marked_lines(PROGRAMS)


@pytest.fixture(scope="module")
def reported():
    return lines_with_findings(PROGRAMS)


@pytest.mark.parametrize(("name", "number", "mark", "line"), LINES, ids=lambda value: str(value)[:40])
def test_what_tests_of_elements_say_of_the_whole(name, number, mark, line, reported):
    assert ((name, number) in reported) == (mark == "harmful"), line
