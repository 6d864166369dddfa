"""Wide rows, skewed keys, symbols of any length: the engine against the oracle, and memory that stays bounded."""

import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
from backends import ROUNDS, assert_as_the_oracle
from hypothesis import given, settings

import engine
from engine.io import load, store
from engine.storage import memory
from engine.storage.arrangement import Arrangement, Block

RANDOM = settings(max_examples=2 * settings.default.max_examples)


def answer(text, facts):
    """Return the oracle's relations, which must be the engine's in rounds."""
    return assert_as_the_oracle(engine.compile([text]), facts, ROUNDS)[0]


@st.composite
def wide_cases(draw):
    """A relation of 1 to 20 columns; rules that turn, join, project and deny its rows on columns of any place."""
    kinds = draw(st.lists(st.sampled_from("nnnsf"), min_size=1, max_size=20))
    names = {"n": "number", "s": "symbol", "f": "float"}
    values = {"n": st.integers(-1, 2), "s": st.sampled_from(["", "a", "b\0c"]), "f": st.sampled_from([0.0, 1.5])}
    rows = draw(st.sets(st.tuples(*[values[kind] for kind in kinds]), min_size=1, max_size=12))
    places = draw(st.permutations(range(len(kinds))))
    declared = ", ".join(f"c{i}: {names[kind]}" for i, kind in enumerate(kinds))
    key = set(draw(st.lists(st.sampled_from(range(len(kinds))), max_size=4)))
    left = [f"x{i}" for i in range(len(kinds))]
    right = [f"x{i}" if i in key else f"y{i}" for i in range(len(kinds))]
    mixed = [left[i] if i % 2 else right[i] for i in range(len(kinds))]
    turned = [left[i] if kinds[i] != kinds[places[i]] else left[places[i]] for i in range(len(kinds))]
    a, b, c, d = (", ".join(terms) for terms in (left, right, mixed, turned))
    projected = ", ".join(f"c{i}: {names[kinds[i]]}" for i in places[:3])
    some = ", ".join(left[i] for i in places[:3])
    holes = ", ".join(left[i] if i in key else "_" for i in range(len(kinds)))
    return (
        f".decl w({declared})\n.decl r({declared})\n.decl p({projected})\n.decl q({declared})\n"
        f"r({a}) :- w({a}).\nr({c}) :- r({a}), w({b}).\nr({d}) :- r({a}).\n"
        f"p({some}) :- r({a}), w({holes}).\nq({a}) :- r({a}), !w({a}).\n"
    ), {"w": rows}


@RANDOM
@given(wide_cases())
def test_wide_relations(case):
    answer(*case)


@st.composite
def skewed_graphs(draw):
    """Graphs where node 0 begins or ends about half of all arcs."""
    nodes = st.integers(0, 15)
    arcs = draw(st.sets(st.tuples(nodes, nodes), max_size=12))
    out = draw(st.sets(nodes, max_size=12))
    into = draw(st.sets(nodes, max_size=12))
    return arcs | {(0, x) for x in out} | {(x, 0) for x in into}


GRAPH = """
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
tc(x, y) :- arc(x, y).
tc(x, y) :- tc(x, z), arc(z, y).
.decl from(x: number, y: number)
from(x, y) :- arc(x, y), x = 0.
from(x, y) :- from(x, z), arc(z, y).
.decl same(x: number, y: number)
same(x, y) :- arc(z, x), arc(z, y).
same(x, y) :- arc(z, x), same(z, w), arc(w, y).
.decl all(x: number, y: number)
all(x, y) :- arc(x, y).
all(x, z) :- all(x, y), all(y, z).
.decl triangle(x: number, y: number, z: number)
triangle(x, y, z) :- arc(x, y), arc(y, z), arc(z, x).
"""


@RANDOM
@given(skewed_graphs())
def test_skewed_graphs(arcs):
    answer(GRAPH, {"arc": arcs})


@pytest.fixture
def spilling_at_once(monkeypatch):
    """Whatever may be spilled is, as soon as anything else is made, however small."""
    ledger = memory.LEDGER

    def enter(n_bytes):
        with ledger._lock:
            while ledger._offers:
                ledger._spill_one()
            ledger.held_bytes += n_bytes

    monkeypatch.setattr(memory, "SMALL_BYTES", 1)
    monkeypatch.setattr(ledger, "enter", enter)
    before = ledger.files.spilled_bytes
    yield
    assert ledger.files.spilled_bytes > before


@settings(max_examples=settings.default.max_examples // 4)
@given(skewed_graphs())
def test_skewed_graphs_when_all_that_is_quiet_is_spilled(spilling_at_once, arcs):
    answer(GRAPH, {"arc": arcs | {(i, i + 1) for i in range(16)}})


@settings(max_examples=settings.default.max_examples // 4)
@given(wide_cases())
def test_wide_relations_when_all_that_is_quiet_is_spilled(spilling_at_once, case):
    answer(*case)


def test_a_partition_that_cannot_be_divided_reaches_its_fixpoint():
    """All rows agree on the column by which the recursion is partitioned."""
    text = """
        .decl next(x: number, y: number)
        .decl from(x: number, y: number)
        from(x, y) :- next(x, y), x = 0.
        from(x, y) :- from(x, z), next(z, y).
    """
    expected = answer(text, {"next": {(i, i + 1) for i in range(100)}})
    assert expected["from"] == {(0, i) for i in range(1, 101)}


def test_a_join_of_millions_of_pairs_holds_a_chunk_at_a_time():
    """3,000 rows meet 3,000 rows of the same key: 9 million pairs, 72 MB, of which 6 million are let through."""
    text = """
        .decl a(x: number, k: number)
        .decl b(k: number, y: number)
        .decl r(n: number)
        r((x + y) % 3) :- a(x, k), b(k, y), x % 3 != 0.
    """
    program, n = engine.compile([text]), 3000
    numbers, key = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    database = engine.Database(relations={"a": np.stack([numbers, key]), "b": np.stack([key, numbers])})
    engine.evaluate(program, engine.Database(relations={k: v[:, :9] for k, v in database.relations.items()}), threads=1)
    tracemalloc.start()
    try:
        result = engine.evaluate(program, database, threads=1)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sorted(result.relation("r")[0].tolist()) == [0, 1, 2]
    assert sum(rule.produced for stratum in result.statistics for rule in stratum.rules) == 6_000_000
    assert peak_bytes < 12_000_000


def test_a_join_stops_wherever_its_output_is_full_and_goes_on_from_there():
    by, n = Arrangement((0,), 2, np.int32), 100_000
    rows = np.stack([np.zeros(n, np.int32), np.arange(n, dtype=np.int32)])
    by.add([Block(rows, 0, n)])
    by.build_arena([Block(rows, 0, n)])
    chunk, out, zero = np.zeros((1, 100_000), np.int32), np.empty((2, 1000), np.int32), np.zeros(1, np.int64)
    seen = []
    for found in by.pairs(chunk, chunk.shape[1], zero, 0, zero, zero, out):
        assert found <= 1000
        seen.append(out[1, :found].copy())
        if len(seen) == 250:
            break
    # 10 billion pairs are asked for; those of the first two rows and a half have been made.
    assert (np.concatenate(seen) == np.concatenate([rows[1], rows[1], rows[1, : n // 2]])).all()


SYMBOLS = [
    b"",
    b"a",
    b"\0",
    b"a\0b",
    b"\xff\xfe",
    b"\xe2\x82",
    "é€😀".encode(),
    b"x" * 1_000_000,
    b"x" * 999_999 + b"\xff",
]


def test_symbols_of_any_length_and_bytes(tmp_path):
    text = """
        .decl name(s: symbol)
        .input name
        .decl pair(s: symbol, t: symbol)
        pair(s, t) :- name(s), name(t), s != t.
        .decl result(s: symbol, n: number)
        result(cat(s, "!"), strlen(s)) :- name(s).
        .output result
        .decl n(n: number)
        n(c) :- c = count : { pair(_, _) }.
    """
    program = engine.compile([text])
    (tmp_path / "name.facts").write_bytes(b"".join(symbol + b"\n" for symbol in SYMBOLS))
    result = engine.evaluate(program, load(program, tmp_path))
    store(program, result, tmp_path)
    assert result.relation("n").tolist() == [[len(SYMBOLS) * (len(SYMBOLS) - 1)]]
    lines = (tmp_path / "result.csv").read_bytes().split(b"\n")[:-1]
    assert sorted(line.split(b"\t")[0] for line in lines) == sorted(symbol + b"!" for symbol in SYMBOLS)


@pytest.mark.parametrize("arity", [1, 2, 3, 4, 7, 16, 33])
def test_rows_of_any_width_are_found_again(arity):
    """Rows differ in one column only, each column in turn."""
    rows = np.zeros((arity, 4 * arity), np.int32)
    for i in range(arity):
        rows[i, 4 * i : 4 * i + 4] = [1, -1, 2**31 - 1, -(2**31)]
    columns = ", ".join(f"c{i}: number" for i in range(arity))
    terms = ", ".join(f"c{i}" for i in range(arity))
    text = f".decl a({columns})\n.decl b({columns})\n.decl r({columns})\nr({terms}) :- a({terms}), b({terms})."
    database = engine.Database(relations={"a": rows, "b": rows[:, ::-2]})
    for backend in ROUNDS.values():
        result = engine.evaluate(engine.compile([text]), database, **backend._asdict())
        found = {tuple(row) for row in result.relation("r").T.tolist()}
        assert found == {tuple(row) for row in rows[:, ::-2].T.tolist()}
        assert result.relation("r").shape[1] == 2 * arity
