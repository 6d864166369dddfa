"""Entities are stable: an edit changes the rows it has to, and no others."""

import random
from functools import partial

import edited_facts
import pytest
from edited_facts import PLACES, inserted

import facts
from facts.render_facts import render

rows_of = partial(edited_facts.rows_of, "python")
difference = partial(edited_facts.difference, "python")

SOURCES = {
    "functions": """\
import os

LIMIT = 10

def first(a, b=LIMIT):
    x = a.open(b)
    if x:
        x = os.path.join(a, "tail")
    elif b:
        x = [i + 1 for i in b if i]
    return x

def second(items, *rest, **options):
    total = 0
    for item in items:
        while item.more():
            total += item.next()[0]
            if total > LIMIT:
                break
        else:
            continue
        rest = (item, *rest)
    return f"{total:>{LIMIT}} of {rest!r}"
""",
    "classes": """\
from base import Base, decorate

class Store(Base):
    size = 3

    def __init__(self, name):
        self.name = name
        self.items = {"a": 1, name: self.size}

    @decorate(1)
    def get(self, key, default=None):
        value = self.items[key]
        self.items[key] = value or default
        return lambda: value

def main():
    store = Store("x")
    store.get("a")
    del store.items["a"]
    return store
""",
    "exceptions": """\
def load(path, retries):
    result = None
    while retries:
        try:
            with open(path) as file:
                result = file.read()
                return result
        except (OSError, ValueError) as error:
            retries -= 1
            log(error)
        finally:
            close(path)
    match result:
        case None:
            raise KeyError(path)
        case {"k": value, **other}:
            return value
    return result
""",
}


def lines_where(source, wanted):
    return [index for index, line in enumerate(source.splitlines()) if wanted(line)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", SOURCES)
def test_blank_lines_and_comments_change_locations_only(name, seed):
    source = random.Random(seed)
    edited = SOURCES[name]
    for _ in range(source.randint(1, 6)):
        at = source.randint(0, edited.count("\n"))
        edited = inserted(edited, at, source.choice(["", "# a comment", "        # deeper", "  "]))
    gone, new = difference(SOURCES[name], edited)
    assert {relation for relation, _ in gone | new} <= {"location"}


@pytest.mark.parametrize("name", SOURCES)
def test_formatting_changes_locations_only(name):
    edited = SOURCES[name].replace(", ", " ,\\\n      ").replace("(self", "( self").replace(" = ", "  =  ")
    gone, new = difference(SOURCES[name], edited)
    assert {relation for relation, _ in gone | new} <= {"location"}


def statements(source):
    """Return the lines before which a statement of the same indentation can stand."""
    keep = ("elif", "else", "except", "finally", "case", "@", "def get")
    return lines_where(source, lambda line: line.strip() and not line.strip().startswith(keep))


@pytest.mark.parametrize("name", ["functions", "classes"])
def test_a_new_statement_takes_nothing_away_but_order(name):
    source = SOURCES[name]
    for at in statements(source):
        line = source.splitlines()[at]
        indent = line[: len(line) - len(line.lstrip())]
        gone, new = difference(source, inserted(source, at, f"{indent}unrelated(77)"))
        assert {relation for relation, _ in gone} <= PLACES, (at, gone)
        assert all(
            "unrelated" in " ".join(row) or "77" in " ".join(row) for relation, row in new if relation not in PLACES
        ), (at, new)


@pytest.mark.parametrize("name", SOURCES)
def test_a_new_statement_leaves_other_functions_alone(name):
    source = SOURCES[name] + SOURCES["functions"].replace("first", "third").replace("second", "fourth")
    for at in statements(SOURCES[name]):
        line = source.splitlines()[at]
        if not line.startswith(" "):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        gone, new = difference(source, inserted(source, at, f"{indent}if unrelated(77):", f"{indent}    other = 1"))
        assert not [
            row
            for relation, row in gone | new
            if relation != "location" and any("def third" in value or "def fourth" in value for value in row)
        ]


def test_a_function_that_moves_changes_places_only():
    first, second = "def first(a):\n    return a.b(1)\n", "def second(c):\n    return [c, g(c)]\n"
    gone, new = difference(first + second, second + first)
    assert {relation for relation, _ in gone | new} <= PLACES


def test_equal_labels_are_told_apart_by_order_within_their_definition():
    rows = rows_of("def f():\n    g(1)\n    g(2)\ndef h():\n    g(3)\n")
    assert set(rows["argument"]) == {
        ("def f/g()", "0", "def f/1"),
        ("def f/g()#1", "0", "def f/2"),
        ("def h/g()", "0", "def h/3"),
    }


def test_locations_are_lines_and_columns_of_characters():
    found = render(facts.extract("é = 1\r\ndef f(ü):\r\n\treturn 'ß' + ü.x\r\n".encode(), "python"))
    places = {row[0]: row[1:] for row in found["location"]}
    assert places["é"] == ("1", "1", "1", "2")
    assert places["def f"] == ("2", "1", "3", "18")
    assert places["def f/ü"] == ("2", "7", "2", "8")
    assert places["def f/ü.x"] == ("3", "15", "3", "18")
    assert places["def f/'ß' + ü.x"] == ("3", "9", "3", "18")


def test_facts_of_equal_bytes_are_equal():
    for source in SOURCES.values():
        first, second = (facts.save(facts.extract(source.encode(), "python")) for _ in range(2))
        assert first == second
