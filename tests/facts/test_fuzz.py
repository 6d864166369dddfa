"""A few mutated programs of each language; `mutants.py` makes as many of real files as one has time for."""

import pytest
from growth import SHAPES
from mutants import examine, mutants

PROGRAMS = {language: [shape(3).encode() for shape in shapes.values()] for language, shapes in SHAPES.items()}
COUNT = 150


@pytest.mark.parametrize("language", SHAPES)
def test_mutated_programs_neither_raise_nor_take_long_nor_differ(language):
    for number, (_, data) in enumerate(mutants({language: PROGRAMS[language]}, COUNT, seed=0)):
        assert examine(language, data) == ("", ""), number
