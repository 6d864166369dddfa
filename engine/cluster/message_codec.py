"""Messages between members and checkpoints as plain data: MessagePack, followed by the arrays.

A frame is the length of its head, the head, and a body of arrays, which the head names by type, shape and place.
Sequences arrive as tuples. What is read is made of the types below, whoever wrote it; all else is `Damaged`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np
import pyarrow

from engine.budget import BudgetExceeded
from engine.codec import SURROGATES, WRONG, Codec, Damaged
from engine.database import EvaluationError, OutOfMemory
from engine.io.facts_error import FactsError
from engine.result import StratumStatistics

ARRAY, TEXTS, TABLE, SET, STATISTICS, FAILURE = range(1, 7)
LENGTH = struct.Struct("<Q")
KINDS = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
TYPES = frozenset(np.dtype(kind).newbyteorder(order).str for kind in KINDS for order in "<>")


@dataclass(frozen=True)
class Failure:
    """The failure of a member: an error of a kind that is sent to others, as fields."""

    kind: str
    message: str
    path: str = ""
    line: int = 0
    sources: tuple[str, ...] = ()

    @staticmethod
    def of(error: EvaluationError | FactsError) -> Failure:
        if isinstance(error, FactsError):
            return Failure(FactsError.__name__, error.message, str(error.path), error.line)
        if isinstance(error, BudgetExceeded):
            return Failure(BudgetExceeded.__name__, error.reason, sources=tuple(sorted(error.sources)))
        return Failure((OutOfMemory if isinstance(error, OutOfMemory) else EvaluationError).__name__, str(error))

    @property
    def error(self) -> EvaluationError | FactsError:
        if self.kind == FactsError.__name__:
            return FactsError(self.path, self.line, self.message)
        if self.kind == BudgetExceeded.__name__:
            return BudgetExceeded(self.sources, self.message)
        return (OutOfMemory if self.kind == OutOfMemory.__name__ else EvaluationError)(self.message)


STATISTICS_CODEC: Codec[StratumStatistics] = Codec(StratumStatistics)
FAILURE_CODEC: Codec[Failure] = Codec(Failure)


def pack(value: object) -> bytes:
    """Return a value as a frame: None, numbers, texts, sequences, mappings, arrays, and the types named above."""
    body: list[memoryview] = []
    end = 0

    def plain(each: Any) -> Any:
        nonlocal end
        if isinstance(each, np.ndarray):
            place, data = end, np.ascontiguousarray(each)
            body.append(data.reshape(-1).view(np.uint8).data)
            end += data.nbytes
            return msgpack.ExtType(ARRAY, msgpack.packb((each.dtype.str, each.shape, place)))
        if isinstance(each, np.generic):
            return each.item()
        if isinstance(each, pyarrow.Array | pyarrow.ChunkedArray):
            return msgpack.ExtType(TEXTS, stream(pyarrow.table({"": each})))
        if isinstance(each, pyarrow.Table):
            return msgpack.ExtType(TABLE, stream(each))
        if isinstance(each, frozenset):
            return msgpack.ExtType(SET, msgpack.packb(sorted(each), unicode_errors=SURROGATES))
        if isinstance(each, StratumStatistics):
            return msgpack.ExtType(STATISTICS, STATISTICS_CODEC.pack(each))
        if isinstance(each, Failure):
            return msgpack.ExtType(FAILURE, FAILURE_CODEC.pack(each))
        raise TypeError(f"{type(each).__name__} is no plain data")

    head = msgpack.packb(value, default=plain, unicode_errors=SURROGATES)
    return b"".join([LENGTH.pack(len(head)), head, *body])


def unpack(data: bytes) -> Any:
    """Return the value of a frame. Raises Damaged."""
    whole = memoryview(data)

    def typed(code: int, content: bytes) -> Any:
        if code == ARRAY:
            return array(body, *msgpack.unpackb(content))
        if code == SET:
            return frozenset(msgpack.unpackb(content, unicode_errors=SURROGATES))
        return READERS[code](content)

    try:
        begin = LENGTH.size + LENGTH.unpack_from(whole)[0]
        head, body = whole[LENGTH.size : begin], whole[begin:]
        options = {"use_list": False, "strict_map_key": False, "unicode_errors": SURROGATES}
        return msgpack.unpackb(head, ext_hook=typed, **options)
    except (*WRONG, struct.error, pyarrow.ArrowException, OSError) as error:
        raise Damaged(f"a frame cannot be read: {error}") from None


def array(body: memoryview, dtype: str, shape: list[int], place: int) -> np.ndarray:
    """Return an array of its own at a place of the body."""
    if dtype not in TYPES:
        raise Damaged(f"{dtype!r} is no type of numbers")
    end = place + np.dtype(dtype).itemsize * math.prod(shape)
    if min(place, *shape, 0) < 0 or end > len(body):
        raise Damaged("an array does not stand in the frame")
    return np.frombuffer(bytearray(body[place:end]), dtype).reshape(shape)


def stream(table: pyarrow.Table) -> bytes:
    out = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(out, table.schema) as written:
        written.write_table(table)
    return out.getvalue().to_pybytes()


def table(content: bytes) -> pyarrow.Table:
    found = pyarrow.ipc.open_stream(content).read_all()
    found.validate(full=True)
    return found


def column(content: bytes) -> pyarrow.Array:
    held = table(content).column(0)
    return pyarrow.concat_arrays(held.chunks) if held.num_chunks else pyarrow.array([], held.type)


READERS = {TEXTS: column, TABLE: table, STATISTICS: STATISTICS_CODEC.unpack, FAILURE: FAILURE_CODEC.unpack}
