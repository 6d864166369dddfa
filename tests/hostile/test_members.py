"""Who connects to the members of a group on Spark without being one of them: none gets in, none holds anybody up."""

import hashlib
import socket
import ssl
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from engine.cluster import listener
from engine.cluster.connection import (
    GREETING,
    HEAD,
    MAGIC,
    NONCE_BYTES,
    RECORD_BYTES,
    SEAL_BYTES,
    Connection,
    client_handshake,
    exactly,
    proof,
    seal,
    server_handshake,
)
from engine.cluster.tls import Encrypted, certificate
from engine.spark.socket_communicator import Credentials, SocketCommunicator

HOST = "127.0.0.1"
KEY = b"k" * 32
MET = [[0, 1], [0, 1]]


class Meeting:
    """Two members who have told their addresses, and wait before they connect until `begin` is called."""

    def __init__(self, access):
        self.access, self.addresses, self.parties = access, [None, None], threading.Barrier(3)
        self.pool = ThreadPoolExecutor(2)
        self.members = [self.pool.submit(self.member, rank, access) for rank in range(2)]
        self.parties.wait()
        self.name = hashlib.sha256("\n".join(self.addresses).encode()).digest()

    def member(self, rank, access):
        def meet(address):
            self.addresses[rank] = address
            self.parties.wait()
            self.parties.wait()
            return self.addresses

        mesh = SocketCommunicator(rank, 2, HOST, access, meet)
        try:
            return mesh.exchange([rank] * 2)
        finally:
            mesh.close()

    def connect(self, rank=0):
        """Connect to a member; what is sent now is read when it begins."""
        port = int(self.addresses[rank].partition("/")[0].rpartition(":")[2])
        return socket.create_connection((HOST, port), timeout=30)

    def begin(self):
        self.parties.wait()

    def ended(self):
        found = [member.result(timeout=60) for member in self.members]
        self.pool.shutdown()
        return found


def silent(meeting, stack):
    stack.enter_context(meeting.connect())


def hung_up(meeting, stack):
    meeting.connect().close()


def of_http(meeting, stack):
    stack.enter_context(meeting.connect()).sendall(b"GET / HTTP/1.1\r\nHost: member\r\n\r\n" + b"x" * 4096)


def half_a_greeting(meeting, stack):
    stack.enter_context(meeting.connect()).sendall(MAGIC)


def without_the_secret(meeting, stack):
    """Greets as member 1, and answers whatever proof."""
    said = GREETING.pack(MAGIC, 1, bytes(NONCE_BYTES))
    stack.enter_context(meeting.connect()).sendall(said + bytes(SEAL_BYTES))


def of_another_meeting(meeting, stack):
    """Knows the secret, as a member of an attempt that Spark has given up."""
    connection = stack.enter_context(meeting.connect())
    greeting = GREETING.pack(MAGIC, 1, bytes(NONCE_BYTES))
    connection.sendall(greeting)
    threading.Thread(target=answer_wrongly, args=(connection, greeting, meeting.access.key), daemon=True).start()


def answer_wrongly(connection, greeting, key):
    try:
        nonce = exactly(connection, NONCE_BYTES)
        connection.sendall(proof(key, b"client", b"another meeting" + struct.pack("<II", 1, 0) + greeting + nonce))
    except (OSError, EOFError):
        pass


@pytest.mark.parametrize(
    "stranger", [silent, hung_up, of_http, half_a_greeting, without_the_secret, of_another_meeting]
)
@pytest.mark.parametrize("pem", [b"", certificate()], ids=["plain", "encrypted"])
def test_strangers_do_not_disturb(stranger, pem, attack):
    """They stand in line before the members, and are still there when these have met."""
    meeting = Meeting(Credentials(pem=pem))
    with ExitStack() as stack:
        for _ in range(3):
            stranger(meeting, stack)
        meeting.begin()
        got = meeting.ended()
    way = "encrypted" if pem else "plain"
    attack(f"member of a cluster: stranger, {stranger.__name__.replace('_', ' ')} ({way})", expected=MET, got=got)


def test_more_silent_strangers_than_may_wait(monkeypatch, attack):
    monkeypatch.setattr(listener, "AT_ONCE", 8)
    meeting = Meeting(Credentials())
    with ExitStack() as stack:
        held = [stack.enter_context(meeting.connect()) for _ in range(40)]
        meeting.begin()
        got = meeting.ended()
        assert held[0].recv(1) == b""  # The first had to go.
    attack("member of a cluster: 40 silent strangers", expected=MET, got=got)


def test_a_stranger_is_dropped_when_its_time_is_over(monkeypatch, attack):
    """The member waits for the other one, which never comes; the stranger does not wait with it."""
    monkeypatch.setattr(listener, "HANDSHAKE_S", 0.0)
    dropped = threading.Event()
    with listener.listening(HOST, [0]) as opened:
        with listener.Listener(
            opened, lambda connection: server_handshake(connection, KEY, b"", 0, b""), lambda link: True
        ):
            with socket.create_connection(opened.getsockname(), timeout=60) as stranger:
                if stranger.recv(1) == b"":
                    dropped.set()
    attack("member of a cluster: silent for longer than a handshake", expected=True, got=dropped.is_set())


def test_a_false_server_gets_no_proof(attack):
    """Who listens where a member should, and does not know the secret, is given up before anything is proved to it."""
    got = []
    with socket.create_server((HOST, 0)) as server, ThreadPoolExecutor(1) as pool:

        def pretend():
            with server.accept()[0] as connection:
                exactly(connection, GREETING.size)
                connection.sendall(bytes(NONCE_BYTES + SEAL_BYTES))
                got.append(connection.recv(1))

        done = pool.submit(pretend)
        with socket.create_connection(server.getsockname(), timeout=30) as connection:
            with pytest.raises(Exception, match="does not know the secret"):
                client_handshake(connection, b"key", b"", 1, 0, b"")
        done.result()
    attack("member of a cluster: a false member that listens", expected=[b""], got=got)


def sealed(record, number=0, length=None, key=KEY):
    head = HEAD.pack(len(record) if length is None else length, True)
    return head + seal(key, number, head, record) + record


@pytest.mark.parametrize(
    ("title", "sent", "expected"),
    [
        ("a record as it should be", sealed(b"abc"), "abc"),
        ("a record that was changed", sealed(b"abc")[:-1] + b"d", "a record without the seal of the other member"),
        ("a record that is sent twice", sealed(b"abc") * 2, "a record without the seal of the other member"),
        ("a record sealed by another", sealed(b"abc", key=b"l" * 32), "a record without the seal of the other member"),
        (
            "a record of 4 GB",
            sealed(b"", length=2**32 - 1),
            f"a record of {2**32 - 1:,} bytes; {RECORD_BYTES:,} are allowed",
        ),
        ("half a record", sealed(b"abc")[:-1], "the connection has ended"),
    ],
)
def test_records_are_of_the_member_or_refused(title, sent, expected, attack):
    here, there = socket.socketpair()
    with here, there:
        there.sendall(sent)
        there.shutdown(socket.SHUT_WR)
        link = Connection(here, 1, KEY, KEY)
        try:
            got = bytes(link.receive()).decode()
            if len(sent) > len(sealed(b"abc")):
                link.receive()
        except (ConnectionError, EOFError) as error:
            got = str(error)
    attack(f"member of a cluster: {title}", expected=expected, got=got)


def test_another_certificate_is_refused(attack):
    here, there = socket.socketpair()
    with here, there, ThreadPoolExecutor(1) as pool:
        server = pool.submit(Encrypted, here, certificate(), is_server=True)
        try:
            Encrypted(there, certificate(), is_server=False)
            got = "accepted"
        except ssl.SSLCertVerificationError:
            got = "refused"
        there.shutdown(socket.SHUT_RDWR)
        assert isinstance(server.exception(), OSError)
    attack("member of a cluster: another certificate", expected="refused", got=got)


def test_what_is_sent_cannot_be_read_on_the_way():
    here, there = socket.socketpair()
    pem = certificate()
    with here, there, ThreadPoolExecutor(1) as pool:
        server = pool.submit(Encrypted, here, pem, is_server=True)
        client = Encrypted(there, pem, is_server=False)
        server.result().sendall(b"between members")
        raw = there.recv(1 << 16)
        assert raw and b"between members" not in raw
        client.incoming.write(raw)
        assert bytes(exactly(client, 15)) == b"between members"
