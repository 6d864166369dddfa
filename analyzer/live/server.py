"""The live process: one owner of the relations, and a thread for each client, which only reads and writes messages.

Requests that need relations wait in a queue for the owner. What an editor has not saved is kept by connection, and gone
with it. A process that is killed leaves a socket that nobody listens on; the next one takes its place.
"""

from __future__ import annotations

import gc
import os
import queue
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from weakref import ReferenceType, ref

from analyzer.errors import AnalyzeError
from analyzer.live.live_repository import LiveRepository, Refused, Superseded
from analyzer.live.messages import (
    ANSWER_CODEC,
    CODE_CODEC,
    ERROR_CODEC,
    FAILED,
    REFUSED,
    SUPERSEDED,
    Answer,
    CodeAnswer,
    Disconnected,
    Message,
    Stream,
    ToldError,
    packed,
    receive,
    send,
)
from analyzer.live.rendezvous import Rendezvous
from analyzer.live.staged_files import staged_report
from analyzer.report import Place
from analyzer.scan import ScanRequest, ScanResult
from analyzer.sources.frozen_tree import NO_TEXTS, FrozenTree
from engine.incremental import MaintainedProgram, lock
from engine.operating_system import listening_socket, machine_bytes, release_free_memory, resident_bytes

SAVE_AFTER_S = 20.0
"""Seconds without a request after which the relations of HEAD are saved, if the files are HEAD's."""
GROWTH_BYTES, GROWTH = 1 << 27, 1 / 32
"""Memory that answers may leave behind before it is collected; in large processes, the share of theirs."""
Log = Callable[[str], None]
Method = Callable[[Mapping[str, Any], FrozenTree], str]
"""Answers a request with these parameters, about these files. Raises AnalyzeError, and Refused."""


class TooLarge(Exception):
    """The process has outgrown its memory limit."""


@dataclass(eq=False, slots=True)
class Connection:
    """A client: its stream, and the texts that it has not saved, by path. `last` is the report that it waits for.

    One that `follows` is told when files have changed and the relations with them.
    """

    stream: Stream
    writing: Lock = field(default_factory=Lock)
    unsaved: Mapping[str, bytes] = field(default_factory=dict)
    last: int | str | None = None
    follows: bool = False

    def send(self, message: Message) -> None:
        with suppress(Disconnected), self.writing:
            send(self.stream, message)


@dataclass(slots=True)
class Job:
    """A request of a client that the owner answers."""

    connection: Connection
    id: int | str | None
    method: str
    params: Mapping[str, Any]

    def check(self) -> None:
        """Raise Superseded if this asks for a report on unsaved text, and its client waits for it no more."""
        if self.method == "report" and self.params.get("unsaved") and self.connection.last != self.id:
            raise Superseded


ABOUT_CODE = ("described", "function", "callers", "callees")
"""The methods that ask about a place in the text: a position, or the region of a function."""
REFRESH = None
"""Among jobs: files have changed."""


def settle() -> None:
    """Spare the objects that are there the rounds of the garbage collector: they took a tenth of an update's time."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.collect()  # The collector's rounds over all objects depend on how many it found in the last one.


class Server:
    """Answers the clients of one directory until it is told to stop, is idle for too long, or becomes too large."""

    def __init__(
        self,
        live: LiveRepository,
        path: Path,
        idle_s: float,
        memory_bytes: int | None,
        log: Log,
        methods: Mapping[str, Method],
    ) -> None:
        """`methods` are those that it has beside its own."""
        self.methods = methods
        self.live, self.path, self.idle_s, self.log = live, path, idle_s, log
        self.memory_bytes = memory_bytes or machine_bytes() // 2
        self.place = Rendezvous.of(path)
        self.jobs: queue.Queue[Job | None] = queue.Queue()
        self.ended = Event()
        self.connections: set[Connection] = set()
        self.is_ready, self.n_answered, self.last_s = False, 0, 0.0
        self.settled: ReferenceType[MaintainedProgram] | None = None
        self.cleared_bytes = 0
        self.since = time.time()

    def run(self, listening: Callable[[], None]) -> None:
        """Serve; call `listening` when clients can connect. Raises AnalyzeError L003 if another process serves."""
        held = lock(self.place.lock, 0.0)
        if held is None:
            raise AnalyzeError("L003", f"a live process serves {self.path} already", help="analyze serve --stop")
        try:
            with self.listener() as listener:
                Thread(target=self.accept, args=(listener,), daemon=True).start()
                Thread(target=self.watch, daemon=True).start()
                listening()
                self.work()
        except TooLarge as error:
            self.log(str(error))
            self.tell_followers({"method": "ended", "params": str(error)})
        finally:
            self.ended.set()
            self.place.socket.unlink(missing_ok=True)
            held.release()
            self.live.close()

    def listener(self) -> socket.socket:
        """Return the socket, which only the user can reach. Raises AnalyzeError L001."""
        try:
            self.place.socket.unlink(missing_ok=True)
            return listening_socket(self.place.socket)
        except OSError as error:
            help = "set XDG_RUNTIME_DIR to a directory with a short name"
            raise AnalyzeError("L001", f"cannot listen at {self.place.socket}: {error}", help=help) from None

    def accept(self, listener: socket.socket) -> None:
        """Begin a thread for each client until the listener is closed."""
        with suppress(OSError):
            while True:
                peer, _ = listener.accept()
                connection = Connection(peer.makefile("rwb"))
                peer.close()  # It stays open as long as the stream.
                self.connections.add(connection)
                Thread(target=self.read, args=(connection,), daemon=True).start()

    def watch(self) -> None:
        """Let the owner look at the files whenever some have changed, if watchfiles is installed."""
        try:
            from watchfiles import watch
        except ImportError:
            self.log("watchfiles is not installed: files are looked at when somebody asks")
            return
        try:
            for _ in watch(self.path, stop_event=self.ended, raise_interrupt=False):
                self.jobs.put(REFRESH)
        except OSError as error:
            self.log(f"files are not watched: {error}")

    def stop(self) -> None:
        """Let the owner end after what it is at."""
        self.ended.set()
        self.jobs.put(REFRESH)

    # ---- a client's thread

    def read(self, connection: Connection) -> None:
        """Take the messages of a client until it is gone."""
        try:
            while True:
                self.take(connection, receive(connection.stream))
        except Disconnected:
            pass
        finally:
            self.connections.discard(connection)
            with suppress(OSError, ValueError):
                connection.stream.close()

    def take(self, connection: Connection, message: Message) -> None:
        """Answer a message that needs no relations; leave the others to the owner."""
        method, params, id = message.get("method"), message.get("params", {}), message.get("id")
        try:
            if method == "status":
                connection.send({"id": id, "result": self.status()})
            elif method == "stop":
                connection.send({"id": id, "result": {}})
                self.stop()
            elif method == "unsaved":
                connection.unsaved = {path: text.encode("utf-8") for path, text in params["texts"].items()}
                connection.send({"id": id, "result": {}})
            elif method == "cancel":
                connection.last = None
            elif method == "follow":
                connection.follows = True
                connection.send({"id": id, "result": {}})
            elif method in ("report", *ABOUT_CODE, *self.methods):
                if not (self.is_ready or params.get("wait")):
                    raise Refused("it is still evaluating")
                if method == "report":
                    connection.last = id
                self.jobs.put(Job(connection, id, method, params))
            else:
                raise Refused(f"there is no method {method}")
        except Refused as error:
            connection.send(failure(id, REFUSED, str(error)))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            connection.send(failure(id, FAILED, f"malformed: {error}"))

    def status(self) -> dict[str, Any]:
        """Return figures about this process."""
        return {
            "pid": os.getpid(),
            "path": str(self.path),
            "since": self.since,
            "ready": self.is_ready,
            "clients": len(self.connections),
            "answered": self.n_answered,
            "last_s": self.last_s,
            "bytes": resident_bytes(),
        }

    # ---- the owner

    def work(self) -> None:
        """Evaluate the directory, then answer requests until it is time to end."""
        self.refresh()
        self.is_ready = True
        idle_since, is_saved = time.monotonic(), False
        while True:
            try:
                job = self.jobs.get(timeout=self.idle_s if is_saved else min(SAVE_AFTER_S, self.idle_s))
            except queue.Empty:
                if not is_saved:
                    is_saved = True
                    self.save()
                    self.compact()
                    settle()
                if time.monotonic() - idle_since >= self.idle_s and len(self.connections) == 0:
                    self.log("ended after idle time")
                    return
                continue
            if self.ended.is_set():
                return
            if job is REFRESH:
                self.refresh()
            else:
                self.answer(job)
                idle_since = time.monotonic()
            is_saved = False

    def clear_away(self) -> None:
        """Settle where an evaluation from scratch has replaced the relations: the old ones are not collected else.

        Collect what answers left behind where it is much: the collector counts objects, not the bytes of their arrays.
        """
        view = self.live.held_view
        if view is not None and (self.settled is None or self.settled() is not view):
            self.settled = ref(view)
            settle()
        elif resident_bytes() < self.cleared_bytes + max(GROWTH_BYTES, GROWTH * self.cleared_bytes):
            return
        else:
            gc.collect()
        release_free_memory()
        self.cleared_bytes = resident_bytes()

    def refresh(self) -> None:
        """Bring the relations to the files as they are. What fails is told to whoever asks for a report."""
        begin = time.monotonic()
        try:
            report = self.live.report(self.live.frozen()).report
            self.log(f"{report.coverage.files} files in {time.monotonic() - begin:.1f} s")
            self.tell_followers({"method": "changed", "params": {}})
        except (AnalyzeError, Refused) as error:
            self.log(f"not evaluated: {error}")
        self.clear_away()
        self.check_memory()

    def tell_followers(self, message: Message) -> None:
        for connection in [*self.connections]:
            if connection.follows:
                connection.send(message)

    def save(self) -> None:
        try:
            if self.live.save():
                self.log("saved the relations of HEAD")
        except OSError as error:
            self.log(f"not saved: {error}")

    def compact(self) -> None:
        """Give back the rows of tuples that have gone, if these are most and nobody asks for anything meanwhile."""

        def watch() -> None:
            if not self.jobs.empty():
                raise Superseded

        with suppress(Superseded):
            if self.live.compact(watch):
                self.log("compacted the relations")

    def answer(self, job: Job) -> None:
        """Answer a request with a report, or with the reason why there is none."""
        begin = time.monotonic()
        try:
            job.check()
            answer = self.answered(job)
        except Superseded:
            job.connection.send(failure(job.id, SUPERSEDED, "newer text has come"))
        except Refused as error:
            job.connection.send(failure(job.id, REFUSED, str(error)))
        except AnalyzeError as error:
            # Whoever asks for a report scans, and sees for himself what is wrong.
            data = told(error) if job.method in self.methods and not error.code.startswith("V") else None
            job.connection.send(failure(job.id, FAILED, str(error), data))
        except (LookupError, TypeError, ValueError) as error:
            job.connection.send(failure(job.id, FAILED, str(error)))
        else:
            job.connection.send({"id": job.id, "result": {"answer": answer}})
        self.n_answered, self.last_s = self.n_answered + 1, time.monotonic() - begin
        self.clear_away()
        self.check_memory()

    def answered(self, job: Job) -> str:
        if job.method == "report":
            return packed(ANSWER_CODEC, self.report(job))
        if job.method in self.methods:
            return self.methods[job.method](job.params, self.tree(job))
        return packed(CODE_CODEC, self.code(job))

    def report(self, job: Job) -> Answer:
        params = job.params
        request = ScanRequest.from_flags(self.path, None, as_flags(params.get("flags", {})))
        if "staged" in params:
            result = staged_report(self.live, params["staged"], request)
        else:
            result = self.report_for(job, request)
        return Answer(result.report, result.config, result.phases_s)

    def report_for(self, job: Job, request: ScanRequest) -> ScanResult:
        """Return the report on the files that a job is about, unless newer text comes meanwhile."""
        return self.live.report(self.tree(job), request, watch=job.check)

    def tree(self, job: Job) -> FrozenTree:
        """Return the files that a request is about: as they are, with the client's texts over them if it says so."""
        return self.live.frozen(job.connection.unsaved if job.params.get("unsaved") else NO_TEXTS)

    def code(self, job: Job) -> CodeAnswer:
        """Return what is known of a place."""
        known, params = self.live.code_facts(self.tree(job)), job.params
        file, numbers = str(params["file"]), [int(number) for number in params["numbers"]]
        if job.method == "described":
            line, column = numbers
            return CodeAnswer(known.described(file, line, column, str(params.get("name", ""))))
        if job.method == "function":
            function = known.function_at(file, *numbers)
            return CodeAnswer(functions=(function,) if function else ())
        find = known.callers if job.method == "callers" else known.callees
        return CodeAnswer(functions=tuple(find(Place(file, *numbers))))

    def check_memory(self) -> None:
        """Raise TooLarge beyond the limit."""
        if (n_bytes := resident_bytes()) > self.memory_bytes:
            raise TooLarge(f"ended: {n_bytes >> 20} MB are more than the limit of {self.memory_bytes >> 20} MB")


def failure(id: int | str | None, code: int, message: str, data: str | None = None) -> Message:
    error = {"code": code, "message": message}
    return {"id": id, "error": error if data is None else {**error, "data": data}}


def told(error: AnalyzeError) -> str:
    parts = (error.code, error.message, error.file, error.line, error.source, error.help)
    return packed(ERROR_CODEC, ToldError(*parts, error.render()))


def as_flags(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as commands have them: lists are tuples there."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
