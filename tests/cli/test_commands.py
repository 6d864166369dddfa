"""The other commands: run, facts, callgraph, rules, doctor, help."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TC = """\
.decl arc(x: symbol, y: symbol)
.input arc
.decl tc(x: symbol, y: symbol)
.output tc
.printsize tc
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "arc.facts").write_text("a\tb\nb\tc\n")
    (tmp_path / "tc.dl").write_text(TC)
    return tmp_path / "tc.dl"


def test_run_reads_facts_writes_results_and_prints_sizes(analyze, program, tmp_path):
    printed = analyze("run", program, "-F", tmp_path, "-D", tmp_path / "out", "-j", 2).output
    assert printed == "tc\t3\n"
    assert sorted((tmp_path / "out/tc.csv").read_text().splitlines()) == ["a\tb", "a\tc", "b\tc"]


def test_run_with_numbers_of_64_bits(analyze, tmp_path):
    program, largest = tmp_path / "wide.dl", 2**63 - 1
    program.write_text(
        ".decl a(x: number)\n.input a\n.decl b(x: number)\n.output b\n.decl c(x: number)\n"
        '.output c(IO=parquet)\n.input c(filename="c.facts")\nb(x + 1) :- a(x).\nc(x) :- b(x).\n'
    )
    (tmp_path / "a.facts").write_text(f"{largest}\n1\n")
    (tmp_path / "c.facts").write_text("")
    files = ("-F", tmp_path, "-D", tmp_path / "out")
    assert "out of the range" in analyze("run", program, *files, code=2).output
    analyze("run", program, *files, "--number-width", 64)
    assert (tmp_path / "out/b.csv").read_text() == f"{-(2**63)}\n2\n"
    program.write_text(".decl c(x: number)\n.input c(IO=parquet)\n.output c\n")
    analyze("run", program, "-F", tmp_path / "out", "-D", tmp_path / "out", "--number-width", 64)
    assert (tmp_path / "out/c.csv").read_text() == f"{-(2**63)}\n2\n"


def test_run_says_where_a_program_is_wrong(analyze, program):
    program.write_text(TC + "tc(x, y) :- ark(x, y).\n")
    output = analyze("run", program, code=2).output
    assert "error[E010]" in output and "tc.dl:8:13" in output and "arc" in output


@pytest.mark.parametrize(("facts", "said"), [("a\tb\nc\n", "arc.facts:2"), (None, "arc.facts")])
def test_run_says_where_facts_are_wrong(analyze, program, tmp_path, facts, said):
    (tmp_path / "arc.facts").unlink()
    if facts:
        (tmp_path / "arc.facts").write_text(facts)
    output = analyze("run", program, "-F", tmp_path, "-D", tmp_path, code=2).output
    assert "error[F001]" in output and said in output


@pytest.mark.parametrize("options", [("global",), ("ssp", "--slack", 2), ("dws",)])
def test_run_derives_the_same_under_every_policy(analyze, program, tmp_path, options):
    program.write_text(TC.replace("arc(y, z)", "tc(y, z)"))
    (tmp_path / "arc.facts").write_text("".join(f"{i}\t{(i + 1) % 150}\n" for i in range(150)))
    printed = analyze("run", program, "-F", tmp_path, "-D", tmp_path / "out", "-j", 2, "--policy", *options).output
    assert printed == f"tc\t{150 * 150}\n"


def test_run_explains_its_plan_and_writes_nothing(analyze, program, tmp_path):
    printed = analyze("run", program, "-F", tmp_path, "-D", tmp_path / "out", "--explain").output
    for said in ("tc(x, y)  3 rows", "decomposable: every recursive rule keeps tc.x", "join arc[x]", "1 rule: tc ("):
        assert said in printed
    assert "nothing is sent\n    home of tc  by x  read by tc (" in printed
    assert not (tmp_path / "out").exists()


def test_run_explains_a_plan_without_facts(analyze, program, tmp_path):
    (tmp_path / "arc.facts").unlink()
    assert "a guess" in analyze("run", program, "-F", tmp_path, "--explain").output


def test_run_saves_a_profile_and_prints_the_dearest_rules(analyze, program, tmp_path):
    printed = analyze("run", program, "-F", tmp_path, "-D", tmp_path / "out", "--profile", tmp_path / "p.json").output
    assert printed.startswith("tc\t3\n") and "tc(x, z) :- tc(x, y), arc(y, z)." in printed
    costs = json.loads((tmp_path / "p.json").read_text())
    rules = [rule for stratum in costs["strata"] for rule in stratum["rules"]]
    assert [(rule["text"].split(" :-")[0], rule["rows_out"]) for rule in rules] == [("tc(x, y)", 2), ("tc(x, z)", 1)]
    assert rules[1]["iterations"][0]["rows_in"] == 2


def test_run_answers_a_query_and_writes_nothing(analyze, program, tmp_path):
    query = ("run", program, "-F", tmp_path, "-D", tmp_path / "out", "--query")
    assert analyze(*query, 'tc("a", x)').output == "a\tb\na\tc\n"
    assert analyze(*query, 'tc(x, "a")').output == ""
    assert not (tmp_path / "out").exists()
    assert "error[E010]" in analyze(*query, "ct(1, x)", code=2).output
    assert "tc@bf(x, z) :- tc@bf(x, y), arc(y, z)." in analyze(*query, 'tc("a", x)', "--explain").output


def test_facts_are_written_one_file_a_relation(analyze, repository, tmp_path):
    analyze("facts", repository, "-o", tmp_path / "facts")
    calls = (tmp_path / "facts/call.facts").read_text().splitlines()
    assert len(calls) == 9  # Flask, route, what it gives, connect, cursor, execute, str, len, fetchall
    assert (tmp_path / "facts/import_member.facts").read_text().count("flask") == 2


def test_the_call_graph_is_json_by_qualified_names(analyze, repository, tmp_path):
    (repository / "app.py").write_text("import lib\n\ndef main():\n    lib.work()\n\nmain()\n")
    (repository / "lib.py").write_text("def work():\n    pass\n")
    graph = json.loads(analyze("callgraph", repository).output)
    assert graph == {"app": ["app.main"], "app.main": ["lib.work"]}
    analyze("callgraph", repository, "-o", tmp_path / "graph.json")
    assert json.loads((tmp_path / "graph.json").read_text()) == graph


def test_the_catalogue_lists_and_shows_checks(analyze):
    rows = json.loads(analyze("rules", "list", "--format", "json").output)
    assert {row["id"]: row["cwe"] for row in rows}["sql-injection"] == [89]
    assert "sql-injection" in analyze("rules", "list").output
    page = analyze("rules", "show", "sql-injection").output
    assert "SQL query built from user-controlled data" in page and "CWE-89" in page


def test_every_check_finds_what_its_examples_expect(analyze):
    assert " 0 failed" in analyze("rules", "test").output


WRONG_EXAMPLES = """\
# Call of print

```python
print("found")
print("not marked")  # ok: own/print
len("nothing")  # expect: own/print
```
"""
OWN_CHECK = """\
// @id own/print
// @name Call of print
// @severity warning
// @precision high
// @message print is called.
finding("own/print", c, "") :- calls(c, "builtins.print").
"""


@pytest.mark.slow
def test_examples_that_are_not_met_fail_with_their_lines(analyze, tmp_path):
    (tmp_path / "print.dl").write_text(OWN_CHECK)
    (tmp_path / "print.md").write_text(WRONG_EXAMPLES)
    output = analyze("rules", "test", "own/print", "--rules-dir", tmp_path, code=1).output
    assert "line 3: expected, not found" in output
    assert "line 1: found, not expected" in output
    assert "line 2: found, not expected" in output
    assert "0 passed, 1 failed" in output


def test_the_catalogue_is_not_wrapped_in_a_pipe(analyze):
    rows = json.loads(analyze("rules", "list", "--format", "json").output)
    lines = analyze("rules", "list").output.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [row["id"] for row in rows]
    assert all(line.rstrip().endswith(row["name"]) for line, row in zip(lines[1:], rows, strict=True))


def test_a_page_is_not_wrapped_in_a_pipe(analyze, tmp_path):
    (tmp_path / "print.dl").write_text(OWN_CHECK)
    sentence = "Words of a page that stand on one line there. " * 10
    (tmp_path / "print.md").write_text(sentence + "\n")
    assert sentence.rstrip() in analyze("rules", "show", "own/print", "--rules-dir", tmp_path).output


RIGHT_EXAMPLE = """\
# Call of print

```python
print(shop.basket())  # expect: own/print
```
"""


@pytest.fixture
def own_checks(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/print.dl").write_text(OWN_CHECK)
    (tmp_path / "rules/print.md").write_text(RIGHT_EXAMPLE)
    return tmp_path / "rules"


@pytest.mark.slow
def test_examples_of_a_directory_of_rules_are_those_that_are_tested(analyze, own_checks):
    assert analyze("rules", "test", "--rules-dir", own_checks).output == "1 example: 1 passed, 0 failed\n"
    selected = analyze("rules", "test", "own/print", "weak-hash", "--rules-dir", own_checks).output
    assert "0 failed" in selected and not selected.startswith("1 example")


@pytest.mark.slow
def test_examples_are_tested_with_models(analyze, own_checks, tmp_path):
    (own_checks / "print.dl").write_text(OWN_CHECK.replace('calls(c, "builtins.print")', "own_print(c)"))
    (tmp_path / "own.dl").write_text('.decl own_print(c: Entity) public\nown_print(c) :- calls(c, "builtins.print").\n')
    assert "own_print" in analyze("rules", "test", "--rules-dir", own_checks, code=1).output
    analyze("rules", "test", "--rules-dir", own_checks, "--models", tmp_path / "own.dl")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "said"), [(None, "the check has no page: write print.md"), ("# Title\n", "print.md has no example")]
)
def test_a_check_without_a_page_or_an_example_fails(analyze, own_checks, page, said):
    (own_checks / "print.md").unlink()
    if page:
        (own_checks / "print.md").write_text(page)
    assert said in analyze("rules", "test", "--rules-dir", own_checks, code=1).output


ENDING = """
import atexit, sys
sys.path.insert(0, sys.argv.pop(1))
from cli import main
atexit.register(print, "cleaned up")
main()
print("not reached")
"""


@pytest.mark.parametrize(("arguments", "code"), [(("rules", "list"), 0), (("rules", "show", "no-such-check"), 2)])
def test_a_command_ends_with_its_code_after_what_is_to_be_done_at_exit(arguments, code):
    command = [sys.executable, "-P", "-c", ENDING, str(Path(__file__).parents[2]), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (code, "cleaned up")


def test_doctor_finds_this_machine_fit(analyze):
    output = analyze("doctor").output
    assert "Python" in output and "numba" in output and "engine" in output
    assert "✗" not in output


def test_help_names_every_command(analyze):
    output = analyze("--help").output
    for command in ("scan", "hook", "facts", "callgraph", "cfl", "run", "rules", "doctor"):
        assert command in output


def test_run_keeps_to_a_memory_limit(analyze, tmp_path):
    source = tmp_path / "product.dl"
    source.write_text(".decl n(x: number)\n.decl r(x: number, y: number)\n.printsize r\nr(x, y) :- n(x), n(y).\n")
    source.write_text(source.read_text() + "n(x) :- x = range(0, 3000).\n")
    assert "r\t9000000" in analyze("run", source, "-D", tmp_path, "--memory-limit", "4G").output
    output = analyze("run", source, "-D", tmp_path, "--memory-limit", "100M", code=2).output
    assert "V001" in output and "the memory limit of 104.9 MB" in output
    assert "is not a size" in analyze("run", source, "--memory-limit", "much", code=2).output


def test_models_missing_and_derived_are_printed_and_written(tmp_path, analyze):
    code = "import os, shop\ndef run(command):\n    os.system(command)\nrun(shop.quoted(input()))\n"
    (tmp_path / "app.py").write_text(code)
    assert analyze("models", "missing", tmp_path).output.split() == ["1", "shop.quoted", "app.py:4"]
    (model,) = json.loads(analyze("models", "missing", tmp_path, "--format", "json").output)
    assert model["name"] == "shop.quoted"
    analyze("models", "derive", tmp_path, "-o", tmp_path / "app.dl")
    assert 'sink_argument("command", "app.run", "0").\n' in (tmp_path / "app.dl").read_text()
