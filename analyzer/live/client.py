"""Commands as clients of a live process: they ask it, and do the work themselves where it does not answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar

from analyzer.errors import AnalyzeError
from analyzer.live.messages import (
    ANSWER_CODEC,
    CODE_CODEC,
    ERROR_CODEC,
    SUPERSEDED,
    CodeAnswer,
    Disconnected,
    Message,
    ToldError,
    receive,
    send,
    unpacked,
)
from analyzer.live.rendezvous import Rendezvous, may_answer
from analyzer.scan import ScanResult
from analyzer.sources.git import Repository
from engine.operating_system import connected_socket

SENT_FLAGS = frozenset({"context", "exclude", "fail_on", "format", "include_generated", "include_vendored", "jobs"})
SENT_FLAGS |= {"max_file_kb", "own_suppressions_only", "rules", "tier"}
"""The options of a report that a live process understands; with any other the command does the work itself."""


Got = TypeVar("Got")


class NoAnswer(Exception):
    """The live process does not answer this; the message is the reason."""


class WrongQuestion(AnalyzeError):
    """An error in a question, as the live process reports it."""

    def __init__(self, told: ToldError) -> None:
        super().__init__(told.code, told.message, file=told.file, line=told.line, source=told.source, help=told.help)
        self.rendered = told.rendered

    def render(self) -> str:
        return self.rendered


class LostProcess(NoAnswer):
    """The live process has ended."""


class Outdated(NoAnswer):
    """Newer text has come."""


class Client:
    """A connection to the live process of a directory. While one thread waits for an answer, another may cancel."""

    def __init__(self, address: Path) -> None:
        """Raises OSError where nobody listens."""
        self._socket = connected_socket(address)
        self._stream = self._socket.makefile("rwb")
        self._n_calls, self._writing = 0, Lock()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.close()
        self._socket.close()

    def call(self, method: str, **params: Any) -> Message:
        """Return the result of a method. Raises NoAnswer, and WrongQuestion."""
        self._n_calls += 1
        try:
            self._send({"id": self._n_calls, "method": method, "params": params})
            while True:
                answer = receive(self._stream)
                if answer.get("id") == self._n_calls:
                    break
        except Disconnected as error:
            raise LostProcess(f"the live process has ended: {error}") from None
        if "error" in answer:
            if data := answer["error"].get("data"):
                raise WrongQuestion(unpacked(ERROR_CODEC, str(data)))
            if answer["error"].get("code") == SUPERSEDED:
                raise Outdated
            raise NoAnswer(str(answer["error"].get("message")))
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def cancel(self) -> None:
        """Let a report on unsaved text be given up, if one is under way: its call raises Outdated."""
        with suppress(Disconnected):
            self._send({"method": "cancel"})

    def _send(self, message: Message) -> None:
        with self._writing:
            send(self._stream, message)

    def changes(self) -> Iterator[None]:
        """Yield whenever files have changed and the relations with them. Raises LostProcess at its end."""
        self.call("follow")
        while True:
            try:
                message = receive(self._stream)
                if message.get("method") == "ended":
                    raise LostProcess(str(message.get("params")))
                if message.get("method") == "changed":
                    yield
            except Disconnected as error:
                raise LostProcess(str(error)) from None


def connected(path: Path) -> Client | None:
    """Return a connection to the live process of a directory, or None if there is none."""
    try:
        return Client(Rendezvous.of(path).socket)
    except (OSError, AnalyzeError):
        return None


def started(path: Path, flags: Iterable[str] = ()) -> Client:
    """Return a connection to the live process of a directory, started in the background. Raises AnalyzeError L002."""
    place = Rendezvous.of(path)
    # Without -P, Python would import modules of the current directory, which may be the scanned one.
    command = [sys.executable, "-P", "-m", "cli", "serve", *flags, "--", os.path.realpath(path)]
    with open(place.log, "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True, cwd="/"
        )
    assert process.stdout is not None
    with process.stdout as said:
        said.readline()  # It says a line when it listens, or ends.
        client = connected(path)
    if client is None:
        raise AnalyzeError("L002", f"the live process of {path} did not start", help=f"see {place.log}")
    return client


def ask(
    path: Path, mode: str | None, flags: Mapping[str, Any], wanted: Callable[[], Mapping[str, Any]] = dict
) -> tuple[ScanResult | None, str]:
    """Return the report of a directory's live process, and a warning where one was asked for and gives none.

    `mode` is on, off, or auto: with auto, one is asked that runs and has evaluated the directory. `wanted` gives more
    parameters of the request.
    """
    return asked(path, mode, lambda client: result_from(client, str(path), flags, wait=mode == "on", **wanted()))


def asked(path: Path, mode: str | None, work: Callable[[Client], Got]) -> tuple[Got | None, str]:
    """Return what a function gets from the live process of a directory, in a mode as in `ask`. Raises WrongQuestion."""
    if not may_answer(mode):
        return None, ""
    try:
        client = connected(path) or (started(path) if mode == "on" else None)
        if client is None:
            return None, ""
        with client:
            return work(client), ""
    except WrongQuestion:
        raise
    except (NoAnswer, AnalyzeError) as error:
        return None, f"--live on: {error}" if mode == "on" else ""


def live_hook(mode: str | None, flags: Mapping[str, Any]) -> tuple[ScanResult | None, str]:
    """Return the hook's report from the live process of the repository here, as `ask` does.

    The index is read here: git's variables for hooks name it.
    Raises AnalyzeError G001 outside a repository.
    """
    if not may_answer(mode):
        return None, ""
    here = Path.cwd()
    repository = Repository(here, in_hook=True)
    whole = Repository(repository.top or here, in_hook=True)

    def staged() -> dict[str, Any]:
        entries = [(entry.path, entry.kind, entry.blob) for entry in whole.index()]
        return {"staged": {"entries": entries, "paths": sorted(whole.staged_paths())}}

    return ask(repository.top or here, mode, flags, staged)


def result_from(client: Client, target: str, flags: Mapping[str, Any], **params: Any) -> ScanResult:
    """Return the report that a live process gives, with the target as it was named here. Raises NoAnswer."""
    try:
        answer = unpacked(ANSWER_CODEC, str(client.call("report", flags=sent_flags(flags), **params).get("answer")))
    except Disconnected as error:
        raise NoAnswer(str(error)) from None
    return ScanResult(replace(answer.report, target=target), answer.config, dict(answer.phases_s))


def sent_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are given. Raises NoAnswer for one that a live process does not know."""
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    if others := given.keys() - SENT_FLAGS:
        raise NoAnswer(f"a live process does not know {', '.join(sorted(others))}")
    return given


def code_from(client: Client, method: str, **params: Any) -> CodeAnswer:
    """Return what a live process knows of a place in the text. Raises NoAnswer."""
    try:
        return unpacked(CODE_CODEC, str(client.call(method, **params).get("answer")))
    except Disconnected as error:
        raise NoAnswer(str(error)) from None
