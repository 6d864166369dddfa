"""Aggregates in heads: the engine against the oracle, on random programs and facts."""

import backends
import hypothesis.strategies as st
import pytest
from hypothesis import given

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL
from engine.evaluation.execution import Options

MEDIUM = Options(chunk_rows=16, buffer_rows=4, partition_rows=20, split_rows=20, delta_rows=4, max_bits=3, alone_rows=8)
BACKENDS = {**backends.BACKENDS, "medium": backends.Backend(2, GLOBAL, MEDIUM)}

HEADER = """
.decl arc(x: number, y: number, w: number)
.decl flow(x: symbol, y: symbol, f: float)
.decl start(x: number)
.decl lo(x: number, d: number)
.decl hi(x: number, d: number)
.decl pair(x: number, y: number, d: number)
.decl n(x: number, c: number)
.decl seen(x: number)
.decl share(x: symbol, f: float)
.decl both(x: number, least: number, most: number)
.decl summary(k: number, a: number, b: number, c: number, d: number)
.decl spread(x: symbol, m: float, s: float)
.input n
lo(x, 0) :- start(x).
hi(x, 0) :- start(x).
both(x, 0, 0) :- start(x).
seen(x) :- start(x).
share("a", 1.0).
"""
RULES = [
    "lo(y, min<d>) :- lo(x, c), arc(x, y, w), d = c + w.",
    "lo(y, min<c>) :- lo(x, c), arc(y, x, _), c < 5.",
    "lo(x, min<c - 1>) :- hi(x, d), c = -d.",
    "hi(y, max<d>) :- hi(x, c), arc(x, y, w), d = min(c + w, 50).",
    "hi(y, max<d>) :- hi(x, c), hi(z, e), arc(x, y, z), d = min(c + e + 1, 60).",
    "pair(x, y, min<d>) :- arc(x, y, d).",
    "pair(x, y, min<d>) :- pair(x, z, a), pair(z, y, b), d = a + b.",
    "pair(x, y, min<d>) :- pair(x, z, a), arc(z, y, w), d = a + w.",
    "pair(y, x, min<d>) :- pair(x, y, d), seen(x).",
    "n(x, count<y>) :- seen(y), arc(y, x, _).",
    "n(x, count<y>) :- n(y, c), c >= 2, arc(y, x, _).",
    "seen(x) :- n(x, c), c >= 2.",
    "seen(x) :- lo(x, d), d < 4.",
    "both(y, min<a>, max<b>) :- both(x, c, d), arc(x, y, w), a = c + w, b = min(d + w, 40).",
    "share(y, sum<(x, g)>) :- share(x, v), flow(x, y, f), f > 0.0, g = v * f.",
    "summary(k, min<x>, max<x>, count<x>, sum<x>) :- arc(x, _, w), k = w % 3.",
    "summary(0, min<-w>, max<y>, count<w>, sum<(x, w)>) :- arc(x, y, w), w > 3.",
    "summary(k, min<x>, max<x>, count<x>, sum<x>) :- pair(x, k, d), d < 9.",
    "spread(x, mean<f>, sum<f>) :- flow(x, _, f).",
    "spread(x, mean<g>, sum<f>) :- share(x, f), g = f * 2.0.",
]
NUMBERS = st.integers(0, 7)
NAMES = st.sampled_from("abcde")


@st.composite
def cases(draw) -> tuple[str, dict[str, set[tuple]]]:
    """A choice of the rules, and facts."""
    chosen = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=8, unique=True))
    # Shares that leave a node add up to less than one, so that the recursion ends.
    flows = draw(st.sets(st.tuples(NAMES, NAMES), max_size=8))
    facts = {
        "arc": draw(st.sets(st.tuples(NUMBERS, NUMBERS, st.integers(0, 9)), min_size=4, max_size=20)),
        "flow": {(x, y, draw(st.sampled_from([0.1, 0.0625, -1.0, float("nan")]))) for x, y in flows},
        "start": draw(st.sets(st.tuples(NUMBERS), min_size=1, max_size=4)),
        "n": draw(st.sets(st.tuples(NUMBERS, NUMBERS), max_size=3)),
    }
    return HEADER + "\n".join(chosen), facts


@pytest.mark.parametrize("backend", BACKENDS)
@given(case=cases())
def test_engine_agrees_with_the_oracle(backend, case):
    text, facts = case
    backends.assert_as_the_oracle(engine.compile([text]), facts, {backend: BACKENDS[backend]})


def test_a_query_runs_unproved_recursion_in_rounds_too():
    program = engine.compile(
        [
            """
        .decl arc(x: number, y: number)
        .decl best(x: number, d: number) premappable
        .decl seen(d: number)
        best(x, min<d>) :- seen(x), arc(x, d).
        seen(d) :- best(_, d).
        seen(1).
    """
        ]
    )
    arcs = {(1, 2), (1, 3), (2, 4), (3, 5), (4, 1)}
    result = engine.query(program, "seen(d)", engine.facts(program, {"arc": arcs}), threads=1)
    assert [stratum.local for stratum in result.statistics if stratum.recursive] == [False]
    assert tables.decode(program, result, ["seen"])["seen"] == {(1,), (2,), (4,)}
