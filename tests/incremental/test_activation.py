"""Which strata an update looks at, as each scheduler decides; and what comes of it."""

import numpy as np
import pytest
import reference

import engine
from engine.database import Database
from engine.incremental.maintained_program import MaintainedProgram
from engine.schedule.executor import SCHEDULERS

PROGRAM = engine.compile(
    [
        """
        .decl a(x: number)
        .input a
        .decl b(x: number)
        .input b
        .decl c(x: number)
        .input c
        .decl small(x: number)
        .decl any()
        .decl guarded(x: number)
        .decl other(x: number)
        .decl none()
        small(x) :- a(x), x < 10.
        any() :- small(_).
        guarded(x) :- any(), b(x).
        other(x) :- b(x), !small(x).
        none() :- !any().
        .decl both(x: number)
        both(x) :- b(x), c(x).
        """
    ]
)
UPDATES = [
    ({"a": {20}}, {}, "a small"),  # It is not small, so nothing else changes.
    ({"a": {3}}, {}, "a small any other"),  # There has been a small one before.
    ({"a": {20}}, {"b": {9}}, "a b guarded other"),  # The first is there already.
    ({}, {"a": {1, 3}}, "a small any guarded other none"),
    ({"b": {1}}, {}, "b"),  # It is there already.
    ({"b": {5}}, {}, "b guarded other"),  # There has never been a c, so there is no use in looking for both.
    ({"c": {5}}, {}, "c both"),  # What has come before is there.
    ({}, {"c": {5}}, "c both"),
    ({"b": {7}}, {}, "b guarded other both"),
]


def columns(rows):
    return {name: np.array([sorted(values)], np.int32) for name, values in rows.items()}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_only_strata_whose_input_has_changed_are_looked_at(scheduler):
    facts = {"a": {1}, "b": {1, 9}, "c": set()}
    view = MaintainedProgram(PROGRAM, Database(), threads=1, scheduler=scheduler)
    view.bootstrap(columns(facts))
    for inserted, deleted, activated in UPDATES:
        view.update(columns(inserted), columns(deleted))
        assert view.n_updated == len(activated.split()), activated
        facts = {name: (facts[name] - deleted.get(name, set())) | inserted.get(name, set()) for name in facts}
        expected = reference.evaluate(PROGRAM, {name: {(x,) for x in values} for name, values in facts.items()})
        for name in PROGRAM.relations:
            assert {tuple(row) for row in view.columns(name).T.tolist()} == expected[name], name
