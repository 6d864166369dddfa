"""Every relation that a model may state is documented, and what documents name exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DECLARED = re.compile(r"^\.decl (\w+)\(([^)]*)\)", re.M)
NAMED = re.compile(r"`(\w+)\(([\w, ]+)\)`")


def declarations(path):
    """Return {relation: its columns' names}."""
    found = DECLARED.findall((ROOT / path).read_text(encoding="utf-8"))
    return {name: [column.split(":")[0].strip() for column in columns.split(",")] for name, columns in found}


def every_declaration():
    paths = ["facts/schema.dl", *sorted((ROOT / "rules" / "lib").glob("*.dl"))]
    return {name: columns for path in paths for name, columns in declarations(path).items()}


def named_in(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return {name: len(columns.split(",")) for name, columns in NAMED.findall(text)}


def test_every_relation_of_models_is_documented():
    assert set(declarations("rules/lib/model_vocabulary.dl")) - set(named_in("models.md")) == set()


def test_relations_that_documents_name_exist_with_as_many_columns():
    declared = {name: len(columns) for name, columns in every_declaration().items()}
    named = named_in("models.md") | named_in("writing-rules.md")
    assert {name: n for name, n in named.items() if declared.get(name) != n} == {}
