"""Files of facts and results."""

import gzip
import io

import numpy as np
import pytest

import engine
from engine import tables

NUMBERS = ".decl r(x: number, y: number)\n"


def loaded(tmp_path, program: str, text: str, file: str = "r.facts") -> set[tuple]:
    """Return the relation r as read from a file of that text."""
    (tmp_path / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    compiled = engine.compile([program])
    return tables.decode(compiled, engine.load(compiled, tmp_path), ["r"])["r"]


def stored(tmp_path, program: str, rows: set[tuple], file: str = "r.csv") -> str:
    """Return the text that the relation r with these rows is written as."""
    compiled = engine.compile([program])
    database = engine.facts(compiled, {"r": rows})
    result = engine.Result(database.symbols, database.records, database.relations)
    assert engine.store(compiled, result, tmp_path) == []
    return (tmp_path / file).read_bytes().decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("text", ["1\t2\n-3\t40\n", "1\t2\n-3\t40", "1\t2\r\n-3\t40\r\n", "0x1\t2\n-3\t0b101000\n"])
def test_numbers_are_read(tmp_path, text):
    assert loaded(tmp_path, NUMBERS + ".input r", text) == {(1, 2), (-3, 40)}


def test_standard_input_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n1,2\n-3,40\n")))
    program = NUMBERS + '.input r(IO=stdin, delimiter=",", headers=true)'
    assert loaded(tmp_path, program, "7\t7\n") == {(1, 2), (-3, 40)}, "and no file"


def test_a_wrong_row_of_standard_input_is_an_error_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1\t2\n3\tx\n")))
    with pytest.raises(engine.FactsError, match="standard input:2: "):
        engine.load(engine.compile([NUMBERS + ".input r(IO=stdin)"]), tmp_path)


def test_every_kind_is_read(tmp_path):
    program = """
        .type Pair = [first: symbol, rest: Pair]
        .type Shape = Circle { radius: float } | Named { name: symbol, pair: Pair } | Empty {}
        .decl r(s: symbol, u: unsigned, f: float, p: Pair, a: Shape)
        .input r
    """
    text = (
        "plain text\t4294967295\t1.5\tnil\t$Empty\n"
        '\t0\t-2e3\t[a b, ["c, \\"d\\"", nil]]\t$Named(x, [y, nil])\n'
        "é\t7\t3\t[a,nil]\t$Circle(0.25)\n"
    )
    # Branches are numbered by name: Circle, Empty, Named.
    assert loaded(tmp_path, program, text) == {
        ("plain text", 4294967295, 1.5, None, (1, 0, 0)),
        ("", 0, -2000.0, ("a b", ('c, "d"', None)), (2, "x", ("y", None))),
        ("é", 7, 3.0, ("a", None), (0, 0.25, 0)),
    }


@pytest.mark.parametrize(
    "parameters, text, file",
    [
        ("", "1\t2\n", "r.facts"),
        ('(filename="other.txt")', "1\t2\n", "other.txt"),
        ('(IO=file, delimiter=",")', "1,2\n", "r.facts"),
        ('(delimiter="::")', "1::2\n", "r.facts"),
        ("(headers=true)", "x\ty\n1\t2\n", "r.facts"),
        ('(columns="2:0")', "2\tskipped\t1\n", "r.facts"),
        ("(rfc4180=true)", '"1",2\n', "r.facts"),
    ],
)
def test_parameters_of_input(tmp_path, parameters, text, file):
    assert loaded(tmp_path, f"{NUMBERS}.input r{parameters}", text, file) == {(1, 2)}


def test_gzip_is_read_and_written(tmp_path):
    program = NUMBERS + '.input r(filename="r.facts.gz")\n.output r(compress=true)'
    (tmp_path / "r.facts.gz").write_bytes(gzip.compress(b"1\t2\n"))
    compiled = engine.compile([program])
    database = engine.load(compiled, tmp_path)
    engine.store(compiled, engine.Result(database.symbols, database.records, database.relations), tmp_path)
    assert gzip.decompress((tmp_path / "r.csv.gz").read_bytes()) == b"1\t2\n"


def test_delimiter_inside_a_record_ends_nothing(tmp_path):
    program = '.type P = [a: number, b: number]\n.decl r(x: P, y: number)\n.input r(delimiter=",")'
    assert loaded(tmp_path, program, "[1, 2],3\nnil,4\n") == {((1, 2), 3), (None, 4)}


def test_nullary_relation_holds_if_its_file_has_a_line(tmp_path):
    assert loaded(tmp_path, ".decl r()\n.input r", "()\n") == {()}
    assert loaded(tmp_path, ".decl r()\n.input r", "") == set()


@pytest.mark.parametrize(
    "declaration, text, line, message",
    [
        ("x: number, y: number", "1\t2\n3\n", 2, "r has 2 fields, this line 1"),
        ("x: number, y: number", "1\t2\n\n3\t4\n", 2, "r has 2 fields, this line 1"),
        ("x: symbol, y: symbol", "a\tb\nc\td\te\n", 2, "r has 2 fields, this line 3"),
        ("x: number, y: number", "1\t2\n3\tx4\n", 2, "'x4' is not a valid number (type number)"),
        ("x: number, y: number", "1\t2147483648\n", 1, "'2147483648' is out of the range of number"),
        ("x: unsigned, y: number", "1\t2\n-1\t2\n", 2, "'-1' is out of the range of unsigned"),
        ("x: symbol, y: number", "a\t1_0\n", 1, "'1_0' is not a valid number (type number)"),
        ("x: symbol, y: float", "a\t1.5\nb\tone\n", 2, "'one' is not a valid float (type float)"),
        ("x: symbol, y: P", "a\t[1\n", 1, "expected ']' before the end (type P)"),
        ("x: symbol, y: P", "a\t[1]]\n", 1, "']' follows a complete record (type P)"),
    ],
)
def test_bad_rows_are_reported_with_file_and_line(tmp_path, declaration, text, line, message):
    program = f".type P = [n: number]\n.decl r({declaration})\n.input r"
    with pytest.raises(engine.FactsError) as caught:
        loaded(tmp_path, program, text)
    assert str(caught.value) == f"{tmp_path / 'r.facts'}:{line}: {message}"


def test_missing_file_is_reported(tmp_path):
    with pytest.raises(engine.FactsError, match="r.facts: cannot read the facts of r"):
        engine.load(engine.compile([NUMBERS + ".input r"]), tmp_path)


def test_rows_are_written_in_the_order_of_their_values(tmp_path):
    program = ".decl r(x: number, s: symbol)\n.output r"
    rows = {(10, "b"), (-5, "z"), (10, "a"), (2, "é"), (2, "z")}
    assert stored(tmp_path, program, rows) == "-5\tz\n2\tz\n2\té\n10\ta\n10\tb\n"


def test_floats_and_unsigned_numbers_are_written_by_value(tmp_path):
    program = ".decl r(x: float, u: unsigned)\n.output r"
    rows = {(10.5, 1), (-2.0, 4294967295), (-2.0, 9), (float("nan"), 0), (float("inf"), 0), (float("-inf"), 0)}
    assert stored(tmp_path, program, rows) == "-inf\t0\n-2\t9\n-2\t4294967295\n10.5\t1\ninf\t0\nnan\t0\n"


def test_wide_rows_are_written_in_order(tmp_path):
    program = engine.compile([".decl r(a: number, b: number, c: number)\n.output r"], number_bits=64)
    least, greatest = -(1 << 63), (1 << 63) - 1
    rows = {(greatest, least, 0), (least, greatest, 1), (least, 0, greatest), (0, 0, 0)}
    database = engine.facts(program, {"r": rows})
    engine.store(program, engine.Result(database.symbols, database.records, database.relations), tmp_path)
    lines = [tuple(map(int, line.split("\t"))) for line in (tmp_path / "r.csv").read_text().splitlines()]
    assert lines == sorted(rows)


def test_every_kind_is_written_as_it_is_read(tmp_path):
    program = """
        .type Pair = [first: symbol, rest: Pair]
        .type Shape = Circle { radius: float } | Named { name: symbol, pair: Pair } | Empty {}
        .decl r(s: symbol, u: unsigned, f: float, p: Pair, a: Shape)
        .output r
    """
    rows = {
        ("a", 4294967295, 1.5, None, (1, 0, 0)),
        ("b", 7, 3.0, ("x, y", ('quote "', None)), (2, "n", ("[", None))),
        ("c", 0, 1e300, ("plain", None), (0, 0.1, 0)),
    }
    text = stored(tmp_path, program, rows)
    assert text == (
        "a\t4294967295\t1.5\tnil\t$Empty\n"
        'b\t7\t3\t["x, y", ["quote \\"", nil]]\t$Named(n, ["[", nil])\n'
        "c\t0\t1e+300\t[plain, nil]\t$Circle(0.1)\n"
    )
    assert loaded(tmp_path, program.replace(".output", ".input"), text) == rows


def test_headers_delimiter_and_file_name_of_output(tmp_path):
    program = NUMBERS + '.output r(filename="out.txt", delimiter=", ", headers=true)'
    assert stored(tmp_path, program, {(1, 2)}, "out.txt") == "x, y\n1, 2\n"


def test_standard_output_and_sizes_are_returned(tmp_path):
    program = engine.compile([NUMBERS + ".output r(IO=stdout)\n.printsize r"])
    database = engine.facts(program, {"r": {(1, 2), (0, 5)}})
    lines = engine.store(program, engine.Result(database.symbols, database.records, database.relations), tmp_path)
    assert lines == ["---------------", "r", "===============", "0\t5", "1\t2", "===============", "r\t2"]


def test_long_lists_are_written(tmp_path):
    compiled = engine.compile([".type L = [head: number, tail: L]\n.decl r(l: L)\n.output r"])
    n = 100_000
    table = np.array([np.arange(n), np.arange(n)])
    result = engine.Result(engine.Symbols(), {"L": table}, {"r": np.array([[n]])})
    engine.store(compiled, result, tmp_path)
    text = (tmp_path / "r.csv").read_text()
    assert text.startswith(f"[{n - 1}, [{n - 2}, ") and text.endswith("[0, nil" + "]" * n + "\n")


def test_any_symbol_is_read_as_it_was_written_with_escapes(tmp_path):
    declared = ".type P = [a: symbol, b: P]\n.decl r(x: symbol, p: P, y: symbol)\n"
    texts = ["", "a\tb\n", "\\t", "\r", "c\r\n", '"', " ", "nil", "\x85\u2028", "\udcff"]
    rows = {(text, (text, (text, None)), text) for text in texts}
    written = stored(tmp_path, declared + ".output r(escapes=true)", rows)
    assert loaded(tmp_path, declared + ".input r(escapes=true)", written) == rows


def test_an_unknown_escape_is_an_error_with_its_line(tmp_path):
    with pytest.raises(engine.FactsError, match=r"r.facts:2: unknown escape '\\q'"):
        loaded(tmp_path, ".decl r(x: symbol)\n.input r(escapes=true)", "a\\n\n\\q\n")


def test_a_deep_record_is_read_as_it_was_written(tmp_path):
    declared = ".type L = [head: number, tail: L]\n.decl r(x: L)\n"
    written = "[1, " * 5000 + "nil" + "]" * 5000 + "\n"
    compiled = engine.compile([declared + ".input r\n.output r"])
    (tmp_path / "r.facts").write_text(written)
    database = engine.load(compiled, tmp_path)
    engine.store(compiled, engine.Result(database.symbols, database.records, database.relations), tmp_path)
    assert (tmp_path / "r.csv").read_text() == written
