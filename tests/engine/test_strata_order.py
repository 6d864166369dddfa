"""The order of strata, and what may be evaluated aside: checked against what each stratum needs."""

from hypothesis import given as for_all
from hypothesis import strategies as st

import engine
from engine.language.traverse import all_atoms
from engine.plan.strata_order import StrataOrder, needs_of

MOVES = [True] * 6


def given(order, most=99):
    """Give away all that may be evaluated aside, or so many clauses of it; return it."""
    strata = order.to_give(most)
    order.give(strata)
    return strata


def began(order):
    """Finish all strata here; return them in the order in which they were begun."""
    found = []
    while (at := order.next()) is not None:
        found.append(at)
        order.finish(at)
    return found


def test_without_large_recursions_strata_come_in_the_order_of_the_program():
    assert began(StrataOrder([1] * 4, [set(), {0}, set(), {1, 2}], [], MOVES)) == [0, 1, 2, 3]


def test_what_leads_to_a_large_recursion_comes_first_and_the_rest_can_go_aside():
    order = StrataOrder([1, 1, 5, 9, 1, 1], [set(), set(), {0}, {1}, {2}, {3, 4}], [3], MOVES)
    assert order.movable_size == 7  # 0, 2 and 4, which lead nowhere near it; 5 waits for it.
    assert order.next() == 1
    assert given(order) == [0, 2, 4]
    order.finish(1)
    assert order.next() == 3
    order.finish(3)
    assert order.next() is None, "the last one waits for what is aside"
    for at in (0, 2, 4):
        order.finish(at)
    assert began(order) == [5]


def test_what_the_next_recursion_but_one_needs_comes_before_what_none_needs():
    """0 and 3 lead nowhere, 1 leads to the first large recursion, 2, and 4 to the second, 5."""
    needs = [set(), set(), {1}, {0}, set(), {2, 4}]
    order = StrataOrder([1] * 6, needs, [2, 5], MOVES)
    assert given(order) == [4, 0, 3]
    assert began(StrataOrder([1] * 6, needs, [2, 5], MOVES)) == [1, 2, 4, 5, 0, 3]


def test_what_comes_back_is_evaluated_here_and_not_given_again():
    order = StrataOrder([1, 1, 1], [set(), set(), set()], [2], MOVES)
    assert given(order) == [0, 1]
    order.take_back([0, 1])
    assert given(order) == []
    assert began(order) == [2, 0, 1]


def test_of_what_leads_to_the_goal_and_is_ready_a_half_can_go_aside():
    """0, 1, 2 and 3 are ready, 4 waits for all of them, 6 leads nowhere."""
    order = StrataOrder([1] * 7, [set(), set(), set(), set(), {0, 1, 2, 3}, {4}, set()], [5], [True] * 7)
    assert given(order) == [1, 3, 6]
    assert [order.next(), order.next(), order.next()] == [0, 2, None]


def test_no_more_is_given_than_was_asked_for():
    needs = [set(), {0}, {1}, set(), set()]
    order = StrataOrder([2, 2, 2, 1, 1], needs, [4], [True] * 5)
    assert given(order, 3) == [0, 1]
    assert given(order, 3) == [2, 3], "who has the first two gets what waits for them, too"
    assert given(order, 3) == []


def test_what_waits_for_a_stratum_that_has_begun_here_is_not_given():
    """0 and 1 lead to the first large recursion, 2; 3 and then 4 to the second, 5."""
    order = StrataOrder([1] * 6, [set(), set(), {0, 1}, set(), {3}, {4}], [2, 5], [True] * 6)
    assert given(order, 1) == [1]
    order.finish(order.next())
    assert order.next() == 3, "2 waits for what is aside"
    assert given(order) == []
    order.finish(3)
    assert given(order) == [4, 5]


def test_behind_the_last_recursion_a_half_of_what_is_ready_can_go_aside():
    order = StrataOrder([1] * 5, [set(), {0}, {0}, {0}, {0}], [0], [True] * 5)
    order.finish(order.next())
    assert given(order) == [2, 4]


def test_what_must_stay_keeps_back_what_needs_it():
    order = StrataOrder([1, 1, 1, 1], [set(), {0}, set(), set()], [3], [False, True, True, True])
    assert given(order) == [2]


def test_a_relation_that_another_stratum_adds_to_is_read_before_or_behind_that():
    """`seed` is read by `early`, which stands before the recursion `r` that adds to it, and by `late`, behind."""
    text = """
    .decl seed(x: number)
    .decl early(x: number)
    early(x) :- seed(x).
    .decl r(x: number)
    r(x) :- early(x), !seed(x).
    r(x) :- r(y), x = y.
    .decl late(x: number)
    late(x) :- seed(x).
    """
    strata = engine.compile([text]).strata
    at = {name: i for i, stratum in enumerate(strata) for name in stratum.relations}
    reads = [{atom.relation for clause in stratum.clauses for atom in all_atoms(clause)} for stratum in strata]
    needs = needs_of(strata, reads, {"seed": "r"})
    for name in ("early", "late"):
        before, behind = sorted((at[name], at["r"]))
        assert before in needs[behind]
    assert at["seed"] in needs[at["early"]]


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 12))
    needs = [draw(st.sets(st.integers(0, at - 1))) if at else set() for at in range(n)]
    large = sorted(draw(st.sets(st.integers(0, n - 1), max_size=3)))
    return needs, large, draw(st.lists(st.booleans(), min_size=n, max_size=n))


@for_all(graphs(), st.randoms(use_true_random=False))
def test_each_stratum_is_evaluated_once_when_all_that_it_needs_is_done(graph, random):
    needs, large, may_move = graph
    order = StrataOrder([1] * len(needs), needs, large, may_move)
    done, aside = set(), []

    def give():
        more = given(order, random.randint(1, 4)) if random.random() < 0.5 else []
        assert not {*aside} & {*more}
        aside.extend(more)
        for i, at in enumerate(aside):
            assert may_move[at] and needs[at] <= done | {*aside[:i]}

    while order.n_left:
        give()
        at = order.next()
        if at is not None:
            assert at not in done and at not in aside and needs[at] <= done
            give()  # Between two iterations of the stratum.
            done.add(at)
            order.finish(at)
        if aside and (at is None or random.random() < 0.5):
            if random.random() < 0.2:
                order.take_back(aside)
                aside = []
            else:
                done.add(aside[0])
                order.finish(aside.pop(0))
    assert done == set(range(len(needs)))
