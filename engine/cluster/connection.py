"""A connection between two members: both have proved that they know a secret, and all that they send is sealed.

The client sends a greeting with its rank, the server a nonce and its proof, the client its proof. A proof is an HMAC of
all that was said, and of the name of the meeting: connections of another attempt at the same work do not fit. Frames
travel in records of bounded length, each with an HMAC over its number and content, so that none can be changed, added,
left out or repeated. No more than a record is ever stored of what has no right seal.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct

from engine.cluster.tls import Encrypted

MAGIC = b"analyze1"
GREETING = struct.Struct("<8sI32s")
RANKS = struct.Struct("<II")
NONCE_BYTES = SEAL_BYTES = 32
HEAD = struct.Struct("<I?")
"""The length of a record, and whether it ends a frame."""
NUMBER = struct.Struct("<Q")
RECORD_BYTES = 1 << 22
SMALL_BYTES = 1 << 14
KEEP_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 20, "TCP_KEEPCNT": 6}
"""A machine that is gone without a word is noticed within three minutes."""


class NotAMember(Exception):
    """The other side is no member of this meeting, or has ended."""


class Connection:
    """A connection to member `other`. One thread may send while another one receives."""

    def __init__(self, stream: socket.socket | Encrypted, other: int, sending: bytes, receiving: bytes) -> None:
        self.stream, self.other = stream, other
        self._sending, self._receiving = sending, receiving
        self._n_sent = self._n_received = 0

    def send(self, frame: bytes) -> None:
        for begin in range(0, len(frame) or 1, RECORD_BYTES):
            record = memoryview(frame)[begin : begin + RECORD_BYTES]
            head = HEAD.pack(len(record), begin + RECORD_BYTES >= len(frame))
            head += seal(self._sending, self._n_sent, head, record)
            self._n_sent += 1
            if len(record) <= SMALL_BYTES:
                self.stream.sendall(head + record)
            else:
                self.stream.sendall(head)
                self.stream.sendall(record)

    def receive(self) -> bytes | bytearray:
        """Return the next frame. Raises EOFError at the end, ConnectionError for what is not of the other member."""
        records = []
        is_last = False
        while not is_last:
            head = exactly(self.stream, HEAD.size)
            n_bytes, is_last = HEAD.unpack(head)
            if n_bytes > RECORD_BYTES:
                raise ConnectionError(f"a record of {n_bytes:,} bytes; {RECORD_BYTES:,} are allowed")
            given, record = exactly(self.stream, SEAL_BYTES), exactly(self.stream, n_bytes)
            if not hmac.compare_digest(given, seal(self._receiving, self._n_received, head, record)):
                raise ConnectionError("a record without the seal of the other member")
            self._n_received += 1
            records.append(record)
        return records[0] if len(records) == 1 else b"".join(records)

    def close(self) -> None:
        self.stream.close()


def seal(key: bytes, number: int, head: bytes, record: bytes | memoryview) -> bytes:
    made = hmac.new(key, NUMBER.pack(number) + head, "sha256")
    made.update(record)
    return made.digest()


def proof(key: bytes, role: bytes, said: bytes) -> bytes:
    return hmac.digest(key, role + said, "sha256")


def client_handshake(
    connection: socket.socket, key: bytes, meeting: bytes, rank: int, other: int, pem: bytes
) -> Connection:
    """Return the link of member `rank`, who has connected, to another one; `pem` is for TLS. Raises NotAMember."""
    try:
        stream = Encrypted(connection, pem, is_server=False) if pem else connection
        greeting = GREETING.pack(MAGIC, rank, secrets.token_bytes(NONCE_BYTES))
        stream.sendall(greeting)
        nonce, given = exactly(stream, NONCE_BYTES), exactly(stream, SEAL_BYTES)
        said = meeting + RANKS.pack(rank, other) + greeting + nonce
        if not hmac.compare_digest(given, proof(key, b"server", said)):
            raise NotAMember("it does not know the secret")
        stream.sendall(proof(key, b"client", said))
    except (OSError, EOFError) as error:
        raise NotAMember(str(error)) from None
    return Connection(stream, other, proof(key, b"to server", said), proof(key, b"to client", said))


def server_handshake(connection: socket.socket, key: bytes, meeting: bytes, rank: int, pem: bytes) -> Connection:
    """Return the link of member `rank` to the member who has connected. Raises NotAMember."""
    try:
        stream = Encrypted(connection, pem, is_server=True) if pem else connection
        greeting = exactly(stream, GREETING.size)
        magic, other, _ = GREETING.unpack(greeting)
        if magic != MAGIC:
            raise NotAMember("it does not greet as a member")
        nonce = secrets.token_bytes(NONCE_BYTES)
        said = meeting + RANKS.pack(other, rank) + greeting + nonce
        stream.sendall(nonce + proof(key, b"server", said))
        if not hmac.compare_digest(exactly(stream, SEAL_BYTES), proof(key, b"client", said)):
            raise NotAMember("it does not know the secret")
    except (OSError, EOFError) as error:
        raise NotAMember(str(error)) from None
    return Connection(stream, other, proof(key, b"to client", said), proof(key, b"to server", said))


def exactly(stream: socket.socket | Encrypted, n_bytes: int) -> bytearray:
    """Return so many bytes. Raises EOFError where there are fewer."""
    found = bytearray(n_bytes)
    view = memoryview(found)
    while view:
        n = stream.recv_into(view)
        if not n:
            raise EOFError("the connection has ended")
        view = view[n:]
    return found


def without_delay(connection: socket.socket) -> socket.socket:
    """Send small records at once, and notice a machine that is gone."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return connection
