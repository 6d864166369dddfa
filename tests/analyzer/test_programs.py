"""Compiled programs in the cache: whatever stands there, what is evaluated is what the sources say."""

import pickle
import random

import pytest

import engine
from analyzer.program import compile_cached, prepare_cached
from analyzer.state import save_entry

SOURCES = [engine.Source("a.dl", '.decl p(x: number, s: symbol)\np(1, "a").\n.decl q(s: symbol)\nq(s) :- p(_, s).\n')]


class Mischief:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("make", [compile_cached, prepare_cached])
def test_a_pickle_in_the_cache_runs_nothing(make, tmp_path):
    expected, told = make(SOURCES, tmp_path, ("q",)), []
    for entry in (tmp_path / "programs").iterdir():
        save_entry(entry, pickle.dumps(Mischief(tmp_path / "ran")))
    assert make(SOURCES, tmp_path, ("q",), tell=told.append) == expected
    assert not (tmp_path / "ran").exists()
    assert told and all("were damaged; compiled anew" in text for text in told)


@pytest.mark.parametrize("make", [compile_cached, prepare_cached])
def test_flipped_bits_are_told_and_the_program_is_compiled_anew(make, tmp_path):
    expected, choose = make(SOURCES, tmp_path, ("q",)), random.Random(make.__name__)
    for _ in range(25):
        told = []
        for entry in (tmp_path / "programs").iterdir():
            content = bytearray(entry.read_bytes())
            content[choose.randrange(len(content))] ^= 1 << choose.randrange(8)
            entry.write_bytes(content)
        assert make(SOURCES, tmp_path, ("q",), tell=told.append) == expected
        assert told
        told.clear()
        assert make(SOURCES, tmp_path, ("q",), tell=told.append) == expected and told == []
