"""The listener of a member: authenticated members are admitted, and other connections do no harm.

Every connection has a thread of its own until it is admitted or dropped, and a time in which that must be.
"""

from __future__ import annotations

import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic

from engine.cluster.connection import Connection, NotAMember, without_delay

HANDSHAKE_S = 10.0
AT_ONCE = 256
"""Maximum number of concurrent handshakes; the oldest is dropped for a further one."""
LOOK_EVERY_S = 0.5


class NoPort(Exception):
    """None of the ports that members may use is free."""


class Listener:
    """Admits on `listener`, until it is closed, who passes `admit`; gives each link to `accept`."""

    def __init__(
        self,
        listener: socket.socket,
        admit: Callable[[socket.socket], Connection],
        accept: Callable[[Connection], bool],
    ) -> None:
        self.listener, self.admit, self.accept = listener, admit, accept
        self._waiting: OrderedDict[socket.socket, float] = OrderedDict()
        self._lock, self._is_closed = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._answer, daemon=True)

    def __enter__(self) -> Listener:
        self.listener.settimeout(LOOK_EVERY_S)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed.set()
        self._thread.join()
        with self._lock:
            for connection in self._waiting:
                disconnect(connection)

    def _answer(self) -> None:
        while not self._is_closed.is_set():
            with suppress(OSError):  # A connection that was gone before it was accepted, or nobody came.
                connection, _ = self.listener.accept()
                connection.settimeout(None)
                with self._lock:
                    self._waiting[connection] = monotonic()
                threading.Thread(target=self._examine, args=(connection,), daemon=True).start()
            self._drop_the_slow()

    def _drop_the_slow(self) -> None:
        with self._lock:
            for n_behind, (connection, since) in zip(
                range(len(self._waiting) - 1, -1, -1), self._waiting.items(), strict=True
            ):
                if n_behind >= AT_ONCE or monotonic() - since > HANDSHAKE_S:
                    disconnect(connection)

    def _examine(self, connection: socket.socket) -> None:
        """Admit or drop a connection."""
        is_welcome = False
        try:
            link = self.admit(without_delay(connection))
            with self._lock:
                is_welcome = not self._is_closed.is_set() and self.accept(link)
        except (NotAMember, OSError):
            pass
        finally:
            with self._lock:
                self._waiting.pop(connection, None)
            if not is_welcome:
                connection.close()


def disconnect(connection: socket.socket) -> None:
    """End a connection that another thread reads."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def listening(host: str, ports: Sequence[int]) -> Iterator[socket.socket]:
    """A listener on the first free one of some ports; 0 is any. Raises NoPort."""
    for port in ports:
        try:
            listener = socket.create_server((host, port), backlog=socket.SOMAXCONN)
        except OSError:
            continue
        with listener:
            yield listener
        return
    raise NoPort(f"no port from {ports[0]} to {ports[-1]} is free on {host}")
