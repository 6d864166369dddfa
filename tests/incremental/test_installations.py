"""Programs installed beside another: equal to evaluation of all as one, after any updates, and gone without a trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import tables
from engine.database import EvaluationError
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.update_plans import Feed

BASE = """
.type Pair = [a: number, b: number]
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
.decl same(x: number, y: number) eqrel
.decl least(x: number, n: number)
.decl mark(x: number)
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
same(x, y) :- arc(x, y), arc(y, x).
least(x, min<y>) :- arc(x, y).
mark(x) :- arc(x, _), !arc(_, x).
"""
PROGRAM = engine.compile(BASE)
QUERIES = {
    "conjunction": """.decl q0(x: number, z: number)
        q0(x, z) :- arc(x, y), tc(y, z), x != z.""",
    "negation": """.decl q1(x: number)
        q1(x) :- tc(_, x), !arc(x, _).""",
    "the same negation": """.decl q2(x: number, y: number)
        q2(x, y) :- tc(x, y), !arc(x, _), !mark(x).
        q2(x, x) :- mark(x), !arc(_, 3).""",
    "recursion": """.decl q3(x: number, y: number)
        q3(y, x) :- arc(x, y).
        q3(x, z) :- q3(x, y), tc(z, y).""",
    "an aggregate": """.decl q4(x: number, n: number)
        q4(x, n) :- arc(x, _), n = count : { tc(x, _) }.""",
    "least paths": """.decl q5(x: number, n: number)
        q5(1, min<0>).
        q5(y, min<n + 1>) :- q5(x, n), arc(x, y), n < 9.""",
    "an equivalence": """.decl q6(x: number, y: number)
        q6(x, y) :- same(x, y), x < y.
        .decl e(x: number, y: number) eqrel
        e(x, y) :- tc(x, y), x < 3.""",
    "existence": """.decl q7(x: number)
        q7(x) :- mark(_), least(x, n), n > 1.""",
    "records": """.type Own = [p: Pair, n: number]
        .decl q8(p: Pair)
        .decl o(o: Own)
        q8([x, y]) :- arc(x, y).
        o([p, x]) :- q8(p), p = [x, _].""",
    "facts of its own": """.decl extra(x: number)
        .decl q9(x: number)
        extra(2).
        q9(x) :- extra(x), !mark(x).""",
}
UPON = ".decl q3(x: number, y: number)\n.decl qa(x: number)\nqa(x) :- q3(x, y), !q3(y, x), arc(_, x)."
"""A program that reads a relation of another one."""
NODES = st.integers(1, 4)
ARCS = st.sets(st.tuples(NODES, NODES), max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("update"), ARCS, ARCS),
        st.tuples(st.just("install"), st.sampled_from(sorted(QUERIES)), st.none()),
        st.tuples(st.just("uninstall"), st.integers(0, 9), st.none()),
    ),
    max_size=10,
)


def extension(text):
    return engine.extend(PROGRAM, [engine.Source("<further>", text)])


def columns(rows, width):
    return np.array(sorted(rows), np.int32).reshape(len(rows), width).T


def rows(view, name):
    return set(zip(*view.relations[name].columns().tolist(), strict=True))


def begun(arcs=()):
    view = MaintainedProgram(PROGRAM, engine.Database(), threads=1)
    view.bootstrap({"arc": columns(arcs, 2)})
    return view


def check(view, arcs, live):
    """Every relation of every program is as if all had been evaluated as one."""
    whole = PROGRAM
    for program in live:
        whole = whole.extended(program)
    expected = engine.evaluate(whole, {"arc": arcs})
    held = view.result()
    for name in whole.relations:
        assert tables.decode(whole, held, [name])[name] == expected.tuples(name), name


def check_clean(view):
    """Nothing is there that the view's own program has not brought."""
    twin = begun()
    assert view.relations.keys() == twin.relations.keys() and view.joined.keys() == twin.joined.keys()
    assert len(view.strata) == len(twin.strata) == view.n_own and view.records.keys() == twin.records.keys()
    assert view.graph.writer.keys() == twin.graph.writer.keys()
    feeds = {name for name, each in view.bindings.relations.items() if isinstance(each, Feed)}
    assert view.bindings.relations.keys() - feeds == twin.bindings.relations.keys() - {
        name for name, each in twin.bindings.relations.items() if isinstance(each, Feed)
    }
    assert all(view.bindings.relations[name].reader in view.joined for name in feeds)
    assert {*view.installations.asked} == {None}
    arranged = {(name, key) for name, relation in view.joined.items() for key in relation.arrangements}
    assert arranged <= view.installations.asked[None]
    assert {name for name, *_ in view.sizes.estimates} <= {*view.bindings.relations}


@given(ARCS, STEPS)
def test_installed_programs_equal_one_program_after_any_steps(arcs, steps):
    view, live = begun(arcs), {}
    for kind, what, more in steps:
        if kind == "update":
            view.update({"arc": columns(what, 2)}, {"arc": columns(more, 2)})
            arcs = (arcs - more) | what
        elif kind == "install" and what not in live:
            live[what] = view.install(extension(QUERIES[what]))
        elif kind == "uninstall" and live:
            view.uninstall(live.pop(sorted(live)[what % len(live)]))
        check(view, arcs, [extension(QUERIES[name]) for name in live])
    for installed in live.values():
        view.uninstall(installed)
    check_clean(view)


@pytest.mark.parametrize("name", QUERIES)
def test_a_program_leaves_nothing_behind(name):
    arcs = {(1, 2), (2, 3), (3, 1), (2, 1), (4, 4)}
    view = begun(arcs)
    arrangements = {(each, key) for each, relation in view.joined.items() for key in relation.arrangements}
    installed = view.install(extension(QUERIES[name]))
    check(view, arcs, [extension(QUERIES[name])])
    view.uninstall(installed)
    check_clean(view)
    left = {(each, key) for each, relation in view.joined.items() for key in relation.arrangements}
    assert left == arrangements


def test_what_others_read_stays_until_they_go():
    arcs = {(1, 2), (2, 3)}
    view = begun(arcs)
    first = view.install(extension(QUERIES["recursion"]))
    second = view.install(engine.compile(".decl arc(x: number, y: number)\n" + UPON))
    view.uninstall(first)
    view.update({"arc": columns({(3, 4)}, 2)}, {"arc": columns({(1, 2)}, 2)})
    found = engine.evaluate(
        PROGRAM.extended(extension(QUERIES["recursion"] + UPON.partition("\n")[2])), {"arc": {(2, 3), (3, 4)}}
    )
    assert rows(view, "qa") == found.tuples("qa") and rows(view, "q3") == found.tuples("q3")
    view.uninstall(second)
    check_clean(view)


def test_a_projection_is_shared_and_goes_with_the_last_reader():
    view = begun({(1, 2), (2, 3)})
    first = view.install(extension(QUERIES["negation"]))
    n_strata = len(view.strata)
    second = view.install(extension(QUERIES["the same negation"]))
    assert [name for name in view.joined if name.startswith("arc/")] == ["arc/1", "arc/0"]
    view.uninstall(first)
    view.update({"arc": columns({(3, 3)}, 2)}, {})
    check(view, {(1, 2), (2, 3), (3, 3)}, [extension(QUERIES["the same negation"])])
    assert len(view.strata) <= n_strata + 1
    view.uninstall(second)
    check_clean(view)


def test_an_empty_view_of_the_same_programs_has_them_installed():
    view = begun({(1, 2)})
    kept = {name: view.install(extension(QUERIES[name])) for name in ("negation", "recursion", "records")}
    view.uninstall(kept.pop("recursion"))
    fresh = view.empty()
    fresh.bootstrap(view.next_facts({"arc": columns({(2, 4)}, 2)}, {}))
    check(fresh, {(1, 2), (2, 4)}, [extension(QUERIES[name]) for name in kept])
    for installed in kept.values():
        fresh.uninstall(installed)
    check_clean(fresh)


def test_an_update_says_what_is_new_and_gone_of_installed_relations():
    view = begun({(1, 2), (2, 3)})
    view.install(extension(QUERIES["conjunction"]))
    changes = view.update({"arc": columns({(3, 4)}, 2)}, {"arc": columns({(1, 2)}, 2)})
    assert {tuple(row) for row in changes["q0"].inserted.T.tolist()} == {(2, 4)}
    assert {tuple(row) for row in changes["q0"].deleted.T.tolist()} == {(1, 3)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (".decl tc(x: number, y: number)\ntc(1, 2).", "takes no further rules"),
        (".decl tc(x: number)\n.decl q(x: number)\nq(x) :- tc(x).", "with other columns"),
        (".type Pair = [a: number]\n.decl q(p: Pair)\nq([1]).", "with other fields"),
    ],
)
def test_what_contradicts_the_view_is_refused_and_leaves_it_as_it_was(text, why):
    view = begun({(1, 2)})
    with pytest.raises(EvaluationError, match=why):
        view.install(engine.compile(text))
    check_clean(view)
    with pytest.raises(EvaluationError, match="numbers have 32 bits here, not 64"):
        view.install(engine.compile(".decl q(x: number)\nq(1).", number_bits=64))


def test_an_installation_that_fails_leaves_the_view_as_it_was():
    view = begun({(1, 2), (2, 3)})

    def stop():
        raise KeyboardInterrupt

    with view.watched(stop), pytest.raises(KeyboardInterrupt):
        view.install(extension(QUERIES["conjunction"]))
    check_clean(view)
    view.update({"arc": columns({(3, 4)}, 2)}, {})
    check(view, {(1, 2), (2, 3), (3, 4)}, [])
