"""Newer text cancels a report on older text, but continuous typing does not keep findings from being shown."""

import asyncio
import json
from threading import Thread
from types import SimpleNamespace

import pytest
from lsprotocol import types
from pygls.workspace import Workspace

from analyzer.live import language_server
from analyzer.live.client import Client, Outdated
from analyzer.live.language_server import Session
from analyzer.scan import ScanRequest, scan
from engine.operating_system import listening_socket

NAME = "app.py"
TEXT = "import os\nos.system(input())\n"


def test_a_cancelled_report_is_outdated(tmp_path):
    """What the other end is sent, and what its answer becomes."""
    received = []

    def answer():
        peer, _ = listener.accept()
        with peer, peer.makefile("rwb") as stream:
            received.extend(json.loads(stream.readline()) for _ in range(2))
            error = {"code": -32003, "message": "newer text has come"}
            stream.write(json.dumps({"id": 1, "error": error}).encode() + b"\n")

    with listening_socket(tmp_path / "s") as listener:
        other = Thread(target=answer)
        other.start()
        with Client(tmp_path / "s") as client:
            client.cancel()
            with pytest.raises(Outdated):
                client.call("report", unsaved=True)
        other.join()
    assert [each["method"] for each in received] == ["cancel", "report"]


class Typist:
    """A session with an open file, whose reports come when they are let go."""

    def __init__(self, root):
        self.uri = (root / NAME).as_uri()
        self.workspace, self.shown, self.asked = Workspace(root.as_uri()), [], asyncio.Queue()
        self.workspace.put_text_document(types.TextDocumentItem(self.uri, "python", 1, TEXT))
        self.version, self.n_cancelled = 1, 0
        self.session = Session(self, root, {}, ())
        self.session.reported, self.session.client = self.reported, SimpleNamespace(cancel=self.cancel)

    def text_document_publish_diagnostics(self, params):
        self.shown.append((params.version, [each.range.start.line for each in params.diagnostics]))

    def window_log_message(self, params):
        raise AssertionError(params.message)

    async def reported(self, texts):
        answer = asyncio.get_running_loop().create_future()
        await self.asked.put(answer)
        return await answer

    def cancel(self):
        self.n_cancelled += 1
        self.answer.set_exception(Outdated())

    def type(self, text):
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        self.workspace.update_text_document(document, types.TextDocumentContentChangeWholeDocument(text))
        self.session.changed.set()

    async def until_asked(self):
        self.answer = await asyncio.wait_for(self.asked.get(), 30)


@pytest.fixture
def root(tmp_path):
    (tmp_path / NAME).write_text(TEXT)
    return tmp_path


def test_newer_text_cancels_the_report(root):
    report = scan(ScanRequest(root)).report

    async def session():
        typist = Typist(root)
        typist.type("\n" + TEXT)
        await typist.until_asked()
        typist.type(TEXT)
        await typist.until_asked()
        assert typist.n_cancelled == 1 and not typist.shown
        typist.answer.set_result(report)
        while not typist.shown:
            await asyncio.sleep(0)
        typist.session.task.cancel()
        return typist.shown

    assert asyncio.run(session()) == [(3, [1])]


def test_findings_are_shown_during_continuous_typing(root, monkeypatch):
    """They stand where their lines are now."""
    monkeypatch.setattr(language_server, "PATIENCE_S", 0)
    report = scan(ScanRequest(root)).report

    async def session():
        typist = Typist(root)
        typist.type(TEXT)
        await typist.until_asked()
        typist.type("# more\n" + TEXT)
        typist.answer.set_result(report)
        await typist.until_asked()
        typist.session.task.cancel()
        return typist.n_cancelled, typist.shown

    assert asyncio.run(session()) == (0, [(3, [2])])
