"""Programs that run once on a view: they see one commit, whatever comes meanwhile, and share what they read."""

import gc
import weakref
from threading import Barrier, Thread

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import engine
from engine import versions
from engine.incremental.changes import Change
from engine.versions import IDLE_COMMITS, Versions

EDGES = ".decl edge(x: number, y: number)\n"
CLOSURE = EDGES + ".decl path(x: number, y: number)\npath(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z).\n"
TWO_STEPS = EDGES + ".decl two(x: number, z: number)\ntwo(x, z) :- edge(x, y), edge(y, z).\n"
CHAIN = [(i, i + 1) for i in range(50)]


def compiled(text):
    return engine.compile([text])


def view_of(text=EDGES, **facts):
    return engine.View(compiled(text), facts, threads=1)


def columns_of(rows, arity=2):
    return np.array(sorted(rows), np.int32).reshape(-1, arity).T


def tuples_of(columns):
    return set(zip(*columns.tolist(), strict=True))


def test_a_second_program_attaches_to_the_arrangement_of_the_first():
    held = Versions()
    with held.reading(["edge"], lambda name: columns_of(CHAIN)) as first:
        built = first["edge"].arrangement((0,), payload=True, old=False)
    with held.reading(["edge"], None) as second:
        assert second["edge"].arrangement((0,), payload=True, old=False) is built


def test_a_view_copies_a_relation_for_the_first_program_only(monkeypatch):
    made = []
    monkeypatch.setattr(
        versions, "stored", lambda name, columns, make=versions.stored: made.append(name) or make(name, columns)
    )
    with view_of(edge=CHAIN) as view:
        for _ in range(3):
            assert view.evaluate(compiled(TWO_STEPS)).tuples("two") == {(i, i + 2) for i in range(49)}
            view.insert("edge", [(60, 61)])
            view.commit()
    assert made == ["edge"]


def test_what_a_view_derives_is_an_input_of_a_program_that_runs_once():
    reader = compiled(".decl path(x: number, y: number)\n.decl n(n: number)\nn(c) :- c = count : { path(_, _) }.")
    with view_of(CLOSURE, edge=CHAIN) as view:
        assert view.evaluate(reader).tuples("n") == {(50 * 51 // 2,)}
        view.delete("edge", [(49, 50)])
        view.commit()
        assert view.evaluate(reader).tuples("n") == {(49 * 50 // 2,)}


def test_a_program_that_adds_to_a_relation_leaves_the_views_as_it_is():
    with view_of(edge=CHAIN) as view:
        closed = view.evaluate(compiled(EDGES + "edge(x, z) :- edge(x, y), edge(y, z)."))
        assert len(closed.tuples("edge")) == 50 * 51 // 2
        assert view.evaluate(compiled(TWO_STEPS)).tuples("two") == {(i, i + 2) for i in range(49)}
        assert view.tuples("edge") == {*CHAIN}


def test_symbols_and_records_mean_the_same_in_all_programs():
    head = ".type P = [x: number, s: symbol]\n.decl p(p: P)\n"
    program = compiled(head + '.decl q(p: P, n: number)\nq([n, cat(s, "!")], n) :- p([n, s]).\nq(p, 0) :- p(p).')
    with view_of(head + 'p([1, "a"]). p([2, cat("b", "c")]).') as view:
        assert view.evaluate(program).tuples("q") == {((1, "a!"), 1), ((2, "bc!"), 2), ((1, "a"), 0), ((2, "bc"), 0)}


@pytest.mark.parametrize(
    "text, message",
    [
        (".decl edge(x: number, y: symbol)\n.decl a(x: number)\na(x) :- edge(x, _).", "edge: .* with other columns"),
        ('.type R = [s: symbol]\n.decl a(r: R)\na([x]) :- x = cat("a", "b").', "R: .* with other fields"),
    ],
)
def test_programs_that_mean_something_else_by_a_name_are_told(text, message):
    with view_of(EDGES + ".type R = [x: number]\n.decl r(r: R)\n") as view:
        with pytest.raises(engine.EvaluationError, match=message):
            view.evaluate(compiled(text))
        with pytest.raises(engine.EvaluationError, match="numbers have 32 bits here, not 64"):
            view.evaluate(engine.compile([TWO_STEPS], number_bits=64))


def test_an_equivalence_is_read_by_its_pairs_after_each_commit():
    text = ".decl same(x: number, y: number)"
    reader = compiled(f"{text}\n.decl of(y: number)\nof(y) :- same(x, y), x = 1.\nof(-y) :- same(6, y), !same(1, y).")
    with view_of(f"{EDGES}{text} eqrel\nsame(x, y) :- edge(x, y).", edge=[(1, 2), (2, 3), (5, 6)]) as view:
        assert view.evaluate(reader).tuples("of") == {(1,), (2,), (3,), (-5,), (-6,)}
        view.insert("edge", [(3, 5)])
        view.commit()
        assert view.evaluate(reader).tuples("of") == {(1,), (2,), (3,), (5,), (6,)}


def test_what_an_installed_program_derives_is_read_until_it_goes():
    reader = compiled(".decl two(x: number, z: number)\n.decl n(n: number)\nn(c) :- c = count : { two(_, _) }.")
    with view_of(edge=CHAIN) as view:
        installed = view.install(compiled(TWO_STEPS))
        assert view.evaluate(reader).tuples("n") == {(49,)}
        view.uninstall(installed)
        assert view.evaluate(reader).tuples("n") == {(0,)}


def test_a_program_whose_relation_goes_before_it_is_read_is_told(monkeypatch):
    with view_of(edge=CHAIN) as view:
        installed, read = view.install(compiled(TWO_STEPS)), view._versions.reading

        def gone_meanwhile(names, columns):
            view.uninstall(installed)
            return read(names, columns)

        monkeypatch.setattr(view._versions, "reading", gone_meanwhile)
        with pytest.raises(engine.EvaluationError, match="two: the program that brought this relation has been"):
            view.evaluate(compiled(".decl two(x: number, z: number)\n.decl n(x: number)\nn(x) :- two(x, _)."))


def test_a_reader_sees_one_version_until_it_ends():
    with view_of(CLOSURE, edge=[(1, 2), (2, 3)]) as view:
        with view._versions.reading(["edge", "path"], view._maintainer.view.columns) as before:
            view.insert("edge", [(3, 1), (4, 2)])
            view.delete("edge", [(2, 3)])
            view.commit()
            assert tuples_of(before["edge"].columns()) == {(1, 2), (2, 3)}
            assert tuples_of(before["path"].columns()) == {(1, 2), (2, 3), (1, 3)}
        with view._versions.reading(["edge", "path"], None) as after:
            assert tuples_of(after["edge"].columns()) == {(1, 2), (3, 1), (4, 2)}
            assert tuples_of(after["path"].columns()) == {(1, 2), (3, 1), (4, 2), (3, 2)}


def test_a_relation_that_no_program_reads_any_more_goes_with_its_last_reader():
    held, nothing = Versions(), np.empty((2, 0), np.int32)
    with held.reading(["edge"], lambda name: columns_of(CHAIN)) as relations:
        storage = weakref.ref(relations["edge"])
        for i in range(IDLE_COMMITS + 1):
            held.follow({"edge": Change(columns_of([(i, 100)]), nothing, 0)}, ())
        assert tuples_of(relations["edge"].columns()) == {*CHAIN}
        del relations["edge"]
    gc.collect()
    assert storage() is None
    with held.reading(["edge"], lambda name: columns_of([(7, 7)])) as relations:
        assert tuples_of(relations["edge"].columns()) == {(7, 7)}


WIDE = ".decl w(a: number, b: number, c: number, d: number)\n"
QUERY = WIDE + ".decl q(a: number, d: number)\nq(a, d) :- w(a, b, c, _), w(b, c, _, d), !w(a, a, _, _)."


@given(st.lists(st.sets(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=30), min_size=2, max_size=5))
def test_programs_on_changing_wide_relations(batches):
    program, now = compiled(QUERY), set(batches[0])
    with view_of(WIDE, w=batches[0]) as view:
        for i, rows in enumerate([set(), *batches[1:]]):
            getattr(view, "delete" if i % 2 else "insert")("w", rows)
            now = now - rows if i % 2 else now | rows
            view.commit()
            expected = {
                (a, f)
                for a, b, c, _ in now
                for d, e, _, f in now
                if (b, c) == (d, e) and not any(row[:2] == (a, a) for row in now)
            }
            assert view.evaluate(program).tuples("q") == expected


def test_programs_at_the_same_time_share_arrangements():
    """One program asks for existence by a key, the others for its rows, at the same time and more than once."""
    texts = [CLOSURE, TWO_STEPS, EDGES + ".decl has(x: number)\nhas(y) :- edge(_, y), edge(y, _)."] * 4
    expected = {"path": 50 * 51 // 2, "two": 49, "has": 49}
    found, programs = [], [compiled(text) for text in texts]
    with view_of(edge=CHAIN) as view:
        together([lambda program=program: found.append(view.evaluate(program)) for program in programs])
    sizes = [
        (name, result.relation(name).shape[1]) for result in found for name in expected if name in result.relations
    ]
    assert len(sizes) == 12 and set(sizes) == set(expected.items())


def test_readers_see_whole_commits_while_others_are_made():
    """Each commit moves one pair in both relations, and the rule of the view: in no version do they differ."""
    text = "".join(f".decl {name}(x: number, y: number)\n" for name in ("left", "right", "both"))
    rules = "both(x, y) :- left(x, y), right(x, y).\n"
    differ = ".decl odd(x: number)\nodd(x) :- left(x, y), !both(x, y).\nodd(x) :- right(x, y), !both(x, y).\n"
    count = ".decl n(n: number)\nn(c) :- c = count : { both(_, _) }.\n"
    reader, found = compiled(text + differ + count), []
    pairs = [(i, i % 7) for i in range(200)]
    with view_of(text + rules, left=pairs, right=pairs) as view:

        def write():
            for i in range(40):
                for name in ("left", "right"):
                    view.delete(name, [pairs[i]])
                    view.insert(name, [(1000 + i, 0)])
                view.commit()

        def read():
            for _ in range(15):
                result = view.evaluate(reader)
                found.append((result.tuples("odd"), result.tuples("n")))

        together([write, read, read])
        assert view.tuples("left") == {*pairs[40:]} | {(1000 + i, 0) for i in range(40)}
    assert found == [(set(), {(200,)})] * 30


def together(calls):
    """Make calls at the same time; fail if one of them does."""
    ready, failed = Barrier(len(calls)), []

    def run(call):
        ready.wait()
        try:
            call()
        except Exception as error:
            failed.append(error)

    threads = [Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
