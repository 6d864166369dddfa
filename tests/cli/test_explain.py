"""`analyze explain` on Datalog programs: derivations, what is missing, formats, and what does not fit."""

import json

import pytest

TC = """\
.decl arc(x: symbol, y: symbol)
.input arc
.decl tc(x: symbol, y: symbol)
.output tc
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
"""


@pytest.fixture
def explain(analyze, tmp_path):
    (tmp_path / "arc.facts").write_text("a\tb\nb\tc\nc\td\na\tc\n")
    (tmp_path / "tc.dl").write_text(TC)

    def run(what, *arguments, code=0):
        return analyze("explain", what, "-p", tmp_path / "tc.dl", "-F", tmp_path, *arguments, code=code)

    return run


def test_a_tuple_is_explained_down_to_facts(explain, tmp_path):
    assert explain('tc("b", "d")').stdout.splitlines() == [
        'tc("b", "d")    height 2',
        f"  by tc(x, z) :- tc(x, y), arc(y, z).  ({tmp_path / 'tc.dl'}:6)",
        '  tc("b", "c")',
        f"    by tc(x, y) :- arc(x, y).  ({tmp_path / 'tc.dl'}:5)",
        '    arc("b", "c")    fact',
        '  arc("c", "d")    fact',
    ]


def test_depth_number_and_limit_choose_what_is_shown(explain):
    assert "left out: deeper" in explain('tc("a", "d")', "--depth", 1).stdout
    assert 'arc("a", "c")    fact' in explain('tc("a", "c")').stdout
    assert 'arc("a", "c")    fact' not in explain('tc("a", "c")', "--derivation", 2).stdout
    assert "error[A009]" in explain('tc("a", "c")', "--derivation", 3, code=2).output
    shown = explain('tc("a", _)', "--limit", 2).stdout
    assert shown.count("height") == 2 and "1 more match; see them with --limit 3" in shown


def test_a_tuple_that_is_not_there_is_explained_by_what_is_missing(explain):
    shown = explain('tc("d", "a")').stdout
    assert shown.startswith('tc("d", "a")    is not there') and '✗ arc("d", "a")' in shown


def test_explanations_are_json_and_graphs(explain, tmp_path):
    (found,) = json.loads(explain('tc("b", "d")', "--format", "json").stdout)["explanations"]
    assert (found["atom"], found["height"], found["least"]) == ('tc("b", "d")', 2, True)
    explain('tc("b", "d")', "--format", "dot", "-o", tmp_path / "why.dot")
    assert (tmp_path / "why.dot").read_text().startswith("digraph derivation {")
    assert "error[A009]" in explain('tc("d", "a")', "--format", "dot", code=2).output


@pytest.mark.parametrize(
    ("what", "code"), [('tc("a",', "E001"), ('tk("a", _)', "E010"), ("tc(_)", "E012"), ("tc(1, _)", "E026")]
)
def test_what_does_not_fit_the_program_is_told(explain, what, code):
    assert f"error[{code}]" in explain(what, code=2).output


def test_control_characters_of_facts_are_not_printed(explain, tmp_path):
    (tmp_path / "arc.facts").write_text("a\tb\x1b[31m\n")
    assert "\x1b" not in explain('tc("a", _)').output
