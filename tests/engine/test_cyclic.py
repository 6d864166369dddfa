"""Cyclic joins, in which the atom with the fewest matches proposes, against the oracle and their bound."""

from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import reference
from backends import TINY, Backend
from hypothesis import given, settings

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL, Dws, Ssp
from engine.evaluation.operators import Join
from engine.plan import join_order

# So that joins are sampled, and chunks cut, whatever the size.
DECLARED = """
.decl e(a: number, b: number)
.decl t(a: number, b: number, c: number)
.decl s(a: symbol, b: number)
"""
TRIANGLE = (
    ".decl e(a: number, b: number)\n.decl r(x: number, y: number, z: number)\nr(x, y, z) :- e(x, y), e(y, z), e(x, z)."
)
NODES = st.integers(0, 5)
FACTS = st.fixed_dictionaries(
    {
        "e": st.sets(st.tuples(NODES, NODES), min_size=8, max_size=24),
        "t": st.sets(st.tuples(NODES, NODES, NODES), min_size=8, max_size=40),
        "s": st.sets(st.tuples(st.sampled_from("abc"), NODES), min_size=4, max_size=12),
    }
)


@st.composite
def cycles(draw) -> str:
    """A rule with a body of three to five atoms over three or four numbers, and sometimes one that is recursive."""
    numbers = [f"n{i}" for i in range(draw(st.integers(3, 4)))]
    terms = st.sampled_from([*numbers, *numbers, *numbers, "_", "3"])
    atoms = [f"e({x}, {y})" for x, y in zip(numbers, [*numbers[1:], numbers[0]], strict=True)]
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from("ets"))
        columns = {"e": 2, "t": 3, "s": 1}[kind]
        inside = [*["w"] * (kind == "s"), *(draw(terms) for _ in range(columns))]
        atoms.append(f"{kind}({', '.join(inside)})")
    atoms = draw(st.permutations(atoms))
    head = ", ".join(f"{n}: number" for n in numbers)
    text = f"{DECLARED}.decl r({head})\nr({', '.join(numbers)}) :- {', '.join(atoms)}.\n"
    text += ".decl p(a: number, b: number)\np(x, y) :- e(x, y), x < 3.\n"
    return text + draw(st.sampled_from(RECURSIONS))


RECURSIONS = [
    "p(x, z) :- p(x, y), v = x + y, e(v, z), t(v, z, _).\n",
    "p(x, z) :- p(x, y), e(y, z), p(z, x).\n",
    "p(x, z) :- t(y, w, z), p(x, w), p(x, y).\n",
    "p(x, y) :- e(x, y), p(x, z), p(z, y), e(z, x).\n",
    "p(x, z) :- p(x, y), p(y, z), p(z, w), p(w, x).\n",
]


def plans(plan):
    return [step for stratum in plan.strata for rule in stratum.rules for v in rule.variants for step in v.steps]


def test_random_cyclic_bodies_answer_as_the_oracle():
    intersected = []

    @settings(max_examples=2 * settings.default.max_examples)
    @given(cycles(), FACTS)
    def check(text, facts):
        intersected.append(answers_as_the_oracle(text, facts))

    check()
    assert sum(intersected) > 0.6 * len(intersected)


def answers_as_the_oracle(text, facts) -> bool:
    """Check a program under several policies; return whether some step was an intersection."""
    program = engine.compile([text])
    expected = reference.evaluate(program, facts)
    for probe, policy in ((join_order.PROBE, GLOBAL), (-100.0, GLOBAL), (-100.0, Ssp(1)), (-100.0, Dws())):
        # Where counting earns more than it costs, atoms are intersected wherever they can be.
        with patch.multiple(join_order, PROBE=probe, CHEAP=-1.0):
            result = Backend(2, policy, TINY).evaluate(program, facts, explain=True)
        for name, rows in tables.decode(program, result, ["r", "p"]).items():
            assert rows == expected[name], name
    return any("least of" in operator for step in plans(result.plan) for operator in step.operators)


def star(n):
    """Two hubs, 0 → 1, each linked with the same n leaves in both directions; triangles are 3 n."""
    hubs, leaves = np.repeat([0, 1], n), np.tile(np.arange(2, n + 2), 2)
    there, back = np.stack([hubs, leaves]), np.stack([leaves, hubs])
    return np.concatenate([there, back, [[0], [1]]], axis=1).astype(np.int32)


def test_on_a_star_the_work_of_triangles_grows_with_the_edges(monkeypatch):
    program, proposed = engine.compile([TRIANGLE]), []
    chunks = Join.chunks

    def counted(self, worker, chunk, n):
        for found, m in chunks(self, worker, chunk, n):
            proposed[-1] += m
            yield found, m

    monkeypatch.setattr(Join, "chunks", counted)
    for n in (1000, 4000):
        proposed.append(0)
        result = engine.evaluate(program, engine.Database(relations={"e": star(n)}), threads=1)
        assert result.relation("r").shape[1] == 3 * n
    # Every edge has an end with two neighbours at most, or is the one between the hubs. Joins of two propose 2 n² rows.
    assert proposed[0] <= 4 * 4001 + 1001 and proposed[1] <= 4 * 16001 + 4001


def test_bodies_without_skew_are_joined_two_by_two():
    edges = np.array([(i, (i + d) % 2000) for i in range(2000) for d in (1, 2)], np.int32).T
    program = engine.compile([TRIANGLE])
    result = engine.evaluate(program, engine.Database(relations={"e": edges}), threads=1, explain=True)
    assert result.relation("r").shape[1] == 2000
    assert not any("least of" in operator for step in plans(result.plan) for operator in step.operators)
