"""Sessions: relations and arrangements that programs share."""

import gc
import weakref
from threading import Barrier, Thread

import numpy as np
import pytest

import engine
from engine import tables

EDGES = ".decl edge(x: number, y: number)\n"
CLOSURE = EDGES + ".decl path(x: number, y: number)\npath(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z).\n"
TWO_STEPS = EDGES + ".decl two(x: number, z: number)\ntwo(x, z) :- edge(x, y), edge(y, z).\n"
CHAIN = np.array([range(50), range(1, 51)], np.int32)


def compile(text):
    return engine.compile([text])


def rows(result, name):
    return set(zip(*result.relation(name).tolist(), strict=True))


def session_of(**relations):
    return engine.Session(engine.Database(relations=relations), threads=1)


def arrangements(session, name):
    """The arrangements that a session holds of a relation."""
    with session.open(name) as handle:
        return handle.relation.arrangements


def test_a_second_program_attaches_to_the_arrangement_of_the_first():
    session = session_of(edge=CHAIN)
    session.evaluate(compile(CLOSURE))
    built = dict(arrangements(session, "edge"))
    assert built
    assert rows(session.evaluate(compile(TWO_STEPS)), "two") == {(i, i + 2) for i in range(49)}
    now = arrangements(session, "edge")
    assert {key: id(now[key]) for key in built} == {key: id(by) for key, by in built.items()}


def test_a_kept_output_is_an_input_of_the_next_program():
    session = session_of(edge=CHAIN)
    session.evaluate(compile(CLOSURE), keep=["path"])
    reader = compile(".decl path(x: number, y: number)\n.decl n(n: number)\nn(c) :- c = count : { path(_, _) }.")
    assert rows(session.evaluate(reader), "n") == {(50 * 51 // 2,)}


def test_a_program_that_adds_to_a_held_relation_leaves_it_as_it_is():
    session = session_of(edge=CHAIN)
    closed = session.evaluate(compile(EDGES + "edge(x, z) :- edge(x, y), edge(y, z)."))
    assert closed.relation("edge").shape[1] == 50 * 51 // 2
    assert rows(session.evaluate(compile(TWO_STEPS)), "two") == {(i, i + 2) for i in range(49)}


def test_symbols_and_records_mean_the_same_in_all_programs():
    head = ".type P = [x: number, s: symbol]\n.decl p(p: P)\n"
    session = session_of()
    session.evaluate(compile(head + 'p([1, "a"]). p([2, cat("b", "c")]).'), keep=["p"])
    program = compile(head + '.decl q(p: P, n: number)\nq([n, cat(s, "!")], n) :- p([n, s]).\nq(p, 0) :- p(p).')
    found = tables.decode(program, session.evaluate(program), ["q"])["q"]
    assert found == {((1, "a!"), 1), ((2, "bc!"), 2), ((1, "a"), 0), ((2, "bc"), 0)}


def test_programs_that_disagree_on_columns_are_told():
    session = session_of(edge=CHAIN)
    session.evaluate(compile(TWO_STEPS))
    with pytest.raises(engine.EvaluationError, match="edge: the session holds it with the columns"):
        session.evaluate(compile(".decl edge(x: number, y: symbol)\n.decl a(x: number)\na(x) :- edge(x, _)."))
    with pytest.raises(engine.EvaluationError, match="no relation of that name"):
        session.evaluate(compile(TWO_STEPS), keep=["three"])


def test_an_equivalence_is_kept():
    session = session_of(edge=np.array([[1, 2, 5], [2, 3, 6]], np.int32))
    text = ".decl same(x: number, y: number)"
    session.evaluate(compile(f"{EDGES}{text} eqrel\nsame(x, y) :- edge(x, y)."), keep=["same"])
    reader = compile(f"{text}\n.decl of(y: number)\nof(y) :- same(x, y), x = 1.\nof(-y) :- same(6, y), !same(1, y).")
    assert rows(session.evaluate(reader), "of") == {(1,), (2,), (3,), (-5,), (-6,)}


def test_facts_are_given_once_and_changed_when_they_have_been_read():
    session = session_of()
    session.give("edge", CHAIN)
    with pytest.raises(engine.EvaluationError, match="holds it already"):
        session.give("edge", CHAIN)
    for change in (session.insert, session.remove):
        with pytest.raises(engine.EvaluationError, match="no such relation that a program has read"):
            change("edge", CHAIN)
    session.evaluate(compile(TWO_STEPS), memory_limit=1 << 33)
    assert session.insert("edge", CHAIN) == 0 and session.remove("edge", CHAIN[:, :7]) == 7


def test_storage_goes_with_the_last_handle():
    session = session_of(edge=CHAIN)
    session.evaluate(compile(TWO_STEPS))
    first, second = session.open("edge"), session.open("edge")
    storage = weakref.ref(first.relation)
    session.drop("edge")
    first.close()
    gc.collect()
    assert storage() is second.relation and second.relation.columns().shape == (2, 50)
    second.close()
    gc.collect()
    assert storage() is None
    with pytest.raises(ValueError, match="closed"):
        _ = first.relation


def test_programs_at_the_same_time_share_arrangements():
    """One program asks for existence by a key, the others for its rows, at the same time and more than once."""
    texts = [CLOSURE, TWO_STEPS, EDGES + ".decl has(x: number)\nhas(y) :- edge(_, y), edge(y, _)."] * 4
    expected = {"path": 50 * 51 // 2, "two": 49, "has": 49}
    session, found, programs = session_of(edge=CHAIN), [], [compile(text) for text in texts]
    ready = Barrier(len(programs))

    def run(program):
        ready.wait()
        result = session.evaluate(program)
        found.extend((name, result.relation(name).shape[1]) for name in expected if name in result.relations)

    threads = [Thread(target=run, args=(program,)) for program in programs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    assert set(found) == set(expected.items())
