"""Configuration files: what they set, and errors that say where they are wrong."""

import pytest

from analyzer.configuration.config import Config, parse_config
from analyzer.errors import AnalyzeError


def test_a_missing_section_means_that_another_file_decides():
    assert parse_config("[tool.ruff]\nline-length = 100\n", "pyproject.toml") is None


def test_keys_are_written_with_dashes_and_lists_become_tuples():
    config = parse_config('[tool.analyze]\nfail-on = "error"\nrules = ["py/*", "-py/assert"]\n', "pyproject.toml")
    assert config == Config(fail_on="error", rules=("py/*", "-py/assert"))


def test_flags_override_and_absent_flags_do_not():
    config = Config(jobs=3, fail_on="error").override(jobs=None, fail_on="note", rules=())
    assert config == Config(jobs=3, fail_on="note")


@pytest.mark.parametrize(
    ("file", "text", "code", "line", "said"),
    [
        (".analyze.toml", 'jobs = 1\nfial-on = "error"\n', "C002", 2, "did you mean 'fail-on'?"),
        ("pyproject.toml", '[tool.x]\nfail_on = 1\n[tool.analyze]\nfail_on = "error"\n', "C002", 4, "fail-on"),
        (".analyze.toml", 'fail-on = "fatal"\n', "C003", 1, "note, warning, error, never"),
        (".analyze.toml", "\njobs = 0\n", "C003", 2, "positive integer"),
        (".analyze.toml", "jobs = true\n", "C003", 1, "positive integer"),
        (".analyze.toml", 'rules = "py/*"\n', "C003", 1, "list of strings"),
        (".analyze.toml", "include-vendored = 1\n", "C003", 1, "true or false"),
        (".analyze.toml", "jobs = 1\nrules = [\n", "C001", 2, "TOML"),
        (".analyze.toml", 'tier = ["all"]\n', "C003", 1, "list of default, audit"),
        ("pyproject.toml", "tool = 3\n", "C003", 1, "table"),
        ("pyproject.toml", "[tool]\nanalyze = 3\n", "C003", 2, "table"),
    ],
)
def test_a_wrong_configuration_names_the_file_the_line_and_a_remedy(file, text, code, line, said):
    with pytest.raises(AnalyzeError) as caught:
        parse_config(text, file)
    assert (caught.value.code, caught.value.file, caught.value.line) == (code, file, line)
    assert said in caught.value.render()
