"""A short run of the fuzzer: the engine against the oracle. `fuzz.py --souffle` is the long one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fuzz import check  # noqa: E402


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (10, 20, 30))])
def test_random_programs_answer_as_the_oracle(seed):
    found = {number: check(number, None, None) for number in range(seed, seed + 10)}
    assert {number: outcome for number, outcome in found.items() if outcome.startswith("differs")} == {}
    assert list(found.values()).count("same") >= 8
