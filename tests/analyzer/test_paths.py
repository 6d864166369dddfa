"""Paths of findings, on steps made by hand."""

import numpy as np
import pytest

import engine
from analyzer.findings.entities import Entities
from analyzer.findings.taint_paths import Paths, without_repeats

CHECK, PLACE = "check", "sink-call"


class Program:
    """Values named by words, each on a line of its own in the order of first use, and steps between them."""

    def __init__(self, *lines):
        self.values = list(lines)
        self.rows = {"taint_step": [], "sink_node": [], "source_node": [], "clearing_step": []}

    def entity(self, name):
        return self.values.index(name) + 1

    def step(self, source, target, way="step", call=None):
        self.rows["taint_step"].append((self.entity(source), self.entity(target), way, call and self.entity(call)))
        return self

    def clear(self, source, target):
        self.rows["clearing_step"].append((CHECK, self.entity(source), self.entity(target), None))
        return self

    def path(self, source, sink, order=1):
        """Return the names on the path; `order` -1 numbers and lists everything the other way round."""
        sources = [source] if isinstance(source, str) else source
        self.rows["source_node"] = [(CHECK, self.entity(name)) for name in sources]
        self.rows["sink_node"] = [(CHECK, 1, self.entity(sink))]
        symbols = engine.Symbols(["f.py", CHECK, *sorted({"step", "share", "enter", "leave"})[::order], *self.values])
        result = engine.Result(symbols, self.records(symbols), self.relations(symbols, order))
        entities = Entities(result)
        hops = Paths(result, entities).find(symbols.intern([CHECK])[0], 1)
        return [self.values[hop.value - 1] for hop in without_repeats(hops, entities)]

    def records(self, symbols):
        n = len(self.values)
        entities = np.array([[0] * n, symbols.intern(self.values), [0] * n])
        nodes = np.array([range(1, n + 1), [0] * n, [0] * n])
        return {"Entity": entities, "Node": nodes, "Path": np.empty((3, 0), int)}

    def relations(self, symbols, order):
        def value(item):
            return int(symbols.intern([item])[0]) if isinstance(item, str) else item or 0

        widths = {"taint_step": 4, "sink_node": 3, "source_node": 2, "clearing_step": 4}
        found = {
            name: np.array([[value(item) for item in row] for row in rows][::order], int).reshape(-1, widths[name]).T
            for name, rows in self.rows.items()
        }
        n = len(self.values)
        lines = [[entity, value("f.py"), entity, 1, entity, 9] for entity in range(1, n + 1)]
        return found | {"location": np.array(lines[::order]).T}


def test_a_path_leads_from_the_source_to_the_sink():
    program = Program("a", "b", "c").step("a", "b").step("b", "c")
    assert program.path("a", "c") == ["a", "b", "c"]


def test_the_shortest_path_to_the_nearest_source_is_taken():
    program = Program("far", "x", "y", "near", "sink")
    program.step("far", "x").step("x", "y").step("y", "sink").step("near", "y")
    assert program.path(["far", "near"], "sink") == ["near", "y", "sink"]


@pytest.mark.parametrize("order", [1, -1])
def test_of_equal_paths_the_one_through_earlier_places_is_taken(order):
    program = Program("source", "early", "late", "sink")
    program.step("source", "late").step("late", "sink").step("source", "early").step("early", "sink")
    assert program.path("source", "sink", order) == ["source", "early", "sink"]


def helper_called_twice():
    """`one` and `two` go into the same helper; what it returns comes back to `got_one` and `got_two`."""
    program = Program("one", "two", "parameter", "result", "got_one", "got_two", "call1", "call2")
    program.step("one", "parameter", "enter", "call1").step("two", "parameter", "enter", "call2")
    program.step("parameter", "result")
    return program.step("result", "got_one", "leave", "call1").step("result", "got_two", "leave", "call2")


def test_calls_and_returns_match():
    program = helper_called_twice()
    assert program.path("one", "got_one") == ["one", "parameter", "result", "got_one"]
    assert program.path("two", "got_one") == []


def test_a_path_may_begin_in_a_callee_and_end_in_another():
    program = helper_called_twice()
    assert program.path("parameter", "got_two") == ["parameter", "result", "got_two"]
    assert program.path("two", "result") == ["two", "parameter", "result"]


def test_no_call_is_matched_across_what_functions_share():
    program = Program("source", "parameter", "variable", "read", "sink", "call1", "call2")
    program.step("source", "parameter", "enter", "call1").step("parameter", "variable", "share")
    program.step("variable", "read", "share").step("read", "sink", "leave", "call2")
    assert program.path("source", "sink") == ["source", "parameter", "variable", "read", "sink"]


def test_steps_that_sanitize_are_not_taken():
    program = Program("source", "clean", "a", "b", "sink")
    program.step("source", "clean").step("clean", "sink").clear("source", "clean")
    assert program.path("source", "sink") == []
    program.step("source", "a").step("a", "b").step("b", "sink")
    assert program.path("source", "sink") == ["source", "a", "b", "sink"]


def test_recursion_ends_the_search():
    program = Program("source", "parameter", "result", "again", "sink", "call")
    program.step("parameter", "parameter", "enter", "call").step("result", "again", "leave", "call")
    program.step("again", "result").step("result", "sink")
    assert program.path("source", "sink") == []


def test_a_place_that_is_repeated_is_shown_once():
    program = Program("source", "x", "sink")
    program.step("source", "x").step("x", "x").step("x", "sink")
    assert program.path("source", "sink") == ["source", "x", "sink"]
