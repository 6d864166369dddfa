"""Elimination bodies cut by auxiliary relations: when they are, and that the answer stays the same."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from backends import assert_as_the_oracle, with_options
from hypothesis import given

import engine
from engine.evaluation.execution import Options
from engine.plan.auxiliary_relations import Auxiliaries
from engine.plan.cost_model import RowCostModel, UniformSizes, combinations
from engine.plan.flatten import flatten
from engine.plan.rule import Match
from engine.plan.rule_text import Texts
from engine.plan.variable_elimination import Always, eliminate_variables

ALWAYS = Options(always_eliminate=True)
BACKENDS = with_options(always_eliminate=True)
DECLARED = """
.decl e(x: number, y: number)
.decl f(x: number, s: symbol, y: number)
.decl base(x: number, y: number)
.decl p(x: number, y: number)
.decl q(x: number, y: number, z: number)
.decl go()
.decl near(x: number, d: number)
.decl counted(x: number, n: number)
.decl total(x: number, n: number)
.decl last(x: number, y: number)
base(x, y) :- e(x, y).
base(x, y) :- f(x, _, y).
near(1, 0).
near(x, min<n>) :- near(y, m), e(y, z), e(z, x), n = m + 1.
"""
NAMES = "abcde"
HEADS = {
    "p": "p({0}, {1})",
    "q": "q({0}, {1}, {2})",
    "go": "go()",
    "last": "last({0}, {1})",
    "near": "near({0}, min<1>)",
    "counted": "counted({0}, count<({1}, {2})>)",
    "total": "total({0}, sum<({1}, {2})>)",
}
ATOMS = ["e({0}, {1})", "e({0}, {1})", "base({0}, {1})", "f({0}, s, {1})", 'f({0}, "u", {1})']
RECURSIVE = ["p({0}, {1})", "p({0}, {1})", "q({0}, {1}, {2})", "q({0}, {1}, _)"]
FINAL = [*RECURSIVE, "near({0}, {1})", "go()"]
FILTERS = ["{0} != {1}", "{0} < {1}", "{0} + 1 = {1}", "!base({0}, {1})", "{0} = 2", "{0} < count : {{ e({1}, _) }}"]


@st.composite
def wide_rules(draw):
    """A rule with three to five atoms that bind what else it reads and derives; few variables, so that they join."""
    head = draw(st.sampled_from([*HEADS, "p", "p", "q"]))
    kinds = ATOMS + ([] if head == "near" else RECURSIVE if head in ("p", "q") else FINAL)
    used: dict[str, None] = {}

    def variable(_):
        name = draw(st.sampled_from(NAMES))
        used[name] = None
        return name

    chosen = draw(st.lists(st.sampled_from(kinds), min_size=3, max_size=5))
    body = [kind.format(*map(variable, range(3))) for kind in chosen]
    bound = [v for v in used if any(v in atom.partition("(")[2] for atom in body)]

    def known():
        return [draw(st.sampled_from(bound)) for _ in range(3)]

    body += [kind.format(*known()) for kind in draw(st.lists(st.sampled_from(FILTERS), max_size=2))]
    return f"{HEADS[head].format(*known())} :- {', '.join(body)}."


small = st.integers(0, 4)
FACTS = st.fixed_dictionaries({
    "e": st.sets(st.tuples(small, small), min_size=2, max_size=9),
    "f": st.sets(st.tuples(small, st.sampled_from(["u", "v"]), small), min_size=1, max_size=5),
    "p": st.sets(st.tuples(small, small), max_size=2),
})  # fmt: skip


@given(st.lists(wide_rules(), min_size=2, max_size=5), FACTS)
def test_wide_bodies_cut_wherever_they_can_be_answer_as_the_oracle(rules, facts):
    program = engine.compile([DECLARED + "\n".join(rules)])
    assert_as_the_oracle(program, facts, BACKENDS)


class Skewed:
    """Sizes in which every key may have all the rows of its relation."""

    def __init__(self, n_rows):
        self.n_rows = n_rows

    def rows(self, relation):
        return self.n_rows.get(relation, 7)

    def fan_out(self, relation, columns):
        return self.rows(relation)

    def distinct(self, relation, column):
        return self.rows(relation)


@given(wide_rules(), st.dictionaries(st.sampled_from(["e", "f", "base", "p", "q"]), st.integers(0, 900)))
def test_the_bound_on_what_a_rule_derives_is_never_below_the_estimate(rule, n_rows):
    program = engine.compile([DECLARED, engine.Source("wide.dl", rule)])
    (clause,) = (clause for clause in program.clauses if clause.span.source == "wide.dl")
    flat = flatten(clause, program, lambda constant: 0)
    model = RowCostModel(Skewed(n_rows))
    assert UniformSizes(model.sizes, {}).derived(flat.body, None, flat.head) <= model.most_rows(flat, None)
    for first in (x for x in flat.body if isinstance(x, Match)):
        values = model.values_of(flat, {first.relation})
        rows = {first.relation: (combinations(first.variables, values), [values.get(t, 1.0) for t in first.terms])}
        if [x for x in flat.body if isinstance(x, Match) and x.relation == first.relation] == [first]:
            dense = UniformSizes(model.sizes, rows)
            assert dense.derived(flat.body, first, flat.head) <= model.most_rows(flat, first)


# ---- how a rule is cut

HEADER = "".join(f".decl {name}(x: number, y: number)\n" for name in "abcrs") + "r(x, y) :- a(x, y).\n"


def cut(text, *barred):
    """The rules of the component of `r`, cut wherever they can be; as text, by the name of their relation."""
    program = engine.compile([HEADER + text])
    stratum = next(s for s in program.strata if "r" in s.relations)
    rules = [flatten(clause, program, lambda constant: int(constant.value)) for clause in stratum.clauses[1:]]
    auxiliaries = Auxiliaries({name: False for name in program.relations})
    wide = eliminate_variables(rules, stratum.relations, barred, auxiliaries, Always())
    texts = Texts(program, engine.Symbols())
    written = [texts.rule(replace(rule, clause=None)) for rule in wide.rules]
    return written, [texts.rule(rule) for rule in wide.prior]


def test_same_generation_goes_through_the_pairs_of_a_node_and_a_child():
    rules, prior = cut("r(x, y) :- a(u, x), r(u, v), a(v, y).")
    assert rules == ["r&0(x, v) :- a(u, x), r(u, v).", "r(x, y) :- r&0(x, v), a(v, y)."]
    assert prior == []


def test_joins_of_equal_form_share_a_relation():
    rules, _ = cut("""
        r(x, y) :- a(u, x), r(u, v), b(v, y).
        r(p, q) :- r(m, n), a(m, p), c(n, q).
        r(p, q) :- r(n, m), a(m, p), c(n, q).
    """)
    assert rules == [
        "r&0(x, v) :- a(u, x), r(u, v).",
        "r(x, y) :- r&0(x, v), b(v, y).",
        "r(p, q) :- r&0(p, n), c(n, q).",
        "r&1(m, q) :- r(n, m), c(n, q).",
        "r(p, q) :- r&1(m, q), a(m, p).",
    ]


def test_what_reads_nothing_of_the_component_is_joined_before_it():
    rules, prior = cut("r(x, y) :- r(x, x), a(x, u), b(u, v), c(v, y).")
    assert prior == ["r&0(x, v) :- a(x, u), b(u, v).", "r&1(x, y) :- r&0(x, v), c(v, y)."]
    assert rules == ["r(x, y) :- r&1(x, y), r(x, x)."]


def test_filters_go_with_the_atoms_that_bind_them():
    rules, _ = cut("r(x, y) :- a(x, u), !s(u, x), u != 3, r(u, v), a(v, y), x < y.")
    assert rules[0] == "r&0(x, v) :- a(x, u), r(u, v), !s(u, x), u != 3."
    assert rules[1] == "r(x, y) :- r&0(x, v), a(v, y), x < y."


@pytest.mark.parametrize(
    "rule",
    [
        "r(u, v) :- r(x, u), a(u, v), b(v, y).",  # The head reads what atoms share.
        "r(x, y) :- a(x, u), b(u, w), c(u, y).",  # All atoms share it.
        "r(x, y) :- r(x, u), a(u, w), b(w, y), w != x, u != y.",  # Filters that other atoms bind read them.
        "r(x, y) :- r(x, u), a(u, y).",
    ],
)
def test_a_rule_stays_where_no_variable_can_be_eliminated(rule):
    rules, prior = cut(rule)
    assert (rules, prior) == ([rule], [])


def test_what_is_barred_enters_no_auxiliary_relation():
    rules, _ = cut("r(x, y) :- r(x, u), a(u, v), b(v, y).", "r")
    assert rules == ["r(x, y) :- r&0(u, y), r(x, u)."]


# ---- when a rule is cut


def evaluated(text, facts, threads=1, **options):
    program = engine.compile([text])
    columns = {name: np.array(rows, np.int32) for name, rows in facts.items()}
    return engine.evaluate(program, engine.Database(relations=columns), threads=threads, explain=True, **options)


SAME_GENERATION = """
.decl arc(x: number, y: number)
.decl sg(x: number, y: number)
sg(x, y) :- arc(p, x), arc(p, y), x != y.
sg(x, y) :- arc(a, x), sg(a, b), arc(b, y).
"""


def random_arcs(n, degree):
    rng = np.random.default_rng(1)
    return np.unique(rng.integers(0, n, (n * degree, 2)), axis=0).T


def generations(arcs):
    """The same generation of a graph by products of matrices."""
    n = arcs.max() + 1
    step = np.zeros((n, n), np.float32)
    step[tuple(arcs)] = 1
    found = step.T @ step > 0
    np.fill_diagonal(found, False)
    while True:
        more = found | (step.T @ found.astype(np.float32) @ step > 0)
        if (more == found).all():
            return int(found.sum())
        found = more


@pytest.mark.parametrize(("n", "degree", "names"), [(400, 12, ["sg&0"]), (400, 2, []), (20, 12, [])])
def test_same_generation_is_cut_where_degrees_are_high_and_there_is_much_to_do(n, degree, names):
    arcs = random_arcs(n, degree)
    result = evaluated(SAME_GENERATION, {"arc": arcs})
    stratum = next(s for s in result.plan.strata if s.recursive)
    assert [made.name for made in stratum.subjoins] == names
    assert result.relation("sg").shape[1] == generations(arcs)
    for made in stratum.subjoins:
        assert made.dense == "sg" and made.rows < made.without / 2
        derived = sum(r.produced for s in result.statistics for r in s.rules)
        assert derived < 2 * degree * generations(arcs) * 1.1 < made.without


def test_two_threads_divide_an_auxiliary_relation_by_the_column_that_its_join_carries_over():
    """Only so can rows go to their partitions before the join, and become bits of few rows of a matrix there."""
    options = Options(partition_rows=1 << 12, split_rows=1 << 12, alone_rows=0, wave_tasks=1)
    plan = evaluated(SAME_GENERATION, {"arc": random_arcs(400, 12)}, threads=2, options=options).plan
    (made,) = [r for s in plan.strata for r in s.relations if r.name == "sg&0"]
    assert made.discriminating == ("1",) and made.partitions > 1, "sg&0(x, b) :- arc(a, x), sg(a, b)."


def test_a_path_of_three_is_cut_where_its_ends_are_few():
    """1,000 middles between 20 ends on either side: 400 pairs of ends instead of a row for each path."""
    rng = np.random.default_rng(2)
    left, right = rng.integers(0, 20, 40_000), rng.integers(0, 20, 40_000)
    middle = rng.integers(0, 1000, (2, 40_000))
    facts = {
        "a": np.unique([left, middle[0]], axis=1),
        "b": np.unique([middle[1], right], axis=1),
        "c": np.unique([rng.integers(0, 20, 2000), np.arange(2000)], axis=1),
    }
    declared = "".join(f".decl {name}(x: number, y: number)\n" for name in "abcr")
    result = evaluated(declared + "r(x, y) :- a(x, m), b(m, z), c(z, y).", facts)
    (made,) = next(s for s in result.plan.strata if s.relations[0].name == "r").subjoins
    assert (made.name, made.eliminated, made.dense) == ("r&0", "m", "")
    one, two, three = (np.zeros((2000, 2000), np.float32) for _ in range(3))
    for matrix, name in ((one, "a"), (two, "b"), (three, "c")):
        matrix[tuple(facts[name])] = 1
    assert result.relation("r").shape[1] == np.count_nonzero(one @ two @ three)


@pytest.mark.parametrize(
    ("text", "widenings"),
    [
        (
            SAME_GENERATION.replace(".decl sg(x: number, y: number)", ".decl sg(x: number, y: number) choice-domain x"),
            (),
        ),
        (SAME_GENERATION, (engine.Widening("sg", [10**6], "arc", lambda rows: None),)),
    ],
)
def test_what_depends_on_iterations_is_left_alone(text, widenings):
    plan = evaluated(text, {"arc": random_arcs(50, 3)}, options=ALWAYS, widenings=widenings).plan
    assert not any(s.subjoins for s in plan.strata)
