"""Facts come back from bytes as they were."""

from importlib import metadata

import numpy as np
import pytest

import facts
from facts import LANGUAGES, facts_codec
from facts.facts_codec import FormatError, load, save, version

SOURCE = """
import os
NAME = "\\udc80 é \\n"

def f(a, *b, c=1):
    return [os.getcwd(), a, b, c, 'line'] + [x for x in range(70000)]
"""


@pytest.mark.parametrize("source", [SOURCE, "", "def (", "x = 1\n" * 3000], ids=["plain", "empty", "broken", "long"])
def test_saved_facts_are_loaded_unchanged(source):
    before = facts.extract(source.encode(), "python")
    after = load(save(before))
    assert (after.language, after.lines, after.symbols) == (before.language, before.lines, before.symbols)
    assert np.array_equal(after.entities, before.entities)
    assert after.relations.keys() == before.relations.keys()
    for name, columns in before.relations.items():
        assert after.relations[name].dtype == np.int32
        assert np.array_equal(after.relations[name], columns), name


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[:-8],
        lambda data: b"x" + data,
        lambda data: data + b"x",
        lambda data: data[:30] + bytes([data[30] ^ 1]) + data[31:],
        lambda data: data[:4] + b"\xff" + data[5:],
    ],
    ids=["empty", "header", "truncated", "shifted", "longer", "flipped", "version"],
)
def test_other_bytes_are_refused(damage):
    data = save(facts.extract(SOURCE.encode(), "python"))
    with pytest.raises(FormatError):
        load(damage(data))


def test_the_version_is_stable_within_an_installation():
    assert version() == version()
    assert len(version()) == 24


def test_versions_of_parsers_are_those_of_their_distributions():
    for parser in ("tree-sitter", *(language.parser for language in LANGUAGES.values() if language.parser)):
        assert facts_codec._version_of(parser) == metadata.version(parser)
    assert facts_codec._version_of("datalyze") == metadata.version("datalyze")  # There is no package of that name.
