"""Joins of members on keys that many rows have.

Two relations that meet at ports have all rows of a key at one member. Where one of them is large and known before its
component begins, its heavy keys are found first. Their rows meet apart, in a grid over the members: a row of one side
belongs to a row of the grid, by a hash of itself, and goes to each of its cells; one of the other side to each cell of
a column. So every two rows of the key meet once. With a grid of one column this is to divide one side and replicate the
other (fragment-replicate: DeWitt, Naughton, Schneider and Seshadri, VLDB 1992); a grid for each heavy key is that of
Beame, Koutris and Suciu (PODS 2014).

Only ports are divided, never owned partitions: a derived row must have one owner, which drops duplicates. A recursion
that decomposes is not divided either: it meets at no port. Its first rows tell nothing of the work that the values they
are partitioned by will make (those of a hub are many, and derive no more than others), and a value that leaves its
partition gives up what decomposing saves, which is every exchange but the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.cluster.communicator import Communicator, all_gather
from engine.database import Columns
from engine.evaluation.send_buffer import SendBuffer
from engine.kernels.hash_tables import partition_of
from engine.plan.discriminating_sets import ExchangePort
from engine.storage.key_tables import HashedKeys

HEAVY_SHARE = 0.25
"""A key is heavy if joining it is more than this share of the mean work of a member."""
CANDIDATE_SHARE = HEAVY_SHARE / 16
"""Keys with this share of the mean rows of a member are counted: few rows of one side may meet many of the other."""
SAMPLED_ROWS = 1 << 16
"""Each member looks for such keys in so many of its rows."""
SALT_BITS = 20


def candidates(group: Communicator, rows: Columns) -> Columns:
    """Return the keys that many rows have; `rows` are the keys of this member's. All members call it together."""
    # A key that has a share of all rows has it at one member at least; half of it allows for chance.
    share = CANDIDATE_SHARE / group.size / 2
    sample = rows[:, :: max(1, -(-rows.shape[1] // SAMPLED_ROWS))]
    found = sample[:, :1]
    if len(rows):
        found, n_rows = np.unique(sample, axis=1, return_counts=True)
        found = found[:, (n_rows > 1) & (n_rows >= share * sample.shape[1])]
    return distinct(np.concatenate(all_gather(group, found), axis=1)).astype(np.int64)


def distinct(rows: Columns) -> Columns:
    return np.unique(rows, axis=1) if len(rows) else rows[:, :1]


def count(group: Communicator, rows: Columns, keys: Columns) -> np.ndarray:
    """Return how many rows of all members have each of some keys. All members call it together."""
    held = HashedKeys(len(keys), np.dtype(np.int64))
    every = np.arange(len(keys))
    held.intern(keys, 0, keys.shape[1], every)
    ids = held.find(rows, rows.shape[1], every)
    return sum(all_gather(group, np.bincount(ids[ids >= 0], minlength=keys.shape[1])))


@dataclass(frozen=True, slots=True)
class Side:
    """The destinations of rows with heavy keys from one side of a join.

    The arrays have an entry for each of `keys`: a row of it is in one of `parts`, part i at the cells
    first + i * stride + j * step for each j below `copies`.
    """

    keys: Columns
    first: np.ndarray
    parts: np.ndarray
    stride: np.ndarray
    copies: np.ndarray
    step: np.ndarray

    @property
    def form(self) -> bytes:
        """Equal for sides that send all rows to the same places."""
        arrays = (self.keys, self.first, self.parts, self.stride, self.copies, self.step)
        return b"".join(array.tobytes() for array in arrays)

    def fitting(self, dtype: np.dtype) -> Side:
        """Without the keys that no row of a type has."""
        fits = (self.keys == self.keys.astype(dtype)).all(axis=0)
        rest = (self.first, self.parts, self.stride, self.copies, self.step)
        return Side(np.ascontiguousarray(self.keys[:, fits], dtype), *(array[fits] for array in rest))


def sides(keys: Columns, left: np.ndarray, right: np.ndarray, size: int) -> tuple[Side, Side]:
    """Return how the sides of a join are divided among members at keys that so many rows of each have."""
    grids = [grid(int(a), int(b), size) for a, b in zip(left, right, strict=True)]
    down, across = np.array(grids, np.int64).reshape(-1, 2).T
    # Where grids do not fill the members, those of different keys leave out different ones.
    first, one = np.cumsum(down * across) - down * across, np.ones_like(down)
    return Side(keys, first, down, across, across, one), Side(keys, first, across, one, down, across)


def grid(left: int, right: int, size: int) -> tuple[int, int]:
    """Return the grid, of up to `size` cells, in which the busiest cell joins and receives least."""
    shapes = ((down, size // down) for down in range(1, size + 1))
    return min(shapes, key=lambda s: left * right / (s[0] * s[1]) + left / s[0] + right / s[1])


class DividedSendBuffer(SendBuffer):
    """A send buffer to a port at which heavy keys are divided: their rows go to cells, a fragment of each member.

    The cells are the fragments from 2**bits on.
    """

    def __init__(self, plain: SendBuffer, side: Side, size: int) -> None:
        super().__init__(plain.number, plain.channel, plain.bits, plain.room, plain.deliver)
        self.side, self.size = side, size
        self.heavy = HashedKeys(len(side.keys), plain.channel.relation.dtype)
        self.heavy.intern(side.keys, 0, side.keys.shape[1], np.arange(len(side.keys)))

    def put(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> None:
        rows = rows[take, lo:hi]
        ids, take = self.heavy.find(rows, rows.shape[1], self.channel.key), np.arange(len(rows))
        light, heavy = (np.ascontiguousarray(rows[:, chosen]) for chosen in (ids < 0, ids >= 0))
        super().put(light, 0, light.shape[1], take)
        if heavy.shape[1]:
            copies, cells = self.cells(heavy, ids[ids >= 0])
            self.box(np.ascontiguousarray(heavy[:, copies]), 0, len(copies), take, cells)

    def cells(self, rows: Columns, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each copy of rows that have the heavy keys `ids`, which row it is of and its fragment."""
        side, salts = self.side, np.empty(rows.shape[1], np.int32)
        partition_of(rows, 0, rows.shape[1], np.array(self.channel.relation.group, np.int64), SALT_BITS, salts)
        begin = side.first[ids] + salts % side.parts[ids] * side.stride[ids]
        copies = np.repeat(np.arange(len(ids)), side.copies[ids])
        number = np.arange(len(copies)) - np.repeat(np.cumsum(side.copies[ids]) - side.copies[ids], side.copies[ids])
        cells = (begin[copies] + number * side.step[ids[copies]]) % self.size
        return copies, (cells + (1 << self.bits)).astype(np.int32)


class DividedJoins:
    """The ports of one component at which heavy keys are divided: `sides` says how, `descriptions` are for people.

    `shuffled` are this member's rows of relations that are known; of the others a key is taken to have one row.
    """

    def __init__(self, group: Communicator, shuffled: Mapping[str, Columns]) -> None:
        self.group, self.shuffled = group, shuffled
        self.candidates: dict[ExchangePort, Columns] = {}
        self.divided_ports: dict[tuple[ExchangePort, bytes], ExchangePort] = {}
        self.sides: dict[ExchangePort, Side] = {}
        self.descriptions: list[str] = []

    def meet(self, ports: Sequence[ExchangePort], dtypes: Sequence[np.dtype]) -> Sequence[ExchangePort]:
        """Return where two ports are to meet: elsewhere if keys are heavy. All members call it together."""
        known = [port for port in ports if port.relation in self.shuffled]
        if self.group.size == 1 or len(ports) < 2 or not known:
            return ports
        keys = distinct(np.concatenate([self.find(port) for port in known], axis=1))
        n_rows = [self.count(port, keys) for port in ports]
        total = sum(sum(all_gather(self.group, self.shuffled[port.relation].shape[1])) for port in known)
        heavy = self.heavy(*n_rows, total)
        if not heavy.any():
            return ports
        left, right = (rows[heavy] for rows in n_rows)
        both = sides(keys[:, heavy], left, right, self.group.size)
        self.describe(ports, both, (left, right))
        return [self.at(port, side.fitting(dtype)) for port, side, dtype in zip(ports, both, dtypes, strict=True)]

    def heavy(self, left: np.ndarray, right: np.ndarray, total: int) -> np.ndarray:
        """Say which of some keys are heavy; those that are not among them add at least `total` rows to the work."""
        pairs = left.astype(np.float64) * right
        share = HEAVY_SHARE / self.group.size
        return (pairs > 1) & (pairs + left + right > share * (pairs.sum() + total))

    def at(self, port: ExchangePort, side: Side) -> ExchangePort:
        known = (port, side.form)
        if known not in self.divided_ports:
            self.divided_ports[known] = ExchangePort(port.relation, port.key, len(self.divided_ports) + 1)
            self.sides[self.divided_ports[known]] = side
        return self.divided_ports[known]

    def find(self, port: ExchangePort) -> Columns:
        if port not in self.candidates:
            self.candidates[port] = candidates(self.group, self.shuffled[port.relation][list(port.key)])
        return self.candidates[port]

    def count(self, port: ExchangePort, keys: Columns) -> np.ndarray:
        rows = self.shuffled.get(port.relation)
        return np.ones(keys.shape[1], np.int64) if rows is None else count(self.group, rows[list(port.key)], keys)

    def describe(self, ports: Sequence[ExchangePort], both: Sequence[Side], n_rows: Sequence[np.ndarray]) -> None:
        for port, side, n in zip(ports, both, n_rows, strict=True):
            split = n[side.parts > 1]
            if len(split) and port.relation in self.shuffled:
                columns = ", ".join(str(column + 1) for column in port.key)
                by = f" by column{'s' * (len(port.key) > 1)} {columns}" * bool(columns)
                keys = f"{len(split)} key{'s' * (len(split) > 1)} of {int(split.sum()):,} rows"
                self.descriptions.append(f"{port.relation}{by}: {keys} divided among members")
