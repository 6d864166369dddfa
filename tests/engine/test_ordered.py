"""Choice domains, size limits and counters: what depends on an order must depend on that of the values alone."""

import hypothesis.strategies as st
import pytest
from backends import ROUNDS, assert_as_the_oracle
from hypothesis import given

import engine


def answer(text: str, facts: dict[str, set[tuple]] | None = None, relation: str = "result") -> set[tuple]:
    """Return a relation as the oracle derives it, which must be as the engine does on any threads and partitions."""
    return assert_as_the_oracle(engine.compile([text]), facts or {}, ROUNDS)[0][relation]


# ---- choice domains


def test_of_rows_derived_at_once_the_least_is_chosen():
    rows = answer("""
        .decl offer(item: symbol, shop: symbol, price: float)
        .decl result(item: symbol, shop: symbol, price: float) choice-domain item
        offer("pen", "b", 1.5). offer("pen", "a", 2.5). offer("cup", "c", -1). offer("cup", "c", -2).
        result(i, s, p) :- offer(i, s, p).
    """)
    assert rows == {("pen", "a", 2.5), ("cup", "c", -2.0)}


def test_what_is_chosen_first_stays():
    rows = answer("""
        .decl result(x: number, step: number) choice-domain x
        result(0, 0).
        result(x + 1, s + 1) :- result(x, s), x < 4.
        result(x + 2, s - 9) :- result(x, s), x < 3.
    """)
    # Step 1 makes 1 and 2; step 2 makes 3 (and 2 again) from 1 by the first rule's turn, 3 from 2 and 4 from 2.
    assert rows == {(0, 0), (1, 1), (2, -9), (3, -8), (4, -18)}


def test_facts_choose_in_the_order_of_the_text_and_before_rules():
    rows = answer("""
        .decl a(x: number)
        a(1).
        .decl result(x: number, y: symbol) choice-domain x
        result(x, "rule") :- a(x).
        result(1, "z"). result(1, "a"). result(2, cat("c", "d")). result(2, "b").
    """)
    assert rows == {(1, "z"), (2, "cd")}


def test_facts_from_outside_choose_first_and_by_value():
    text = '.decl result(x: number, y: symbol) choice-domain x\nresult(1, "a"). result(2, "a").'
    assert answer(text, {"result": {(1, "d"), (1, "c")}}) == {(1, "c"), (2, "a")}


def test_each_of_several_keys_is_unique():
    rows = answer("""
        .decl edge(x: number, y: number)
        .decl result(x: number, y: number) choice-domain x, y
        edge(1, 1). edge(1, 2). edge(2, 1). edge(2, 2). edge(3, 1).
        result(x, y) :- edge(x, y).
    """)
    assert rows == {(1, 1), (2, 2)}


def test_keys_may_have_several_columns_and_records_are_chosen_by_content():
    rows = answer("""
        .type Pair = [a: number, b: symbol]
        .decl given(k: number, l: number, p: Pair)
        .decl result(k: number, l: number, p: Pair) choice-domain (k, l)
        given(1, 1, [2, "b"]). given(1, 1, [2, "a"]). given(1, 1, [10, "a"]). given(1, 2, [3, "c"]). given(1, 2, nil).
        result(k, l, p) :- given(k, l, p).
    """)
    assert rows == {(1, 1, (2, "a")), (1, 2, None)}


def test_total_order_by_choice_is_total():
    """Every element has one predecessor and one successor: the program of the paper on choice (Hu et al., 2021)."""
    rows = answer("""
        .decl domain(x: symbol)
        domain(to_string(x)) :- x = range(0, 12).
        .decl result(previous: symbol, x: symbol) choice-domain previous, x
        result("start", "start").
        result(x, y) :- domain(y), result(_, x).
    """)
    following = {previous: x for previous, x in rows - {("start", "start")}}
    assert len(following) == len(set(following.values())) == len(rows) - 1


EDGES = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30)


@given(EDGES, EDGES)
def test_spanning_forest_by_choice_is_one(first, second):
    text = """
        .decl edge(x: number, y: number)
        .decl other(x: number, y: number)
        .decl result(parent: number, x: number) choice-domain x
        .decl seen(x: number)
        result(x, y) :- edge(x, y), x < 2.
        result(x, y) :- result(_, x), edge(x, y).
        result(x, y) :- seen(x), other(x, y).
        seen(x) :- result(_, x).
    """
    rows = answer(text, {"edge": first, "other": second})
    reached = {y for x, y in first if x < 2}
    while more := {y for x, y in first | second if x in reached} - reached:
        reached |= more
    assert {x for _, x in rows} == reached
    assert len(rows) == len(reached)


# ---- limits


def test_recursion_ends_at_the_limit():
    text = ".decl result(x: number)\nresult(0).\nresult(x + 1) :- result(x).\n.limitsize result(n=10)"
    assert answer(text) == {(x,) for x in range(10)}


def test_a_limit_lets_in_the_least_rows_of_a_batch():
    text = ".decl a(x: number)\n.decl result(x: number)\nresult(x) :- a(x).\n.limitsize result(n=3)"
    assert answer(text, {"a": {(5,), (-1,), (3,), (9,)}}) == {(-1,), (3,), (5,)}


def test_a_limit_counts_rows_once():
    text = "result(1). result(1). result(2). result(3).\n.decl result(x: number)\n.limitsize result(n=2)"
    assert answer(text) == {(1,), (2,)}


# ---- counters


def test_counters_number_the_bindings_in_the_order_of_their_values():
    rows = answer("""
        .decl name(x: symbol, y: number)
        name("b", 1). name("a", 2). name("a", 1).
        .decl result(n: number, x: symbol, y: number)
        result(autoinc(), x, y) :- name(x, y).
    """)
    assert rows == {(0, "a", 1), (1, "a", 2), (2, "b", 1)}


def test_each_counter_of_a_rule_draws_and_wildcards_count():
    rows = answer("""
        .decl a(x: symbol, y: number)
        a("p", 1). a("p", 2).
        .decl result(n: number, m: number, x: symbol)
        result($, $ + 100, x) :- a(x, _).
    """)
    assert rows == {(0, 101, "p"), (2, 103, "p")}


def test_counters_go_on_from_rule_to_rule():
    assert answer(".decl result(x: number)\nresult($) :- true.\nresult($) :- true.\nresult($) :- false.") == {
        (0,),
        (1,),
    }


def test_literals_on_a_counter_are_decided_after_it():
    rows = answer("""
        .decl a(x: number)
        a(x) :- x = range(0, 6).
        .decl result(x: number, n: number)
        result(x, n) :- n = m % 3, m = autoinc(), a(x), n < 2, x != 1.
    """)
    # 0 2 3 4 5 get the numbers 0 to 4.
    assert rows == {(0, 0), (2, 1), (4, 0), (5, 1)}


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_counters_of_many_bindings_are_dense(n):
    rows = answer(f".decl result(n: number, x: number)\nresult($, x) :- x = range(0, {n}).")
    assert rows == {(x, x) for x in range(n)}
