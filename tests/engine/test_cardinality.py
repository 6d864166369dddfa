"""Fan-outs that are estimated from samples of rows."""

import numpy as np
import pytest

from engine.evaluation.cardinality import Statistics
from engine.storage.relation import Relation


@pytest.mark.parametrize(("columns", "expected"), [((), 3000), ((0,), 1), ((1,), 300), ((2,), 3000), ((1, 2), 300)])
def test_the_rows_that_agree_with_a_row(columns, expected):
    relation = Relation("r", 3, np.dtype(np.int32))
    n = np.arange(3000, dtype=np.int32)
    relation.insert(np.array([n, n % 10, n * 0], np.int32), 0, len(n), np.arange(3))
    for update in relation.advance():
        update()
    assert Statistics({"r": relation}, {}, 1).fan_out("r", columns) == pytest.approx(expected, rel=0.2)
