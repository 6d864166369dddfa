"""Join orders: a search that is given up once it costs too much changes no order, but where all are cheap."""

from math import inf
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
from hypothesis import given

from engine.plan import join_order
from engine.plan.join_order import Search, order
from engine.plan.rule import Absent, Compare, Match, Record, Some

TERMS = st.sampled_from(["x", "y", "z", "u", "v", "w", 1, None])
RELATIONS = "abcd"
MATCHES = st.builds(Match, st.sampled_from(RELATIONS), st.tuples(TERMS, TERMS))


class Guessed:
    """Sizes without samples: a bound column leaves so large a part of a relation."""

    min_sampled = inf

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


SIZES = st.builds(
    Guessed,
    st.fixed_dictionaries({name: st.sampled_from([0, 1, 2, 2, 30, 1000]) for name in RELATIONS}),
    st.sampled_from([0.05, 0.5]),
)
WANTED = st.sets(st.sampled_from("xyz"))


def every_order(body, sizes, wanted):
    """The orders by all beginnings, with their costs."""
    for start in (literal for literal in body if isinstance(literal, Match)):
        search = Search(body, set(), set(wanted), sizes, None)
        yield search.run(start, inf), search.cost


@given(bodies(), SIZES, WANTED)
def test_the_order_is_the_cheapest_of_all_beginnings_and_of_equal_ones_the_first(body, sizes, wanted):
    expected, _ = min(every_order(body, sizes, wanted), key=lambda found: found[1])
    with patch.object(join_order, "CHEAP", -1.0):
        found = order(body, None, (), wanted, sizes)
    assert repr(found) == repr(expected)  # What stands for literals equals itself alone.


@given(bodies(), SIZES, WANTED)
def test_the_order_is_cheap_or_the_cheapest(body, sizes, wanted):
    found = order(body, None, (), wanted, sizes)
    cost = sum(step.rows for step in found if isinstance(step.literal, Match | Some))
    assert cost <= max(join_order.CHEAP, min(cost for _, cost in every_order(body, sizes, wanted)))


class Sampling(Guessed):
    """Sizes that count how often they are asked for a sample."""

    def __init__(self, n_rows, min_sampled):
        super().__init__(dict.fromkeys(RELATIONS, n_rows), 0.5)
        self.min_sampled, self.asked = min_sampled, 0

    def sample(self, first, is_delta):
        self.asked += 1


@pytest.mark.parametrize(("n_rows", "asked"), [(10, 0), (2000, 3)])
def test_samples_are_taken_where_the_cheapest_order_without_them_is_dear(n_rows, asked):
    body = [Match("a", ("x", "y")), Match("b", ("y", "z")), Match("c", ("z", "x"))]
    sizes = Sampling(n_rows, min_sampled=1 << 20)
    order(body, None, (), {"x"}, sizes)
    assert sizes.asked == asked


class PartlyKnown:
    """A sample that has values for x alone, and tells every atom's matches by what it knows."""

    def knows(self, term):
        return isinstance(term, int) or term == "x"

    def fan_out(self, literal):
        return 0.5 if any(term is not None and self.knows(term) for term in literal.terms) else None

    def least_fan_out(self, atoms):
        return None

    def take(self, literal):
        pass


def test_an_atom_is_not_measured_by_a_part_of_what_is_bound():
    """The sample does not see the field y of a record: by the constant alone it would count every row that has it."""
    body = [
        Match("a", ("x", None)),
        Record("x", "Pair", ("y", None)),
        Match("b", ("y", 1, "w")),
        Match("c", ("x", "z")),
    ]

    class Partial(Guessed):
        min_sampled = 0.0

        def sample(self, first, is_delta):
            return PartlyKnown()

    steps = order(body, body[0], (), ["y", "z"], Partial({"a": 10, "b": 1000, "c": 1000}, 0.05))
    measured = {step.literal.relation: step.is_measured for step in steps if isinstance(step.literal, Match)}
    assert measured == {"a": False, "c": True, "b": False}
