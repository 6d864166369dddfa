"""Samples of bindings: what they measure, and when they know nothing."""

import numpy as np
import pytest

from engine.evaluation.join_sampling import FEW_ROWS, Sample
from engine.plan.rule import Match
from engine.storage.relation import Relation

N = 5000


def relation(name, first, second):
    made = Relation(name, 2, np.dtype(np.int32))
    rows = np.array([first, second], np.int32)
    made.insert(rows, 0, rows.shape[1], made.every)
    for update in made.advance():
        update()
    made.settle()
    return made


def sampled(first, second, most_arranged=1 << 20):
    """A sample of the bindings of first(x, y), and the atom second(y, z)."""
    sample = Sample({"first": first, "second": second}, Match("first", ("x", "y")), first.blocks(), most_arranged)
    return sample, Match("second", ("y", "z"))


@pytest.fixture
def one_to_one():
    return relation("first", np.arange(N), np.arange(N))


def test_a_relation_without_an_arrangement_is_arranged(one_to_one):
    sample, atom = sampled(one_to_one, relation("second", np.arange(3 * N) % N, np.arange(3 * N)))
    assert sample.fan_out(atom) == pytest.approx(3)


def test_one_that_is_too_large_is_not(one_to_one):
    second = relation("second", np.arange(3 * N) % N, np.arange(3 * N))
    sample, atom = sampled(one_to_one, second, most_arranged=N)
    assert sample.fan_out(atom) is None
    assert not second.arrangements


def test_a_part_of_the_bindings_of_which_few_are_left_knows_nothing(one_to_one):
    second = relation("second", np.arange(0, N, N // 20), np.arange(20))
    sample, atom = sampled(one_to_one, second)
    sample.take(atom)
    assert 0 < sample.n < FEW_ROWS
    assert sample.fan_out(Match("second", ("x", "w"))) is None


def test_all_bindings_are_known_however_few():
    first = relation("first", np.arange(3), np.arange(3))
    sample, atom = sampled(first, relation("second", np.arange(2 * N) % N, np.arange(2 * N)))
    assert sample.fan_out(atom) == pytest.approx(2)


def test_bindings_that_follow_are_taken_evenly():
    """Of a cross product larger than what is carried on: all rows of the first relation go on, not the first alone."""
    kinds = relation("kinds", np.arange(8), np.arange(8))
    places = relation("places", np.zeros(4000), np.arange(4000))
    used = relation("used", np.full(4000, 7), np.arange(4000))  # By the last kind alone, at each place.
    relations = {"kinds": kinds, "places": places, "used": used}
    sample = Sample(relations, Match("kinds", ("k", None)), kinds.blocks(), 1 << 20)
    sample.take(Match("places", (0, "p")))
    assert set(sample.columns["k"].tolist()) == set(range(8))
    assert sample.fan_out(Match("used", ("k", "x"))) == pytest.approx(4000 / 8, rel=0.1)


def test_none_of_some_is_not_none_of_all(one_to_one):
    sample, atom = sampled(one_to_one, relation("second", np.arange(N, 2 * N), np.arange(N)))
    assert sample.fan_out(atom) == pytest.approx(1 / sample.n)
