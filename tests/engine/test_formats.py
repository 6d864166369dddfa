"""JSON, SQLite and Parquet: what is written is read back, by other readers too, and what is wrong is said."""

import json
import math
import sqlite3
import sys
from decimal import Decimal

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import engine
from engine import tables
from engine.io.output_order import OrderedRelation
from engine.storage.memory import LEDGER

DECLARED = """
    .type Pair = [first: symbol, rest: Pair]
    .type Shape = Circle { radius: float } | Named { name: symbol, pair: Pair } | Empty {}
    .decl r(s: symbol, n: number, u: unsigned, f: float, p: Pair, a: Shape)
"""
ROWS = {
    ('a\n"b" é', -5, 4294967295, 1.5, None, (1, 0, 0)),
    ("", 2147483647, 7, float("-inf"), ('x, "y"', ("z", None)), (2, "n", ("[", None))),
    ("c", 0, 0, 1e300, ("plain", None), (0, 0.1, 0)),
}
FILES = {"jsonfile": "r.json", "jsonfile, format=object": "r.json", "sqlite": "r.sqlite", "parquet": "r.parquet"}


def load(tmp_path, text: str, name: str = "r") -> set[tuple]:
    program = engine.compile([text])
    return tables.decode(program, engine.load(program, tmp_path), [name])[name]


def store(tmp_path, text: str, rows: dict[str, set[tuple]], bits: int = 32) -> list[str]:
    program = engine.compile([text], number_bits=bits)
    database = engine.facts(program, rows)
    return engine.store(program, engine.Result(database.symbols, database.records, database.relations), tmp_path)


@pytest.mark.parametrize("parameters", FILES)
def test_every_kind_is_read_as_it_was_written(tmp_path, parameters):
    assert store(tmp_path, f"{DECLARED}.output r(IO={parameters})", {"r": ROWS}) == []
    assert (tmp_path / FILES[parameters]).exists()
    assert load(tmp_path, f"{DECLARED}.input r(IO={parameters})") == ROWS


@pytest.mark.parametrize("parameters", FILES)
@pytest.mark.parametrize("rows", [set(), {()}])
def test_nullary_relations_are_read_as_they_were_written(tmp_path, parameters, rows):
    store(tmp_path, f".decl r()\n.output r(IO={parameters})", {"r": rows})
    assert load(tmp_path, f".decl r()\n.input r(IO={parameters})") == rows


@pytest.mark.parametrize("parameters", FILES)
def test_empty_relations_and_missing_numbers(tmp_path, parameters):
    declared = ".decl r(x: float, y: number)\n"
    store(tmp_path, f"{declared}.output r(IO={parameters})", {"r": set()})
    assert load(tmp_path, f"{declared}.input r(IO={parameters})") == set()
    store(tmp_path, f"{declared}.output r(IO={parameters})", {"r": {(math.nan, 1)}})
    ((value, one),) = load(tmp_path, f"{declared}.input r(IO={parameters})")
    assert math.isnan(value) and one == 1


@pytest.mark.parametrize("parameters", FILES)
def test_wide_numbers_are_read_as_they_were_written(tmp_path, parameters):
    rows = {(-(2**63), 2**64 - 1), (2**63 - 1, 2**63)}
    declared = ".decl r(x: number, y: unsigned)\n"
    store(tmp_path, f"{declared}.output r(IO={parameters})", {"r": rows}, bits=64)
    program = engine.compile([f"{declared}.input r(IO={parameters})"], number_bits=64)
    assert tables.decode(program, engine.load(program, tmp_path), ["r"])["r"] == rows
    with pytest.raises(engine.FactsError, match="is out of the range of number"):
        load(tmp_path, f"{declared}.input r(IO={parameters})")


def test_json_is_as_other_tools_read_it(tmp_path):
    text = ".type P = [a: number, b: P]\n.decl r(x: symbol, p: P)\n.output r(IO=jsonfile{})"
    rows = {("b", None), ("a", (1, (2, None)))}
    store(tmp_path, text.format(""), {"r": rows})
    assert json.loads((tmp_path / "r.json").read_text()) == [["a", [1, [2, None]]], ["b", None]]
    store(tmp_path, text.format(", format=object"), {"r": rows})
    assert json.loads((tmp_path / "r.json").read_text()) == [
        {"x": "a", "p": {"a": 1, "b": {"a": 2, "b": None}}},
        {"x": "b", "p": None},
    ]


def test_tables_are_as_other_tools_read_them(tmp_path):
    text = '.decl {0}(x: symbol, "y": number)\n.output {0}(IO=sqlite, filename="all.db")'.replace('"y"', "y")
    for name in ("r", "other", "r"):
        store(tmp_path, text.format(name), {name: {("b", 2), ("a", 3)}})
    with sqlite3.connect(tmp_path / "all.db") as database:
        assert database.execute("SELECT x, y FROM r").fetchall() == [("a", 3), ("b", 2)]
        assert database.execute("SELECT count(*), typeof(y) FROM other").fetchall() == [(2, "integer")]


def test_columns_of_parquet_are_read_by_name_or_else_by_position(tmp_path):
    table = pyarrow.table(
        {"y": pyarrow.array([1, 2], pyarrow.int8()), "x": pyarrow.array(["a", "b"]).dictionary_encode()}
    )
    pyarrow.parquet.write_table(table, tmp_path / "r.parquet")
    assert load(tmp_path, '.decl r(x: symbol, y: number)\n.input r(filename="r.parquet")') == {("a", 1), ("b", 2)}
    assert load(tmp_path, ".decl r(a: number, b: symbol)\n.input r(IO=parquet)") == {(1, "a"), (2, "b")}
    store(
        tmp_path,
        '.decl r(x: symbol, y: unsigned)\n.output r(filename="out.parquet")',
        {"r": {("b", 2), ("a", 2**32 - 1)}},
    )
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pydict() == {"x": ["a", "b"], "y": [2**32 - 1, 2]}


def test_decimals_without_a_fraction_are_integers(tmp_path):
    """Spark has no unsigned type: it reads and writes one of 64 bits as decimal(20, 0)."""
    declared = ".decl r(x: number, y: unsigned)\n.input r(IO=parquet)"
    for value in (2**64 - 1, -1, 2**64):
        table = pyarrow.table({"x": [Decimal(-5)], "y": pyarrow.array([Decimal(value)], pyarrow.decimal128(20, 0))})
        pyarrow.parquet.write_table(table, tmp_path / "r.parquet")
        program = engine.compile([declared], number_bits=64)
        if value == 2**64 - 1:
            assert tables.decode(program, engine.load(program, tmp_path), ["r"])["r"] == {(-5, value)}
        else:
            with pytest.raises(engine.FactsError, match="a value that is not a valid unsigned of 64 bits"):
                engine.load(program, tmp_path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    text = ".decl r(x: number)\n.{} r(IO=parquet)"
    for action in (
        lambda: load(tmp_path, text.format("input")),
        lambda: store(tmp_path, text.format("output"), {"r": {(1,)}}),
    ):
        with pytest.raises(engine.FactsError, match=r"Parquet needs pyarrow; install it with: pip install pyarrow"):
            action()


@pytest.mark.parametrize(
    "text, row, message",
    [
        ("[1, 2]", 1, "an array of 2 values is expected, not 1"),
        ('[["a", 1], ["b"]]', 2, 'an array of 2 values is expected, not ["b"]'),
        ('[["a", 1], ["b", 1.5]]', 2, "1.5 is not a valid number (type number)"),
        ('[["a", true]]', 1, "true is not a valid number (type number)"),
        ('[["a", 2147483648]]', 1, "'2147483648' is out of the range of number"),
        ("[[1, 1]]", 1, "1 is not a valid symbol (type symbol)"),
        ('[{"x": "a"}]', 1, "the object has the attributes ['x'], not ['x', 'y']"),
        ('{"x": 1}', 0, "cannot read the facts of r: an array of rows is expected"),
        ("[1,", 0, "cannot read the facts of r: Expecting value"),
        ("[" * 100_000, 0, "cannot read the facts of r"),
    ],
)
def test_bad_json_is_reported_with_its_row(tmp_path, text, row, message):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(engine.FactsError) as caught:
        load(tmp_path, ".decl r(x: symbol, y: number)\n.input r(IO=jsonfile)")
    assert caught.value.line == row and caught.value.message.startswith(message)


def test_bad_tables_are_reported(tmp_path):
    text = '.decl r(x: symbol, y: number)\n.input r(IO=sqlite, dbname="d.db")'
    with pytest.raises(engine.FactsError, match="there is no such file"):
        load(tmp_path, text)
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("CREATE TABLE q (x)")
    with pytest.raises(engine.FactsError, match="no such table: r"):
        load(tmp_path, text)
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("CREATE TABLE r (x, y)")
        database.executemany("INSERT INTO r VALUES (?, ?)", [("a", 1), ("b", "two")])
    with pytest.raises(engine.FactsError, match=r"d.db:2: 'two' is not a valid number \(type number\)"):
        load(tmp_path, text)
    with pytest.raises(engine.FactsError, match="r has 1 columns, its table 2"):
        load(tmp_path, '.decl r(x: symbol)\n.input r(IO=sqlite, dbname="d.db")')
    (tmp_path / "d.db").write_bytes(b"no database" * 100)
    with pytest.raises(engine.FactsError, match="file is not a database"):
        load(tmp_path, text)


@pytest.mark.parametrize(
    "column, declared, row, message",
    [
        ([1, 2**31], "number", 2, "'2147483648' is out of the range of number"),
        ([1, None], "number", 2, "a value is missing"),
        ([1.5], "number", 0, "a column of double is read as number"),
        (["a"], "float", 1, "'a' is not a valid float"),
        ([b"a"], "number", 0, "a column of binary is read as number"),
        (["[1]", "[1]", "[1"], "P", 3, "expected ']' before the end"),
    ],
)
def test_bad_parquet_is_reported_with_its_row(tmp_path, column, declared, row, message):
    pyarrow.parquet.write_table(pyarrow.table({"x": column}), tmp_path / "r.parquet")
    with pytest.raises(engine.FactsError) as caught:
        load(tmp_path, f".type P = [n: number]\n.decl r(x: {declared})\n.input r(IO=parquet)")
    assert caught.value.line == row and caught.value.message.startswith(message)


def test_what_is_no_parquet_is_reported(tmp_path):
    (tmp_path / "r.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(engine.FactsError, match="cannot read the facts of r"):
        load(tmp_path, ".decl r(x: number)\n.input r(IO=parquet)")


@pytest.mark.parametrize("text, line", [('"a",1\n"b,2\n', 2), ('"a"x,1\n', 1)])
def test_malformed_quotes_are_reported(tmp_path, text, line):
    (tmp_path / "r.facts").write_text(text)
    with pytest.raises(engine.FactsError, match="malformed quotes") as caught:
        load(tmp_path, ".decl r(x: symbol, y: number)\n.input r(rfc4180=true)")
    assert caught.value.line == line


def test_broken_gzip_is_reported(tmp_path):
    (tmp_path / "r.facts").write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff")
    with pytest.raises(engine.FactsError, match="cannot read the facts of r"):
        load(tmp_path, ".decl r(x: symbol)\n.input r")


def test_texts_that_are_no_utf8_are_read_from_parquet_as_they_were_written(tmp_path):
    declared = ".decl r(x: symbol, y: number)\n"
    rows = {("caf\udce9.py", 1), ("é.py", 2)}
    store(tmp_path, f"{declared}.output r(IO=parquet)", {"r": rows})
    assert load(tmp_path, f"{declared}.input r(IO=parquet)") == rows


# ---- portions

MANY = {
    (text, i % 3, i * 977 % 4001, (i % 7) / 2, (text, None) if i % 2 else None)
    for i in range(900)
    for text in [("é", "a", "")[i % 3] * (i % 5)]
}
WIDE = ".decl r(s: symbol, n: number, u: unsigned, f: float, p: Pair)\n.type Pair = [first: symbol, rest: Pair]\n"


def read_back(path):
    """Return what stands in a file that was written, whatever else the writer keeps there."""
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)
    if path.suffix == ".sqlite":
        return sqlite3.connect(path).execute("SELECT * FROM r").fetchall()
    return path.read_bytes()


@pytest.mark.parametrize("text", ["", "\udcff"])
@pytest.mark.parametrize("device", ["file", *FILES])
def test_what_is_written_in_portions_is_what_is_written_at_once(device, text, tmp_path, monkeypatch):
    rows = {"r": MANY | ({("zz" + text, 5, 5, 0.0, None)} if device != "sqlite" else set())}
    found = []
    for limit in (None, 400_000):
        monkeypatch.setattr(LEDGER, "limit_bytes", limit)
        folder = tmp_path / str(limit)
        folder.mkdir()
        store(folder, f"{WIDE}.output r(IO={device})", rows)
        found.append(read_back(*folder.iterdir()))
    assert found[0] == found[1]


@pytest.mark.parametrize("columns", [[[7] * 5000, range(5000)], [[1] * 2500 + [2] * 2500, [*range(2500)] * 2]])
def test_portions_follow_each_other_and_are_small(columns, monkeypatch):
    rows = np.random.default_rng(1).permutation(np.array([list(column) for column in columns], np.int32), axis=1)
    relation = engine.compile([".decl r(x: number, y: number)"]).relations["r"]
    monkeypatch.setattr(LEDGER, "limit_bytes", 1_000_000)
    monkeypatch.setattr(LEDGER, "has_room", lambda n_bytes: False)  # Whatever else the process holds.
    portions = [portion.ranks for portion in OrderedRelation(relation, rows, None)]
    assert len(portions) > 10 and max(portion.shape[1] for portion in portions) < 1000
    expected = rows[:, np.lexsort(rows[::-1])]
    assert np.array_equal(np.concatenate(portions, axis=1), expected)
