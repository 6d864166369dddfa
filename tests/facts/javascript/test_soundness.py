"""What facts say of random programs, against what Node.js showed when they ran (`record_runs.py`).

What a probe saw must be among the values that SSA, merges and cells lead to, and one probe must be reachable from the
one before it in the control flow.
"""

import json
from collections import defaultdict
from pathlib import Path

import pytest

import facts
from facts.render_facts import render

PROGRAMS = json.loads(Path(__file__).with_name("runs.json").read_text(encoding="utf-8"))


def sources_of(rows):
    """Return what each value may be: the values and cells that it is made of."""
    sources = defaultdict(set)
    for relation in ("assign", "load_cell"):
        for target, source in rows.get(relation, ()):
            sources[target].add(source)
    for target, source, _ in rows.get("merge", ()):
        sources[target].add(source)
    for _, cell, source in rows.get("store_cell", ()):
        sources[cell].add(source)
    items = {(container, position): value for container, position, value in rows.get("position_item", ())}
    for value, container, position in rows.get("unpack", ()):
        if (container, position) in items:
            sources[value].add(items[container, position])
    arguments = {call: value for call, position, value in rows["argument"] if position == "0"}
    for value, iterable in rows.get("iterate", ()):
        sources[value].add(arguments[iterable])
    return sources


def reached(targets, start):
    """Return what can be reached from `start`, itself included."""
    found, work = {start}, [start]
    while work:
        new = targets[work.pop()] - found
        found |= new
        work += new
    return found


def probes(rows):
    """Return place and probed value of every probe, by its call."""
    numbers = {value: int(text) for value, kind, text in rows["constant"] if kind == "integer"}
    arguments = {(call, position): value for call, position, value in rows["argument"]}
    calls = [call for call, _, callee in rows["call"] if callee.rpartition("/")[2] == "probe"]
    return {call: (numbers[arguments[call, "0"]], arguments[call, "1"]) for call in calls}, numbers


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_every_value_that_a_run_shows_is_predicted(number):
    program = PROGRAMS[number]
    rows = render(facts.extract(program["source"].encode(), "javascript"))
    assert "unparsed" not in rows
    calls, numbers = probes(rows)
    sources = sources_of(rows)
    wanted = {place: {numbers.get(v) for v in reached(sources, value)} for place, value in calls.values()}
    for place, value in program["values"]:
        # `fail` gives 1, which is not followed.
        assert value == 1 or value in wanted[place], (place, value, program["source"])


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_every_path_that_a_run_shows_is_predicted(number):
    program = PROGRAMS[number]
    rows = render(facts.extract(program["source"].encode(), "javascript"))
    calls, _ = probes(rows)
    targets = defaultdict(set)
    for source, target in (*rows.get("edge", ()), *rows.get("exception_edge", ())):
        targets[source].add(target)
    block, order = dict(rows["in_block"]), {entity: int(index) for entity, index in rows["order_in_block"]}
    call_at = {place: call for call, (place, _) in calls.items() if call.rpartition("/")[0] == "def main"}
    for before, after in program["steps"]:
        if before in call_at and after in call_at:
            first, second = call_at[before], call_at[after]
            beyond = set().union(*(reached(targets, target) for target in targets[block[first]]))
            same = block[first] == block[second] and order[first] < order[second]
            assert same or block[second] in beyond, (before, after, program["source"])


def test_the_programs_are_varied_and_were_run():
    for word in ("while", "for", "switch", "try", "finally", "break l", "continue l", "=>", "??=", "return", "throw"):
        assert sum(word in program["source"] for program in PROGRAMS) >= 8, word
    assert all(program["values"] for program in PROGRAMS)
    assert sum(len(program["steps"]) for program in PROGRAMS) > 500
