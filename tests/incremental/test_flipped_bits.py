"""A bit that is flipped in a state is told, or was not needed: what comes out is right."""

import random
import shutil

import pytest

from engine.incremental.program_update import compile_file, needed_part, update_program
from engine.incremental.saved_state import State, StateError

PROGRAM = """
.decl edge(x: symbol, y: symbol)
.input edge
.decl path(x: symbol, y: symbol)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl last(x: symbol)
last(y) :- path(_, y), !edge(y, _).
.decl far(x: symbol, n: number)
far(x, n) :- edge(x, _), n = count : { path(x, _) }.
.type Pair = [x: symbol, y: symbol]
.decl pair(p: Pair)
pair([x, y]) :- last(y), edge(x, y).
.decl alone(x: symbol)
.input alone
.decl kept(x: symbol)
kept(x) :- alone(x).
.output path
.output far
.output pair
.output kept
"""
EDGES = [(f"n{i}", f"n{i + d}") for i in range(60) for d in (1, 7)]
MORE = [("n3", "n50"), ("n66", "n70"), ("n68", "x")]


def lines(rows, *before):
    return "".join("\t".join((*before, *row)) + "\n" for row in rows)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A program with its facts, a state of them with a log, a delta, and the results after it."""
    top = tmp_path_factory.mktemp("flipped")
    (top / "program.dl").write_text(PROGRAM)
    for name, edges in (("before", EDGES), ("facts", EDGES + MORE[:1]), ("after", EDGES + MORE)):
        (top / name).mkdir()
        (top / name / "edge.facts").write_text(lines(edges))
        (top / name / "alone.facts").write_text(lines([("a",), ("b",)]))
    for name in ("out", "expected"):
        (top / name).mkdir()
    for name, edges in (("first", MORE[:1]), ("delta", MORE[1:])):
        (top / name).mkdir()
        (top / name / "edge.insert.facts").write_text(lines(edges))
    program, state = top / "program.dl", top / "state"
    update_program(program, state, top / "out", facts=top / "before", threads=1)
    update_program(program, state, top / "out", delta=top / "first", policy="update", threads=1)
    update_program(program, top / "fresh", top / "expected", facts=top / "after", threads=1)
    assert sorted(path.suffix for path in state.iterdir()) == ["", ".base", ".log", ".sqlite"]
    return top


def outputs(directory):
    return {path.name: sorted(path.read_text().splitlines()) for path in directory.iterdir()}


def flip(path, at, bit):
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


@pytest.mark.parametrize("suffix", [".base", ".log", ".sqlite"])
def test_flipped_bits_are_told_and_the_results_are_right(place, tmp_path, suffix):
    (tmp_path / "out").mkdir()
    choose, expected, told = random.Random(suffix), outputs(place / "expected"), []
    for number in range(40):
        state = tmp_path / f"{number}"
        shutil.copytree(place / "state", state)
        (path,) = state.glob(f"*{suffix}")
        content = path.read_bytes()
        at = choose.choice([at for at, byte in enumerate(content) if byte] if number % 2 else range(len(content)))
        flip(path, at, choose.randrange(8))
        given = {"delta": place / "delta", "facts": place / "facts", "policy": "update", "threads": 1}
        done = update_program(place / "program.dl", state, tmp_path / "out", **given)
        assert outputs(tmp_path / "out") == expected, (number, at)
        assert done.damage == ("damaged" in done.reason) == (done.strategy == "bootstrap"), (number, at, done.reason)
        told.append(done.damage)
        again = update_program(place / "program.dl", state, tmp_path / "out", threads=1)
        assert outputs(tmp_path / "out") == expected and not again.damage
    assert sum(told) >= 10


def test_without_facts_the_damage_is_an_error_and_the_state_is_gone(place, tmp_path):
    state = tmp_path / "state"
    shutil.copytree(place / "state", state)
    (base,) = state.glob("*.base")
    content = bytearray(base.read_bytes())
    for at, byte in enumerate(content[100:-100], 100):
        content[at] = byte ^ 1
    base.write_bytes(content)
    for said in ("is damaged: .* give initial facts", "there is no state|is damaged"):
        with pytest.raises(StateError, match=said):
            update_program(place / "program.dl", state, tmp_path / "out", delta=place / "delta", threads=1)


def test_what_an_update_does_not_touch_is_not_verified(place, tmp_path):
    shutil.copytree(place / "state", tmp_path / "state")
    state = State(tmp_path / "state", needed_part(compile_file(place / "program.dl", 32)))
    state.open(0)
    view = state.load(threads=1)
    view.update({"alone": view.symbols.intern(["c"]).reshape(1, 1)}, {})
    asleep = {name for name, relation in view.relations.items() if relation.sleeps}
    assert asleep == set(view.relations) - {"alone", "kept"}
    state.save(view)
    assert {name for name, relation in view.relations.items() if relation.sleeps} == asleep
    state.close()
    view = State(tmp_path / "state", state.program).load(threads=1)
    assert sorted(view.symbols.texts(view.columns("kept")[0])) == ["a", "b", "c"]
    assert view.columns("path").shape[1] == len((place / "out" / "path.csv").read_text().splitlines())
