"""Budgets for rules that nobody vouches for, and evaluations that end at a given moment."""

from time import monotonic

import numpy as np
import pytest

import engine
from engine import Database, Source, compile, evaluate
from engine.budget import Budget, BudgetExceeded
from engine.evaluation.worker_pool import Worker
from engine.incremental.maintained_program import MaintainedProgram
from engine.operating_system import resident_bytes
from engine.plan.isolate_sources import isolate_sources, written_by
from engine.storage.relation import Relation

THREADS = [1, 3]
COUNTER = ".decl n(x: number) n(0). n(x + 1) :- n(x)."
PRODUCT = """
    .decl a(x: number) a(x) :- x = range(0, 1000).
    .decl p(x: number, y: number) p(x, y) :- a(x), a(y).
"""
TRIPLES = PRODUCT.replace("p(x: number, y: number)", "p(x: number, y: number, z: number)").replace(
    "p(x, y) :- a(x), a(y).", "p(x, y, z) :- a(x), a(y), a(z)."
)
DOUBLING = '.decl s(t: symbol, n: number) s("ab", 0). s(cat(t, t), n + 1) :- s(t, n).'
MUTUAL = """
    .decl n(x: number) .decl m(x: number)
    n(0). m(x + 1) :- n(x). n(x + 1) :- m(x).
"""
CLASSES = ".decl e(x: number, y: number) eqrel e(x, x + 1) :- x = range(0, 4000)."
NOT_KEPT = """
    .decl a(x: number) a(x) :- x = range(0, 100000).
    .decl p(x: number) p(x) :- a(x), a(y), a(z), x + y + z < 0.
"""


def budget(*relations, rows=1000, seconds=1e6, **others):
    return Budget({name: {f"{name}.dl"} for name in relations}, rows, seconds, **others)


def bootstrap(program, limit):
    view = MaintainedProgram(program, Database(), threads=1, budget=limit)
    try:
        view.bootstrap({})
    finally:
        view.close()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("text", "relation"), [(COUNTER, "n"), (PRODUCT, "p"), (TRIPLES, "p"), (MUTUAL, "n"), (MUTUAL, "m")]
)
def test_rows_beyond_the_budget_end_an_evaluation(text, relation, threads):
    with pytest.raises(BudgetExceeded, match="more than 1,000 rows") as raised:
        evaluate(compile([text]), Database(), threads=threads, budget=budget(relation))
    assert raised.value.sources == {f"{relation}.dl"}
    with pytest.raises(BudgetExceeded, match="more than 1,000 rows") as raised:
        bootstrap(compile([text]), budget(relation))
    assert raised.value.sources == {f"{relation}.dl"}


@pytest.mark.parametrize(("rows", "is_exceeded"), [(1_000_000, False), (999_999, True)])
def test_a_budget_is_exact(rows, is_exceeded):
    """1,000 times 1,000 pairs."""
    program = compile([PRODUCT])
    if is_exceeded:
        with pytest.raises(BudgetExceeded):
            evaluate(program, Database(), threads=2, budget=budget("p", rows=rows))
    else:
        result = evaluate(program, Database(), threads=2, budget=budget("p", rows=rows))
        assert result.relation("p").shape[1] == 1_000_000


def test_relations_without_a_budget_are_not_charged():
    limit = budget("other", rows=10, seconds=0.0)
    assert evaluate(compile([PRODUCT]), Database(), threads=1, budget=limit).relation("p").shape[1] == 1_000_000


def test_a_class_of_an_equivalence_is_charged_by_its_elements():
    """A class of 4,001 elements has 16 million pairs and needs no memory for them."""
    evaluate(compile([CLASSES]), Database(), threads=1, budget=budget("e", rows=5000))
    with pytest.raises(BudgetExceeded):
        evaluate(compile([CLASSES]), Database(), threads=1, budget=budget("e", rows=3000))


def test_texts_that_double_meet_the_budget_of_characters():
    with pytest.raises(BudgetExceeded, match="characters"):
        evaluate(compile([DOUBLING]), Database(), threads=1, budget=budget("s", characters=1 << 20))
    with pytest.raises(BudgetExceeded, match="characters"):
        bootstrap(compile([DOUBLING]), budget("s", characters=1 << 20))


def test_the_budget_of_characters_is_for_all_strata_together():
    """Each of sixteen relations makes a text of 100,000 characters."""
    names = [f"t{n}" for n in range(16)]
    text = "\n".join(f'.decl {name}(s: symbol)\n{name}(cat("{name}", s)) :- long(s).' for name in names)
    program = compile([".decl long(s: symbol)\n.input long\n" + text])
    facts = engine.facts(program, {"long": {("x" * 100_000,)}})
    limit = Budget({name: {"a"} for name in names}, rows=100, seconds=60.0, characters=1_000_000)
    with pytest.raises(BudgetExceeded, match="characters"):
        evaluate(program, facts, threads=1, budget=limit)


@pytest.mark.parametrize("threads", THREADS)
def test_what_derives_nothing_meets_the_budget_of_time(threads):
    with pytest.raises(BudgetExceeded, match=r"more than 0.1 s"):
        evaluate(compile([NOT_KEPT]), Database(), threads=threads, budget=budget("p", seconds=0.1))


def test_memory_that_a_budget_is_blamed_for():
    with pytest.raises(BudgetExceeded, match="memory"):
        limit = budget("p", rows=1 << 40)
        evaluate(
            compile([TRIPLES]),
            Database(),
            threads=1,
            budget=limit,
            memory_limit=int((resident_bytes() + (64 << 20)) / 0.9),
        )


# ---- rules in relations of their own

LIBRARY = Source("lib.dl", ".decl edge(x: number, y: number) .decl path(x: number, y: number) .decl far(x: number) "
                 "edge(1, 2). edge(2, 3). path(x, y) :- edge(x, y). path(x, z) :- path(x, y), edge(y, z). "
                 "far(x) :- edge(x, _), !path(1, x).")  # fmt: skip
USER = Source("user.dl", ".decl mine(x: number) edge(3, 4). path(y, x) :- path(x, y), mine(x). mine(x) :- edge(_, x). "
              "edge(x, y) :- mine(x), y = x + 100, x < 4.")  # fmt: skip
OTHER = Source("other.dl", "path(x, x) :- mine(x).")


def test_rules_of_other_sources_get_relations_of_their_own_and_change_nothing():
    program = compile([LIBRARY, USER, OTHER])
    parts = isolate_sources(program, {"user.dl", "other.dl"})
    assert written_by(parts, {"user.dl", "other.dl"}) == {
        "path@user.dl": {"user.dl"}, "mine": {"user.dl"}, "edge@user.dl": {"user.dl"}, "path@other.dl": {"other.dl"},
    }  # fmt: skip
    expected, found = (evaluate(p, Database(), threads=1) for p in (program, parts))
    for name in ("edge", "path", "far", "mine"):
        assert sorted(found.relation(name).T.tolist()) == sorted(expected.relation(name).T.tolist())
    assert isolate_sources(program, {"lib.dl"}) is program


# ---- evaluations that end

ENDLESS = (
    ".decl first(x: number) first(1). " + COUNTER.replace("n(", "late(")
    + " .decl seen(x: number) seen(x) :- first(x). .decl no(x: number) no(x) :- first(x), !late(x)."
)  # fmt: skip


@pytest.mark.parametrize("threads", THREADS)
def test_an_evaluation_ends_in_time_with_what_is_finished(threads):
    program = compile([Source("a.dl", ENDLESS)])
    result = evaluate(program, Database(), threads=threads, ends_s=monotonic() + 2)
    found = {name: result.relation(name).T.tolist() for name in ("first", "late", "seen", "no")}
    assert found == {"first": [[1]], "late": [], "seen": [[1]], "no": []}
    assert {clause.head.relation for clause in result.left_out} == {"late", "no"}


def test_what_a_worker_holds_when_time_is_up_is_dropped():
    """Rows wait in a worker's buffers for a relation of several partitions, which is emptied."""
    relation = Relation("r", 2, np.dtype(np.int32))
    relation.split(4)
    worker = Worker(64, 64, lambda: None)
    worker.emit(relation, np.arange(64, dtype=np.int32).reshape(2, 32), 32, relation.every)
    relation.clear()
    worker.forget()
    worker.flush()
    assert relation.n == 0 and not relation.partitions[0].n


def test_an_evaluation_that_is_early_leaves_nothing_out():
    result = evaluate(compile([LIBRARY]), Database(), threads=1, ends_s=monotonic() + 1e6)
    assert not result.left_out
