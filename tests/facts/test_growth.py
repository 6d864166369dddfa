"""Extraction takes steps in proportion to the program: deeper or longer by a third, a third more of them."""

import gc
import sys

import pytest
from growth import SHAPES

from facts import extract

# What a depth of n adds to a depth of 0 is compared at three depths: linear growth adds the same twice.
SIZES = (8, 16, 24)
# Steps of a loop over what stands around show at larger ones.
LARGE = (60, 120, 180)
LOOKED_UP = [
    ("c", "fors"),
    ("c", "indices of indices"),
    ("c", "switches"),
    ("go", "else-ifs in a row"),
    ("go", "fors"),
    ("go", "ranges"),
    ("java", "fors"),
    ("java", "switch values"),
    ("python", "branches on own names"),
    ("python", "list comprehensions"),
    ("python", "loops on own names"),
]
LINEAR = 1.3
NOISE = 400
MOST = 400_000


def steps(program, language):
    """Return how many lines of Python run to extract a program; MOST if they are more."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        if count == MOST:
            raise KeyboardInterrupt  # No handler of an extractor takes it for a broken statement.
        return trace

    before = sys.gettrace()
    gc.disable()  # Finalizers of what other tests left are no steps of this program.
    sys.settrace(trace)
    try:
        extract(program.encode(), language)
    except KeyboardInterrupt:
        assert count == MOST
    finally:
        sys.settrace(before)
        gc.enable()
    return count


@pytest.mark.parametrize(("language", "name"), [(language, name) for language in SHAPES for name in SHAPES[language]])
def test_steps_grow_with_the_program(language, name):
    check_growth(language, name, SIZES)


@pytest.mark.parametrize(("language", "name"), LOOKED_UP)
def test_steps_do_not_grow_with_what_stands_around(language, name):
    check_growth(language, name, LARGE)


def check_growth(language, name, sizes):
    shape = SHAPES[language][name]
    extract(shape(1).encode(), language)  # What is imported or made once does not count.
    small, medium, large = (steps(shape(n), language) for n in sizes)
    assert large < MOST
    assert large - medium <= LINEAR * (medium - small) + NOISE
