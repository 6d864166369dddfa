"""Messages between a live process and its clients: JSON-RPC 2.0, a line each.

Both ends belong to one user (`rendezvous.py`). A line has a maximum length, so that neither fills the other's memory.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from analyzer.configuration.config import Config
from analyzer.live.code_facts import Described, Function
from analyzer.report import Report
from engine import Codec, Damaged

MAX_BYTES = 1 << 30
REFUSED, FAILED, SUPERSEDED = -32001, -32002, -32003
"""Codes of errors: the process does not maintain what is asked for; a scan would fail, too; newer text has come."""

Message = dict[str, Any]


class Stream(Protocol):
    """Both ends of a connection."""

    def readline(self, size: int = -1, /) -> bytes: ...
    def write(self, data: bytes, /) -> int: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A report, the configuration that it was made by, and seconds by phase."""

    report: Report
    config: Config
    phases_s: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """What is known of a place in the text: of its expression, or the functions that it has to do with."""

    described: Described | None = None
    functions: tuple[Function, ...] = ()


@dataclass(frozen=True, slots=True)
class ToldError:
    """An error in a question: the parts of an AnalyzeError, and how it is rendered."""

    code: str
    message: str
    file: str
    line: int
    source: str
    help: str
    rendered: str


ERROR_CODEC: Codec[ToldError] = Codec(ToldError)
ANSWER_CODEC: Codec[Answer] = Codec(Answer)
CODE_CODEC: Codec[CodeAnswer] = Codec(CodeAnswer)
Content = TypeVar("Content")


class Disconnected(Exception):
    """The other end is gone, or has sent something that is no message."""


def send(stream: Stream, message: Message) -> None:
    """Write a message. Raises Disconnected."""
    try:
        stream.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        stream.flush()
    except (OSError, ValueError) as error:
        raise Disconnected(str(error)) from None


def receive(stream: Stream) -> Message:
    """Return the next message. Raises Disconnected."""
    try:
        line = stream.readline(MAX_BYTES)
        message = json.loads(line) if line.endswith(b"\n") else None
    except (OSError, ValueError) as error:
        raise Disconnected(str(error)) from None
    if not isinstance(message, dict):
        raise Disconnected("the connection was closed")
    return message


def packed(codec: Codec[Content], content: Content) -> str:
    return b64encode(codec.pack(content)).decode()


def unpacked(codec: Codec[Content], text: str) -> Content:
    """Return what `packed` was given. Raises Disconnected."""
    try:
        return codec.unpack(b64decode(text))
    except (ValueError, Damaged) as error:
        raise Disconnected(str(error)) from None
