"""Recursive sums whose matches are kept: the engine against the oracle, and against plain algorithms."""

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from backends import ROUNDS, Backend, assert_as_the_oracle, with_options
from hypothesis import given, settings

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL
from engine.evaluation.execution import Options
from engine.evaluation.match_cache import CachedMatchRule

EAGER = Options(matched_reads=0)
SOON = with_options(matched_reads=1)
BACKENDS = {
    "one thread": Backend(1, GLOBAL, EAGER),
    "late": ROUNDS["one thread"],
    **{name: SOON[name] for name in ("tiny, two threads", "ssp", "dws")},
}
HEADER = """
.decl arc(x: number, y: number, w: number)
.decl flow(x: symbol, y: symbol, f: float)
.decl paths(x: number, n: number)
.decl between(x: number, y: number, n: number)
.decl big(x: number)
.decl share(x: symbol, f: float)
.decl other(x: symbol, f: float)
.input arc
.input flow
paths(0, sum<(9, 1)>) :- true.
between(x, x, sum<(x, 1)>) :- arc(x, _, _).
share("a", sum<("-", 1.0)>) :- true.
other("b", sum<("-", 0.5)>) :- true.
"""
RULES = [
    "paths(y, sum<(x, n)>) :- paths(x, n), arc(x, y, _).",
    "paths(y, sum<(x + 100, k)>) :- paths(x, n), arc(x, y, w), w >= 0, k = n * w + 1.",
    "paths(y, sum<(x + 200, k)>) :- paths(x, n), arc(x, y, w), w >= 0, k = 12 * n / w.",
    "paths(y, sum<(x + 300, k)>) :- paths(x, n), arc(x, y, _), n > 2, k = n + 2.",
    "between(x, z, sum<(y, n)>) :- between(x, y, n), arc(y, z, _).",
    "big(x) :- between(x, _, n), n > 3.",
    "between(y, y, sum<(x + 50, n)>) :- big(x), paths(x, n), arc(x, y, _).",
    "share(y, sum<(x, g)>) :- share(x, v), flow(x, y, f), f > 0.0, g = v * f.",
    "other(y, sum<(x, g)>) :- share(x, v), flow(y, x, f), f > 0.0, h = v / 16.0, g = h * f.",
    "share(y, sum<(cat(x, y), g)>) :- other(x, v), flow(x, y, f), f > 0.0, g = f * v.",
    'share(y, sum<(cat("+", x), g)>) :- other(x, v), share(y, _), flow(x, y, f), f > 0.0, g = 0.0625 * (f * v).',
]
NAMES = st.sampled_from("abcd")


@st.composite
def cases(draw) -> tuple[str, dict[str, set[tuple]]]:
    """A choice of the rules, and facts on which they end: numbers flow upwards only, shares become smaller."""
    chosen = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=5, unique=True))
    pairs = draw(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=9))
    flows = draw(st.sets(st.tuples(NAMES, NAMES), min_size=2, max_size=6))
    return HEADER + "\n".join(chosen), {
        "arc": {(min(p), max(p), draw(st.integers(0, 3))) for p in pairs if p[0] != p[1]},
        "flow": {(x, y, draw(st.sampled_from([0.1, 0.03, 0.01, float("inf")][: 4 if x > y else 3]))) for x, y in flows},
    }


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=settings.default.max_examples // 4)
@given(case=cases())
def test_engine_agrees_with_the_oracle(backend, case):
    text, facts = case
    assert_as_the_oracle(engine.compile([text]), facts, {backend: BACKENDS[backend]})


KEPT = {
    "rank(y, sum<(x, k)>) :- rank(x, c), arc(x, y, d), d > 0.0, k = 0.85 * (c / d).": True,
    "rank(y, sum<(x, d)>) :- rank(x, _), arc(x, y, d), d > 0.0.": False,
    "rank(y, sum<(x, c)>) :- rank(x, c), arc(x, y, _), c > 0.5.": False,
    "rank(y, sum<(x, k)>) :- rank(x, c), rank(y, d), arc(x, y, _), k = c * d.": False,
    "rank(y, sum<(x, k)>) :- rank(x, c), arc(x, y, d), d > 0.0, h = c * d, k = h / 2.0 + 0.01 * c.": True,
    "rank(y, sum<(x, c)>) :- rank(x, c), arc(x, y, d), !arc(y, x, d).": True,
    "rank(y, sum<(x, c)>) :- rank(x, c), arc(x, y, _), count : { arc(y, _, _) } < 9.": True,
}


@pytest.mark.parametrize("rule", KEPT)
def test_matches_are_kept_where_values_are_only_computed_with(rule, monkeypatch):
    runs = []
    monkeypatch.setattr(
        CachedMatchRule, "run", lambda self, *rest, run=CachedMatchRule.run: [runs.append(self), run(self, *rest)]
    )
    text = f"""
        .decl arc(x: number, y: number, d: float)
        .decl rank(x: number, c: float)
        .input arc
        rank(x, sum<(0, 0.25)>) :- arc(x, _, _).
        {rule}
    """
    program = engine.compile([text])
    facts = {"arc": {(1, 2, 4.0), (2, 3, 2.0), (3, 4, 2.0), (4, 5, 4.0), (5, 6, 2.0), (1, 6, 4.0), (6, 7, 1.0)}}
    result = engine.evaluate(program, engine.facts(program, facts), threads=1, options=EAGER)
    assert tables.decode(program, result, ["rank"])["rank"] == reference.evaluate(program, facts)["rank"]
    assert bool(runs) == KEPT[rule]


def test_ranks_of_many_nodes_are_those_of_power_iteration_to_the_last_digit_on_any_number_of_threads():
    """So many groups change in a round that their totals are shared out to the threads."""
    text = """
        .decl arc(x: number, y: number, f: float)
        .decl rank(x: number, c: float)
        .input arc
        rank(x, sum<(-1, 1.0)>) :- arc(x, _, _).
        rank(y, sum<(x, k)>) :- rank(x, c), arc(x, y, f), f > 0.0, k = c * f.
    """
    n, rng = 12_000, np.random.default_rng(7)
    x, step = np.repeat(np.arange(n), 3), np.tile([1, 5, 11], n)
    y, share = (x + step * rng.integers(1, 900, 3 * n)) % n, rng.choice([0.125, 0.03, 0.05], 3 * n)
    (x, y), first = np.unique(np.stack([x, y]), axis=1, return_index=True)
    share, rank = share[first], np.ones(n)
    while True:
        following = np.zeros(n)
        np.add.at(following, np.concatenate([np.arange(n), y]), np.concatenate([np.ones(n), share * rank[x]]))
        if np.array_equal(following, rank):
            break
        rank = following
    program = engine.compile([text])
    database = engine.Database(relations={"arc": np.stack([x, y, share.view(np.int64)])})
    for threads in (1, 2):
        result = engine.evaluate(program, database, threads=threads)
        nodes, values = result.relation("rank")
        assert np.array_equal(values.view(np.float64)[np.argsort(nodes)], rank)
