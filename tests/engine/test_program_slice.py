"""The part of a program for some relations: it derives the same rows of these, and nothing that they do not need."""

from itertools import product

import pytest
from reference import evaluate

import engine
from engine import tables

PROGRAM = engine.compile(
    [
        """
        .decl arc(x: number, y: number)
        .decl tc(x: number, y: number)
        .decl inner(x: number)
        .decl leaf(x: number)
        .decl degree(x: number, n: number)
        .decl busy(x: number)
        .output degree
        tc(x, y) :- arc(x, y).
        tc(x, y) :- tc(x, z), arc(z, y).
        inner(x) :- arc(x, _).
        leaf(y) :- arc(_, y), !inner(y).
        degree(x, n) :- inner(x), n = count : { tc(x, _) }.
        .decl never(x: number)
        .decl odd(x: number)
        .decl even(x: number)
        .decl circle(x: number)
        circle(x) :- even(x), tc(x, x).
        even(x) :- circle(x).
        even(x) :- never(x).
        odd(x) :- circle(x).
        odd(x) :- inner(x), !never(x).
        busy(x) :- degree(x, n), n > 2.
        """
    ]
)
ARCS = {"arc": {(1, 2), (2, 3), (3, 4), (5, 1)}}


def slice_for(program, wanted, given):
    return engine.outlined(program, wanted, given).whole


def test_what_a_relation_needs_through_negation_and_aggregates_is_kept():
    assert slice_for(PROGRAM, ["leaf"], ["arc"]).relations.keys() == {"arc", "inner", "leaf"}
    assert slice_for(PROGRAM, ["busy"], ["arc"]).relations.keys() == {"arc", "inner", "tc", "degree", "busy"}


def test_directives_of_what_is_cut_are_cut():
    assert [directive.relation for directive in slice_for(PROGRAM, ["busy"], ["arc"]).outputs] == ["degree"]
    assert slice_for(PROGRAM, ["leaf"], ["arc"]).outputs == ()


def test_what_reads_relations_without_rows_is_cut_and_what_denies_them_stays():
    assert slice_for(PROGRAM, ["busy"], ["leaf"]).relations.keys() == {"busy", "leaf"}
    assert slice_for(PROGRAM, ["odd", "leaf"], ["arc"]).relations.keys() == {"arc", "inner", "leaf", "odd", "never"}


def test_a_part_derives_what_the_whole_program_does():
    for wanted in ("leaf", "busy", "tc", "odd"):
        part = slice_for(PROGRAM, [wanted], ["arc"])
        result = engine.evaluate(part, engine.facts(part, ARCS), threads=1)
        assert tables.decode(part, result, [wanted])[wanted] == evaluate(PROGRAM, ARCS)[wanted]


SPOKEN = engine.compile(
    [
        """
        .decl language(file: number, name: symbol)
        .decl points(x: number, y: number)
        .decl loads(x: number, y: number)
        .decl c_flow(x: number, y: number)
        .decl flow(x: number, y: number)
        .decl quiet(x: number)
        c_flow(x, y) :- language(x, "c"), points(x, y).
        c_flow(x, y) :- c_flow(x, z), points(z, y).
        flow(x, y) :- loads(x, y).
        flow(x, y) :- c_flow(x, y).
        quiet(x) :- loads(x, _), !c_flow(x, x).
        """
    ]
)
ROWS = {
    "language": ({(1, "c"), (2, "go")}, {(2, "go")}, set()),
    "points": ({(1, 2), (2, 1)}, set()),
    "loads": ({(3, 3), (1, 2)}, set()),
}


@pytest.mark.parametrize("rows", list(product(*ROWS.values())))
def test_a_part_on_facts_derives_what_the_whole_program_does(rows):
    facts = dict(zip(ROWS, rows, strict=True))
    database = engine.facts(SPOKEN, facts)
    part, database = engine.outlined(SPOKEN).part_on(database, ["flow", "quiet"])
    found = tables.decode(part, engine.evaluate(part, database, threads=1), ["flow", "quiet"])
    expected = evaluate(SPOKEN, facts)
    assert found == {name: expected[name] for name in found}
    has_c = (1, "c") in facts["language"] and bool(facts["points"])
    assert any(clause.head.relation == "c_flow" for clause in part.clauses) == has_c
