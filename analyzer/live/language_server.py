"""`analyze lsp`: findings in an editor while one types, from the live process of the directory that it has open.

The editor's texts are laid over the files on the disk; one request is on its way at a time. Newer text cancels a report
on older text, until none has been shown for a while: then the next one is, with its findings moved to the lines where
they stand now. So are those of the last text that did parse, while one does not.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

import analyzer
from analyzer.errors import AnalyzeError
from analyzer.live.client import (
    Client,
    LostProcess,
    NoAnswer,
    Outdated,
    WrongQuestion,
    code_from,
    connected,
    result_from,
    sent_flags,
    started,
)
from analyzer.live.code_facts import Described, Function
from analyzer.live.diagnostics import (
    SILENCE,
    WHY_NOT,
    Positions,
    diagnostics_of,
    moved,
    quick_fixes,
    silences,
    wanted,
)
from analyzer.live.messages import CodeAnswer
from analyzer.report import Place, Report
from engine.operating_system import interrupts_blocked

DEBOUNCE_S = 0.01
"""Seconds without a change before findings are asked for."""
PATIENCE_S = 2.0
"""Seconds of continuous typing after which findings are shown that were found in a text of meanwhile."""
ATTEMPTS = 3
"""Times that a question is asked: a process that is ending may still take a connection that then is lost."""
NAME = re.compile(r"(?<![\w.$])[^\W\d][\w$]*")
Texts = dict[str, str]


class Session:
    """One editor on one directory: what it shows, and the connection to the live process."""

    def __init__(self, server: LanguageServer, root: Path, flags: Mapping[str, Any], arguments: Sequence[str]) -> None:
        self.server, self.root, self.flags, self.arguments = server, root, flags, arguments
        self.changed = asyncio.Event()
        self.turn = asyncio.Lock()
        self.saved: Texts = {}
        self.parsed: Texts = {}
        self.shown: set[str] = set()
        self.report: Report | None = None
        self.client: Client | None = None
        self.waiting_since: float | None = None
        self.loop = asyncio.get_running_loop()
        self.task = asyncio.create_task(self.keep_reporting())

    # ---- texts

    def path_of(self, uri: str) -> str | None:
        """Return the path of a file below the root, or None for any other."""
        with suppress(ValueError):
            return Path(to_fs_path(uri) or "").resolve().relative_to(self.root).as_posix()
        return None

    def uri_of(self, file: str) -> str:
        return from_fs_path(str(self.root / file)) or ""

    def lines(self, file: str) -> Sequence[str]:
        """Return the lines of a file as the editor has them, or as they are on the disk."""
        with suppress(OSError, UnicodeDecodeError):
            return self.server.workspace.get_text_document(self.uri_of(file)).lines
        return []

    @property
    def positions(self) -> Positions:
        return Positions(self.server.workspace.position_codec, self.lines)

    def open_texts(self) -> Texts:
        """Return the texts of the open files by path."""
        documents = [*self.server.workspace.text_documents.values()]
        return {path: document.source for document in documents if (path := self.path_of(document.uri))}

    def versions(self) -> dict[str, int | None]:
        """Return the versions of the open files by path."""
        documents = [*self.server.workspace.text_documents.values()]
        return {path: document.version for document in documents if (path := self.path_of(document.uri))}

    def unsaved(self) -> Texts:
        """Return the texts that differ from what was opened or saved last."""
        return {path: text for path, text in self.open_texts().items() if self.saved.get(path) != text}

    def keep(self, params: types.DidOpenTextDocumentParams | types.DidSaveTextDocumentParams) -> None:
        """Take the text of a file for what is on the disk."""
        if path := self.path_of(params.text_document.uri):
            with suppress(OSError):
                self.saved[path] = (self.root / path).read_bytes().decode("utf-8", "replace")
        self.changed.set()

    def forget(self, params: types.DidCloseTextDocumentParams) -> None:
        """Take the file on the disk from now on."""
        self.saved.pop(self.path_of(params.text_document.uri) or "", None)
        self.changed.set()

    def notice(self, params: object) -> None:
        """Look at what has changed."""
        self.changed.set()

    # ---- the live process

    async def asked(self, ask: Callable[[Client], Any]) -> Any:
        """Return what a function gets from the live process, which is started if there is none, or if it has ended.

        Raises NoAnswer.
        """
        async with self.turn:
            lost = 0
            while True:
                if self.client is None:
                    self.client = await asyncio.to_thread(self.connect)
                try:
                    return await asyncio.to_thread(ask, self.client)
                except LostProcess:
                    self.client.close()
                    self.client = None
                    lost += 1
                    if lost == ATTEMPTS:
                        raise

    async def asked_now(self, texts: Texts, ask: Callable[[Client], Any]) -> Any:
        """Do the same with texts over the files."""

        def asked(client: Client) -> Any:
            client.call("unsaved", texts=texts)
            return ask(client)

        return await self.asked(asked)

    def connect(self) -> Client:
        """Return a connection; another one tells of changes on the disk. Raises NoAnswer."""
        try:
            with interrupts_blocked():
                client = connected(self.root) or started(self.root, self.arguments)
        except AnalyzeError as error:
            raise NoAnswer(error.render()) from None
        if follower := connected(self.root):
            Thread(target=self.follow, args=(follower,), daemon=True).start()
        return client

    def follow(self, client: Client) -> None:
        """Ask for findings whenever files on the disk have changed, until the live process ends."""
        with client, suppress(RuntimeError):
            try:
                for _ in client.changes():
                    self.loop.call_soon_threadsafe(self.changed.set)
            except NoAnswer as error:
                self.loop.call_soon_threadsafe(self.log, types.MessageType.Info, f"the live process: {error}")

    # ---- findings

    async def keep_reporting(self) -> None:
        """Publish findings whenever something has changed and nothing more for a moment."""
        while True:
            await self.changed.wait()
            self.waiting_since = self.waiting_since or time.monotonic()
            while self.changed.is_set():
                self.changed.clear()
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self.changed.wait(), DEBOUNCE_S)
            try:
                await self.publish_newest()
            except Outdated:
                pass
            except NoAnswer as error:
                self.log(types.MessageType.Warning, f"no findings: {error}")
            except Exception as error:  # The next change is looked at all the same.
                self.log(types.MessageType.Error, f"internal error: {type(error).__name__}: {error}")

    @property
    def is_patient(self) -> bool:
        """True if what is waited for may come later still."""
        return self.waiting_since is not None and time.monotonic() - self.waiting_since < PATIENCE_S

    async def publish_newest(self) -> None:
        """Publish the findings of the present texts. Raises Outdated if newer ones come meanwhile."""
        publishing, changing = asyncio.create_task(self.publish()), asyncio.create_task(self.changed.wait())
        await asyncio.wait({publishing, changing}, return_when=asyncio.FIRST_COMPLETED)
        changing.cancel()
        if not publishing.done() and self.is_patient and self.client is not None:
            self.client.cancel()
        await publishing

    def log(self, level: types.MessageType, message: str) -> None:
        self.server.window_log_message(types.LogMessageParams(level, message))

    async def publish(self) -> None:
        """Publish the findings of the present texts. Raises Outdated if newer ones come meanwhile, or moves them."""
        texts, opened = self.unsaved(), self.open_texts()
        report = await self.reported(texts)
        unparsed = report.coverage.unparsed.keys() & texts.keys() & self.parsed.keys()
        if unparsed:
            earlier = {file: self.parsed[file] for file in unparsed}
            report = await self.reported(texts | earlier)
            both = {file: (earlier[file].splitlines(), texts[file].splitlines()) for file in unparsed}
            report = moved(report, both)
        self.parsed |= {file: text for file, text in opened.items() if file not in unparsed}
        typed = {file: text for file, text in self.open_texts().items() if opened.get(file, text) != text}
        if typed and self.is_patient:
            raise Outdated
        report = moved(report, {file: (opened[file].splitlines(), text.splitlines()) for file, text in typed.items()})
        self.report, self.waiting_since = report, None
        found, versions = diagnostics_of(report, self.root, self.positions), self.versions()
        for file in sorted({*found, *self.shown, *versions}):
            params = types.PublishDiagnosticsParams(self.uri_of(file), found.get(file, []), versions.get(file))
            self.server.text_document_publish_diagnostics(params)
        self.shown = {*found}

    async def reported(self, texts: Texts) -> Report:
        """Return the report on the files with some texts over them. Raises NoAnswer."""

        return await self.asked_now(
            texts, lambda client: result_from(client, str(self.root), self.flags, unsaved=True, wait=True).report
        )

    # ---- actions

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return quick fixes for findings; where there is none, the question why checks report nothing there."""
        uri, context = params.text_document.uri, params.context
        file = self.path_of(uri)
        if file is None or self.report is None:
            return []
        found: list[types.CodeAction] = []
        if wanted(context, types.CodeActionKind.QuickFix):
            found += quick_fixes(uri, self.lines(file), context.diagnostics)
        if wanted(context, SILENCE) and not found:
            found += silences(self.report, uri, file, self.lines(file), params.range.start.line)
        return found

    async def why_not(self, uri: str, line: int, check: str) -> str:
        """Show why a check reports nothing on a line, counted from 0, and return it. Raises NoAnswer."""
        file = self.path_of(uri)
        if file is None:
            return ""
        place = file, line + 1

        def ask(client: Client) -> str:
            given = {"check": check, "where": f"{file}:{line + 1}", "line": place, "begin": None, "format": "text"}
            flags = sent_flags(self.flags)
            return str(client.call("why_not", **given, flags=flags, unsaved=True, wait=True)["answer"])

        try:
            text, level = await self.asked_now(self.unsaved(), ask), types.MessageType.Info
        except WrongQuestion as error:
            text, level = error.render(), types.MessageType.Error
        self.server.window_show_message(types.ShowMessageParams(level, text))
        return text

    # ---- what is known of a place

    async def code(self, method: str, file: str, *numbers: int, name: str = "") -> CodeAnswer:
        """Return what the relations say of a place, or of a name there. Raises NoAnswer."""
        given = {"file": file, "numbers": numbers, "name": name}
        return await self.asked_now(
            self.unsaved(), lambda client: code_from(client, method, **given, unsaved=True, wait=True)
        )

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return why something is reported at a position, and what the expression there may be."""
        file = self.path_of(params.text_document.uri)
        if file is None or self.report is None:
            return None
        line, column = self.positions.character(file, params.position)
        parts = [self.reason(self.report, finding.check) for finding in self.report.open_findings
                 if finding.place.file == file and covers(finding.place, line, column)]  # fmt: skip
        name, named = self.name_at(file, line, column)
        described = (await self.code("described", file, line, column, name=name)).described
        if described and (text := told(described)):
            parts.append(text)
        if not parts:
            return None
        place = (described.place if described else None) or named
        at = self.positions.range(place) if place else None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)), at)

    def name_at(self, file: str, line: int, column: int) -> tuple[str, Place | None]:
        """Return the name at a position, which is no attribute's, and its place."""
        lines = self.lines(file)
        for found in NAME.finditer(lines[line - 1]) if line <= len(lines) else ():
            if found.start() < column <= found.end():
                return found[0], Place(file, line, found.start() + 1, line, found.end() + 1)
        return "", None

    @staticmethod
    def reason(report: Report, check_id: str) -> str:
        check = report.check(check_id)
        cwe = ", ".join(f"CWE-{number}" for number in check.cwe)
        return f"**{check.name}** (`{check.id}`{', ' + cwe if cwe else ''})\n\n{check.summary}"

    async def prepared(self, params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem]:
        """Return the function that is called or defined at a position."""
        file = self.path_of(params.text_document.uri)
        if file is None:
            return []
        answer = await self.code("function", file, *self.positions.character(file, params.position))
        return [self.item(function) for function in answer.functions if function.place]

    async def callers(self, params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall]:
        functions = await self.around(params.item, "callers")
        return [
            types.CallHierarchyIncomingCall(self.item(each), [self.positions.range(at) for at in each.calls])
            for each in functions
        ]

    async def callees(self, params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall]:
        functions = await self.around(params.item, "callees")
        return [
            types.CallHierarchyOutgoingCall(self.item(each), [self.positions.range(at) for at in each.calls])
            for each in functions
        ]

    async def around(self, item: types.CallHierarchyItem, method: str) -> list[Function]:
        """Return the functions of the program that call, or are called by, one."""
        region = item.data or {}
        if not isinstance(region, dict) or not region.get("file"):
            return []
        answer = await self.code(method, str(region["file"]), *map(int, region["region"]))
        return [function for function in answer.functions if function.place]

    def item(self, function: Function) -> types.CallHierarchyItem:
        place = function.place
        assert place is not None
        at = self.positions.range(place)
        region = (place.line, place.column, place.end_line, place.end_column)
        return types.CallHierarchyItem(
            name=function.name.rpartition(".")[2] or function.name,
            kind=types.SymbolKind.Function,
            uri=self.uri_of(place.file),
            range=at,
            selection_range=types.Range(at.start, at.start),
            detail=function.name,
            data={"file": place.file, "region": region},
        )


def covers(place: Place, line: int, column: int) -> bool:
    """Return True if a position lies in a place or at its end."""
    return (place.line, place.column) <= (line, column) <= (place.end_line, place.end_column)


def told(described: Described) -> str:
    """Return what is known of an expression as Markdown."""
    parts = []
    if described.tainted:
        places = (f"{source.place.file}:{source.place.line} (`{source.label}`)" for source in described.sources)
        whence = ", ".join(places)
        parts.append("**Tainted**: someone else may choose this value" + f"; it comes from {whence}" * bool(whence))
    if described.runs:
        parts.append("**Runs** " + ", ".join(f"`{function.name}`" for function in described.runs))
    if described.objects:
        parts.append("**May be** " + ", ".join(f"`{text}`" for text in described.objects))
    return "\n\n".join(parts)


def language_server(flags: Mapping[str, Any], arguments: Sequence[str]) -> LanguageServer:
    """Return a server whose live process takes options: as parsed, and as command-line arguments."""
    server = LanguageServer("analyze", analyzer.VERSION)
    sessions: list[Session] = []

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        if root := server.workspace.root_path:
            sessions.append(Session(server, Path(root).resolve(), flags, arguments))
            sessions[0].changed.set()

    for name, notice in NOTICES.items():
        server.feature(name)(noticing(sessions, notice))
    for name, (answer, otherwise) in ANSWERS.items():
        server.feature(name, OPTIONS.get(name))(answering(sessions, answer, otherwise))

    @server.command(WHY_NOT)
    async def why_not(uri: str, line: int, check: str) -> str:
        return await answered(sessions[0].why_not(uri, line, check), "") if sessions else ""

    return server


NOTICES: Mapping[str, Callable[[Session, Any], None]] = {
    types.TEXT_DOCUMENT_DID_OPEN: Session.keep,
    types.TEXT_DOCUMENT_DID_SAVE: Session.keep,
    types.TEXT_DOCUMENT_DID_CLOSE: Session.forget,
    types.TEXT_DOCUMENT_DID_CHANGE: Session.notice,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: Session.notice,
}
"""The handlers of notifications."""
ANSWERS: Mapping[str, tuple[Callable[[Session, Any], Awaitable[Any]], Any]] = {
    types.TEXT_DOCUMENT_CODE_ACTION: (Session.actions, ()),
    types.TEXT_DOCUMENT_HOVER: (Session.hover, None),
    types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: (Session.prepared, ()),
    types.CALL_HIERARCHY_INCOMING_CALLS: (Session.callers, ()),
    types.CALL_HIERARCHY_OUTGOING_CALLS: (Session.callees, ()),
}
"""The handlers of requests, and the answer where a handler fails."""
OPTIONS = {types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions([types.CodeActionKind.QuickFix, SILENCE])}


def noticing(sessions: Sequence[Session], notice: Callable[[Session, Any], None]) -> Callable[[Any], Awaitable[None]]:
    async def noticed(params: Any) -> None:
        for session in sessions:
            notice(session, params)

    return noticed


def answering(
    sessions: Sequence[Session], answer: Callable[[Session, Any], Awaitable[Any]], otherwise: Any
) -> Callable[[Any], Awaitable[Any]]:
    async def asked(params: Any) -> Any:
        return await answered(answer(sessions[0], params), otherwise) if sessions else otherwise

    return asked


async def answered(work: Awaitable[Any], otherwise: Any) -> Any:
    """Return the result of a request to the live process, or something else where it does not answer."""
    try:
        return await work
    except NoAnswer:
        return otherwise
