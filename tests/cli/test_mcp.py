"""`analyze mcp`, by the client of the package over standard input and output."""

import json
import os
import re
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from analyzer.errors import AnalyzeError
from analyzer.history.commit_update import Follower
from analyzer.queries.assistant import MAX_ITEMS, MAX_TEXT, Assistant

TOP = Path(__file__).resolve().parents[2]
APP = """\
import hashlib
import os

from flask import Flask, request

app = Flask(__name__)


def listed(name):
    os.system("ls " + name)


@app.route("/")
def login():
    listed(request.args["name"])
    return hashlib.md5(request.args["password"]).hexdigest()
"""
TOOLS = {
    *("scan", "findings", "explain", "why_not", "query"),
    *("relations", "callers", "callees", "tainted_at", "check_edit"),
}


@pytest.fixture
def tree(state_directory, tmp_path):
    top = tmp_path / "tree"
    top.mkdir()
    (top / "app.py").write_text(APP)
    return top


@pytest.fixture
def assistant(tree):
    made = Assistant(tree, {"jobs": 1})
    yield made
    made.close()


@asynccontextmanager
async def connected(tree):
    command = ["-P", "-c", "from cli import main; main()", "mcp", str(tree), "-j", "1"]
    environment = os.environ | {"PYTHONPATH": str(TOP)}
    async with Client(StdioServerParameters(command=sys.executable, args=command, env=environment)) as client:
        yield client


async def told(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    return content.text if result.is_error else json.loads(content.text)


def test_an_assistant_works_through_a_repository(tree):
    """It scans, asks why, tries a mend, and learns what is wrong with a call."""

    async def session():
        async with connected(tree) as client:
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == TOOLS
            assert all(tool.description and tool.annotations.read_only_hint for tool in tools)
            assert "they are data" in client.instructions
            summary = await told(client, "scan")
            assert {row["check"] for row in summary["by_check"]} >= {"command-injection"} and summary["complete"]
            found = await told(client, "findings", check="command-injection")
            (finding,) = found["findings"]
            assert finding["place"].startswith("app.py:10:") and finding["source"].startswith("app.py:15:")
            steps = await told(client, "explain", what=finding["fingerprint"])
            assert "os.system" in steps["explanations"][0]
            assert steps == await told(client, "explain", what="app.py:10")
            callers = await told(client, "callers", function="app.listed")
            assert [row["caller"] for row in callers["answers"]] == ["app.login"]
            tainted = await told(client, "tainted_at", file="app.py", line=15)
            assert any("request.args" in row["value"]["text"] for row in tainted["answers"])
            mended = APP.replace('os.system("ls " + name)', "pass")
            edit = await told(client, "check_edit", file="app.py", text=mended)
            assert [row["check"] for row in edit["fixed"]] == ["command-injection"]
            assert [row["message"] for row in edit["new"]] == ["'os' is imported and never used."]
            assert (await told(client, "findings", check="command-injection"))["total"] == 1
            assert "error[E010]" in await told(client, "query", query="cal_target(c, f)")
            assert "error[A007]" in await told(client, "check_edit", file="../app.py", text="")
            assert "error" in (await told(client, "query", query=3)).lower()

    anyio.run(session)
    assert (tree / "app.py").read_text() == APP and [path.name for path in tree.iterdir()] == ["app.py"]


SETUPS = re.findall(r"```json\n(.*?)```", (TOP / "docs/assistants.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("setup", SETUPS)
def test_what_a_documented_set_up_starts_answers(tree, tmp_path, setup):
    """The tool's command is that of this interpreter; VS Code puts the folder for its variable."""
    command = tmp_path / "analyze"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m cli "$@"\n')
    command.chmod(0o755)
    ((given,),) = (servers.values() for servers in json.loads(setup).values())
    args = [each.replace("${workspaceFolder}", str(tree)) for each in given["args"]]
    environment = os.environ | {"PYTHONPATH": str(TOP), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    started = StdioServerParameters(command=given["command"], args=args, env=environment, cwd=tree)

    async def tools():
        async with Client(started) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert anyio.run(tools) == TOOLS


def test_nothing_is_evaluated_anew_to_say_why_nothing_is_found(assistant, monkeypatch):
    assistant.scan()
    follower = assistant.repository.follower

    def begin(*args):
        raise AssertionError("relations are evaluated anew")

    monkeypatch.setattr(Follower, "begin", begin)
    for check, line in (("command-injection", 16), ("sql-injection", 10)):
        found = assistant.why_not(check, "app.py", line)
        assert not found["reported"] and found["reasons"]
    assert assistant.repository.follower is follower


def test_callees_and_names_that_are_not_there(assistant):
    found = assistant.callees("app.login")
    assert {row["callee"] for row in found["answers"]} >= {"app.listed", "hashlib.md5"}
    unknown = assistant.callers("listed")
    assert (unknown["answers"], unknown["similar"]) == ([], ["app.listed"])


def test_answers_are_cut_and_say_so(assistant, tree):
    (tree / "many.py").write_text("\n".join(f"f{i}()" for i in range(MAX_ITEMS + 9)))
    found = assistant.query('call(c, m, _), module(m, "many", _, _)', limit=10_000)
    assert (len(found["answers"]), found["total"], found["more"]) == (MAX_ITEMS, MAX_ITEMS + 9, 9)
    assert [row["c"]["place"] for row in found["answers"]][:2] == ["many.py:1:1", "many.py:2:1"]
    first = assistant.relations("call")
    second = assistant.relations("call", first["next_offset"])
    names = [row["relation"] for row in (*first["relations"], *second["relations"])]
    assert len({*names}) == len(names) == min(first["total"], 2 * MAX_ITEMS) > MAX_ITEMS
    assert len(assistant.explain("call_target(_, _)")["explanations"][0]) <= MAX_TEXT


def test_what_is_not_found_is_explained(assistant, tree):
    (tree / "app.py").write_text(APP.replace("listed(request", "listed(int(request").replace('["name"])', '["name"]))'))
    found = assistant.why_not("command-injection", "app.py", 10)
    assert (found["reported"], found["at"]) == (False, "app.py:10") and found["reasons"]
    assert "qualified_name" in assistant.explain('qualified_name(_, "nowhere")')["explanations"][0]
    for wrong in ("app.py:x", "../app.py:3", "0000000"):
        with pytest.raises(AnalyzeError):
            assistant.explain(wrong)


def test_rules_of_ones_own_are_read(assistant):
    rules = ".decl asked(f: Entity)\nasked(f) :- call_target(_, f)."
    assert assistant.query("asked(f)", rules)["total"] == 1
    with pytest.raises(AnalyzeError, match="1 error"):
        assistant.query("asked(f)", '.decl asked(f: Entity)\n.include "/etc/passwd"')


def test_an_edit_that_does_not_parse_is_told(assistant):
    found = assistant.check_edit("app.py", APP + "x = = 1\n")
    assert found["lines_that_do_not_parse"] == [APP.count("\n") + 1]


@pytest.mark.parametrize("file", ["/etc/passwd", "../x.py", "a/../../x.py", "", "C:/x.py", "..\\x.py", "none.py"])
def test_files_outside_are_not_looked_at(assistant, file):
    with pytest.raises(AnalyzeError) as caught:
        assistant.check_edit(file, "x = 1\n")
    assert caught.value.code == "A007"


def test_texts_of_files_are_escaped(assistant, tree):
    name = "evil\u202e\x1b[31m"
    (tree / f"{name}.py").write_text("f('\u202e\x1b]0;x\x07')\n")
    from cli.assistant_server import as_tool

    shown = as_tool(assistant.query)('call(c, m, _), module(m, _, _, file), contains("evil", file)')
    assert json.loads(shown)["total"] == 1 and not {*shown} & {"\x1b", "\u202e", "\x07"}


def test_a_constant_cannot_leave_its_quotes(assistant):
    assert assistant.callers('x"), !false, qualified_name(_f, "app.listed')["answers"] == []
    assert assistant.callers("x\\")["answers"] == []
