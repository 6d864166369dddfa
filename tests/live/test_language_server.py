"""The language server, spoken to by a client over standard input and output."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from analyzer.live.client import LostProcess, connected
from analyzer.live.language_server import Session

TOP = Path(__file__).resolve().parents[2]
LAST_S = 120
"""Seconds within which an answer must have come."""


class Editor:
    """A client on a directory, with the diagnostics that it was told last, by file."""

    def __init__(self, client, root):
        self.client, self.root, self.told, self.news = client, root, {}, asyncio.Event()
        self.versions, self.messages = {}, []

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def told(params):
            self.told[Path(params.uri).name] = params.diagnostics
            self.news.set()

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params):
            self.messages.append(params.message)

        @client.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params):
            print(params.message)

    def uri(self, name):
        return (self.root / name).as_uri()

    def open(self, name):
        self.versions[name] = 1
        text = (self.root / name).read_text()
        item = types.TextDocumentItem(self.uri(name), "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return text

    def type(self, name, text):
        """Replace the text of an open file."""
        self.versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(version=self.versions[name], uri=self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def until(self, holds):
        """Wait until the diagnostics are as they should be."""

        async def wait():
            while not holds(self.told):
                self.news.clear()
                await self.news.wait()

        await asyncio.wait_for(wait(), LAST_S)

    def shown(self, name):
        return sorted((each.range.start.line, each.code) for each in self.told.get(name, []))


@asynccontextmanager
async def editor(root, *options, encodings=None):
    client = LanguageClient("tests", "1")
    found = Editor(client, root)
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    await client.start_io(sys.executable, "-P", "-m", "cli", "lsp", *options, env=environment)
    general = types.GeneralClientCapabilities(position_encodings=encodings)
    capabilities = types.ClientCapabilities(general=general)
    await client.initialize_async(types.InitializeParams(capabilities=capabilities, root_uri=root.as_uri()))
    client.initialized(types.InitializedParams())
    try:
        yield found
    finally:
        await asyncio.wait_for(client.shutdown_async(None), LAST_S)
        client.exit(None)
        await client.stop()


def test_a_session(root):
    asyncio.run(session(root))


async def session(root):
    async with editor(root) as here:
        await here.until(lambda told: {"views.py", "server.js", "Main.java", "main.go", "list.c"} <= told.keys())
        assert here.shown("views.py") == [(9, "command-injection")]
        (found,) = here.told["views.py"]
        assert found.source == "analyze" and found.severity == types.DiagnosticSeverity.Error
        steps = [(Path(each.location.uri).name, each.location.range.start.line) for each in found.related_information]
        assert ("views.py", 8) in steps and "tools.py" in dict(steps)

        # A guard is typed, in another file than the finding's; then what was typed is taken back.
        text = here.open("app/tools.py")
        here.type("app/tools.py", text.replace("return value", "return shlex.quote(value)"))
        await here.until(lambda told: not told["views.py"])
        here.type("app/tools.py", text)
        await here.until(lambda told: told["views.py"])

        # Text that does not parse keeps the findings of the rest, where they stand now.
        views = here.open("app/views.py")
        here.type("app/views.py", f"x = (1,\n\n{views}")
        await here.until(lambda told: here.shown("views.py") == [(11, "command-injection")])
        here.type("app/views.py", views)
        await here.until(lambda told: here.shown("views.py") == [(9, "command-injection")])

        await quick_fixes(here, views)
        await what_is_known(here, views)

        # Files change on the disk.
        (root / "app/tools.py").write_text("def first(values):\n    return None\n\ndef clean(text):\n    return ''\n")
        here.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(here.uri("app/tools.py")))
        )
        await here.until(lambda told: not told["views.py"])


async def quick_fixes(here, views):
    uri, found = here.uri("app/views.py"), here.told["views.py"]
    context = types.CodeActionContext(found)
    actions = await here.client.text_document_code_action_async(
        types.CodeActionParams(types.TextDocumentIdentifier(uri), found[0].range, context)
    )
    (suppress,) = actions
    (edit,) = suppress.edit.changes[uri]
    assert edit.range.start == edit.range.end == types.Position(9, 0)
    lines = views.splitlines(keepends=True)
    here.type("app/views.py", "".join([*lines[:9], edit.new_text.replace("reason:", "tried"), *lines[9:]]))
    await here.until(lambda told: not told["views.py"])
    here.type("app/views.py", views)
    await here.until(lambda told: told["views.py"])


async def what_is_known(here, views):
    client, document = here.client, types.TextDocumentIdentifier(here.uri("app/views.py"))
    line = views.splitlines().index("    os.system(command)")
    hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(line, 13)))
    text = hover.contents.value
    assert "command-injection" in text and "CWE-78" in text and "`os.system`" in text
    read = next(number for number, text in enumerate(views.splitlines()) if 'args["name"]' in text)
    at = types.Position(read, views.splitlines()[read].index("args["))
    hover = await client.text_document_hover_async(types.HoverParams(document, at))
    assert "Tainted" in hover.contents.value
    await names(here, views)
    await silence(here, views)
    called = types.Position(line - 1, views.splitlines()[line - 1].index("first") + 1)
    hover = await client.text_document_hover_async(types.HoverParams(document, called))
    assert "app.tools.first" in hover.contents.value
    (first,) = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(document, called)
    )
    assert first.detail == "app.tools.first" and Path(first.uri).name == "tools.py"
    (caller,) = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(first))
    assert caller.from_.detail == "app.views.run"
    assert [at.start.line for at in caller.from_ranges] == [line - 1]
    callees = await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(caller.from_))
    assert [callee.to.detail for callee in callees] == ["app.tools.first"]


async def names(here, views):
    """Names are no expressions of their own: what they stand for is known."""
    lines = views.splitlines()

    async def told(line, name):
        at = types.Position(line, lines[line].index(name) + 1)
        hover = await here.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(here.uri("app/views.py")), at)
        )
        begin, end = (at.character - 1, at.character - 1 + len(name))
        assert hover.range == types.Range(types.Position(line, begin), types.Position(line, end))
        return hover.contents.value

    use = lines.index("    os.system(command)")
    whence = "**Tainted**: someone else may choose this value; it comes from app/views.py:9 (`http`)"
    assert whence in await told(use, "command") and whence in await told(use - 1, "command")
    assert "`library os`" in await told(use, "os")
    assert "`function app.tools.first (app/tools.py:3)`" in await told(use - 1, "first")


async def silence(here, views):
    """The first action for a line without findings is asked; an unsaved text is what it is about."""
    client, uri = here.client, here.uri("app/views.py")
    here.type("app/views.py", f"\n{views}")
    line = f"\n{views}".splitlines().index('    os.system("ls " + clean(request.args["name"]))')
    at = types.Range(types.Position(line, 4), types.Position(line, 4))
    context = types.CodeActionContext([], only=["source.analyze"])
    given = types.CodeActionParams(types.TextDocumentIdentifier(uri), at, context)
    offered = await client.text_document_code_action_async(given)
    titles = [each.title for each in offered]
    assert "Why is nothing reported here? (command-injection)" in titles
    assert not any("overflow" in title for title in titles), "checks of C are not for Python"
    # The client's library takes an action that has a command for a command, and loses the arguments.
    asked = [uri, line, "command-injection"]
    assert f"{asked}" in next(str(each.command) for each in offered if "(command-injection)" in each.title)
    text = await client.workspace_execute_command_async(types.ExecuteCommandParams("analyze.whyNot", asked))
    assert text.startswith(f"command-injection is not reported at app/views.py:{line + 1}\n") and "sanitizer" in text
    assert here.messages == [text]
    unknown = [uri, line, "no-such-check"]
    wrong = await client.workspace_execute_command_async(types.ExecuteCommandParams("analyze.whyNot", unknown))
    assert "error[R002]" in wrong
    blank = types.Range(types.Position(0, 0), types.Position(0, 0))
    given = types.CodeActionParams(types.TextDocumentIdentifier(uri), blank, context)
    assert not await client.text_document_code_action_async(given)
    here.type("app/views.py", views)


@pytest.mark.parametrize(
    "encoding, column",
    [
        (types.PositionEncodingKind.Utf8, 15),
        (types.PositionEncodingKind.Utf16, 13),
        (types.PositionEncodingKind.Utf32, 12),
    ],
)
def test_columns_are_in_the_units_of_the_client(root, encoding, column):
    """The three encodings count the same character as four, two and one."""
    (root / "app/views.py").write_text('import os\nx = "\U0001f600"; os.system(input())\n')

    async def shown():
        async with editor(root, encodings=[encoding]) as here:
            await here.until(lambda told: "views.py" in told)
            (found,) = here.told["views.py"]
            return found.range.start

    expected = len('x = "') + {15: 4, 13: 2, 12: 1}[column] + len('"; ')
    start = asyncio.run(shown())
    assert (start.line, start.character) == (1, expected)


def test_options_decide_what_is_shown(root):
    async def shown():
        async with editor(root, "--rules", "cwe-89") as here:
            await here.until(lambda told: "store.py" in told or here.news.is_set())
            return {name for name, found in here.told.items() if found}

    (root / "app/store.py").write_text(
        "import sqlite3\nfrom flask import request\n"
        "def find():\n    sqlite3.connect('x').execute('select ' + request.args['x'])\n"
        "from flask import Flask\napp = Flask('x')\napp.route('/')(find)\n"
    )
    assert asyncio.run(shown()) == {"store.py"}


def test_when_the_live_process_is_killed_the_next_change_starts_another(root):
    async def killed():
        async with editor(root) as here:
            await here.until(lambda told: "views.py" in told)
            with connected(root) as client:
                os.kill(client.call("status")["pid"], 9)
            text = here.open("app/tools.py")
            here.type("app/tools.py", text.replace("return value", "return shlex.quote(value)"))
            await here.until(lambda told: not told["views.py"])

    asyncio.run(killed())


@pytest.mark.parametrize(("n_ending", "answered"), [(0, True), (2, True), (3, False)])
def test_a_connection_that_an_ending_process_takes_is_not_the_last(n_ending, answered):
    clients = iter([SimpleNamespace(is_ending=n < n_ending, close=lambda: None) for n in range(4)])
    session = SimpleNamespace(turn=None, client=None, connect=lambda: next(clients))

    def ask(client):
        if client.is_ending:
            raise LostProcess("ended")
        return "findings"

    async def asked():
        session.turn = asyncio.Lock()
        return await Session.asked(session, ask)

    if answered:
        assert asyncio.run(asked()) == "findings"
    else:
        with pytest.raises(LostProcess):
            asyncio.run(asked())
        assert session.client is None
