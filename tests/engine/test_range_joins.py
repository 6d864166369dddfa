"""Range joins: comparisons bound the part of a run that a join reads. Rows agree with all pairs tried one by one."""

import operator

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

import engine

LEAST, GREATEST = -(2**31), 2**31 - 1
LEAST_LONG, GREATEST_LONG = -(2**63), 2**63 - 1
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
NUMBERS = st.integers(-6, 6) | st.sampled_from([LEAST, LEAST + 1, GREATEST - 1, GREATEST])
COMPARISONS = st.tuples(st.booleans(), st.sampled_from(sorted(OPERATORS)), st.sampled_from(["x", "z", 3, -2]))
TABLES = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=6)
LONG_NUMBERS = NUMBERS | st.sampled_from([LEAST_LONG, LEAST_LONG + 1, GREATEST_LONG - 1, GREATEST_LONG])
LONG_TABLES = st.lists(st.tuples(LONG_NUMBERS, LONG_NUMBERS), max_size=6)
DECLARATIONS = """
.decl p(x: number, z: number)
.decl q(k: number, y: number)
.decl r(x: number, z: number, y: number)
"""


def tables(p, q):
    return {"p": sorted(set(p)), "q": sorted(set(q))}


def evaluated(text, rows_of, number_bits=32, **options):
    facts = "".join(f"{name}({', '.join(map(str, row))}).\n" for name, rows in rows_of.items() for row in rows)
    program = engine.compile([engine.Source("r.dl", DECLARATIONS + text + facts)], number_bits=number_bits)
    return engine.evaluate(program, engine.Database(), **options)


def spoken(comparison):
    mirrored, op, bound = comparison
    return f"{bound} {op} y" if mirrored else f"y {op} {bound}"


def holds(comparison, x, z, y):
    mirrored, op, bound = comparison
    bound = {"x": x, "z": z}.get(bound, bound)
    return OPERATORS[op](bound, y) if mirrored else OPERATORS[op](y, bound)


@pytest.fixture(autouse=True)
def every_run(monkeypatch):
    """Runs of any length are searched."""
    monkeypatch.setattr("engine.evaluation.index_selection.LONG_RUN", 0)


@given(TABLES, TABLES, st.lists(COMPARISONS, min_size=1, max_size=3))
@example([(0, 0)], [(0, GREATEST)], [(False, "<=", "x")])
@example([(GREATEST, LEAST)], [(0, GREATEST), (0, LEAST)], [(False, ">", "x"), (True, ">", "z")])
def test_rows_agree_with_all_pairs(p, q, comparisons):
    agree_with_all_pairs(p, q, comparisons)


@given(LONG_TABLES, LONG_TABLES, st.lists(COMPARISONS, min_size=1, max_size=3))
@example([(GREATEST_LONG, 0)], [(0, GREATEST_LONG), (0, 0)], [(False, "<=", "x")])
@example([(GREATEST_LONG, LEAST_LONG)], [(0, GREATEST_LONG), (0, 0)], [(False, ">", "x")])
def test_rows_of_64_bits_agree_with_all_pairs(p, q, comparisons):
    agree_with_all_pairs(p, q, comparisons, number_bits=64)


def agree_with_all_pairs(p, q, comparisons, **options):
    conditions = ", ".join(map(spoken, comparisons))
    result = evaluated(f"r(x, z, y) :- p(x, z), q(_, y), {conditions}.\n", tables(p, q), **options)
    rows = set(map(tuple, result.relation("r").T.tolist()))
    assert rows == {(x, z, y) for x, z in p for _, y in q if all(holds(each, x, z, y) for each in comparisons)}


@given(TABLES, TABLES, st.lists(COMPARISONS, min_size=1, max_size=3), st.sampled_from([1, 2]))
def test_rows_of_a_key_agree_with_all_pairs(p, q, comparisons, threads):
    conditions = ", ".join(map(spoken, comparisons))
    result = evaluated(f"r(x, z, y) :- p(x, z), q(x, y), {conditions}.\n", tables(p, q), threads=threads)
    rows = set(map(tuple, result.relation("r").T.tolist()))
    assert rows == {
        (x, z, y) for x, z in p for k, y in q if k == x and all(holds(each, x, z, y) for each in comparisons)
    }


@given(TABLES, TABLES, st.lists(COMPARISONS, min_size=1, max_size=2))
def test_what_only_has_to_exist_is_found(p, q, comparisons):
    conditions = ", ".join(map(spoken, comparisons))
    result = evaluated(f"r(x, z, 0) :- p(x, z), q(z, y), {conditions}.\n", tables(p, q))
    rows = set(map(tuple, result.relation("r").T.tolist()))
    assert rows == {
        (x, z, 0) for x, z in p for k, y in q if k == z and all(holds(each, x, z, y) for each in comparisons)
    }


def test_a_window_over_many_numbers_is_read_as_such():
    """All pairs would be ten thousand million."""
    text = ".decl n(x: number)\nn(x) :- x = range(0, 100000).\nr(x, x, y) :- n(x), n(y), x < y, y < x + 3.\n"
    assert evaluated(text, {}).relation("r").shape[1] == 2 * 100_000 - 3
