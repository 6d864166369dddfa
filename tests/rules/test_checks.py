"""Every check does on the examples of its page what their comments say; every page shows wrong and right code."""

import re

import pytest

from analyzer.evaluation.rulebook import select
from analyzer.ruletest import MARK, run_rule_tests
from rules.catalogue import checks


@pytest.fixture(scope="module")
def results():
    return run_rule_tests([])


def test_examples_go_as_their_comments_say(results):
    assert {result.name: result.problems for result in results if not result.ok} == {}


def test_every_check_is_tried(results):
    tried = {result.name.split("/")[0] for result in results}
    assert {check.id.replace("/", "_") for check in checks()} <= tried


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_a_page_shows_wrong_and_right_code(check):
    marks = [match for _, code in check.examples for match in MARK.findall(code)]
    words = {word for word, names in marks if check.id in re.split(r"\s*,\s*", names)}
    assert {"expect", "ok"} <= words


def test_what_is_selected_as_security_is_no_matter_of_maintenance():
    chosen = {check.id for check in select(checks(), ["security"])}
    assert {"sql-injection", "weak-hash", "use-after-free", "exponential-regex"} <= chosen
    assert not chosen & {"dead-store", "unused-variable", "unreachable-code", "resource-leak", "mutable-default"}


def test_checks_on_security_say_which_weakness_they_find():
    assert [check.id for check in checks() if "security" in check.tags and not check.cwe] == []


@pytest.mark.parametrize("check", [check for check in checks() if check.cwe], ids=lambda check: check.id)
def test_a_page_names_the_weakness(check):
    assert f"CWE-{check.cwe[0]}" in check.help
