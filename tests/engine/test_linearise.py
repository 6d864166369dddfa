"""Compositions of a relation with itself, made linear: which rules are, and that they answer as the oracle."""

import hypothesis.strategies as st
import pytest
from backends import BACKENDS, assert_as_the_oracle
from hypothesis import given

import engine
from engine import tables
from engine.plan.flatten import flatten
from engine.plan.linearise import linearise

HEADER = """
.decl arc(x: number, y: number, w: number)
.decl flow(x: number, y: number, f: float)
.decl pair(x: number, y: number)
.decl quad(a: number, b: number, c: number, d: number)
.decl least(x: number, y: number, d: number)
.decl most(x: number, y: number, d: number)
.decl real(x: number, y: number, f: float)
.decl total(x: number, y: number, n: number)
pair(x, y) :- arc(x, y, _).
quad(x, y, w, x) :- arc(x, y, w), w < 6.
least(x, y, min<w>) :- arc(x, y, w).
most(x, y, max<w>) :- arc(x, y, w).
real(x, y, max<f>) :- flow(x, y, f).
total(x, y, count<w>) :- arc(x, y, w).
"""
COMPOSITIONS = {
    "pair(x, z) :- pair(x, y), pair(y, z).": "pair",
    "pair(z, x) :- pair(z, y), pair(y, x).": "pair",
    "pair(x, z) :- pair(y, z), pair(x, y).": "pair",
    "quad(a, b, e, f) :- quad(a, b, c, d), quad(c, d, e, f).": "quad",
    "quad(a, b, e, f) :- quad(a, b, c, d), quad(d, c, e, f).": "quad",
    "quad(a, e, c, f) :- quad(a, b, c, d), quad(b, e, d, f).": "quad",
    "quad(a, b, c, e) :- quad(a, b, c, d), quad(a, b, d, e).": "quad",
    "quad(e, b, a, d) :- quad(e, b, c, d), quad(c, b, a, d).": "quad",
    "least(x, y, min<c + e>) :- least(x, z, c), least(z, y, e).": "least",
    "least(x, y, min<d>) :- least(z, y, e), least(x, z, c), d = e + c.": "least",
    "least(x, y, min<c>) :- least(x, z, c), least(z, y, _).": "least",
    "least(x, y, min<e>) :- least(x, z, _), least(z, y, e).": "least",
    "least(x, y, min<max(c, e)>) :- least(x, z, c), least(z, y, e).": "least",
    "most(x, y, max<min(c, e)>) :- most(x, z, c), most(z, y, e).": "most",
    "real(x, y, max<min(c, e)>) :- real(x, z, c), real(z, y, e).": "real",
}
OTHERS = {
    "a constraint": ("pair(x, z) :- pair(x, y), pair(y, z), x != z.", "pair"),
    "a third atom": ("pair(x, z) :- pair(x, y), pair(y, z), arc(x, z, _).", "pair"),
    "a constant": ("pair(0, z) :- pair(0, y), pair(y, z).", "pair"),
    "a column of neither": ("pair(x, x) :- pair(x, y), pair(y, x).", "pair"),
    "no composition": ("pair(x, z) :- pair(x, y), pair(z, y).", "pair"),
    "three paths": ("pair(x, z) :- pair(x, y), pair(y, w), pair(w, z).", "pair"),
    "a product of relations": ("quad(a, b, e, f) :- quad(a, b, _, _), quad(_, _, e, f).", "quad"),
    "a column joined twice": ("quad(a, b, e, f) :- quad(a, b, c, c), quad(c, c, e, f).", "quad"),
    "an extremum of another sum": ("least(x, y, min<c + 1>) :- least(x, z, c), least(z, y, _).", "least"),
    "a sum of one side twice": ("least(x, y, min<c + c>) :- least(x, z, c), least(z, y, _).", "least"),
    "a nested sum": ("least(x, y, min<c + e + 1>) :- least(x, z, c), least(z, y, e).", "least"),
    "a difference": ("least(x, y, min<min(c, e) - 1>) :- least(x, z, c), least(z, y, e).", "least"),
    "a sum of floats": ("real(x, y, max<c + e>) :- real(x, z, c), real(z, y, e).", "real"),
    "two recursive rules": ("pair(x, z) :- pair(x, y), pair(y, z).\npair(y, x) :- pair(x, y).", "pair"),
}
NUMBERS = st.integers(0, 5)


def linear(text: str, name: str):
    """The rules of a relation as `linearise` returns them."""
    program = engine.compile([HEADER + text])
    stratum = next(s for s in program.strata if name in s.relations)
    relation = program.relations[name]
    rules = [flatten(clause, program, lambda constant: int(constant.value)) for clause in stratum.clauses]
    return linearise({name: relation.group}, relation.arity, rules, "base")


@pytest.mark.parametrize("text, name", COMPOSITIONS.items())
def test_a_composition_reads_itself_once(text, name):
    rules = linear(text, name)
    reads = sorted(sorted(rule.relations()) for rule in rules)
    assert ["base", name] in reads and reads.count(["base", name]) == 1
    assert not any(names.count(name) > 1 for names in reads)


@pytest.mark.parametrize("text, name", OTHERS.values(), ids=OTHERS)
def test_other_rules_stay_as_they_are(text, name):
    assert linear(text, name) is None


@st.composite
def cases(draw) -> tuple[str, dict[str, set[tuple]]]:
    """A composition, perhaps with facts of its own relation, and facts. Without cycles every maximum is finite."""
    text, name = draw(st.sampled_from(sorted(COMPOSITIONS.items())))
    arcs = draw(st.sets(st.tuples(NUMBERS, NUMBERS, st.integers(0, 9)), min_size=2, max_size=14))
    flows = draw(st.sets(st.tuples(NUMBERS, NUMBERS, st.sampled_from([0.5, 1.25, -2.0, float("inf")])), max_size=12))
    facts = {"arc": arcs, "flow": flows}
    if name in ("pair", "quad"):
        arity = 2 if name == "pair" else 4
        facts[name] = draw(st.sets(st.tuples(*[NUMBERS] * arity), max_size=6))
    return HEADER + text, facts


@pytest.mark.parametrize("backend", BACKENDS)
@given(case=cases())
def test_a_composition_answers_as_the_oracle(backend, case):
    text, facts = case
    assert_as_the_oracle(engine.compile([text]), facts, {backend: BACKENDS[backend]})


def test_a_long_path_is_composed_in_partitions():
    program = engine.compile([HEADER + "least(x, y, min<c + e>) :- least(x, z, c), least(z, y, e)."])
    n = 120
    facts = engine.facts(program, {"arc": {(i, i + 1, 2) for i in range(n)}})
    result = engine.evaluate(program, facts, threads=2)
    assert tables.decode(program, result, ["least"])["least"] == {
        (i, j, 2 * (j - i)) for i in range(n) for j in range(i + 1, n + 1)
    }
    (statistics,) = (s for s in result.statistics if s.recursive)
    # Every path is made once, by its last arc.
    assert statistics.local and sum(rule.produced for rule in statistics.rules) == n * (n + 1) // 2
