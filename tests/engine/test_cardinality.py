"""Fan-outs that are estimated from samples of rows: of small relations these are all."""

from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from engine.evaluation.cardinality import Statistics, estimate_fan_out
from engine.storage.relation import Relation

VALUES = st.integers(0, 4)
ROWS = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=40, unique=True)
COLUMNS = st.lists(st.sampled_from([0, 1, 2]), unique=True).map(tuple)


@given(ROWS, COLUMNS, st.sampled_from([np.int32, np.int64]))
def test_the_fan_out_of_a_small_relation_is_exact(rows, columns, dtype):
    relation = Relation("r", 3, np.dtype(dtype))
    relation.insert(np.array(rows, dtype).T.copy(), 0, len(rows), relation.every)
    relation.advance()
    keys = Counter(tuple(row[column] for column in columns) for row in rows)
    expected = sum(n * n for n in keys.values()) / len(rows)
    assert estimate_fan_out(relation, columns) == pytest.approx(expected)


@pytest.mark.parametrize(("columns", "expected"), [((), 3000), ((0,), 1), ((1,), 300), ((2,), 3000), ((1, 2), 300)])
def test_the_rows_that_agree_with_a_row(columns, expected):
    relation = Relation("r", 3, np.dtype(np.int32))
    n = np.arange(3000, dtype=np.int32)
    relation.insert(np.array([n, n % 10, n * 0], np.int32), 0, len(n), np.arange(3))
    for update in relation.advance():
        update()
    assert Statistics({"r": relation}, {}, 1).fan_out("r", columns) == pytest.approx(expected, rel=0.2)
