"""Join orders: a search that is given up once it costs too much changes no order."""

from math import inf

import hypothesis.strategies as st
from hypothesis import given

from engine.plan.join_order import Search, order
from engine.plan.rule import Absent, Compare, Match

TERMS = st.sampled_from(["x", "y", "z", "u", "v", "w", 1, None])
RELATIONS = "abcd"
MATCHES = st.builds(Match, st.sampled_from(RELATIONS), st.tuples(TERMS, TERMS))


class Guessed:
    """Sizes without samples: a bound column leaves so large a part of a relation."""

    def __init__(self, n_rows, part):
        self.n_rows, self.part = n_rows, part

    def rows(self, relation):
        return self.n_rows[relation]

    def fan_out(self, relation, columns):
        return self.n_rows[relation] * self.part ** len(columns)

    def sample(self, first, is_delta):
        return None


@st.composite
def bodies(draw):
    """Atoms, and filters on the variables that they bind."""
    matches = draw(st.lists(MATCHES, min_size=2, max_size=5))
    bound = sorted({v for atom in matches for v in atom.variables})
    terms = st.sampled_from([*bound, 1])
    filters = st.one_of(
        st.builds(Compare, st.sampled_from(["=", "<"]), st.just("number"), terms, terms),
        st.builds(Absent, st.sampled_from(RELATIONS), st.tuples(terms, terms)),
    )
    return draw(st.permutations(matches + draw(st.lists(filters, max_size=3))))


@given(
    bodies(),
    st.fixed_dictionaries({name: st.sampled_from([0, 1, 2, 2, 30, 1000]) for name in RELATIONS}),
    st.sampled_from([0.05, 0.5]),
    st.sets(st.sampled_from("xyz")),
)
def test_the_order_is_the_cheapest_of_all_beginnings_and_of_equal_ones_the_first(body, n_rows, part, wanted):
    sizes = Guessed(n_rows, part)
    every = []
    for start in (literal for literal in body if isinstance(literal, Match)):
        search = Search(body, set(), set(wanted), sizes, None)
        every.append((search.run(start, inf), search))
    expected, _ = min(every, key=lambda found: found[1].cost)
    assert repr(order(body, None, (), wanted, sizes)) == repr(expected)  # What stands for literals equals itself alone.
