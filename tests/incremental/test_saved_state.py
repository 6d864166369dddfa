"""State on disk: what is loaded is what was saved, whatever has happened in between."""

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from hypothesis import given
from supports import TINY, check
from test_update import ANEW, DECLARED, RULES, applied, columns, facts, state, update

import engine
from engine import tables
from engine.database import Database
from engine.incremental import demanded_arrangement, maintained_relation, sorted_ids
from engine.incremental import saved_state as saving
from engine.incremental.block_file import BlockFile, decode, encode, write
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.program_update import update_program
from engine.incremental.saved_state import State
from engine.incremental.view_serialization import held_by, order_of
from engine.kernels.csr_runs import LENGTH

ALWAYS, NEVER = 1 << 40, -1


def opened(directory, program, **options):
    found = State(directory, program, **options)
    found.open(0)
    return found


def reopened(saved):
    saved.close()
    return opened(saved.directory, saved.program, exact=saved.exact)


@given(
    rules=st.sets(st.sampled_from(RULES), min_size=1),
    anew=st.sampled_from([(), ANEW]),
    facts=facts,
    updates=st.lists(st.tuples(update, st.booleans(), st.sampled_from([ALWAYS, NEVER, 1 << 10])), max_size=4),
    exact=st.booleans(),
    small_rows=st.sampled_from([0, 1 << 12]),
    share=st.sampled_from([0, 0.5, 1 << 10]),
)
def test_updates_after_loading_are_those_without(
    tmp_path_factory, monkeypatch, rules, anew, facts, updates, exact, small_rows, share
):
    program = engine.compile([DECLARED + "\n".join((*anew, *(rule for rule in RULES if rule in rules)))])
    stayed, view = (MaintainedProgram(program, Database(), threads=1, options=TINY, exact=exact) for _ in range(2))
    for each in (stayed, view):
        each.bootstrap(columns(program, facts))
    monkeypatch.setattr(saving, "LOG_SHARE", 0)
    monkeypatch.setattr(maintained_relation, "SMALL_ROWS", small_rows)
    monkeypatch.setattr(demanded_arrangement, "PASSES", share)
    monkeypatch.setattr(sorted_ids, "SHARE", share)
    saved = opened(tmp_path_factory.mktemp("state"), program, exact=exact)
    saved.save(view)
    for (inserted, deleted), loads, log_bytes in updates:
        if loads:
            saved = reopened(saved)
            view = saved.load(threads=1, options=TINY)
        for each in (stayed, view):
            each.update(columns(program, inserted), columns(program, deleted))
        facts = applied(facts, inserted, deleted)
        monkeypatch.setattr(saving, "SMALL_LOG_BYTES", log_bytes)
        saved.save(view)
        if not anew:
            check(view, exact)
    loaded = reopened(saved).load(threads=1, options=TINY)
    assert state(loaded) == state(view)
    if exact and not anew:
        # Records are numbered as they come: not always in the same order once rows have been compacted.
        assert state(loaded) == state(stayed)
    assert tables.decode(program, loaded.result(), program.relations) == reference.evaluate(program, facts)


KINDS = """
.type Pair = [first: symbol, second: number]
.decl named(name: symbol, value: number)
.decl paired(pair: Pair)
.decl joined(name: symbol)
.decl most(name: symbol, value: number)
paired([name, value]) :- named(name, value).
joined(cat(name, "!")) :- paired([name, value]), value > 0.
most(name, v) :- named(name, _), v = max value : { named(name, value) }.
joined("always").
"""


def test_symbols_records_and_strata_evaluated_anew_are_saved(tmp_path):
    program = engine.compile([KINDS])
    view = MaintainedProgram(program, Database(), threads=1)
    names = ["a", "", "é\udc80\0", "tab\t"]

    def rows(*pairs):
        return {"named": np.array([[view.symbols.intern([name])[0], value] for name, value in pairs], np.int32).T}

    def found(each, name):
        return tables.decode(program, each.result(), [name])[name]

    view.bootstrap(rows((names[0], 1), (names[1], 2), (names[2], -1), (names[0], 5)))
    saved = opened(tmp_path, program)
    saved.save(view)
    for value in (7, 0):
        saved = reopened(saved)
        view = saved.load(threads=1)
        view.update(rows((names[3], value), (names[2], value)), rows((names[0], 5)))
        saved.save(view)
    loaded = reopened(saved).load(threads=1)
    given = {(names[0], 1), (names[1], 2), (names[2], -1), *((name, v) for name in names[2:] for v in (7, 0))}
    assert found(loaded, "named") == given
    assert found(loaded, "paired") == {(pair,) for pair in given}
    assert found(loaded, "joined") == {(name + "!",) for name, value in given if value > 0} | {("always",)}
    assert found(loaded, "most") == {(names[0], 1), (names[1], 2), (names[2], 7), (names[3], 7)}


TC = """
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


def chain(n):
    return {"edge": np.array([np.arange(n), np.arange(1, n + 1)], np.int32)}


def last(n):
    return {"edge": np.array([[n - 1], [n]], np.int32)}


def test_a_small_update_is_saved_in_a_small_log(tmp_path):
    program = engine.compile([TC])
    view = MaintainedProgram(program, Database(), threads=1)
    view.bootstrap(chain(1001))
    # The first update makes the arrangements that updates need.
    view.update({}, last(1001))
    saved = opened(tmp_path, program)
    saved.save(view)
    (base,) = tmp_path.glob("*.base")
    saved = reopened(saved)
    view = saved.load(threads=1)
    view.update({}, last(1000))
    saved.save(view)
    (log,) = tmp_path.glob("*.log")
    assert [*tmp_path.glob("*.base")] == [base]
    # 1000 tuples have gone: each has changed its iteration and its count, and lost its supports.
    assert log.stat().st_size < base.stat().st_size / 10
    assert len(reopened(saved).load(threads=1).relations["path"].present()) == 999 * 1000 // 2


def test_tuples_that_are_gone_are_left_out_of_a_new_base(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "SMALL_LOG_BYTES", NEVER)
    monkeypatch.setattr(saving, "LOG_SHARE", 0)
    program = engine.compile([TC])
    view = MaintainedProgram(program, Database(), threads=1)
    view.bootstrap(chain(200))
    view.update({}, {"edge": chain(200)["edge"][:, 100:]})
    assert view.relations["path"].n_ids == 200 * 201 // 2
    saved = opened(tmp_path, program)
    saved.save(view)
    loaded = reopened(saved).load(threads=1)
    assert [each.relations["path"].n_ids for each in (view, loaded)] == [100 * 101 // 2] * 2
    for each in (view, loaded):
        each.update({"edge": chain(200)["edge"][:, 100:]}, {})
        assert len(each.relations["path"].present()) == 200 * 201 // 2
        fresh = MaintainedProgram(program, Database(), threads=1)
        fresh.bootstrap(chain(200))
        assert state(fresh) == state(each)


NUMBERS = st.sampled_from([0, 1, -1, 255, 256, -(2**31), 2**31 - 1]) | st.integers(-(2**31), 2**31 - 1)
WIDE = NUMBERS | st.sampled_from([-(2**63), 2**63 - 1]) | st.integers(-(2**63), 2**63 - 1)


@given(rows=st.lists(st.tuples(NUMBERS, WIDE), max_size=40), n_rows=st.integers(0, 3), wide=st.booleans())
def test_a_block_holds_an_array(rows, n_rows, wide):
    column = np.array([row[wide] for row in rows], np.int64 if wide else np.int32)
    for array in (
        column,
        np.array([np.roll(column, i) for i in range(n_rows)], column.dtype).reshape(n_rows, len(column)),
    ):
        found = decode(encode(array))
        assert found.dtype == array.dtype and found.shape == array.shape and (found == array).all()


@given(rows=st.sets(st.tuples(WIDE, NUMBERS, st.integers(0, 2))))
def test_rows_are_put_in_order(rows):
    columns = np.array([*rows], np.int64).reshape(-1, 3).T.copy()
    assert list(zip(*columns[:, order_of(columns, columns.shape[1])].tolist(), strict=True)) == sorted(rows)


def test_sorted_rows_take_a_byte_or_two(tmp_path):
    pairs = np.array([np.repeat(np.arange(100_000), 10), np.tile(np.arange(10) * 7, 100_000)], np.int32)
    path, token = tmp_path / "x", bytes(16)
    places = write(path, token, [("pairs", encode(pairs)), ("text", encode(np.frombuffer(b"abc", np.uint8)))])
    assert path.stat().st_size < pairs.shape[1]
    file = BlockFile(path, token, path.stat().st_size, places)
    path.unlink()  # What has been opened stays readable.
    assert (file["pairs"] == pairs).all() and file["text"].tobytes() == b"abc"


def test_rows_stay_where_they_are_when_others_are_asked_for():
    """Another thread may be reading them. A run that has moved leaves a gap, which may not be closed."""
    relation, n, key = MaintainedRelation("r", 2, np.dtype(np.int32)), 500, np.zeros(1, np.int64)
    relation.add(np.array([np.arange(n) % 50, np.arange(n)], np.int32))
    relation.arrange()
    by = relation.arrangements[0,] = demanded_arrangement.DemandedArrangement((0,), relation)
    by.locate(np.arange(10, dtype=np.int32)[None, :], 10, key)
    relation.add(np.array([np.zeros(7), np.arange(n, n + 7)], np.int32))
    relation.arrange()
    (at,), (length,) = by.matches(np.ones((1, 1), np.int32), 1, key, LENGTH)
    arena = by.arena
    by.locate(np.arange(50, dtype=np.int32)[None, :], 50, key)
    assert by.arena is not arena, "it has grown"
    assert by.matches(np.ones((1, 1), np.int32), 1, key, LENGTH) == (at, length)
    assert by.arena[0, at : at + length].tolist() == list(range(1, n, 50))


KEYS = st.lists(st.tuples(*[st.integers(0, 6)] * 2), max_size=6)


@given(
    rows=st.sets(st.tuples(*[st.integers(0, 5)] * 3), min_size=1),
    more=st.sets(st.tuples(*[st.integers(0, 6)] * 3)),
    key=st.sampled_from([(0,), (1,), (0, 1), (1, 2), (2, 0), (0, 1, 2)]),
    asked=st.lists(st.lists(st.tuples(*[st.integers(0, 7)] * 3), max_size=9), max_size=5),
    passes=st.sampled_from([0, 1, 1 << 10]),
)
def test_rows_by_the_keys_asked_for_are_those_of_all_keys(monkeypatch, rows, more, key, asked, passes):
    """Some rows are sorted, others have come since, and more come between the questions."""
    monkeypatch.setattr(demanded_arrangement, "PASSES", passes)
    relation = MaintainedRelation("r", 3, np.dtype(np.int32))
    relation.add(np.array(sorted(rows), np.int32).T)
    relation.arrange()
    relation.n_sorted = len(rows) // 2
    waiting, held = sorted(more - rows), set(rows)
    by, every = demanded_arrangement.DemandedArrangement(key, relation), np.arange(len(key))
    relation.arrangements[key] = by
    for number, questions in enumerate(asked):
        if number and waiting:
            held.add(waiting[0])
            relation.add(np.array([waiting.pop(0)], np.int32).T)
            relation.arrange()
        chunk = np.array([[row[c] for c in key] for row in questions], np.int32).reshape(-1, len(key)).T.copy()
        starts, lengths = by.matches(chunk, len(questions), every, LENGTH)
        for question, start, length in zip(chunk.T.tolist(), starts, lengths, strict=True):
            found = by.arena[:, start : start + length][: 3 - len(key)].T.tolist()
            expected = [[row[c] for c in range(3) if c not in key] for row in held if [row[c] for c in key] == question]
            assert sorted(found) == sorted(expected)
        if passes == 1:
            demanded_arrangement.forget_idle([by], 0)


@given(
    rows=st.sets(st.tuples(*[st.integers(0, 5)] * 2), min_size=1),
    asked=st.lists(st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=1), max_size=5),
    share=st.sampled_from([0, 0.5, 1 << 10]),
)
def test_sorted_rows_have_the_ids_of_a_table(monkeypatch, rows, asked, share):
    monkeypatch.setattr(sorted_ids, "SHARE", share)
    relation, expected = MaintainedRelation("r", 2, np.dtype(np.int32)), {}
    for row in sorted(rows):
        expected[row] = len(expected)
    relation.add(np.array(sorted(rows), np.int32).T)
    store, n_sorted = relation.partitions[0].rows, len(rows) * 2 // 3
    relation.table = sorted_ids.SortedIds(n_sorted, store, 2, len(rows))
    for questions in asked:
        chunk = np.array(questions, np.int32).T.copy()
        assert relation.known(chunk).tolist() == [expected.get(row, -1) for row in questions]
        for row in questions:
            expected.setdefault(row, len(expected))
        assert relation.add(chunk).tolist() == [expected[row] for row in questions]


def test_what_holds_tuples_is_all_there_is():
    program = engine.compile([DECLARED + "\n".join(RULES)])
    held = [relation.name for relation in held_by(MaintainedProgram(program, Database(), threads=1))]
    assert len(held) == len({*held}) and {*program.relations} < {*held}


def test_a_delta_of_an_input_that_no_output_needs_is_not_read(tmp_path):
    program = tmp_path / "program.dl"
    program.write_text(
        ".decl a(x: number)\n.input a\n.decl unused(x: number)\n.input unused\n"
        ".decl b(x: number)\n.output b\nb(x) :- a(x).\n"
    )
    delta = tmp_path / "delta"
    delta.mkdir()
    (tmp_path / "a.facts").write_text("1\n")
    (delta / "a.insert.facts").write_text("2\n")
    (delta / "unused.insert.facts").write_text("7\n")
    update_program(program, tmp_path / "state", tmp_path, delta=delta, facts=tmp_path, threads=1)
    assert (tmp_path / "b.csv").read_text() == "1\n2\n"
    (delta / "other.insert.facts").write_text("7\n")
    with pytest.raises(engine.FactsError, match="no input 'other'"):
        update_program(program, tmp_path / "state", tmp_path, delta=delta, threads=1)
