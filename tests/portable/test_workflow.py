"""The workflow that tests on every system, as far as it can be read."""

import tomllib
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[2]


def test_it_runs_the_fast_tests_on_each_system_and_python():
    job = yaml.safe_load((TOP / ".github/workflows/test.yml").read_text())["jobs"]["test"]
    assert job["steps"][-1] == {"run": "make test"}
    assert job["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    pythons = job["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    oldest = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["requires-python"]
    assert oldest == f">={pythons[0]}"
