"""Tiers: checks of the default tier run, others on request, by their tier or by name."""

import pytest

from analyzer.evaluation.rulebook import build_rulebook, select
from rules.catalogue import checks


def ids(selectors=(), tiers=()):
    return {check.id for check in select(checks(), selectors, tiers)}


AUDIT = {check.id for check in checks() if check.tier == "audit"}


def test_other_tiers_than_the_default_run_on_request_and_add_to_it():
    assert AUDIT and not ids() & AUDIT
    assert ids(tiers=["audit"]) == ids() | AUDIT


def test_a_check_that_is_named_runs_whatever_its_tier():
    assert ids(["started-command"]) == {"started-command"}


@pytest.mark.parametrize("selector", ["started-*", "audit", "cwe-78", "tier:audit"])
def test_patterns_tags_and_numbers_select_within_the_tiers(selector):
    assert not ids([selector]) & AUDIT
    assert "started-command" in ids([selector], ["audit"])


def test_a_check_can_be_left_out_of_its_tier():
    assert ids(["-started-command"], ["audit"]) == (ids() | AUDIT) - {"started-command"}


def test_the_sources_of_a_tier_are_compiled_on_request_only():
    names = [{source.name for source in build_rulebook([], (), tiers).sources} for tiers in ((), ("audit",))]
    assert {name for name in names[1] - names[0] if "/checks/" not in name} == set()
    assert all("/audit/" in name for name in names[1] - names[0])
