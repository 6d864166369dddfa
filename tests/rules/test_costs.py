"""An analysis that no selected check asks for is not in the program."""

from functools import cache

import pytest

from analyzer.evaluation.program import compile_rulebook
from analyzer.evaluation.rulebook import build_rulebook


@pytest.fixture(scope="module")
def program_of(shared_state):
    return cache(lambda *checks: compile_rulebook(build_rulebook([], checks), shared_state).whole.relations.keys())


@pytest.mark.slow
def test_taint_is_for_checks_on_tainted_data(program_of):
    assert "tainted" in program_of("sql-injection")
    assert not {"released_before", "leaks"} & program_of("sql-injection")


def test_memory_of_c_is_for_checks_on_memory(program_of):
    assert "released_before" in program_of("double-free")
    assert not {"leaks", "tainted"} & program_of("double-free")


@pytest.mark.slow
def test_calls_are_counted_whatever_is_checked(program_of):
    assert {"resolved_call", "unresolved_call", "call_edge"} <= program_of("double-free")


@pytest.mark.slow
def test_ranges_are_for_checks_that_ask_for_them(program_of):
    assert "upper" in program_of("array-bounds")
    assert "upper" not in program_of("double-free")
