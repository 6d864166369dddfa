"""A group whose members are processes on any machines: one connection between each two."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener

from engine.cluster.frame import Failure, pack, unpack
from engine.cluster.group import Parcel
from engine.codec import Damaged
from engine.database import EvaluationError
from engine.io.errors import FactsError

PATIENCE_S = 5.0
"""A member that fails waits so long for those to whom it is sending something."""


class Mesh:
    """Member `rank` of `size`, connected with all others; whoever knows `key` is let in.

    `meet` is given the address of this member and returns those of all, in their order. A member that ends without a
    word ends the others: their next exchange raises ConnectionError.
    """

    def __init__(self, rank: int, size: int, host: str, key: bytes, meet: Callable[[str], Sequence[str]]) -> None:
        self.rank, self.size, self.host = rank, size, host
        self.peers: dict[int, Connection] = {}
        self._sender = ThreadPoolExecutor(1)
        with Listener((host, 0), authkey=key, backlog=size) as listener:
            addresses = meet(f"{host}:{listener.address[1]}")
            for other in range(rank):
                there, _, port = addresses[other].rpartition(":")
                self._join(other, Client((there, int(port)), authkey=key))
                self.peers[other].send_bytes(pack(rank))
            while len(self.peers) < size - 1:
                try:
                    connection = listener.accept()
                except (AuthenticationError, EOFError, OSError):
                    continue  # A stranger. A member that is lost is found out by the others, and by Spark.
                self._join(unpack(connection.recv_bytes()), connection)

    def _join(self, other: int, connection: Connection) -> None:
        with socket.socket(fileno=socket.dup(connection.fileno())) as shared:
            shared.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.peers[other] = connection

    def exchange(self, parcels: Sequence[Parcel]) -> list[Parcel]:
        sent = self._sender.submit(self._send, parcels)
        found = list(parcels)
        try:
            for other, connection in self.peers.items():
                found[other] = unpack(connection.recv_bytes())
                if isinstance(found[other], Failure):
                    self._pass_on(found[other], sent)
                    raise found[other].error
            sent.result()
        except (EOFError, OSError, Damaged) as error:
            raise ConnectionError(f"member {self.rank} of {self.size} has lost another one: {error}") from error
        return found

    def _pass_on(self, failure: Failure, sent: Future) -> None:
        """Tell the others, who may look to this member first, and find it gone. What is being sent goes before."""
        with suppress(OSError, TimeoutError):
            sent.result(timeout=PATIENCE_S)
            self.fail(failure.error)

    def _send(self, parcels: Sequence[Parcel]) -> None:
        for other, connection in self.peers.items():
            connection.send_bytes(pack(parcels[other]))

    def fail(self, error: EvaluationError | FactsError) -> None:
        """Tell the others why this member cannot go on: their next exchange raises the same."""
        for connection in self.peers.values():
            try:
                connection.send_bytes(pack(Failure.of(error)))
            except OSError:
                pass

    def close(self) -> None:
        self._sender.shutdown(wait=False)
        for connection in self.peers.values():
            connection.close()
