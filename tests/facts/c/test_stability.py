"""Entities of C are stable: an edit changes the rows it has to, and no others."""

import random
import re
from functools import partial

import edited_facts
import pytest
from edited_facts import PLACES

import facts

CELLED = re.compile("count|total|copy")

rows_of = partial(edited_facts.rows_of, "c")
difference = partial(edited_facts.difference, "c")

SOURCE = """\
#include "store.h"
#define LIMIT 10
#define TWICE(x) ((x) + (x))

static int count = LIMIT;
struct item { int size; struct item *next; };

static int first(struct item *list, int wanted)
{
    struct item copy = *list;
    int total = 0, *sum = &total;
    for (struct item *at = list; at != NULL; at = at->next) {
        if (at->size == wanted)
            goto found;
        *sum += TWICE(at->size);
    }
    return total;
found:
    switch (wanted) {
    case 1:
        count++;
        break;
    default:
        copy.size = total;
    }
    return copy.size;
}

int second(char *text, int (*each)(int))
{
    int index = 0;
    while (text[index] && each(text[index])) {
        text[index] = 'x';
        index++;
    }
    return index;
}
"""


def inserted(at, *text):
    return edited_facts.inserted(SOURCE, at, *text)


def statements():
    """Return the lines before which a statement can stand."""
    lines = SOURCE.splitlines()
    return [
        index
        for index, line in enumerate(lines)
        if line.startswith("    ")
        and line.strip()[0] not in "}"
        and not lines[index - 1].strip().startswith("if")
        and not line.strip().startswith(("case", "default"))
    ]


@pytest.mark.parametrize("seed", range(10))
def test_blank_lines_and_comments_change_locations_only(seed):
    source = random.Random(seed)
    text = source.choice(["", "/* a comment */", "// another", "        "])
    gone, new = difference(SOURCE, inserted(source.choice(statements()), text))
    assert {relation for relation, _ in gone | new} <= {"location"}


def test_formatting_changes_locations_only():
    edited = SOURCE.replace(", ", " ,\n      ").replace(" = ", "  =  ").replace("{\n", "\n  {\n")
    gone, new = difference(SOURCE, edited.replace("struct item \n  {", "struct item {"))
    assert {relation for relation, _ in gone | new} <= {"location"}


def test_a_new_statement_takes_nothing_away_but_order():
    """Behind code that may run other code, variables with a cell are loaded again."""
    for at in statements():
        gone, new = difference(SOURCE, inserted(at, "    unrelated(77);"))
        gone = {
            (relation, row) for relation, row in gone if relation not in PLACES and not CELLED.search(" ".join(row))
        }
        assert not gone, at
        texts = {" ".join(row) for relation, row in new if relation not in PLACES}
        assert all("unrelated" in text or "77" in text or CELLED.search(text) for text in texts), at


def test_a_new_statement_leaves_other_functions_alone():
    third = SOURCE[SOURCE.index("int second") :].replace("second", "third")
    before = rows_of(SOURCE + third)
    for at in statements():
        after = rows_of(inserted(at, "    if (unrelated(77)) { other = 1; }") + third)
        for relation in before.keys() - {"location"}:
            kept = [row for row in before[relation] if any("def third" in value for value in row)]
            assert all(after[relation][row] for row in kept), (at, relation)


def test_a_function_that_moves_changes_places_only():
    first, second = "int f(int a) { return g(a, 1); }\n", "int h(int *c) { return *c + k(c); }\n"
    gone, new = difference(first + second, second + first)
    assert {relation for relation, _ in gone | new} <= PLACES


def test_facts_of_equal_bytes_are_equal():
    first, second = (facts.save(facts.extract(SOURCE.encode(), "c")) for _ in range(2))
    assert first == second
