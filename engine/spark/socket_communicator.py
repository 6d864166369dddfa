"""A group whose members are processes on any machines: one connection between each two."""

from __future__ import annotations

import hashlib
import secrets
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Queue
from time import monotonic

from engine.cluster.communicator import Payload
from engine.cluster.connection import Connection, NotAMember, client_handshake, server_handshake, without_delay
from engine.cluster.listener import HANDSHAKE_S, Listener, NoPort, listening
from engine.cluster.message_codec import Failure, pack, unpack
from engine.codec import Damaged
from engine.database import EvaluationError
from engine.io.facts_error import FactsError

PATIENCE_S = 5.0
"""Seconds that a failing member waits for the receivers of its messages."""
MEETING_S = 120.0
"""Seconds for all members to connect after all addresses are known."""
ATTEMPTS = 3


@dataclass(frozen=True)
class Credentials:
    """The credentials that the driver gives only to members: `key` authenticates them.

    Members listen on the first free one of `ports`; with `pem`, a certificate and its key, connections are encrypted.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    ports: range = range(1)
    pem: bytes = field(default=b"", repr=False)


class SocketCommunicator:
    """Member `rank` of `size`, connected with all others; `n_here` of them are on this machine.

    `meet` is given the address of this member and returns those of all, in their order. A member that ends without a
    word ends the others: their next exchange raises ConnectionError. Connections of others are dropped.
    """

    def __init__(
        self, rank: int, size: int, host: str, access: Credentials, meet: Callable[[str], Sequence[str]]
    ) -> None:
        self.rank, self.size, self.host, self.access = rank, size, host, access
        self.peers: dict[int, Connection] = {}
        self._sender = ThreadPoolExecutor(1)
        try:
            with listening(host, access.ports) as listener:
                addresses = meet(f"{host}:{listener.getsockname()[1]}/{secrets.token_hex(16)}")
                self.n_here = sum(address.rpartition(":")[0] == host for address in addresses)
                self._connect(listener, addresses, hashlib.sha256("\n".join(addresses).encode()).digest())
        except NoPort as error:
            raise EvaluationError(f"{error}: give spark.analyze.ports more of them") from None

    def _connect(self, listener: socket.socket, addresses: Sequence[str], meeting: bytes) -> None:
        """Connect to the members before this one, admit those behind it."""
        ends_s = monotonic() + MEETING_S
        arrived: Queue[Connection] = Queue()
        expected = set(range(self.rank + 1, self.size))

        def accept(link: Connection) -> bool:
            if is_expected := link.other in expected:
                expected.remove(link.other)
                arrived.put(link)
            return is_expected

        def admitted(connection: socket.socket) -> Connection:
            return server_handshake(connection, self.access.key, meeting, self.rank, self.access.pem)

        with Listener(listener, admitted, accept):
            for other in range(self.rank):
                self.peers[other] = self._joined(addresses[other].partition("/")[0], other, meeting)
            while len(self.peers) < self.size - 1:
                try:
                    link = arrived.get(timeout=max(0.0, ends_s - monotonic()))
                except Empty:
                    missing = ", ".join(addresses[other].partition("/")[0] for other in sorted(expected))
                    raise ConnectionError(f"{missing} did not connect to {addresses[self.rank]} in time") from None
                self.peers[link.other] = link

    def _joined(self, address: str, other: int, meeting: bytes) -> Connection:
        """Connect to another member, again if that is cut off."""
        host, _, port = address.rpartition(":")
        for _ in range(ATTEMPTS):
            connection = without_delay(socket.create_connection((host, int(port)), timeout=HANDSHAKE_S))
            try:
                link = client_handshake(connection, self.access.key, meeting, self.rank, other, self.access.pem)
                connection.settimeout(None)
                return link
            except NotAMember as error:
                reason = error
                connection.close()
        raise ConnectionError(f"{address} is not a member of this run: {reason}")

    def exchange(self, payloads: Sequence[Payload]) -> list[Payload]:
        sent = self._sender.submit(self._send, payloads)
        found = list(payloads)
        try:
            for other, link in self.peers.items():
                found[other] = unpack(link.receive())
                if isinstance(found[other], Failure):
                    self._pass_on(found[other], sent)
                    raise found[other].error
            sent.result()
        except (EOFError, OSError, Damaged) as error:
            raise ConnectionError(
                f"member {self.rank} of {self.size} lost the connection to another member: {error}"
            ) from error
        return found

    def _pass_on(self, failure: Failure, sent: Future) -> None:
        """Tell the others, who may look to this member first, and find it gone. What is being sent goes before."""
        with suppress(OSError, TimeoutError):
            sent.result(timeout=PATIENCE_S)
            self.fail(failure.error)

    def _send(self, payloads: Sequence[Payload]) -> None:
        for other, link in self.peers.items():
            link.send(pack(payloads[other]))

    def fail(self, error: EvaluationError | FactsError) -> None:
        """Tell the others why this member cannot go on: their next exchange raises the same."""
        for link in self.peers.values():
            try:
                link.send(pack(Failure.of(error)))
            except OSError:
                pass

    def close(self) -> None:
        self._sender.shutdown(wait=False)
        for link in self.peers.values():
            link.close()
