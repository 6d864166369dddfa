"""Budgets of rules hold for a group: they are met by the same rows as on one machine, and end all members alike."""

import pytest
from meeting import run, together

from engine import Database, compile
from engine.budget import Budget, BudgetExceeded
from engine.cluster.member import evaluate
from engine.symbols import Symbols

COUNTER = ".decl n(x: number) n(0). n(x + 1) :- n(x)."
PRODUCT = """
    .decl a(x: number) a(x) :- x = range(0, 200).
    .decl p(x: number, y: number) p(x, y) :- a(x), a(y).
    .decl free(x: number, y: number) free(x, y) :- p(x, y).
"""


def budget(relation, rows, **others):
    return Budget({relation: {f"{relation}.dl"}}, rows, 1e6, **others)


@pytest.mark.parametrize(
    ("text", "relation", "rows", "reason"),
    [(COUNTER, "n", 1000, "more than 1,000 rows"), (PRODUCT, "p", 39_999, "more than 39,999 rows")],
)
def test_rows_beyond_the_budget_end_all_members_alike(text, relation, rows, reason):
    def work(seat):
        with pytest.raises(BudgetExceeded, match=reason) as raised:
            evaluate(compile([text]), Database(Symbols()), seat, budget=budget(relation, rows))
        return raised.value.sources

    assert together(3, work) == [{f"{relation}.dl"}] * 3


def test_a_budget_that_is_met_exactly_changes_nothing():
    """200 times 200 pairs; relations without a budget may have as many as they have."""
    members = run(compile([PRODUCT]), Database(), 3, budget=budget("p", 40_000))
    assert [member.n_rows[name] for member in members for name in ("p", "free")] == [40_000] * 6
    members = run(compile([PRODUCT]), Database(), 3, budget=budget("a", 200))
    assert [member.n_rows["p"] for member in members] == [40_000] * 3


def test_texts_that_double_end_all_members_alike():
    text = '.decl s(t: symbol, n: number) s("ab", 0). s(cat(t, t), n + 1) :- s(t, n).'

    def work(seat):
        with pytest.raises(BudgetExceeded, match="characters"):
            evaluate(compile([text]), Database(Symbols()), seat, budget=budget("s", 1000, characters=1 << 20))
        return seat.rank

    assert together(2, work) == [0, 1]
