"""A state directory survives kills, a full disk, damage and company: the state is right, or there is none."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import time
from contextlib import closing
from threading import Event, Thread

import numpy as np
import pytest
import reference
from supports import TINY
from test_update import state

import engine
from engine.database import Database
from engine.incremental import saved_state as saving
from engine.incremental import state_identity, state_manifest
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.saved_state import NoState, State, StateError

KILLS = int(os.environ.get("KILLS", "20"))
PROGRAM = """
.decl edge(x: number, y: number)
.decl node(x: number)
.decl path(x: number, y: number)
.decl apart(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
node(x) :- edge(x, _). node(y) :- edge(_, y).
apart(x, y) :- node(x), node(y), !path(x, y), !path(y, _).
"""
STEPS = 400
N_NODES = 12


@pytest.fixture(scope="module")
def program():
    return engine.compile([PROGRAM])


def steps():
    """Edges inserted and deleted, step by step, always the same."""
    chance = random.Random(11)
    for _ in range(STEPS):
        yield tuple({(chance.randrange(N_NODES), chance.randrange(N_NODES)) for _ in range(k)} for k in (2, 3))


def facts_after(n):
    edges = {(i, i + 1) for i in range(N_NODES)}
    for inserted, deleted in [*steps()][:n]:
        edges = (edges - deleted) | inserted
    return edges


def columns(edges):
    return {"edge": np.array(sorted(edges), np.int32).reshape(-1, 2).T}


def made(program, n=0):
    view = MaintainedProgram(program, Database(), threads=1, options=TINY)
    view.bootstrap(columns(facts_after(n)))
    return view


def opened(directory, program, wait_s=0.0):
    found = State(directory, program)
    found.open(wait_s)
    return found


def begun(directory, program):
    """A directory with the state before all steps, of a view that has been updated before."""
    saved = opened(directory, program)
    view = made(program)
    for change in ((columns({(0, 5)}), {}), ({}, columns({(0, 5)}))):
        view.update(*change)
    saved.notes = {"step": 0}
    saved.save(view)
    saved.close()


def work(directory, program, told):
    """Do one step after the other, and tell after each."""
    saved = opened(directory, program, 10)
    view = saved.load(threads=1, options=TINY)
    for step, (inserted, deleted) in [*enumerate(steps(), 1)][saved.notes["step"] :]:
        view.update(columns(inserted), columns(deleted))
        saved.notes = {"step": step}
        saved.save(view)
        os.write(told, step.to_bytes(2, "big"))
        if step % 3 == 0:
            view = saved.load(threads=1, options=TINY)


def fork(work, *arguments):
    """Run a function in a process of its own; return its id. It ends with 1 if the function raises."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(*arguments)
            code = 0
        finally:
            os._exit(code)
    return child


def assert_right(directory, program, told):
    """The state is that after the last step that was told, or the next one; return which."""
    with closing(opened(directory, program)) as saved:
        view = saved.load(threads=1, options=TINY)
        step = saved.notes["step"]
    assert step in (told, told + 1)
    assert state(view) == state(made(program, step))
    expected = reference.evaluate(program, {"edge": facts_after(step)})
    assert {name: set(rows) for name, rows in state(view).items() if name in expected} == expected
    return step


@pytest.mark.parametrize("log_bytes", [1 << 12, -1])
def test_a_process_may_be_killed_at_any_time(tmp_path, program, monkeypatch, log_bytes):
    monkeypatch.setattr(saving, "SMALL_LOG_BYTES", log_bytes)
    monkeypatch.setattr(saving, "LOG_SHARE", 0)
    begun(tmp_path, program)
    chance = random.Random(log_bytes)
    for _ in range(KILLS // 2):
        reading, writing = os.pipe()
        child = fork(work, tmp_path, program, writing)
        os.close(writing)
        with open(reading, "rb") as pipe:
            known = pipe.read(2)
            time.sleep(chance.uniform(0, 0.1))
            os.kill(child, signal.SIGKILL)
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
            known += pipe.read()
        assert_right(tmp_path, program, int.from_bytes(known[-2:], "big"))
        assert sum(path.suffix in (".base", ".log") for path in tmp_path.iterdir()) <= 4


def dying(save, line):
    """Save; die before that line of the saving code, counted as they are run. Return how many there were."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if not frame.f_code.co_filename.endswith(("saved_state.py", "block_file.py", "state_manifest.py")):
            return None
        count += event == "line"
        if count == line:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    save()
    sys.settrace(None)
    return count


def save_and_die(directory, program, log_bytes, line, told):
    """Save one step as far as a line, or tell how many there were."""
    saving.SMALL_LOG_BYTES = log_bytes
    saved = opened(directory, program)
    view = saved.load(threads=1, options=TINY)
    inserted, deleted = next(steps())
    view.update(columns(inserted), columns(deleted))
    saved.notes = {"step": 1}
    os.write(told, dying(lambda: saved.save(view), line).to_bytes(4, "big"))


def begin_and_die(directory, program, line, told):
    """Save for the first time as far as a line, or tell how many there were."""
    saved = opened(directory, program)
    saved.notes = {"step": 0}
    os.write(told, dying(lambda: saved.save(made(program)), line).to_bytes(4, "big"))


@pytest.mark.parametrize("log_bytes", [1 << 20, -1])
def test_a_process_may_be_killed_at_any_line_of_saving(tmp_path, program, log_bytes):
    begun(tmp_path / "before", program)

    def outcome(line):
        """The step that a state is of after a save that ended there, and what the process told."""
        reading, writing = os.pipe()
        shutil.copytree(tmp_path / "before", tmp_path / "now")
        os.waitpid(fork(save_and_die, tmp_path / "now", program, log_bytes, line, writing), 0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            n_lines = int.from_bytes(pipe.read(), "big")
        step = assert_right(tmp_path / "now", program, 0)
        shutil.rmtree(tmp_path / "now")
        return step, n_lines

    step, n_lines = outcome(-1)
    assert step == 1 and n_lines > 100
    found = [outcome(int(line)) for line in np.linspace(1, n_lines, KILLS // 2)]
    assert not any(told for _, told in found)
    kept = [step for step, _ in found]
    assert kept == sorted(kept) and (kept[0], kept[-1]) == (0, 1)


def test_a_process_may_be_killed_at_any_line_of_saving_for_the_first_time(tmp_path, program):
    def outcome(line):
        """Is there a state, and what did the process tell?"""
        reading, writing = os.pipe()
        os.waitpid(fork(begin_and_die, tmp_path / "now", program, line, writing), 0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            n_lines = int.from_bytes(pipe.read(), "big")
        try:
            is_there = assert_right(tmp_path / "now", program, 0) == 0
        except NoState as error:
            assert not error.damage, "a state that was never saved is none"
            is_there = False
            begun(tmp_path / "now", program)
        shutil.rmtree(tmp_path / "now")
        return is_there, n_lines

    is_there, n_lines = outcome(-1)
    assert is_there and n_lines > 50
    found = [outcome(int(line)) for line in np.linspace(1, n_lines, KILLS)]
    assert not any(told for _, told in found)
    assert [is_there for is_there, _ in found] == sorted(is_there for is_there, _ in found)


def write_until_full(directory, program):
    """Save one step with little room for files."""
    saved = opened(directory, program)
    view = saved.load(threads=1, options=TINY)
    view.update(columns({(i, 3 * i % 101) for i in range(100)}), {})
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 9, 1 << 9))
    try:
        saved.save(view)
    except StateError as error:
        assert "File too large" in str(error) and "is kept" in str(error)
        return
    raise AssertionError("the file was written")


def test_a_full_disk_leaves_the_state_as_it_was(tmp_path, program):
    begun(tmp_path, program)
    before = sorted(path.name for path in tmp_path.iterdir())
    _, status = os.waitpid(fork(write_until_full, tmp_path, program), 0)
    assert os.WEXITSTATUS(status) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert_right(tmp_path, program, 0)


def test_a_manifest_that_cannot_be_written_leaves_the_state_as_it_was(tmp_path, program, monkeypatch):
    begun(tmp_path, program)
    before = sorted(path.name for path in tmp_path.iterdir())
    saved = opened(tmp_path, program)
    view = saved.load(threads=1, options=TINY)
    view.update(columns({(3, 1)}), {})

    def fail(directory, manifest):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(saving, "write_manifest", fail)
    with pytest.raises(StateError, match="disk is full; the one that was saved before is kept"):
        saved.save(view)
    saved.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert_right(tmp_path, program, 0)


# ---- damage


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def garble(at, whence=os.SEEK_SET):
    def change(path):
        with path.open("r+b") as file:
            file.seek(at, whence)
            file.write(b"garbage garbage garbage garbage ")

    return change


def sql(statement):
    def change(path):
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(statement)

    return change


def emptied(path):
    os.truncate(path, 0)


def removed(path):
    path.unlink()


DAMAGES = [
    ("*.base", cut, "bytes instead of"),
    ("*.base", garble(0), "is not the file that was saved"),
    ("*.base", garble(-40, os.SEEK_END), "is not the file that was saved"),
    ("*.base", removed, "No such file"),
    ("*.log", cut, "bytes instead of"),
    ("*.log", garble(100), "is not what was saved"),
    ("*.log", removed, "No such file"),
    ("state.sqlite", garble(0), "cannot be read: file is not a database"),
    ("state.sqlite", garble(4000), "cannot be read"),
    ("state.sqlite", cut, "cannot be read|has been changed"),
    ("state.sqlite", emptied, "cannot be read: no such table"),
    ("state.sqlite", sql("update saved set saved = substr(saved, 2)"), "has been changed"),
    ("state.sqlite", sql("alter table saved rename column program to source"), "no such column"),
]


@pytest.mark.parametrize(("name", "damage", "said"), DAMAGES)
def test_a_damaged_state_is_told_and_replaced(tmp_path, program, name, damage, said):
    begun(tmp_path, program)
    saved = opened(tmp_path, program)
    view = saved.load(threads=1, options=TINY)
    view.update(columns({(3, 1)}), {})
    saved.save(view)
    saved.close()
    (path,) = tmp_path.glob(name)
    damage(path)
    saved = opened(tmp_path, program)
    with pytest.raises(NoState, match=said) as raised:
        saved.load(threads=1, options=TINY)
    assert raised.value.damage and "\n" not in str(raised.value)
    saved.notes = {"step": 0}
    saved.save(made(program))
    saved.close()
    assert_right(tmp_path, program, 0)


def test_a_state_of_another_version_or_program_is_not_loaded(tmp_path, program, monkeypatch):
    begun(tmp_path, program)
    other = State(tmp_path, engine.compile([PROGRAM.replace("!path(y, _)", "!path(y, 1)")]))
    with pytest.raises(NoState, match="another program"):
        other.load()
    with pytest.raises(NoState, match="another program"):
        State(tmp_path, engine.compile([PROGRAM], number_bits=64)).load()
    with pytest.raises(NoState, match="another program"):
        State(tmp_path, program, exact=False).load()
    State(tmp_path, engine.compile([PROGRAM.replace("\n", "\n\n") + ".printsize path"])).load()
    with monkeypatch.context() as patched:
        patched.setattr(state_identity, "FORMAT", 0)
        with pytest.raises(NoState, match="another version"):
            State(tmp_path, program).load()
    sql("update saved set saved = '[]'")(tmp_path / state_manifest.MANIFEST)
    with closing(sqlite3.connect(tmp_path / state_manifest.MANIFEST, isolation_level=None)) as database:
        row = database.execute("select format, program, saved from saved").fetchone()
        database.execute("update saved set digest = ?", [state_manifest.digest_of(*row)])
    with pytest.raises(NoState, match="another version"):
        State(tmp_path, program).load()


def test_the_identity_of_a_program_is_that_of_its_rules():
    """Spelled out for sets, whose order differs between processes."""
    assert state_identity.canonical(frozenset("cab")) == "{'a', 'b', 'c'}"
    assert state_identity.canonical({"b": (1,), "a": None}) == "{'a': None, 'b': [1]}"


# ---- company


def test_a_second_process_waits_for_the_first(tmp_path, program):
    begun(tmp_path, program)
    first, second, waiting, steps_seen = opened(tmp_path, program), State(tmp_path, program), Event(), []

    def wait():
        second.open(60, waiting.set)
        second.load(threads=1)
        steps_seen.append(second.notes["step"])

    other = Thread(target=wait)
    other.start()
    assert waiting.wait(60)
    view = first.load(threads=1)
    first.notes = {"step": 7}
    first.save(view)
    first.close()
    other.join(60)
    assert steps_seen == [7]


def test_who_comes_back_does_not_build_on_files_that_others_have_replaced(tmp_path, program, monkeypatch):
    begun(tmp_path, program)
    first = opened(tmp_path, program)
    mine = first.load(threads=1, options=TINY)
    first.close()
    with monkeypatch.context() as patched:
        patched.setattr(saving, "SMALL_LOG_BYTES", -1)
        second = opened(tmp_path, program)
        second.save(second.load(threads=1, options=TINY))
        second.close()
    first.open(0)
    mine.update(columns(facts_after(1)), columns(facts_after(0)))
    first.notes = {"step": 1}
    first.save(mine)
    first.close()
    assert_right(tmp_path, program, 1)


def test_a_second_process_does_not_wait_for_ever(tmp_path, program):
    begun(tmp_path, program)
    first, second = opened(tmp_path, program), State(tmp_path, program)
    with pytest.raises(StateError, match="another process"):
        second.open(0.1)
    with pytest.raises(StateError, match="not open"):
        second.save(made(program))
    first.close()
    second.open(60)  # The wait that was given up may just be given the lock.
    with pytest.raises(StateError, match="another process"):
        first.open(0)


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path, program):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="Not a directory|File exists"):
        State(tmp_path / "file" / "state", program).open(0)
