"""The rules by which suites are scored compile with the analysis program, so that names of relations do not clash."""

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pointerbench", "svf"])
def test_a_scorer_compiles(name, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(HERE)
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    assert scorer.evaluator(scorer.RULES, scorer.WANTED, tmp_path)
