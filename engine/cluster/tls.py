"""TLS between members: one certificate for a run, made by the driver, is all that either side accepts.

It reaches the members as the secret does, through Spark's own channel, which is encrypted where this is asked for.
"""

from __future__ import annotations

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

LIFETIME = timedelta(days=365)
MAX_CIPHERTEXT = 1 << 16


def certificate() -> bytes:
    """Return a new self-signed certificate and its key, as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "members of a run of analyze")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # Clocks differ.
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM) + private


def context(pem: bytes, purpose: int) -> ssl.SSLContext:
    """Return a context of TLS 1.3 for one side that shows the certificate, and accepts no other."""
    made = ssl.SSLContext(purpose)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname, made.verify_mode = False, ssl.CERT_REQUIRED
    made.load_verify_locations(cadata=pem.decode().partition("-----BEGIN PRIVATE KEY")[0])
    with TemporaryDirectory() as private:  # Of this user alone; the library takes keys from files only.
        path = Path(private) / "pem"
        path.write_bytes(pem)
        made.load_cert_chain(path)
    return made


class Encrypted:
    """TLS over a socket; as a socket, one thread may write while another one reads."""

    def __init__(self, connection: socket.socket, pem: bytes, *, is_server: bool) -> None:
        self.connection = connection
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        side = context(pem, ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
        self.session = side.wrap_bio(self.incoming, self.outgoing, server_side=is_server)
        self._session_lock, self._order = threading.Lock(), threading.Lock()
        while True:
            try:
                self.session.do_handshake()
                break
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
            except ssl.SSLError:
                self._flush()  # An alert says why.
                raise
        self._flush()

    def sendall(self, data: bytes | memoryview) -> None:
        with self._order:
            rest = memoryview(data)
            with self._session_lock:
                while rest:
                    rest = rest[self.session.write(rest) :]
            self._flush()

    def recv_into(self, view: memoryview) -> int:
        """Read into a buffer; return how many bytes, 0 at the end."""
        while True:
            with self._session_lock:
                try:
                    return self.session.read(len(view), view)
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLZeroReturnError:
                    return 0
            if not self._fill():
                return 0

    def _fill(self) -> bool:
        """Take in what has arrived; return whether there can be more."""
        data = self.connection.recv(MAX_CIPHERTEXT)
        with self._session_lock:
            self.incoming.write(data) if data else self.incoming.write_eof()
        return bool(data)

    def _flush(self) -> None:
        self.connection.sendall(self.outgoing.read())

    def close(self) -> None:
        self.connection.close()
