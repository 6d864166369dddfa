"""A stratum that outgrows a limit starts again with more facts, and then is the plain fixpoint on all facts."""

import numpy as np
import pytest

import engine

REACH = """
.decl arc(x: number, y: number)
.decl blocked(x: number)
.decl reach(x: number, y: number)
reach(x, y) :- arc(x, y), !blocked(y).
reach(x, z) :- reach(x, y), reach(y, z), !blocked(z).
.decl sinks(n: number)
sinks(n) :- n = count : { reach(_, _) }.
"""
CHAIN = np.array([[i for i in range(99)], [i + 1 for i in range(99)]], np.int32)


def evaluate(threads, widenings=(), blocked=()):
    relations = {"arc": CHAIN, "blocked": np.array([blocked], np.int32)}
    database = engine.Database(relations=relations)
    program = engine.compile([engine.Source("reach.dl", REACH)])
    result = engine.evaluate(program, database, threads=threads, widenings=widenings)
    names = ("reach", "sinks", "blocked")
    return result, {name: sorted(map(tuple, result.relation(name).T.tolist())) for name in names}


@pytest.mark.parametrize("threads", [1, 2])
def test_the_result_is_the_fixpoint_on_the_widened_facts(threads):
    """A chain of 100 nodes has 4,950 pairs; with nothing leading to node 50 two chains of 50: 1,225 + 1,225."""
    widening = engine.Widening("reach", [3000], "blocked", lambda rows: np.array([[50]], np.int32))
    result, widened = evaluate(threads, [widening])
    assert widened == evaluate(threads, blocked=[50])[1]
    assert widened["sinks"] == [(1225 + 1225,)]
    (reach,) = (s for s in result.statistics if "reach" in s.relations)
    assert (reach.restarts, reach.rows) == (1, 2450)
    assert 3000 < reach.discarded <= 4950


def test_a_recursion_that_needs_no_exchange_has_limits_too():
    text = REACH.replace("reach(x, z) :- reach(x, y), reach(y, z)", "reach(x, z) :- reach(x, y), arc(y, z)")
    database = engine.Database(relations={"arc": CHAIN})
    widening = engine.Widening("reach", [3000], "blocked", lambda rows: np.array([[50]], np.int32))
    result = engine.evaluate(engine.compile([text]), database, threads=1, widenings=[widening])
    assert result.relation("sinks").tolist() == [[1225 + 1225]]


@pytest.mark.parametrize("threads", [1, 2])
def test_rules_that_only_the_facts_to_come_begin_are_part_of_the_widened_fixpoint(threads):
    text = REACH + "reach(x, 1000 + x) :- blocked(x).\nreach(x + 1, y) :- reach(x, y), blocked(x), y > 1000."
    database = engine.Database(relations={"arc": CHAIN})
    widening = engine.Widening("reach", [3000], "blocked", lambda rows: np.array([[50]], np.int32))
    result = engine.evaluate(engine.compile([text]), database, threads=threads, widenings=[widening])
    far = [row for row in result.relation("reach").T.tolist() if row[1] > 1000]
    assert sorted(far) == [[50, 1050], [51, 1050]]
    assert result.relation("sinks").tolist() == [[1225 + 1225 + 2]]


@pytest.mark.parametrize(("counted", "restarts"), [((), 0), (("step",), 1), (("arc",), 0)])
def test_rows_that_are_counted_are_as_many_of_the_relation(counted, restarts):
    """Of 4,950 pairs 4,851 are longer than an arc, `step`: 9,801 together. Facts of another stratum do not count."""
    text = REACH.replace("reach(x, z) :- reach(x, y), reach(y, z)", "reach(x, z) :- step(x, z)")
    text += ".decl step(x: number, y: number)\nstep(x, z) :- reach(x, y), arc(y, z)."
    database = engine.Database(relations={"arc": CHAIN})
    widening = engine.Widening("reach", [5000], "blocked", lambda rows: np.array([[50]], np.int32), counted)
    result = engine.evaluate(engine.compile([text]), database, threads=1, widenings=[widening])
    assert [s.restarts for s in result.statistics if "reach" in s.relations] == [restarts]
    assert result.relation("sinks").tolist() == [[2450 if restarts else 4950]]


@pytest.mark.parametrize(("limit", "width", "restarts"), [(4900, 0, 1), (4900, 9, 1), (4905, 9, 0), (4904, 9, 1)])
def test_of_a_width_only_rows_of_wider_values_count(limit, width, restarts):
    """Node i of the chain reaches 99 - i others. The nine last ones that reach any have 45 pairs of the 4,950."""
    widening = engine.Widening("reach", [limit], "blocked", lambda rows: np.array([[50]], np.int32), (), width)
    result, found = evaluate(1, [widening])
    assert [s.restarts for s in result.statistics if "reach" in s.relations] == [restarts]
    assert found["sinks"] == [(2450 if restarts else 4950,)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1, 4, 20])
def test_the_rows_that_are_looked_at_are_the_first_of_which_more_count(threads, width):
    """After each iteration a chain's pairs are at most twice as long: the rows that count are known by arithmetic."""
    seen = []
    widening = engine.Widening("reach", [800], "blocked", lambda rows: seen.append(rows) or np.array([[50]]), (), width)
    evaluate(threads, [widening])
    longest = 1
    while counted(longest, width) <= 800:
        longest *= 2
    assert [rows.shape[1] for rows in seen] == [sum(lengths(longest))]


def lengths(longest):
    """How many nodes each of the chain reaches, where pairs are no longer than so many arcs."""
    return [min(longest, 99 - i) for i in range(99)]


def counted(longest, width):
    return sum(n for n in lengths(longest) if n > width)


def test_a_relation_within_its_limit_is_left_alone():
    widening = engine.Widening("reach", [4950], "blocked", lambda rows: pytest.fail("the limit was not passed"))
    assert evaluate(1, [widening])[1]["sinks"] == [(4950,)]


def test_each_evaluation_has_a_limit_of_its_own_and_the_last_one_none():
    """With node 50 blocked there are 2,450 pairs; with 25 and 75, too, four chains of 25 with 300 each."""
    found = {}
    for limits in ([10], [10, 2450], [10, 2449], [10, 2449, 1]):
        blocked = iter([[[50]], [[25, 75]], [[10]]])
        widening = engine.Widening("reach", limits, "blocked", lambda rows, blocked=blocked: np.array(next(blocked)))
        found[tuple(limits)] = evaluate(1, [widening])[1]["sinks"]
    assert found[10,] == found[10, 2450] == [(2450,)]
    assert found[10, 2449] == [(1200,)]
    assert found[10, 2449, 1] == [(45 + 105 + 900,)]


def test_the_rows_shown_are_those_of_the_iteration_that_passed_the_limit():
    """Doubling paths: after the rounds of lengths 1, 2 and 4 there are 99 + 98 + 97 + 96 pairs."""
    seen = []

    def looked(rows):
        seen.append(rows.shape[1])
        return np.zeros((1, 0), np.int32)

    evaluate(1, [engine.Widening("reach", [300], "blocked", looked)])
    assert seen == [99 + 98 + 97 + 96]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_constant_that_only_the_facts_to_come_hold_is_looked_for_again(threads):
    text = REACH + "reach(2000, 3000) :- blocked(50)."
    database = engine.Database(relations={"arc": CHAIN, "blocked": np.array([[200]], np.int32)})
    widening = engine.Widening("reach", [3000], "blocked", lambda rows: np.array([[50]], np.int32))
    result = engine.evaluate(engine.compile([text]), database, threads=threads, widenings=[widening])
    assert result.relation("sinks").tolist() == [[1225 + 1225 + 1]]
