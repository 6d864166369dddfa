"""The hook on the staged index, by itself and through the real pre-commit tool."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from facts import LANGUAGES

TOP = Path(__file__).resolve().parents[2]
PARTS = ("analyzer", "cli", "engine", "facts", "rules", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
IDENTITY = {f"GIT_{role}_{key}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
CHECK = ("--rules", "sql-injection")


def git(path, *arguments, check=True, **variables):
    command = ["git", "-C", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | IDENTITY | variables)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def staged(repository, monkeypatch):
    """A repository whose vulnerable file is staged, and fixed in the working tree."""
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", ".")
    (repository / "app.py").write_text("fixed = True\n")
    monkeypatch.chdir(repository)
    return repository


def test_what_is_staged_is_scanned_not_the_working_tree(analyze, staged):
    assert "app.py:11" in analyze("hook", *CHECK, code=1).output
    git(staged, "add", "app.py")
    analyze("hook", *CHECK, code=0)


def test_only_staged_files_are_reported_and_all_when_nothing_is_staged(analyze, staged):
    git(staged, "commit", "-q", "-m", "vulnerable")
    (staged / "new.py").write_text("def broken(:\n")
    (staged / "other.py").write_text("x = 1\n")
    git(staged, "add", "other.py")
    assert "none" in analyze("hook", *CHECK, code=0).output
    git(staged, "commit", "-q", "-m", "other")
    assert "app.py:11" in analyze("hook", *CHECK, code=1).output


def test_the_index_that_git_names_is_used_also_by_a_relative_path(analyze, staged, monkeypatch):
    shutil.copy(staged / ".git/index", staged / ".git/other-index")
    git(staged, "add", "app.py")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other-index")
    assert "app.py:11" in analyze("hook", *CHECK, code=1).output


def test_a_hook_works_in_a_worktree(analyze, staged, tmp_path, monkeypatch):
    git(staged, "commit", "-q", "-m", "vulnerable")
    git(staged, "worktree", "add", "-q", tmp_path / "side", "-b", "side")
    (tmp_path / "side/more.py").write_text((tmp_path / "side/app.py").read_text())
    git(tmp_path / "side", "add", "more.py")
    monkeypatch.chdir(tmp_path / "side")
    directory = git(tmp_path / "side", "rev-parse", "--absolute-git-dir").stdout.strip()
    monkeypatch.setenv("GIT_DIR", directory)
    output = analyze("hook", *CHECK, code=1).output
    assert "more.py:11" in output and "app.py" not in output


def test_outside_a_repository_the_hook_says_so(analyze, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "not in a git repository" in analyze("hook", code=2).output


CONFIGURATION = """\
repos:
  - repo: {hooks}
    rev: {rev}
    hooks:
      - id: analyze
        args: [--rules, "sql-injection,command-injection,cross-site-scripting"]
"""


NODE = "const http = require('http'), cp = require('child_process');\nhttp.createServer((q) => cp.exec(q.url));\n"
JAVA = """\
import jakarta.servlet.http.HttpServletRequest;
class Run {
  void run(HttpServletRequest request) throws Exception {
    Runtime.getRuntime().exec(request.getParameter("c"));
  }
}
"""
GO = """\
package main

import (
	"net/http"
	"os/exec"
)

func run(w http.ResponseWriter, r *http.Request) {
	exec.Command("sh", "-c", r.FormValue("c")).Run()
}
"""
VULNERABLE = {
    "java": ("Run.java", JAVA, "Run.java:4"),
    "c": ("run.c", "#include <stdlib.h>\nint main(int n, char **v) {\n  return system(v[1]);\n}\n", "run.c:3"),
    "javascript": ("run.js", NODE, "run.js:2"),
    "typescript": ("run.ts", NODE, "run.ts:2"),
    "tsx": ("run.tsx", NODE, "run.tsx:2"),
    "go": ("run.go", GO, "run.go:9"),
    "html": ("page.html", "{{ request.args.q|safe }}\n", "page.html:1"),
    "jinja": ("page.j2", "{{ request.args.q|safe }}\n", "page.j2:1"),
    "handlebars": ("page.hbs", "{{{request.args.q}}}\n", "page.hbs:1"),
    "freemarker": ("page.ftl", "${request.args.q}\n", "page.ftl:1"),
    "velocity": ("page.vm", "$request.args.q\n", "page.vm:1"),
    "mako": ("page.mako", "${request.args['q']}\n", "page.mako:1"),
    "pug": ("page.pug", "p!= request.args.q\n", "page.pug:1"),
    "jsp": ("page.jsp", '<%= request.getParameter("q") %>\n', "page.jsp:1"),
    "vue": ("a.vue", '<template><p v-html="$route.query.q"/></template>\n', "a.vue:1"),
    "svelte": ("a.svelte", "{@html location.hash}\n", "a.svelte:1"),
    "ejs": ("page.ejs", "<% require('express')().get('/', (req, res) => res.send(req.query.q)) %>\n", "page.ejs:1"),
}


def test_the_hook_is_for_all_files_that_an_extractor_reads_and_for_settings():
    (hook,) = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())
    concerns = re.compile(hook["files"])
    # Nothing is a source in a Go template itself; statements and descriptions are of code elsewhere.
    assert set(LANGUAGES) == {"python", "gotemplate", "mybatis", "openapi", "beans", *VULNERABLE}
    suffixes = {suffix for language in LANGUAGES.values() for suffix in language.suffixes}
    settings = (".analyze.toml", "a/pyproject.toml", ".analyzeignore", ".analyze/models/own.dl")
    for path in (*(f"a/b{suffix}" for suffix in suffixes), "A.PY", *settings):
        assert concerns.search(path), path
    assert not concerns.search("notes.txt")
    assert not {"types", "types_or"} & hook.keys()


@pytest.mark.slow
def test_pre_commit_installs_and_runs_the_hook(staged, tmp_path, state_directory):
    """The hook is built and installed by pre-commit itself; what it depends on is taken from this environment."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for part in (*PARTS, ".pre-commit-hooks.yaml"):
        copy = shutil.copytree if (TOP / part).is_dir() else shutil.copy
        copy(TOP / part, hooks / part)
    git(hooks, "init", "-q")
    git(hooks, "add", ".")
    git(hooks, "commit", "-q", "-m", "hooks")
    rev = git(hooks, "rev-parse", "HEAD").stdout.strip()
    (staged / ".pre-commit-config.yaml").write_text(CONFIGURATION.format(hooks=hooks, rev=rev))
    environment = os.environ | IDENTITY | {"PRE_COMMIT_HOME": str(tmp_path / "pre-commit")}
    environment |= {"PYTHONPATH": sysconfig.get_path("purelib"), "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}

    def commit(*arguments):
        command = ["git", "-C", str(staged), "commit", "-m", "change", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    install = [sys.executable, "-m", "pre_commit", "install"]
    subprocess.run(install, cwd=staged, env=environment, check=True, capture_output=True)
    git(staged, "add", ".pre-commit-config.yaml")
    refused = commit()
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert "app.py:11:5" in refused.stdout + refused.stderr
    accepted = commit("--all")
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    for name, (file, text, place) in VULNERABLE.items():
        (staged / file).write_text(text)
        git(staged, "add", file)
        refused = commit()
        assert refused.returncode == 1 and place in refused.stdout + refused.stderr, (name, refused)
        git(staged, "rm", "-q", "--cached", file)
        (staged / file).unlink()
    (staged / "notes.txt").write_text("nothing to analyse\n")
    git(staged, "add", "notes.txt")
    passed = commit()
    assert passed.returncode == 0 and "no files to check" in passed.stdout + passed.stderr
