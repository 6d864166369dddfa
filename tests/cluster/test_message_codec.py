"""What members send one another arrives as it was, other bytes are damage, and run nothing."""

import pickle

import msgpack
import numpy as np
import pyarrow
import pytest

from engine.cluster.message_codec import Failure, pack, unpack
from engine.codec import Damaged
from engine.database import EvaluationError, OutOfMemory
from engine.io.facts_error import FactsError
from engine.result import IterationCosts, RuleStatistics, StratumStatistics

RULE = RuleStatistics(rule="r", iterations={3: IterationCosts(0.5, 1, 2, 3, 4)})
STATISTICS = StratumStatistics(("a", "b"), True, rules=[RULE], partition_by={"a": (0,)})


@pytest.mark.parametrize(
    "value",
    [
        None,
        (1, -(2**63), 2**64 - 1, 0.5, True, "é\udc80", b"\0"),
        {"a": (1, (2, ())), ("b", 1): None},
        frozenset({"x", "y"}),
        STATISTICS,
        Failure("FactsError", "wrong", "a.facts", 3),
    ],
)
def test_values_arrive_as_they_were(value):
    found = unpack(pack(value))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", ">i4", "i8", "u8", "f8"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (0, 3), (2, 0), (3, 4), (2, 3, 4)])
def test_arrays_arrive_as_they_were_and_can_be_written(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    (one, [other]) = unpack(pack([array, [array.T]]))
    for found, expected in ((one, array), (other, array.T)):
        assert (found.dtype, found.shape, found.tolist()) == (expected.dtype, expected.shape, expected.tolist())
        assert found.flags.c_contiguous and found.flags.writeable


def test_columns_and_tables_of_arrow_arrive_as_they_were():
    texts = pyarrow.array(["a", None, "é"], pyarrow.large_string())
    chunked = pyarrow.chunked_array([texts, texts])
    none = pyarrow.chunked_array([], pyarrow.int32())
    table = pyarrow.table({"a": [1, 2], "b": ["x", "y"]})
    found = unpack(pack({"texts": texts, "chunked": chunked, "none": none, "tables": {"t": table}}))
    assert found["texts"].equals(texts)
    assert found["chunked"].equals(chunked.combine_chunks())
    assert found["none"].type == pyarrow.int32() and len(found["none"]) == 0
    assert found["tables"]["t"].equals(table)


@pytest.mark.parametrize("error", [EvaluationError("e"), OutOfMemory("m"), FactsError("a/b.facts", 3, "w")])
def test_errors_are_told_by_kind(error):
    found = unpack(pack(Failure.of(error))).error
    assert type(found) is type(error)
    assert (str(found), vars(found)) == (str(error), vars(error))


class Mischief:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_damage_and_runs_nothing(tmp_path):
    mischief = Mischief(tmp_path / "ran")
    objects = np.array([mischief], object)
    for data in (pickle.dumps(mischief), objects.dumps()):
        with pytest.raises(Damaged):
            unpack(data)
    with pytest.raises(TypeError):
        pack(mischief)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "place",
    [
        ("|O", [1], 0),
        ("<V4", [1], 0),
        (["<i4"], [1], 0),
        ("<i4", [3], 0),
        ("<i4", [1], 4),
        ("<i4", [1], -4),
        ("<i4", [-1], 0),
        ("<i4", [-1, -1], 0),
        ("<i4", [0.5], 0),
    ],
)
def test_arrays_stand_in_the_frame(place):
    head = msgpack.packb(msgpack.ExtType(1, msgpack.packb(place)))
    with pytest.raises(Damaged):
        unpack(len(head).to_bytes(8, "little") + head + b"\1\0\0\0")


def test_flipped_bits_and_cuts_raise_nothing_but_damage(damaged):
    columns = np.arange(12).reshape(3, 4)
    texts = pyarrow.array(["a", "bc"], pyarrow.large_string())
    data = pack({"rows": (columns, 12, True), "texts": texts, "news": (("a", "b"), {"r": columns}), "done": STATISTICS})
    n_damaged = 0
    for each in damaged(data, 1500, seed=3):
        try:
            unpack(each)
        except Damaged:
            n_damaged += 1
    assert n_damaged > 1500
