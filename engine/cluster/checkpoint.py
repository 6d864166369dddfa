"""Checkpoints of a group: what a member holds after a stratum, or in the middle of a fixpoint, on storage all reach.

A checkpoint counts once every member has written its part and the first one has said so in a file of its own. Files
are written under another name and moved. Members that start again go on from the last one that counts. Members of an
attempt that was given up may still write: each attempt has files of its own, named by a token, and ids of symbols hold
for what was made from the same facts, so later checkpoints are kept apart by those they come from.
"""

from __future__ import annotations

import pickle
from secrets import token_hex
from time import monotonic

from pyarrow import fs

from engine.cluster.group import Group, of_first


class Checkpoints:
    """Those of one run in a directory; `interval_s` is the least time between two in the middle of a fixpoint."""

    def __init__(self, directory: str, group: Group, interval_s: float) -> None:
        self.system, self.root = fs.FileSystem.from_uri(directory)
        self.group, self.interval_s = group, interval_s
        self.last_s = monotonic()
        self.system.create_dir(self.root, recursive=True)
        found = self.system.get_file_info(fs.FileSelector(self.root)) if group.rank == 0 else []
        present = [info.base_name for info in found]
        self.token, self.present = of_first(group, (token_hex(4), frozenset(present)))
        self.origin = ""

    def begin_from(self, name: str) -> None:
        """Keep what comes apart from what does not come from this checkpoint, which there is."""
        self.origin = f"{self.read(name).decode()}-"

    def save(self, name: str, value: object) -> None:
        """Write this member's part of a checkpoint. All members call it together."""
        name = self.origin + name
        self.write(f"{name}.{self.token}.{self.group.rank}", pickle.dumps(value, protocol=5))
        self.group.exchange([None] * self.group.size)
        if self.group.rank == 0:
            self.write(name, self.token.encode())
        self.group.exchange([None] * self.group.size)
        self.last_s = monotonic()

    def load(self, name: str) -> object | None:
        """Return this member's part of a checkpoint that was there when the run began."""
        name = self.origin + name
        if name not in self.present:
            return None
        return pickle.loads(self.read(f"{name}.{self.read(name).decode()}.{self.group.rank}"))

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
