"""After any inserts, deletes and commits a view holds what an evaluation of the facts does, and says what differs."""

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from hypothesis import given

import engine

PROGRAM = engine.compile(
    [
        ".type List = [head: number, tail: List]\n"
        ".decl arc(x: symbol, y: symbol)\n.input arc\n.decl path(x: symbol, y: symbol)\n.output path\n"
        ".decl seen(l: List)\n.input seen\n.decl first(n: number)\n.output first\n"
        ".decl degree(x: symbol, n: number)\n.output degree\n"
        ".decl joined(x: symbol, y: symbol) eqrel\n.output joined\n"
        "degree(x, n) :- arc(x, _), n = count : { arc(x, _) }.\njoined(x, y) :- arc(x, y).\n"
        "path(x, y) :- arc(x, y).\npath(x, z) :- path(x, y), arc(y, z).\nfirst(n) :- seen([n, _]).\n"
    ]
)
NODES = st.sampled_from("abcd")
ARCS = st.sets(st.tuples(NODES, NODES), max_size=4)
LISTS = st.sets(st.tuples(st.sampled_from([(1, None), (2, (1, None)), (3, (2, (1, None)))])), max_size=2)
EDITS = st.lists(st.tuples(st.sampled_from(["insert", "delete"]), ARCS, LISTS), max_size=4)


def derived(facts):
    return {name: set(rows) for name, rows in reference.evaluate(PROGRAM, facts).items()}


@pytest.mark.parametrize("policy", ["predicted", "update", "bootstrap"])
@given(ARCS, LISTS, st.lists(EDITS, max_size=3))
def test_a_view_holds_what_an_evaluation_holds(policy, arcs, lists, commits):
    facts = {"arc": set(arcs), "seen": set(lists)}
    with engine.View(PROGRAM, facts, policy=policy, threads=1) as view:
        before = derived(facts)
        assert {name: view.tuples(name) for name in before} == before
        for edits in commits:
            for change, *given in edits:
                for name, rows in zip(("arc", "seen"), given, strict=True):
                    getattr(view, change)(name, rows)
                    facts[name] = facts[name] | rows if change == "insert" else facts[name] - rows
            done, after = view.commit(), derived(facts)
            assert {name: view.tuples(name) for name in after} == after
            for name in after.keys() - {"joined"}:
                assert done.inserted.tuples(name) == after[name] - before[name]
                assert done.deleted.tuples(name) == before[name] - after[name]
            assert done.changed == sorted(name for name in after if after[name] != before[name])
            assert done.inserted.tuples("joined") <= after["joined"]
            assert done.strategy == ("bootstrap" if policy == "bootstrap" else "update") or policy == "predicted"
            before = after


def test_facts_come_in_any_form_and_are_checked():
    with engine.View(PROGRAM, threads=1) as view:
        view.insert("arc", {"x": np.array(["a"], object), "y": np.array(["b"], object)})
        with pytest.raises(engine.TableError, match="arc, column y, row 1: 2 is not a valid symbol"):
            view.delete("arc", [("a", 2)])
        view.commit()
        assert view.pandas("path").to_dict("list") == {"x": ["a"], "y": ["b"]}
