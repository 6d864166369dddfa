"""Random edits of a small repository of several languages, with findings that come and go."""

from __future__ import annotations

import random
import shutil

FILES = {
    "app/__init__.py": "",
    "app/views.py": """\
import os
from flask import Flask, request
from app.tools import first, clean

app = Flask(__name__)

@app.route("/run")
def run():
    command = first(request.args)
    os.system(command)
    return "done"

@app.route("/safe")
def safe():
    os.system("ls " + clean(request.args["name"]))
    return "done"
""",
    "app/tools.py": """\
import shlex

def first(values):
    for value in values:
        return value

def clean(text):
    return shlex.quote(text)
""",
    "app/store.py": """\
import pickle
import sqlite3

def find(name):
    connection = sqlite3.connect("x.db")
    return connection.execute("select * from users where name = '" + name + "'")

def load(data):
    return pickle.loads(data)
""",
    "web/server.js": """\
const express = require("express");
const { exec } = require("child_process");
const app = express();
app.get("/", (req, res) => {
  exec("ls " + req.query.dir);
  res.send("ok");
});
""",
    "src/Main.java": """\
import java.io.*;
import javax.servlet.http.*;

public class Main extends HttpServlet {
  public void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
    Runtime.getRuntime().exec(request.getParameter("cmd"));
  }
}
""",
    "cmd/main.go": """\
package main

import (
	"net/http"
	"os/exec"
)

func handle(w http.ResponseWriter, r *http.Request) {
	exec.Command("sh", "-c", r.FormValue("q")).Run()
}

func main() {
	http.HandleFunc("/", handle)
}
""",
    "lib/list.c": """\
#include <stdlib.h>
#include <string.h>

char *copy(const char *text) {
    char *made = malloc(strlen(text) + 1);
    strcpy(made, text);
    free(made);
    return made;
}
""",
}
MORE = {
    ".py": ["import os", "os.system(input())", "x = eval(input())", "# analyze: ignore[command-injection] why", "pass"],
    ".js": ["eval(location.hash);", "// nothing", "require('child_process').exec(process.argv[2]);"],
    ".java": ["// nothing", "class Other { void f(String s) throws Exception { Runtime.getRuntime().exec(s); } }"],
    ".go": ["// nothing", "func other(s string) string { return s }"],
    ".c": ["int zero(void) { return 0; }", "void leak(void) { char *p = malloc(3); p[0] = 1; }"],
}


class Edits:
    """Edits of the files below a directory, the same for the same seed."""

    def __init__(self, root, seed):
        self.root, self.random, self.n_new = root, random.Random(seed), 0

    def begin(self):
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def files(self):
        hidden = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(path for path in hidden if ".git" not in path.parts and path.suffix in MORE)

    def edited(self, path):
        """Return the text of a file after an edit, which may leave it without sense."""
        lines = path.read_text(errors="replace").split("\n")
        at = self.random.randrange(len(lines))
        kind = self.random.random()
        if kind < 0.35:
            lines.insert(at, self.random.choice(MORE[path.suffix]))
        elif kind < 0.55:
            del lines[at]
        elif kind < 0.7:
            lines.insert(at, lines[self.random.randrange(len(lines))])
        elif kind < 0.85:
            line = lines[at]
            cut = self.random.randrange(len(line) + 1)
            lines[at] = line[:cut] + self.random.choice(["(", "{", '"', " x", ")", "}"]) + line[cut:]
        else:
            self.random.shuffle(lines)
        return "\n".join(lines)

    def step(self):
        """Change something on the disk."""
        files, kind = self.files(), self.random.random()
        if not files or kind < 0.06:
            self.begin()
            return
        path = self.random.choice(files)
        if kind < 0.7:
            path.write_text(self.edited(path))
        elif kind < 0.78:
            path.unlink()
        elif kind < 0.86:
            path.rename(path.with_name(f"new{self.n_new}{path.suffix}"))
        elif kind < 0.94:
            shutil.copy(path, path.with_name(f"new{self.n_new}{path.suffix}"))
        elif kind < 0.97:
            self.write(".analyzeignore", self.random.choice(["", "app/\n", "*.go\n", "lib/\nweb/\n"]))
        else:
            self.write(".analyze.toml", self.random.choice(["", 'rules = ["-cwe-89"]\n', 'exclude = ["src"]\n']))
        self.n_new += 1
