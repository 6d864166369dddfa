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


# ---- programs and queries beside its own

RULES = engine.Source(
    "own.dl",
    ".decl back(x: symbol, y: symbol)\nback(y, x) :- arc(x, y).\nback(x, z) :- back(x, y), back(y, z).\n"
    ".decl on(x: symbol, y: symbol)\non(x, y) :- arc(x, y).\non(x, z) :- arc(x, y), on(y, z).\n",
)
TEXTS = [
    "path(x, y), !arc(x, y)",
    'path("a", y), y != "b"',
    "degree(x, n), n > 1",
    "back(x, y), !arc(y, x)",
    "joined(x, y), x < y",
    'arc(x, y), !arc(y, _); path(y, x), x = "c", y = "a"',
    "n = count : { path(_, _) }",
    'on("a", y), !arc("a", y)',
    'on("a", y), on("b", z)',
]
PREPARED = ["back(x, y), !arc(y, x)", "on(x, y), !arc(y, x)", "on(y, x)"]


def answers(facts, text):
    return engine.ask(PROGRAM, text, facts, [RULES]).tuples(engine.ANSWERS)


@pytest.mark.parametrize("policy", ["predicted", "update", "bootstrap"])
@given(ARCS, st.lists(st.tuples(st.sampled_from(["insert", "delete"]), ARCS), max_size=4), st.data())
def test_queries_are_answered_as_from_scratch_and_say_what_is_new(policy, arcs, commits, data):
    texts = data.draw(st.lists(st.sampled_from(TEXTS), unique=True, max_size=4))
    arcs = set(arcs)
    with engine.View(PROGRAM, {"arc": arcs}, policy=policy, threads=1) as view:
        names = {*view.relations}
        standing = {text: view.query(text, [RULES]) for text in texts}
        prepared = {text: view.query(text, [RULES], {"x": "symbol"}) for text in PREPARED}
        before = {text: answers({"arc": arcs}, text) for text in texts}
        for change, rows in commits:
            getattr(view, change)("arc", rows)
            arcs = arcs | rows if change == "insert" else arcs - rows
            done = view.commit()
            for text, query in standing.items():
                after = answers({"arc": arcs}, text)
                assert query.answers().tuples(engine.ANSWERS) == after
                assert query.inserted(done).tuples(engine.ANSWERS) == after - before[text]
                assert query.deleted(done).tuples(engine.ANSWERS) == before[text] - after
                before[text] = after
            node = data.draw(NODES)
            for text, query in prepared.items():
                x = engine.ask(PROGRAM, text, {"arc": arcs}, [RULES]).program.relations[engine.ANSWERS].columns
                at = [column.name for column in x].index("x")
                expected = {row[:at] + row[at + 1 :] for row in answers({"arc": arcs}, text) if row[at] == node}
                assert query.answers(node).tuples(engine.ANSWERS) == expected
            text = data.draw(st.sampled_from(TEXTS))
            assert view.ask(text, [RULES]).tuples(engine.ANSWERS) == answers({"arc": arcs}, text)
            assert all("#" not in name for name in done.changed)
        for query in (*standing.values(), *prepared.values()):
            query.close()
        assert {*view.relations} == names


def test_programs_are_installed_beside_the_own_one_and_take_facts():
    further = engine.compile(
        ".decl path(x: symbol, y: symbol)\n.decl wanted(x: symbol)\n.decl met(x: symbol, y: symbol)\n"
        "met(x, y) :- wanted(x), path(x, y).\n"
    )
    with engine.View(PROGRAM, {"arc": [("a", "b"), ("b", "c")]}, threads=1) as view:
        installed = view.install(further)
        view.insert("wanted", [("a",)])
        assert view.commit().inserted.tuples("met") == {("a", "b"), ("a", "c")}
        assert view.bytes_of(installed) > 0
        view.uninstall(installed)
        with pytest.raises(engine.TableError, match="no relation of that name"):
            view.tuples("met")
        wrong = ".decl path(x: symbol, y: number)\n.decl q(y: number)\nq(y) :- path(_, y)."
        with pytest.raises(engine.EvaluationError, match="path: there is a relation of that name, with other columns"):
            view.install(engine.compile(wrong))


def test_values_of_parameters_are_checked():
    with engine.View(PROGRAM, threads=1) as view:
        query = view.query("path(x, y), strlen(t) > 1", parameters={"x": "symbol", "t": "symbol"})
        assert [column.name for column in query.columns] == ["y"]
        with pytest.raises(TypeError, match="the query has 2 parameters, 1 values are given"):
            query.answers("a")
        with pytest.raises(engine.TableError, match="3 is not a valid symbol"):
            query.answers("a", 3)
        assert query.answers("a", "long").tuples(engine.ANSWERS) == set() and query.n_bytes > 0
        with pytest.raises(engine.ProgramError, match="E020"):
            view.query("path(x, y)", parameters={"x": "text"})
        with pytest.raises(engine.ProgramError, match="E010"):
            view.query("paht(x, y)")


class Aborted(Exception):
    """A commit is to end."""


@pytest.mark.parametrize("policy", ["predicted", "update", "bootstrap", "elastic"])
def test_a_commit_that_is_aborted_changes_nothing(policy):
    facts = {"arc": {("a", "b"), ("b", "c")}, "seen": {((1, None),)}}

    def abort():
        if not next(pieces, None):
            raise Aborted

    with engine.View(PROGRAM, facts, policy=policy, threads=2) as view:
        before = derived(facts)
        for n_pieces in range(6):
            pieces = iter([True] * n_pieces)
            view.insert("arc", {("c", "d"), ("d", "a")})
            view.delete("arc", {("a", "b")})
            with pytest.raises(Aborted):
                view.commit(abort)
            assert {name: view.tuples(name) for name in before} == before
        view.insert("arc", {("c", "a")})
        view.commit()
        after = derived({**facts, "arc": facts["arc"] | {("c", "a")}})
        assert {name: view.tuples(name) for name in after} == after
