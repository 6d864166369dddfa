"""Imports under their own name, reads across class bodies, and context managers that end exceptions, as facts."""

import pytest

from facts import extract


def rows(source: str, relation: str) -> int:
    """Return how many rows the relation has for this file."""
    columns = extract(source.encode(), "python").relations.get(relation)
    return 0 if columns is None else columns.shape[1]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("from m import a as a", 1),
        ("import m as m", 1),
        ("from m import a as b, c as c, d", 1),
        ("from m import a", 0),
        ("import m", 0),
        ("import m.n as n", 0),
    ],
)
def test_an_import_under_its_own_name_is_a_reexport(source, count):
    assert rows(source, "reexports") == count


@pytest.mark.parametrize(
    ("manager", "reached"),
    [
        ("suppress(ValueError)", True),
        ("self.assertRaisesRegex(ValueError, 'x')", True),
        ("expect_raises_message(ValueError, 'x')", True),
        ("open(path)", False),
        ("lock", False),
    ],
)
def test_code_behind_a_block_that_raises_is_reached_if_the_manager_ends_exceptions(manager, reached):
    source = f"def f():\n    with {manager}:\n        raise ValueError\n    g()\n"
    facts = extract(source.encode(), "python")
    labels = {facts.symbols[label] for label in facts.entities[1]}
    assert ("block unreachable" in labels) is not reached


def test_comments_that_declare_types_are_kept():
    source = (
        b"a = f(\n    b,  # type: B\n)  # type: List[int]\nb = g()  # type: ignore[attr]\nc = h()  # a type: comment\n"
    )
    facts = extract(source, "python")
    assert [facts.symbols[text] for text in facts.relations["type_comment"][1]] == ["B", "List[int]"]


def test_a_class_body_reads_the_variables_of_the_body_around_it():
    facts = extract(b"import json\n\n\nclass Decoder:\n    decode = json.loads\n", "python")
    (imported,) = facts.relations["import_module"][0].tolist()
    assert imported in facts.relations["read"][0].tolist()
