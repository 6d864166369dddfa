"""`analyze query` and `analyze relations`: on a tree, a commit, a program with facts, and a batch's results."""

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest
import sqlite_utils

from analyzer.batch.result_database import create_tables
from cli.commands.query import SHOWN

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((Path(__file__).parents[1] / "analyzer/data/sarif-2.1.0-rtm.5.json").read_text())
APP = """\
import os


def clean(name):
    return name.strip()


def run(name):
    os.system("ls " + clean(name))
    os.system(clean(name))


def each(names):
    yield from names
"""
OTHER = "from app import clean\n\nclean('x')\n"
CALLS = 'call_target(c, f), qualified_name(f, "app.clean")'


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "tree"
    top.mkdir()
    (top / "app.py").write_text(APP)
    (top / "zoo.py").write_text(OTHER)
    return top


@pytest.fixture
def query(analyze, tree, monkeypatch):
    monkeypatch.chdir(tree)

    def run(*arguments, code=0):
        return analyze("query", *arguments, code=code)

    return run


def rows(result):
    return json.loads(result.stdout)["rows"]


def squeezed(text):
    return [re.sub(" {2,}", "  ", line) for line in text.splitlines()]


def test_answers_are_a_table_of_places_and_source_texts(query):
    assert squeezed(query(CALLS).stdout) == [
        "c  f",
        "app.py:9:23  clean(name)  app.py:4:1  def clean(name):",
        "app.py:10:15  clean(name)  app.py:4:1  def clean(name):",
        "zoo.py:3:1  clean('x')  app.py:4:1  def clean(name):",
        "3 answers",
    ]


def test_paths_are_those_of_the_working_directory(query, tree, monkeypatch):
    monkeypatch.chdir(tree.parent)
    assert "tree/zoo.py:3:1" in query(CALLS, "tree").stdout


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('calls_library(c, "os.system"), !call_target(c, _)', {9, 10}),
        ('calls_library(c, "os.system"), call(c, b, _), function(b, _, "run")', {9, 10}),
        ('parameter(c, 0, p, _), strlen(p) > 3, function(c, _, f), f = "clean"', {4}),
        ('function(c, _, n), (n = "run"; n = "none")', {8}),
        ("function(c, _, _), 2 < count : { call(_, c, _) }", {8}),
        ("call_graph::generator_object(c, _)", {13}),
    ],
)
def test_conjunctions_negations_comparisons_aggregates_and_private_relations(query, text, lines):
    assert {row["c"]["line"] for row in rows(query(text, "--format", "json"))} == lines


def test_json_csv_and_text_have_the_same_rows(query):
    found = rows(query(CALLS + ", qualified_name(f, n)", "--format", "json"))
    assert found[0] == {
        "c": {"file": "app.py", "line": 9, "column": 23, "end_line": 9, "end_column": 34, "text": "clean(name)"},
        "f": {"file": "app.py", "line": 4, "column": 1, "end_line": 5, "end_column": 24, "text": "def clean(name):"},
        "n": "app.clean",
    }
    table = list(csv.reader(io.StringIO(query(CALLS, "--format", "csv").stdout)))
    assert table[0] == ["c", "c.text", "f", "f.text"]
    assert [(row[0], row[1]) for row in table[1:]] == [
        (f"{row['c']['file']}:{row['c']['line']}:{row['c']['column']}", row["c"]["text"]) for row in found
    ]


def test_sarif_has_a_result_for_each_answer_with_a_place(query):
    log = json.loads(query(CALLS, "--format", "sarif").stdout)
    jsonschema.validate(log, SCHEMA)
    first = log["runs"][0]["results"][0]
    assert first["locations"][0]["physicalLocation"]["region"]["startLine"] == 9
    assert first["message"]["text"] == "c = clean(name), f = def clean(name):"
    assert len(log["runs"][0]["results"]) == 3
    bare = json.loads(query("module(_, n, _, _)", "--format", "sarif").stdout)["runs"][0]
    assert bare["results"] == []
    assert "2 answers without a place" in json.dumps(bare["invocations"])


def test_a_query_without_variables_is_answered_by_yes_or_no(query):
    assert query('calls_library(_, "os.system")').stdout == "yes\n"
    assert query('calls_library(_, "os.popen")').stdout == "no\n"


def test_what_is_cut_is_said(query, tree):
    (tree / "many.py").write_text("\n".join(f"f{i}()" for i in range(SHOWN + 5)))
    text = 'call(c, m, _), module(m, "many", _, _)'
    assert query(text).stdout.endswith(f"{SHOWN} of {SHOWN + 5} answers; --limit 0 shows all\n")
    assert len(rows(query(text, "--format", "json"))) == SHOWN + 5
    cut = query(text, "--format", "json", "--limit", "3")
    assert [row["c"]["line"] for row in rows(cut)] == [1, 2, 3] and json.loads(cut.stdout)["total"] == SHOWN + 5
    assert f"warning: {SHOWN + 2} more answers are left out" in cut.stderr
    assert len(query(text, "--limit", "0").stdout.splitlines()) == SHOWN + 7


def test_answers_go_to_a_file(query, tmp_path):
    query(CALLS, "-o", tmp_path / "out.txt")
    assert squeezed((tmp_path / "out.txt").read_text())[-1] == "3 answers"


def test_a_commit_is_asked_without_the_working_tree(query, history, monkeypatch):
    history.commit({"app.py": APP, "zoo.py": OTHER})
    (history.path / "app.py").unlink()
    monkeypatch.chdir(history.path)
    assert len(rows(query(CALLS, "--rev", "HEAD", "--format", "json"))) == 3
    assert query('module(_, "app", _, _)').stdout == "no\n"


def test_own_rules_and_models_are_read(query, tmp_path):
    rule = ".decl twice(f: Entity)\ntwice(f) :- call_target(c, f), call_target(d, f), c != d."
    assert {row["f"]["line"] for row in rows(query("twice(f)", "-e", rule, "--format", "json"))} == {4}
    (tmp_path / "own.dl").write_text(rule)
    assert query("twice(_)", "-f", tmp_path / "own.dl").stdout == "yes\n"
    assert "error[A001]" in query("twice(_)", "-f", tmp_path / "none.dl", code=2).output
    (tmp_path / "model.dl").write_text('.decl mine(c: Entity) public\nmine(c) :- calls_library(c, "os.system").')
    assert "2 answers" in query("mine(c)", "--models", tmp_path / "model.dl").stdout


def test_findings_of_the_checks_can_be_asked(query, tree):
    (tree / "hashes.py").write_text("import hashlib\n\n\ndef h(password):\n    return hashlib.md5(password)\n")
    found = rows(query("finding(check, e, _), place_in(e, b), function(b, _, name)", "--format", "json"))
    assert [(row["check"], row["e"]["line"], row["name"]) for row in found] == [("weak-secret-hash", 5, "h")]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cal_target(c, f)"], "<query>:1:1\n1 | cal_target(c, f)\n  | ^^^^^^^^^^^^^^^^\nhelp: did you mean 'call_t"),
        (["call_target(c)"], "error[E012]"),
        (["call_target(c, f), !call_target(f, g)"], "error[E014]: variable 'g'"),
        (["call_target(c, "], "error[E001]"),
        (["generator_object(c, o)"], "error[E080]: relation 'generator_object' is private to a module"),
        (["generator_object(c, o)"], "help: write 'call_graph::generator_object'"),
        (["x(a)", "-e", ".decl x(a: Entity)\nx(a) :- y(a)."], "--> <rules 1>:2:9"),
        (["call_target(c, f)", "nowhere"], "error[A001]"),
        (["call_target(c, f)", "-F", "."], "-F and --number-width go only with -p"),
        (["edge(x)", "-p", "tc.dl", "--rev", "HEAD"], "go only with PATH"),
        (["edge(x)", "-p", "none.dl"], "error[A001]"),
        (["edge(x)", "--batch", "."], "error[A001]"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(query, arguments, told):
    assert told in query(*arguments, code=2).output


def test_a_broken_file_is_a_problem_and_the_rest_is_answered(query, tree):
    (tree / "link.py").symlink_to("/nowhere")
    (tree / "page.py").write_bytes(b"\xff\xfe" * 2000)
    assert len(rows(query(CALLS, "--format", "json", code=None))) == 3


def test_lines_without_facts_are_told(query, tree):
    (tree / "zoo.py").write_text(OTHER + "x = = 1\n")
    found = query(CALLS, "--format", "json", code=3)
    assert len(rows(found)) == 3
    assert "error: zoo.py:4: syntax errors left line 4 without facts" in found.stderr


def test_hostile_names_and_texts_are_escaped(query, tree):
    (tree / "evil\x1b[31m.py").write_text("f('\x1b]0;owned\x07', '\u202e', \"[bold]x[/]\")\n")
    text = 'call(c, m, _), module(m, _, _, file), contains("evil", file)'
    for format in ("text", "json", "csv", "sarif"):
        shown = query(text, "--format", format).output
        assert not set(shown) & {"\x1b", "\x07", "\u202e"}
    assert "[bold]x[/]" in query(text).stdout


PROGRAM = """\
.decl edge(x: symbol, y: symbol)
.input edge
.decl path(x: symbol, y: symbol, n: number)
path(x, y, 1) :- edge(x, y).
path(x, z, n + 1) :- path(x, y, n), edge(y, z), n < 9.
"""


def test_any_program_and_facts_are_asked(query, tree):
    (tree / "tc.dl").write_text(PROGRAM)
    (tree / "edge.facts").write_text("a\tb\nb\tc\nc\td\n")
    options = ("-p", "tc.dl", "--format", "json")
    assert rows(query('path("a", y, n), n > 1', *options)) == [{"y": "c", "n": 2}, {"y": "d", "n": 3}]
    assert query('path("a", "d", _)', "-p", "tc.dl").stdout == "yes\n"
    (tree / "edge.facts").unlink()
    assert "error[F001]" in query("edge(x, y)", "-p", "tc.dl", code=2).output


def test_the_results_of_a_batch_are_asked_by_repository(query, tmp_path):
    database = sqlite_utils.Database(tmp_path / "findings.sqlite")
    create_tables(database)
    for name in ("one", "two"):
        database.table("repositories").insert({"name": name, "bytes": 1 << 40, "status": "complete"})
    found = {"repository": "two", "rule": "sql-injection", "file": "a.py", "line": 3, "severity": "error"}
    database.table("findings").insert(found)
    columns = list(database.table("findings").columns_dict)
    terms = ", ".join(name if name in ("repository", "line") else "_" for name in columns)
    text = f"findings({terms})"
    assert rows(query(text, "--batch", tmp_path, "--format", "json")) == [{"repository": "two", "line": 3}]
    names = ", ".join(
        {"name": "r", "bytes": "b"}.get(name, "_") for name in database.table("repositories").columns_dict
    )
    clean = f"repositories({names}), !findings({', '.join(['r', *['_'] * (len(columns) - 1)])})"
    assert rows(query(clean, "--batch", tmp_path, "--format", "json")) == [{"r": "one", "b": 1 << 40}]
    (tmp_path / "findings.sqlite").write_bytes(b"SQLite format 3\0 no more")
    assert "error[A001]" in query(text, "--batch", tmp_path, code=2).output


def test_the_queries_of_the_page_fit_the_rules(query):
    """All but the one that is shown for its error."""
    page = (DOCS / "query.md").read_text("utf-8")
    asked = re.findall(r"\$ analyze query '([^']+)'(?: -e '([^']+)')?", page)
    rows = re.findall(r"^\| (`.+`) \|", page.partition("## What there is")[0], re.MULTILINE)
    asked += [(text, "") for row in rows for text in re.findall(r"`([^`]+)`", row)]
    assert len(asked) > 9
    for text, rules in asked:
        mistaken = text.startswith("cal_target")
        if text.startswith(("contains", "match")):
            text = f"function(_, _, name), {text}"
        query(text, *(["-e", rules] if rules else []), "--limit", "1", code=2 if mistaken else 0)


# ---- analyze relations


def test_relations_are_listed_with_columns_and_what_a_row_means(analyze, tree, monkeypatch):
    monkeypatch.chdir(tree)
    (found,) = json.loads(analyze("relations", "call_target", "--format", "json").stdout)
    assert found["columns"] == [{"name": "call", "type": "Entity"}, {"name": "function", "type": "Entity"}]
    assert (found["module"], found["kind"]) == ("call_graph", "open")
    assert found["description"].startswith("The call may run the function")
    assert "call_graph\n  call_target(call: Entity, function: Entity)" in analyze("relations", "call_target").stdout


def test_private_relations_are_listed_as_queries_name_them(analyze, query):
    shown = analyze("relations", "generator_object").stdout
    assert "call_graph::" not in shown and "1 private ones beside them (--private)" in shown
    assert "call_graph::generator_object(" in analyze("relations", "generator_object", "--private").stdout


def test_every_relation_of_the_page_is_listed(analyze, tree, monkeypatch):
    monkeypatch.chdir(tree)
    listed = {each["name"] for each in json.loads(analyze("relations", "--format", "json").stdout)}
    on_page = set(re.findall(r"^\| `(\w+)\(", (DOCS / "relations.md").read_text("utf-8"), re.MULTILINE))
    sources = (file.read_text("utf-8") for file in (DOCS.parent / "rules").rglob("*.dl"))
    inlined = {name for text in sources for name in re.findall(r"^\.decl (\w+)\(.*inline$", text, re.MULTILINE)}
    assert on_page and on_page - listed <= inlined


def test_own_rules_and_programs_are_listed(analyze, tree, monkeypatch):
    monkeypatch.chdir(tree)
    (tree / ".analyze" / "models").mkdir(parents=True)
    (tree / ".analyze" / "models" / "mine.dl").write_text("// A row is mine.\n.decl mine(x: Entity) public\n")
    (found,) = json.loads(analyze("relations", "mine", "--format", "json").stdout)
    assert (found["description"], found["file"], found["line"]) == ("A row is mine.", ".analyze/models/mine.dl", 2)
    (tree / "tc.dl").write_text(PROGRAM)
    shown = analyze("relations", "-p", "tc.dl").stdout.splitlines()
    assert [line.strip() for line in shown] == [
        "edge(x: symbol, y: symbol)", "path(x: symbol, y: symbol, n: number)", "2 relations",
    ]  # fmt: skip
    assert "error[A001]" in analyze("relations", "-p", "none.dl", code=2).output
