"""docs/facts.md says what is so."""

import doctest
import re
from pathlib import Path

import pytest

import facts
from facts.render_facts import render

PAGE = Path(__file__).parents[2] / "docs" / "facts.md"
EXAMPLES = re.findall(r"```python\n(.*?)```\n```facts\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(("source", "rows"), EXAMPLES)
def test_the_rows_of_the_page_are_the_facts_of_its_examples(source, rows):
    facts_of = render(facts.extract(source.encode(), "python"))
    found = {f"{relation}({', '.join(row)})" for relation, all_rows in facts_of.items() for row in all_rows}
    assert set(rows.splitlines()) <= found


def test_what_the_page_says_is_not_stored_is_not():
    (source,) = (source for source, _ in EXAMPLES if source.startswith("limit"))
    stores = render(facts.extract(source.encode(), "python"))["store_cell"]
    assert [row[2] for row in stores if row[1] == "cell limit"] == ["limit#1"]


def test_the_session_of_the_page_runs():
    assert len(EXAMPLES) == 7
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried == 5
    assert not failed


def test_every_relation_has_a_sentence():
    schema = facts.schema_text()
    for block in schema.split("\n\n"):
        lines = block.splitlines()
        declared = [line for line in lines if line.startswith(".decl")]
        assert not declared or any(line.startswith("//") for line in lines), block
