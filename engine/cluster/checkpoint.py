"""Checkpoints of a group: what a member holds after a stratum, or in the middle of a fixpoint, on storage all reach.

A checkpoint counts once every member has written its part and the first one has said so in a file of its own. Files
are written under another name and moved. A part is a digest and a frame; where one is damaged, the checkpoint counts
for no member. Members that start again go on from the last one that counts. Members of an attempt that was given up may
still write: each attempt has files of its own, named by a token, and ids of symbols hold for what was made from the
same facts, so later checkpoints are kept apart by those they come from.
"""

from __future__ import annotations

import hashlib
import re
from secrets import token_hex
from time import monotonic
from typing import Any

from pyarrow import fs

from engine.cluster.communicator import Communicator, all_gather, broadcast
from engine.cluster.message_codec import pack, unpack
from engine.codec import Damaged

DIGEST_BYTES = 16
TOKEN = re.compile(rb"[0-9a-f]{8}")


class Checkpoints:
    """Those of one run in a directory; `interval_s` is the least time between two in the middle of a fixpoint.

    `damage` says what was found damaged and made again.
    """

    def __init__(self, directory: str, group: Communicator, interval_s: float) -> None:
        self.system, self.root = fs.FileSystem.from_uri(directory)
        self.group, self.interval_s = group, interval_s
        self.last_s = monotonic()
        self.system.create_dir(self.root, recursive=True)
        found = self.system.get_file_info(fs.FileSelector(self.root)) if group.rank == 0 else []
        present = [info.base_name for info in found]
        self.token, self.present = broadcast(group, (token_hex(4), frozenset(present)))
        self.origin = ""
        self.damage: list[str] = []

    def begin_from(self, name: str) -> None:
        """Keep what comes apart from what does not come from this checkpoint, which there is."""
        self.origin = f"{self.read(name).decode()}-"

    def save(self, name: str, value: object) -> None:
        """Write this member's part of a checkpoint. All members call it together."""
        name = self.origin + name
        content = pack(value)
        self.write(f"{name}.{self.token}.{self.group.rank}", digest(content) + content)
        self.group.exchange([None] * self.group.size)
        if self.group.rank == 0:
            self.write(name, self.token.encode())
        self.group.exchange([None] * self.group.size)
        self.last_s = monotonic()

    def load(self, name: str) -> Any | None:
        """Return this member's part of a checkpoint that was there when the run began. All members call it together."""
        name = self.origin + name
        if name not in self.present:
            return None
        found, why = None, ""
        try:
            found = self.part(name)
        except (Damaged, OSError) as error:
            why = f"checkpoint {name} of member {self.group.rank} is damaged: {error}"
        reasons = [reason for reason in all_gather(self.group, why) if reason]
        self.damage += reasons
        return None if reasons else found

    def part(self, name: str) -> Any:
        """Read this member's part. Raises Damaged and OSError."""
        token = self.read(name)
        if not TOKEN.fullmatch(token):
            raise Damaged(f"{token[:40]!r} names no parts")
        content = self.read(f"{name}.{token.decode()}.{self.group.rank}")
        if digest(content[DIGEST_BYTES:]) != content[:DIGEST_BYTES]:
            raise Damaged("it is not what was written")
        return unpack(content[DIGEST_BYTES:])

    def write(self, name: str, content: bytes) -> None:
        with self.system.open_output_stream(f"{self.root}/_{name}.{self.token}") as out:
            out.write(content)
        self.system.move(f"{self.root}/_{name}.{self.token}", f"{self.root}/{name}")

    def read(self, name: str) -> bytes:
        with self.system.open_input_stream(f"{self.root}/{name}") as file:
            return file.read()

    @property
    def is_due(self) -> bool:
        return monotonic() - self.last_s >= self.interval_s


def digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()
