"""What a profile counts, by arithmetic."""

import pytest
from backends import ROUNDS

import engine
from engine.profile import dearest, profile

N = 12
CHAIN = {"edge": {(i, i + 1) for i in range(N)}}
DECLARED = ".decl edge(a: number, b: number)\n.decl path(a: number, b: number)\npath(x, y) :- edge(x, y).\n"
LINEAR = "path(x, z) :- path(x, y), edge(y, z).\n"
BOTH = "path(x, z) :- path(x, y), edge(y, z).\npath(x, z) :- edge(x, y), path(y, z).\n"


def evaluated(text, facts=CHAIN, **options):
    program = engine.compile([text])
    return engine.evaluate(program, engine.facts(program, facts), threads=1, **options)


def rules(result):
    return {rule["text"]: rule for stratum in profile(result)["strata"] for rule in stratum["rules"]}


def test_each_iteration_of_a_chain_reads_the_last_and_derives_one_row_less():
    rule = rules(evaluated(DECLARED + LINEAR, profile=True))[LINEAR.strip()]
    # Iteration k reads the N + 1 - k paths of k edges; there is one path less of k + 1 edges.
    seen = [(at["iteration"], at["rows_in"], at["rows_out"], at["duplicates"]) for at in rule["iterations"]]
    assert seen == [(k, N + 1 - k, N - k, 0) for k in range(1, N + 1)]
    assert rule["rows_in"] == N * (N + 1) // 2
    assert all(at["elapsed_s"] > 0 and at["peak_bytes"] > 1 << 20 for at in rule["iterations"])


def test_rules_that_derive_the_same_rows_count_them_as_duplicates():
    found = rules(evaluated(DECLARED + BOTH, profile=True))
    first, second = (found[line] for line in BOTH.splitlines())
    assert first["rows_out"] + second["rows_out"] == N * (N - 1) // 2
    assert first["duplicates"] + second["duplicates"] == N * (N - 1) // 2
    assert [at["rows_in"] for at in first["iterations"]] == [N + 1 - k for k in range(1, N + 1)]


@pytest.mark.parametrize("text", [DECLARED + LINEAR, DECLARED + BOTH], ids=["local", "rounds"])
def test_iterations_add_up_to_the_whole(text):
    for rule in rules(evaluated(text, profile=True)).values():
        for key in ("rows_in", "rows_out", "duplicates"):
            assert sum(at[key] for at in rule["iterations"]) == rule[key]
        assert sum(at["elapsed_s"] for at in rule["iterations"]) == pytest.approx(rule["elapsed_s"])


def test_without_a_profile_nothing_is_kept_by_iteration():
    assert all(not rule["iterations"] for s in profile(evaluated(DECLARED + LINEAR))["strata"] for rule in s["rules"])


def test_the_dearest_rules_come_first_and_are_ten_at_most():
    text = DECLARED + LINEAR + "".join(f".decl r{i}(a: number)\nr{i}(x) :- edge(x, _).\n" for i in range(12))
    found = dearest(evaluated(text, profile=True))
    seconds = [rule.elapsed_s + rule.planning_s for rule in found]
    assert len(found) == 10 and seconds == sorted(seconds, reverse=True)


def test_facts_are_charged_to_no_rule():
    text = DECLARED + ".decl more(a: number, b: number)\n.decl all(a: number, b: number)\nall(x, y) :- more(x, y).\n"
    program = engine.compile([text])
    many = {(i, i) for i in range(40)}
    found = rules(ROUNDS["tiny"].evaluate(program, CHAIN | {"more": many}, profile=True))
    assert found["path(x, y) :- edge(x, y)."]["rows_out"] == N
    assert found["all(x, y) :- more(x, y)."]["rows_out"] == 40
