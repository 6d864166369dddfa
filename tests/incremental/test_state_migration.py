"""States adopted by other programs: what a bootstrap of the other program makes, and only what differs is evaluated."""

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from hypothesis import Phase, given, settings
from supports import TINY, check
from test_bounded_recursion import WIDTHS, wide_values
from test_update import ANEW, DECLARED, RULES, applied, columns, facts, state, update

import engine
from engine import tables
from engine.database import Database
from engine.incremental.bounded_recursion import Bound
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.prepared_program import prepare_program
from engine.incremental.saved_state import NoState, State

FIXED = ("edge(6, 6). mark(1). mark(2).", "left(0, 1).", "right(3, 3). odd(1, 2). flag() :- mark(1).")
"""Facts that stand in programs, some of which are given, too."""
rules = st.sets(st.sampled_from((*RULES, *FIXED)), min_size=1)


def compiled(rules, anew=()):
    return engine.compile([DECLARED + "\n".join((*anew, *(rule for rule in (*RULES, *FIXED) if rule in rules)))])


def opened(directory, program, **options):
    found = State(directory, program, **options)
    found.open(0)
    return found


def made(program, rows, **options):
    view = MaintainedProgram(program, Database(), threads=1, options=TINY, **options)
    view.bootstrap(columns(program, rows))
    return view


@settings(max_examples=settings.default.max_examples // 4, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    programs=st.lists(st.tuples(rules, st.sampled_from([(), ANEW]), update), min_size=2, max_size=4),
    facts=facts,
    exact=st.booleans(),
)
def test_what_another_program_adopts_is_what_a_bootstrap_makes(tmp_path_factory, programs, facts, exact):
    """From program to program, with updates in between, through one directory."""
    directory = tmp_path_factory.mktemp("state")
    view = made(compiled(*programs[0][:2]), facts, exact=exact)
    for number, (chosen, anew, (inserted, deleted)) in enumerate(programs):
        program = compiled(chosen, anew)
        saved = opened(directory, program, exact=exact)
        if number:
            view = saved.migrate(threads=1, options=TINY)
        for change in (({}, {}), (inserted, deleted)):
            view.update(*(columns(program, rows) for rows in change))
            facts = applied(facts, *change) if change[0] else facts
            if not anew:
                check(view, exact)
                if exact:
                    assert state(view) == state(made(program, facts))
            assert tables.decode(program, view.result(), program.relations) == reference.evaluate(program, facts)
        saved.save(view)
        saved.close()


CHAIN = """
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl round(x: number)
round(x) :- path(x, x).
.decl lonely(x: number)
lonely(x) :- edge(x, _), !path(_, x).
"""
CHECKS = ("round(x) :- path(x, x), x > 3.", ".decl far(x: number) far(x) :- lonely(y), path(y, x).")
EDGES = {"edge": {(x, x + 1) for x in range(9)} | {(5, 2)}}


@pytest.mark.parametrize(
    ("edited", "anew"),
    [
        (CHAIN + "// Nothing but a comment.", set()),
        (CHAIN + CHECKS[0], {"round"}),
        (CHAIN + CHECKS[1], {"far"}),
        (CHAIN.replace("lonely(x) :- edge(x, _), !path(_, x).", ""), {"lonely"}),
        (CHAIN.replace("!path(_, x)", "!path(x, _)"), {"path/0", "lonely"}),
        (CHAIN.replace("path(x, z) :- path(x, y), edge(y, z).", ""), {"path", "path/1", "round", "lonely"}),
    ],
)
def test_only_what_depends_on_the_edit_is_evaluated(tmp_path, monkeypatch, edited, anew):
    saved = opened(tmp_path, engine.compile([CHAIN]))
    saved.save(made(engine.compile([CHAIN]), EDGES))
    saved.close()
    program, ran, bootstrap = engine.compile([edited]), set(), MaintainedProgram.bootstrap

    def seen(view, facts, nodes=None):
        ran.update(relation.name for node in nodes for relation in view.strata[node].relations)
        bootstrap(view, facts, nodes)

    monkeypatch.setattr(MaintainedProgram, "bootstrap", seen)
    place = opened(tmp_path, program)
    view = place.migrate(threads=1, options=TINY)
    assert (ran, place.anew) == (anew, len(anew))
    monkeypatch.undo()
    assert state(view) == state(made(program, EDGES))


def test_what_is_adopted_stays_where_it_was_saved(tmp_path):
    """The state of the edited program is a log behind the base of the other one."""
    program, edges = engine.compile([CHAIN]), {"edge": {(x, x + 1) for x in range(500)}}
    saved = opened(tmp_path / "one", program)
    saved.save(made(program, edges))
    saved.close()
    edited = engine.compile([CHAIN + CHECKS[0]])
    reader, other = opened(tmp_path / "one", edited), opened(tmp_path / "two", edited)
    view = reader.migrate(threads=1, options=TINY)
    other.base = reader.base
    other.save(view)
    (base,), (log,) = (tmp_path / "two").glob("*.base"), (tmp_path / "two").glob("*.log")
    assert base.samefile(tmp_path / "one" / base.name)
    assert log.stat().st_size < base.stat().st_size / 10
    other.close()
    assert state(opened(tmp_path / "two", edited).load(threads=1)) == state(made(edited, edges))


def test_what_has_another_form_is_not_adopted(tmp_path):
    saved = opened(tmp_path, engine.compile([CHAIN]))
    saved.save(made(engine.compile([CHAIN]), EDGES))
    with pytest.raises(NoState, match="are others"):
        State(tmp_path, engine.compile([CHAIN], number_bits=64)).migrate()
    with pytest.raises(NoState, match="are others"):
        State(tmp_path, engine.compile([CHAIN]), exact=False).migrate()
    with pytest.raises(NoState, match="the columns of edge are others"):
        State(tmp_path, engine.compile([CHAIN.replace(": number", ": unsigned")])).migrate()


BOUNDED = """
.decl arc(x: number, y: number)
.decl wide(x: number)
.decl reach(x: number, y: number)
reach(x, y) :- arc(x, y), !wide(x).
reach(x, z) :- reach(x, y), arc(y, z), !wide(x).
.decl back(x: number)
back(x) :- reach(x, y), reach(y, x).
"""
LOOPS = "reach(x, x) :- arc(x, _), !wide(x)."


@pytest.mark.parametrize("edit", ["", "back(x) :- wide(x).", LOOPS])
@pytest.mark.parametrize("limit", [500, 1 << 20])
def test_a_bounded_recursion_is_adopted_with_its_beginnings(tmp_path, edit, limit):
    ring = {"arc": np.array([(x, (x + 1) % 60) for x in range(60)] + [(100, 101)], np.int32).T.copy()}

    def bound(limit):
        choices = [lambda rows, width=width: wide_values(width, rows) for width in WIDTHS]
        return Bound("reach", [limit] * len(WIDTHS), "wide", choices)

    first, second = engine.compile([BOUNDED]), engine.compile([BOUNDED + edit])
    view = MaintainedProgram(first, Database(), threads=1, bounds=[bound(limit)])
    view.bootstrap(ring)
    saved = opened(tmp_path, first)
    saved.save(view)
    saved.close()
    adopted = opened(tmp_path, second).migrate(threads=1, bounds=[bound(0)])
    expected = MaintainedProgram(prepare_program(second), Database(), threads=1, bounds=[bound(limit)])
    expected.bootstrap(ring)
    for arc in ((101, 102), (5, 7)):
        assert state(adopted) == state(expected)
        for each in (adopted, expected):
            each.update({"arc": np.array([arc], np.int32).T.copy()}, {})
