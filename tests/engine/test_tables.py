"""Tables in and out: the same relation in each form, and errors that name relation, column and row."""

import doctest
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given

import engine

PAGE = Path(__file__).resolve().parents[2] / "docs/engine.md"
PROGRAM = engine.compile(
    [
        ".type Pair = [first: number, second: symbol]\n"
        ".type Shape = Point {} | Circle { radius: float }\n"
        ".decl r(n: number, u: unsigned, f: float, s: symbol, p: Pair, c: Shape)\n.input r\n"
        ".decl plain(n: number, u: unsigned, f: float, s: symbol)\n.input plain\n"
        ".decl holds()\n.input holds\n"
    ]
)
NUMBERS = st.integers(-(2**31), 2**31 - 1)
UNSIGNED = st.integers(0, 2**32 - 1)
FLOATS = st.floats(allow_nan=False).map(lambda value: value + 0.0)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
PAIRS = st.none() | st.tuples(NUMBERS, TEXTS)
SHAPES = st.tuples(st.just(0), FLOATS) | st.just((1, 0))  # Branches are numbered in the order of their names.
PLAIN = st.lists(st.tuples(NUMBERS, UNSIGNED, FLOATS, TEXTS), max_size=5)


def evaluated(**tables):
    return engine.evaluate(PROGRAM, tables, threads=1)


@given(st.lists(st.tuples(NUMBERS, UNSIGNED, FLOATS, TEXTS, PAIRS, SHAPES), max_size=5))
def test_tuples_come_out_as_they_went_in(rows):
    assert evaluated(r=rows).tuples("r") == set(rows)


@given(PLAIN)
def test_every_form_holds_the_same_relation(rows):
    n, u, f, s = zip(*rows, strict=True) if rows else ((), (), (), ())
    arrays = {
        "n": np.array(n, np.int64),
        "u": np.array(u, np.uint32),
        "f": np.array(f, np.float64),
        "s": np.array(s, object),
    }
    frame = pandas.DataFrame(arrays)
    table = pyarrow.table({**arrays, "s": pyarrow.array(list(s), pyarrow.string())})
    by_position = [arrays[name] for name in "nufs"]
    swapped = frame[["s", "u", "n", "f"]]
    for form in (arrays, frame, table, by_position, swapped, iter(rows)):
        assert evaluated(plain=form).tuples("plain") == set(rows)


@given(PLAIN)
def test_what_comes_out_goes_in_again(rows):
    result = evaluated(plain=rows)
    assert {column: values.dtype.char for column, values in result.numpy("plain").items()} == {
        "n": "i",
        "u": "I",
        "f": "d",
        "s": "O",
    }
    for form in (result.numpy("plain"), result.arrow("plain"), result.pandas("plain")):
        assert evaluated(plain=form).tuples("plain") == set(rows)


def test_rows_come_in_the_order_of_their_values():
    result = evaluated(plain=[(2, 0, 0.0, "b"), (-1, 0, 0.0, "c"), (2, 0, 0.0, "a")])
    assert result.numpy("plain")["n"].tolist() == [-1, 2, 2]
    assert result.pandas("plain")["s"].tolist() == result.arrow("plain")["s"].to_pylist() == ["c", "a", "b"]


def test_a_relation_without_columns_holds_or_not():
    assert evaluated(holds=[()]).tuples("holds") == {()}
    assert evaluated(holds=[]).tuples("holds") == set()


@pytest.mark.parametrize(
    ("table", "place", "reason"),
    [
        ([(1, 1, 1.0, "a"), (1, 1, 1.0, 2)], ("s", 2), "2 is not a valid symbol (type symbol)"),
        ([(1, 1, 1.0, "a"), ("x", 1, 1.0, "a")], ("n", 2), "'x' is not a valid number (type number)"),
        ([(True, 1, 1.0, "a")], ("n", 1), "True is not a valid number (type number)"),
        ([(2**31, 1, 1.0, "a")], ("n", 1), "'2147483648' is out of the range of number (type number)"),
        ([(1, -1, 1.0, "a")], ("u", 1), "'-1' is out of the range of unsigned (type unsigned)"),
        ([(2**70, 1, 1.0, "a")], ("n", 1), f"'{2**70}' is out of the range of number (type number)"),
        ([(1, 1, None, "a")], ("f", 1), "None is not a valid float (type float)"),
        ([(1, 1, 1.0, "a"), (1, 1, 1.0)], ("", 2), "4 values are declared, not 3"),
        ({"n": np.array([1])}, ("", 0), "4 columns are declared, the table has 1"),
        ([np.arange(2), np.arange(3), np.arange(2.0), np.arange(2)], ("", 0), "columns of 2 and 3 values"),
        (
            {"n": [[1]], "u": [1], "f": [1], "s": ["a"]},
            ("n", 0),
            "an array of one dimension is needed, not one of shape (1, 1)",
        ),
        (
            pandas.DataFrame({"n": [1], "u": [1], "f": [1.5], "s": [None]}),
            ("s", 1),
            "None is not a valid symbol (type symbol)",
        ),
        (
            pandas.DataFrame({"n": [1.5], "u": [1], "f": [1.5], "s": ["a"]}),
            ("n", 1),
            "1.5 is not a valid number (type number)",
        ),
        (
            pyarrow.table({"n": [1, None], "u": [1, 1], "f": [1.5, 1], "s": ["a", "b"]}),
            ("n", 2),
            "a value is missing (type number)",
        ),
        (
            pyarrow.table({"n": [1], "u": [1], "f": [1.5], "s": [1]}),
            ("s", 0),
            "a column of int64 is read as symbol (type symbol)",
        ),
    ],
)
def test_an_error_names_relation_column_and_row(table, place, reason):
    with pytest.raises(engine.TableError) as raised:
        evaluated(plain=table)
    error = raised.value
    assert (error.relation, (error.column, error.row), error.message) == ("plain", place, reason)
    assert str(error).startswith("plain") and str(error).endswith(f": {reason}")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ((1,), "a Pair has 2 fields, not 1"),
        ((1, 2), "2 is not a valid symbol (type symbol)"),
        ("[1, a]", "'[1, a]' is not a valid record (type Pair)"),
    ],
)
def test_a_record_that_does_not_fit_is_an_error(value, reason):
    with pytest.raises(engine.TableError, match=r"r, column p, row 1: ") as raised:
        evaluated(r=[(1, 1, 1.0, "a", value, (0, 0))])
    assert raised.value.message == reason


@pytest.mark.parametrize("branch", [(), (2, 0), ("x",)])
def test_a_branch_that_is_not_there_is_an_error(branch):
    with pytest.raises(engine.TableError, match="the first field of a Shape is the number of a branch, from 0 on"):
        evaluated(r=[(1, 1, 1.0, "a", None, branch)])


def test_a_relation_that_is_not_declared_is_an_error():
    with pytest.raises(engine.TableError, match="plane: the program has no .*; did you mean 'plain'"):
        evaluated(plane=[])
    with pytest.raises(engine.TableError, match="x: the program has no relation of that name$"):
        evaluated().tuples("x")


def test_relations_that_no_program_declares_are_no_tables():
    with pytest.raises(ValueError, match="no program declares these relations"):
        engine.Result(engine.Symbols(), {}, {}).tuples("r")


def test_a_query_takes_tables_and_answers_in_tables():
    closure = engine.compile([".decl e(x: symbol, y: symbol)\n.decl p(x: symbol, y: symbol)\n"
                              "p(x, y) :- e(x, y).\np(x, z) :- p(x, y), e(y, z).\n"])  # fmt: skip
    arcs = [("a", "b"), ("b", "c"), ("c", "d")]
    assert engine.query(closure, 'p("b", y)', {"e": arcs}, threads=1).tuples("p") == {("b", "c"), ("b", "d")}


def test_the_examples_of_the_page_run():
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 10 and not found.failed
