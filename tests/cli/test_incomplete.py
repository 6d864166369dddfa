"""Commands without a report say what they did not see, and exit with the code of an incomplete scan."""

import errno
from dataclasses import replace

import pytest

from analyzer.evaluation import recursion_bounds
from analyzer.exit_codes import CLEAN, INCOMPLETE
from analyzer.queries.live_queries import TreeQueries
from analyzer.queries.query import Query
from analyzer.queries.tree_query import ask_tree
from analyzer.scan import ScanRequest
from analyzer.sources.trees import WorkingTree

DISPATCH = "\n".join(
    [*(f"def f{n}(x):\n    return x\n" for n in range(30)), "TABLE = {"]
    + [f"    '{n}': f{n}," for n in range(30)]
    + ["}", "def run(name, x):", "    return TABLE[name](x)", ""]
)
POINTS_TO, NO_POINTS_TO = "points_to(v, o)", "function(f, _, n)"
COMMANDS = {
    "query": ("query", POINTS_TO),
    "callgraph": ("callgraph", "--format", "dot"),
    "callgraph --dead": ("callgraph", "--dead"),
    "models missing": ("models", "missing"),
    "models derive": ("models", "derive"),
}


@pytest.fixture
def small_bound(monkeypatch):
    """Points-to analysis is cut beyond ten rows."""
    bound = replace(recursion_bounds.POINTS_TO, rows_per_entity=0.0, least_rows=10)
    monkeypatch.setattr(recursion_bounds, "RECURSIONS", (bound, recursion_bounds.TAINT))


@pytest.fixture
def tree(tmp_path, monkeypatch):
    top = tmp_path / "tree"
    top.mkdir()
    (top / "table.py").write_text(DISPATCH)
    monkeypatch.chdir(tmp_path)
    return top


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_is_whole_is_clean(analyze, tree, command):
    assert analyze(*command, "tree", code=CLEAN).stderr == ""


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_cut_of_points_to_is_told(analyze, tree, small_bound, command):
    told = analyze(*command, "tree", code=INCOMPLETE).stderr
    assert told.startswith("error: points-to analysis was cut; values whose objects are not propagated: ")
    assert "at tree/table.py:" in told


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_lines_that_do_not_parse_are_told(analyze, tree, command):
    (tree / "wrong.py").write_text("x = 1\ndef (:\n")
    told = analyze(*command, "tree", code=INCOMPLETE).stderr
    assert told.startswith("error: tree/wrong.py:2: syntax errors left line 2")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_files_that_cannot_be_read_are_told(analyze, tree, monkeypatch, command):
    def read(tree, path, read=WorkingTree.read):
        if path == "locked.py":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read(tree, path)

    (tree / "locked.py").write_text("x = 1\n")
    monkeypatch.setattr(WorkingTree, "read", read)
    told = analyze(*command, "tree", code=INCOMPLETE).stderr
    assert told == "error: tree/locked.py: cannot be read: Permission denied\n"


def test_a_cut_that_a_query_does_not_rest_on_is_not_told(analyze, tree, small_bound):
    assert analyze("query", NO_POINTS_TO, "tree", code=CLEAN).stderr == ""


@pytest.mark.parametrize("text", [POINTS_TO, NO_POINTS_TO])
def test_maintained_relations_lack_the_same(tree, small_bound, text):
    (tree / "wrong.py").write_text("x = 1\ndef (:\n")
    queries = TreeQueries.on(tree, {})
    try:
        answers = queries.answers(Query(text))
    finally:
        queries.close()
    assert answers == ask_tree(ScanRequest(tree), Query(text))
    assert len(answers.problems) == (2 if text == POINTS_TO else 1)


@pytest.mark.parametrize(
    "options", [("-o", "report.txt"), ("-o", "report.json", "--format", "json"), ("--format", "sarif")]
)
def test_a_report_that_is_not_printed_as_text_says_why_it_is_incomplete(analyze, tree, options):
    (tree / "a.py").write_text("x = (\n")
    (tree / "b.py").write_text("y = )\n")
    told = analyze("scan", "tree", *options, code=INCOMPLETE).stderr
    assert told == "warning: incomplete, exit code 3: tree/a.py:1 could not be parsed, and 1 more: see the report\n"
