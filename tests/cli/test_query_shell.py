"""The shell of `analyze query`, by keys that are typed."""

from contextlib import contextmanager

import pytest
import watchfiles
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from analyzer.queries.live_queries import ProgramQueries, TreeQueries, history_file
from analyzer.queries.query import Query
from cli.query_shell import RelationCompleter, Shell

APP = """\
import os


def clean(name):
    return name.strip()


def run(name):
    os.system("ls " + clean(name))
"""
PROGRAM = """\
// There is an edge.
.decl edge(x: symbol, y: symbol)
.input edge
// There is a path.
.decl path(x: symbol, y: symbol)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.fixture
def typed(capsys, tmp_path):
    """Type lines, and return what is printed."""

    def run(queries, *lines, limit=100):
        with create_pipe_input() as keys:
            keys.send_text("".join(f"{line}\r" for line in (*lines, ".quit")))
            Shell(queries, Query("", limit=limit)).run(tmp_path / "history", keys, DummyOutput())
        return capsys.readouterr().out

    return run


@pytest.fixture
def program(tmp_path):
    (tmp_path / "tc.dl").write_text(PROGRAM)
    (tmp_path / "edge.facts").write_text("a\tb\nb\tc\n")
    return ProgramQueries(tmp_path / "tc.dl", tmp_path)


@pytest.fixture
def tree(state_directory, tmp_path, monkeypatch):
    top = tmp_path / "tree"
    top.mkdir()
    (top / "app.py").write_text(APP)
    monkeypatch.chdir(top)
    return top


@contextmanager
def asking(tree):
    queries = TreeQueries.on(tree, {"jobs": 1})
    try:
        yield queries
    finally:
        queries.close()


def test_queries_are_answered_one_after_the_other(typed, program):
    out = typed(program, 'path("a", y)', "path(x, y),", "!edge(x, y)", 'path("c", "a")')
    assert out.splitlines() == [
        "2 relations; .help for help",
        *("y", "b", "c", "2 answers"),
        *("x  y", "a  c", "1 answer"),
        "no",
    ]


def test_mistakes_are_told_and_the_shell_goes_on(typed, program):
    out = typed(program, "paht(x, y)", "path(x", ".nothing", ".limit many", "", 'path("a", "b")')
    assert "error[E010]" in out and "did you mean 'path'?" in out and "error[E001]" in out
    assert "no command .nothing" in out and "no command .limit" in out
    assert out.endswith("yes\n")


def test_commands(typed, program):
    out = typed(program, ".limit 1", "path(x, y)", ".limit 0", "path(x, y)", ".relations pat", ".timing", "edge(x, _)")
    assert "1 of 3 answers; .limit 0 shows all" in out and "3 answers" in out
    assert "path(x: symbol, y: symbol)\n      There is a path." in out
    assert "timing is on" in out and out.rstrip().endswith(" s")
    assert ".why ATOM" in typed(program, ".help")
    assert "edge" in typed(program, '.explain path("a", y)') and "scan" in typed(program, ".explain edge(x, y)").lower()


def test_tuples_are_explained(typed, program):
    assert "by path(" in typed(program, '.why path("a", "c")')
    assert "edge" in typed(program, '.why-not path("c", "a")')


def test_lines_are_kept_for_the_next_time(typed, program, tmp_path):
    typed(program, 'path("a", y)')
    assert 'path("a", y)' in (tmp_path / "history").read_text()


def completions(relations, text):
    return {each.text for each in RelationCompleter(relations).get_completions(Document(text), CompleteEvent())}


def test_names_columns_and_commands_are_completed(program):
    relations = program.relations()
    assert completions(relations, "pa") == {"path("}
    assert completions(relations, "path(x, y), ed") == {"edge("}
    assert completions(relations, "path(") == {"x"}
    assert completions(relations, "path(a, ") == {"y"}
    assert completions(relations, ".w") == {".why", ".why-not"}
    (shown,) = RelationCompleter(relations).get_completions(Document("pa"), CompleteEvent())
    assert shown.display_meta_text == "There is a path."


def test_a_tree_is_asked_as_it_is_at_each_query(typed, tree):
    text = 'call_target(c, f), qualified_name(f, "app.clean")'
    with asking(tree) as queries:
        assert "app.py:9:23  clean(name)" in typed(queries, text)
        (tree / "zoo.py").write_text("from app import clean\n\nclean('x')\n")
        out = typed(queries, text, "call_graph::generator_object(c, o)", ".explain call_target(c, f), !call(c, f, _)")
        assert "zoo.py:3:1  clean('x')" in out and "0 answers" in out
        strata = len(queries.repository.view.strata)
        assert strata == queries.repository.view.n_own
        assert "call_target" in typed(queries, ".why call_target(_, _)")


def test_live_answers_are_those_without_a_process_in_memory(analyze, tree):
    """Also where relations are asked that a scan has no use for."""
    from analyzer.queries.tree_query import ask_tree
    from analyzer.scan import ScanRequest

    (tree / "more.py").write_text("def g():\n    yield from range(3)\n\n\nfor x in g():\n    print(x)\n")
    with asking(tree) as queries:
        for text in (
            "call_graph::generator_object(c, o)",
            "instance_of(v, name)",
            "calls_library(c, name), place_in(c, f), !call_target(c, _)",
            "points_to(v, o)",
            "calls_library(c, n); call_target(c, f), qualified_name(f, n)",
            "finding(c, e, d)",
        ):
            query = Query(text)
            cold = ask_tree(ScanRequest(tree), query)
            live = queries.ask(query)
            assert (live.columns, live.rows, live.total) == (cold.columns, cold.rows, cold.total)


def test_history_is_kept_with_the_users_state(state_directory, tree):
    assert history_file(tree) == state_directory / "query_history"


def test_watched_answers_are_shown_when_they_change(analyze, tree, monkeypatch):
    def edits(path, **options):
        (tree / "zoo.py").write_text("import app\n")  # It calls nothing: the answers are the same.
        yield {("added", "zoo.py")}
        (tree / "zoo.py").write_text("from app import clean\n\nclean('x')\n")
        yield {("modified", "zoo.py")}

    monkeypatch.setattr(watchfiles, "watch", edits)
    shown = analyze("query", 'call_target(c, f), qualified_name(f, "app.clean")', "--watch").stdout
    assert [line for line in shown.splitlines() if "answer" in line] == ["1 answer", "2 answers"]
    assert "--watch goes with a QUERY" in analyze("query", "call(c, f, _)", "--watch", "--rev", "HEAD", code=2).output


def test_a_shell_goes_not_with_files(analyze, tree):
    for arguments in (["--format", "json"], ["--rev", "HEAD"], ["--batch", "."], ["-o", "out"]):
        assert "a shell goes not with" in analyze("query", "", ".", *arguments, code=2).output
    assert "a shell needs a terminal" in analyze("query", code=2).output
