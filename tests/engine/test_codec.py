"""What a codec has written it reads as it was; of other bytes it says that they are damaged, and runs nothing."""

import pickle
import random
from dataclasses import dataclass, field

import msgpack
import pytest

import engine
from engine.codec import Codec, Damaged
from engine.language.program_codec import PROGRAM_CODEC
from engine.plan.outlined_program import OUTLINED_PROGRAM_CODEC, outlined

TEXT = """
.type Name <: symbol
.type Tree = Leaf { value: float } | Node { left: Tree, right: Tree }
.type Pair = [a: number, b: Name]
.decl arc(x: number, y: number)
.input arc(filename="arcs.tsv")
.decl tree(t: Tree)
tree($Leaf(0.0)). tree($Leaf(-0.0)). tree($Node($Leaf(1.5), $Leaf(-2.5))).
.decl pair(p: Pair)
pair([1, "é\\"\\n"]). pair(nil).
.decl reach(x: number, y: number) eqrel
reach(x, y) :- arc(x, y), x != 3, !arc(y, _).
.decl cost(x: number, d: number)
cost(1, min<0>).
cost(y, min<c + 1>) :- cost(x, c), arc(x, y).
.decl total(n: number)
total(n) :- n = sum d : { cost(_, d), d > 0 }.
.output total
.limitsize arc(n=100)
"""
PROGRAM_OF_ALL = engine.compile([engine.Source("all.dl", TEXT)])


def test_a_program_is_read_as_it_was_written_with_the_places_of_its_clauses():
    data = PROGRAM_CODEC.pack(PROGRAM_OF_ALL)
    found = PROGRAM_CODEC.unpack(data)
    assert found == PROGRAM_OF_ALL
    assert [clause.span for clause in found.clauses] == [clause.span for clause in PROGRAM_OF_ALL.clauses]
    assert [repr(c.head) for c in found.clauses] == [repr(c.head) for c in PROGRAM_OF_ALL.clauses]  # -0.0 is not 0.0.
    assert PROGRAM_CODEC.pack(found) == data


@pytest.mark.parametrize("term", ["cat(" * 190 + '"a"' + ', "b")' * 190, "cat(" + ", ".join(['"a"'] * 5000) + ")"])
def test_terms_as_deep_and_as_wide_as_the_compiler_takes_are_kept(term):
    program = engine.compile([f".decl p(x: symbol)\np({term})."])
    assert PROGRAM_CODEC.unpack(PROGRAM_CODEC.pack(program)) == program
    assert OUTLINED_PROGRAM_CODEC.unpack(OUTLINED_PROGRAM_CODEC.pack(outlined(program))).whole == program


class Mischief:
    """Runs a program when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_damage_and_runs_nothing(tmp_path):
    with pytest.raises(Damaged):
        PROGRAM_CODEC.unpack(pickle.dumps(Mischief(tmp_path / "ran")))
    assert not (tmp_path / "ran").exists()


def variants(value, choose):
    """Yield a document with one part of it replaced, for parts at random places."""
    others = [None, True, -1, 1 << 40, 0.5, "x", b"x", [], [[]], {}, {1: 2}, msgpack.ExtType(1, b"x"), 10**6]
    for _ in range(600):
        document = msgpack.unpackb(value, strict_map_key=False)
        at, where = document, choose.randrange(len(document))
        while isinstance(at[where], list | dict) and at[where] and choose.random() < 0.85:
            at = at[where]
            where = choose.choice(list(at) if isinstance(at, dict) else range(len(at)))
        at[where] = choose.choice(others)
        yield msgpack.packb(document)


def test_documents_with_wrong_parts_are_damage_or_well_typed():
    data = PROGRAM_CODEC.pack(PROGRAM_OF_ALL)
    n_damaged = 0
    for changed in variants(data, random.Random(15)):
        try:
            assert isinstance(PROGRAM_CODEC.unpack(changed), engine.CheckedProgram)
        except Damaged:
            n_damaged += 1
    assert n_damaged > 300


def test_bytes_with_flipped_bits_or_cut_are_damage_or_well_typed(damaged):
    for each in damaged(PROGRAM_CODEC.pack(PROGRAM_OF_ALL), 600, seed=16):
        try:
            assert isinstance(PROGRAM_CODEC.unpack(each), engine.CheckedProgram)
        except Damaged:
            pass


@dataclass(frozen=True)
class Point:
    x: float
    name: str | None = None


@dataclass(frozen=True)
class Shape:
    points: tuple[Point, ...]
    inner: "Shape | Point | None" = None
    named: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    left_out: int = 7


SHAPES: Codec[list[Shape]] = Codec(list[Shape], lambda owner, field: field.name != "left_out")


def test_fields_that_are_not_kept_have_their_defaults():
    some = [Shape((Point(1.0), Point(0.0), Point(-0.0, "z")), Shape((), Point(2)), {("a", 1): frozenset("c")}, 8)]
    (found,) = SHAPES.unpack(SHAPES.pack(some))
    assert repr(found) == repr(Shape(some[0].points, Shape((), Point(2)), {("a", 1): frozenset("c")}, 7))


@pytest.mark.parametrize("type_", [object, list[object], dict[str, Mischief]])
def test_what_is_no_plain_data_has_no_codec(type_):
    with pytest.raises(TypeError, match="no plain data"):
        Codec(type_)
