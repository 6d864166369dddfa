"""The bundled analyses derive the same tuples on any number of threads and partitions, and under every policy."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import engine
from engine import Options
from facts import extract, mount

pytestmark = pytest.mark.slow

FILES = {
    "app.py": (
        "import os, sqlite3\nfrom flask import request\nfrom store import Store, wrap\n"
        "def view(db):\n    name = request.args.get('name')\n    found = wrap(lambda: Store(db).find(name))()\n"
        "    for key in [name, 'x']:\n        os.system('ls ' + key)\n    return found\n"
    ),
    "store.py": (
        "class Base:\n    def find(self, name):\n        raise NotImplementedError\n"
        "class Store(Base):\n    def __init__(self, db):\n        self.db = db\n"
        "    def find(self, name):\n        sql = 'select %s' % name\n        return self.db.execute(sql)\n"
        "def wrap(function):\n    def inner(*args):\n        return function(*args)\n    return inner\n"
    ),
}
SIZES = st.builds(
    Options,
    chunk_rows=st.sampled_from([7, 64, 1 << 14]),
    buffer_rows=st.sampled_from([2, 1 << 11]),
    partition_rows=st.sampled_from([8, 1 << 17]),
    split_rows=st.sampled_from([8, 1 << 20]),
    delta_rows=st.sampled_from([1, 1 << 15]),
    max_bits=st.sampled_from([1, 4, 8]),
    exchange_bits=st.integers(0, 5),
    queue_batches=st.sampled_from([1, 64]),
    alone_rows=st.sampled_from([0, 1 << 13]),
    min_sampled=st.sampled_from([2, 1 << 10]),
)
POLICIES = st.one_of(st.just(engine.Global()), st.builds(engine.Ssp, st.integers(0, 3)), st.just(engine.Dws()))


WANTED = ("call_edge", "points_to", "guarded", "killed")


@pytest.fixture(scope="module")
def answer(analysis):
    """Evaluate the analyses; symbols and entities are compared by what they stand for."""
    mounted = mount((path, extract(text.encode(), "python")) for path, text in FILES.items())

    def evaluate(**how):
        database = engine.Database(engine.Symbols(mounted.symbols), {"Entity": mounted.entities}, mounted.relations)
        program, database = analysis(*WANTED).part_on(database, WANTED)
        result = engine.evaluate(program, database, **how)
        return {name: result.tuples(name) for name in program.relations}

    return evaluate


def test_any_strategy_derives_the_same(answer):
    expected = answer(threads=1)
    assert expected["call_edge"] and expected["points_to"]

    @settings(max_examples=settings.default.max_examples // 4)
    @given(st.integers(1, 3), POLICIES, SIZES)
    def check(threads, policy, options):
        found = answer(threads=threads, policy=policy, options=options)
        assert {name for name in expected if found[name] != expected[name]} == set()

    check()
