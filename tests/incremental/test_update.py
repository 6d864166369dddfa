"""Updates: the same tuples, iterations and counts as a bootstrap on the final facts."""

from itertools import count, pairwise

import hypothesis.strategies as st
import numpy as np
import reference
from hypothesis import given, settings
from sampled_rules import RECURSIONS
from supports import TINY, check, stored

import engine
from engine import tables
from engine.database import Database
from engine.incremental import demanded_arrangement, maintained_program, maintained_relation
from engine.incremental.bounded_recursion import CannotUpdate
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.update_policy import BootstrapOnly, Elastic, Maintainer, Predicted, Raced, UpdateOnly

DECLARED = """
.decl edge(x: number, y: number)
.decl mark(x: number)
.decl left(x: number, y: number)
.decl right(x: number, y: number)
.decl odd(x: number, y: number)
.decl even(x: number, y: number)
.decl wide(x: number, y: number, z: number)
.decl lacking(x: number, y: number)
.decl alone(x: number)
.decl flag()
.decl again(x: number)
"""
RULES = (
    *RECURSIONS,
    "wide(x, y, 7) :- left(x, y), right(y, x), odd(x, _).",
    "lacking(x, y) :- edge(x, _), edge(_, y), !left(x, y).",
    "lacking(x, x) :- mark(x), !right(x, x), lacking(_, x).",
    "alone(x) :- edge(x, _), !left(_, x).",
    "alone(x) :- mark(x), !flag().",
    "alone(y) :- alone(x), edge(x, y), !mark(y).",
    "flag() :- left(1, 2).",
    "flag() :- left(x, x), !mark(x).",
    "again(x) :- mark(x). again(y) :- again(x), left(x, y), x < y. again(3).",
    "left(2, 5). left(y, x) :- left(x, y), flag(), mark(x).",
    "mark(4). mark(x) :- edge(x, x).",
)
number = st.integers(0, 6)
EDB = {
    "edge": st.tuples(number, number),
    "mark": st.tuples(number),
    "left": st.tuples(number, number),
    "flag": st.just(()),
}
facts = st.fixed_dictionaries({name: st.sets(row, max_size=12 if name == "edge" else 3) for name, row in EDB.items()})
update = st.tuples(facts, facts)
chosen_rules = st.sets(st.sampled_from(RULES), min_size=1)


def columns(program, rows):
    return {
        name: np.array(sorted(found), np.int32).reshape(len(found), program.relations[name].arity).T
        for name, found in rows.items()
    }


def applied(facts, inserted, deleted):
    return {name: (facts[name] - deleted[name]) | inserted[name] for name in facts}


def state(view):
    return {relation.name: stored(relation) for relation in view.tracked()}


def rows_of(change):
    """The tuples inserted and deleted, of a relation with columns."""
    return set(zip(*change.inserted.tolist(), strict=True)), set(zip(*change.deleted.tolist(), strict=True))


def assert_changes(program, changes, before, after):
    for name, relation in program.relations.items():
        if relation.arity:
            found = rows_of(changes[name]) if name in changes else (set(), set())
            assert found == (after[name] - before[name], before[name] - after[name]), name
        else:
            found = [(c.inserted.shape[1], c.deleted.shape[1]) for c in [changes.get(name)] if c is not None]
            assert (found or [(0, 0)]) == [(len(after[name] - before[name]), len(before[name] - after[name]))]


@settings(max_examples=4 * settings.default.max_examples)
@given(chosen_rules, facts, st.lists(update, max_size=3), st.booleans(), st.integers(1, 2))
def test_an_update_leaves_what_a_bootstrap_makes(rules, facts, updates, exact, threads):
    program = engine.compile([DECLARED + "\n".join(rule for rule in RULES if rule in rules)])
    view = MaintainedProgram(program, Database(), threads=threads, options=TINY, exact=exact)
    view.bootstrap(columns(program, facts))
    expected = reference.evaluate(program, facts)
    for inserted, deleted in updates:
        changes = view.update(columns(program, inserted), columns(program, deleted))
        facts, before = applied(facts, inserted, deleted), expected
        expected = reference.evaluate(program, facts)
        check(view, exact)
        assert {name: set(rows) for name, rows in state(view).items() if name in expected} == expected
        assert_changes(program, changes, before, expected)
        if exact:
            fresh = MaintainedProgram(program, Database(), threads=1, options=TINY)
            fresh.bootstrap(columns(program, facts))
            assert state(fresh) == state(view)


@given(chosen_rules, facts, st.lists(update, max_size=3), st.sampled_from([0, 1, 1 << 10]))
def test_an_update_by_demand_leaves_the_same(monkeypatch, rules, facts, updates, passes):
    """Whether passes or indexes find rows, and whether arrangements are kept or forgotten in between."""
    monkeypatch.setattr(maintained_relation, "SMALL_ROWS", 0)
    monkeypatch.setattr(demanded_arrangement, "PASSES", passes)
    program = engine.compile([DECLARED + "\n".join((*ANEW, *(rule for rule in RULES if rule in rules)))])
    asked, stayed = (
        MaintainedProgram(program, Database(), threads=2, options=TINY, by_demand=by_demand)
        for by_demand in (True, False)
    )
    for view in (asked, stayed):
        view.bootstrap(columns(program, facts))
        for number, (inserted, deleted) in enumerate(updates):
            view.update(columns(program, inserted), columns(program, deleted))
            monkeypatch.setattr(maintained_program, "ARRANGED_SHARE", number % 2)
            view.arranged_limit_bytes = 0  # It is of the share before.
            view.give_back()
    assert tables.decode(program, asked.result(), program.relations) == tables.decode(
        program, stayed.result(), program.relations
    )


class Aborted(Exception):
    """An update is to end."""


@settings(max_examples=4 * settings.default.max_examples)
@given(
    chosen_rules,
    facts,
    st.lists(st.tuples(update, st.none() | st.integers(0, 60)), min_size=1, max_size=5),
    st.integers(1, 2),
)
def test_an_aborted_update_leaves_what_was_there(rules, facts, updates, threads):
    """Transactions and aborts in any order: each `None` goes through, others end at their n-th piece of work."""
    program = engine.compile([DECLARED + "\n".join((*ANEW, *(rule for rule in RULES if rule in rules)))])
    view = MaintainedProgram(program, Database(), threads=threads, options=TINY)
    view.bootstrap(columns(program, facts))
    for (inserted, deleted), n_pieces in updates:
        before, pieces = state(view), count()

        def watch(pieces=pieces, n_pieces=n_pieces):
            if next(pieces) == n_pieces:
                raise Aborted

        try:
            with view.watched(watch):
                view.update(columns(program, inserted), columns(program, deleted))
            facts = applied(facts, inserted, deleted)
        except Aborted:
            assert state(view) == before
            assert not any(relation.moves or relation.log for relation in view.tracked())
        except CannotUpdate:
            assert state(view) == before
            view.close()
            return
    fresh = MaintainedProgram(program, Database(), threads=1, options=TINY)
    fresh.bootstrap(columns(program, facts))
    results = (each.result() for each in (view, fresh))
    held, expected = (tables.decode(program, result, program.relations) for result in results)
    assert held == expected
    view.close()
    fresh.close()


def test_it_is_known_when_most_rows_are_of_tuples_that_have_gone(monkeypatch):
    monkeypatch.setattr(maintained_program, "FEW_ROWS", 0)
    source = ".decl edge(x: number, y: number)\n.decl path(x: number, y: number)\n"
    program = engine.compile([source + "path(x, y) :- edge(x, y). path(x, z) :- path(x, y), edge(y, z)."])
    maintainer = Maintainer(MaintainedProgram(program, Database(), threads=1, options=TINY), UpdateOnly())
    chains = [{"edge": {(10 * k + i, 10 * k + i + 1) for i in range(9)}} for k in range(4)]
    maintainer.bootstrap(columns(program, chains[0]))
    told = [maintainer.view.mostly_gone()]
    for gone, come in pairwise(chains):
        maintainer.apply(columns(program, come), columns(program, gone))
        told.append(maintainer.view.mostly_gone())
    # Of 54 rows there are 54 more after each change.
    assert told == [False, False, True, True]


ANEW = (
    ".type Pair = [first: number, rest: Pair]",
    ".decl least(x: number, d: number)",
    "least(x, min<0>) :- mark(x). least(y, min<d>) :- least(x, c), edge(x, y), d = c + 1.",
    ".decl out(x: number, n: number)",
    "out(x, n) :- edge(x, _), n = count : { left(x, _) }.",
    ".decl same(x: number, y: number) eqrel",
    "same(x, y) :- left(x, y), !mark(y).",
    ".decl chosen(x: number, y: number) choice-domain x",
    ".decl picked(x: number)",
    "chosen(x, y) :- left(x, y). picked(y) :- chosen(x, y), !alone(x).",
    ".decl list(p: Pair, n: number)",
    "list([x, nil], 1) :- mark(x). list([x, p], n + 1) :- list(p, n), p = [y, _], edge(y, x), n < 3.",
    ".decl word(s: symbol, n: number)",
    'word("a", n) :- least(_, n). word(cat(s, to_string(x)), n - 1) :- word(s, n), n > 0, edge(n, x).',
    ".decl long(s: symbol)",
    "long(s) :- word(s, _), strlen(s) > 1, !word(cat(s, s), _).",
    ".decl above(x: number)",
    "above(x) :- out(x, n), n > 1. above(y) :- above(x), same(x, y), list([y, _], _).",
)


@settings(max_examples=2 * settings.default.max_examples)
@given(
    chosen_rules,
    facts,
    st.lists(update, max_size=3),
    st.booleans(),
    st.sampled_from([UpdateOnly(), BootstrapOnly(), Elastic(), Elastic(0.0), Elastic(1e9), Predicted(), Raced()]),
)
def test_the_whole_language_by_any_policy(rules, facts, updates, exact, policy):
    """Some strata of these programs are evaluated anew. Time decides between update and bootstrap, not the result."""
    program = engine.compile([DECLARED + "\n".join((*ANEW, *(rule for rule in RULES if rule in rules)))])
    maintainer = Maintainer(MaintainedProgram(program, Database(), threads=1, options=TINY, exact=exact), policy)
    maintainer.bootstrap(columns(program, facts))
    for inserted, deleted in updates:
        outcome = maintainer.apply(columns(program, inserted), columns(program, deleted))
        facts = applied(facts, inserted, deleted)
        view = maintainer.view
        found = tables.decode(program, view.result(), program.relations)
        assert found == reference.evaluate(program, facts)
        if policy.name in ("update", "bootstrap"):
            assert outcome.strategy == policy.name
