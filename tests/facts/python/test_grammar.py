"""Every node kind of tree-sitter-python: where it is handled, and rows written by hand for a snippet of each.

A case in `cases/*.txt` reads `== kinds`, the source, `--` and the rows: a relation, then its columns between ` ; `.
A relation that a case names has exactly the rows it lists. ⏎ and → stand for a line end and a tab in a symbol.
"""

import re
from pathlib import Path

import pytest

import facts
from facts.python import patterns, tree
from facts.render import render

CASES = Path(__file__).with_name("cases")

# Kinds that stand in no table of handlers, by the function that reads them as a part of something else.
PARTS = {
    "aliased_import": "imports._import",
    "argument_list": "expressions.evaluate_arguments",
    "as_pattern": "exceptions._enter",
    "as_pattern_target": "assignments.assign_target",
    "block": "unit.Unit.statements",
    "case_clause": "patterns._case",
    "case_pattern": "patterns.test",
    "chevron": "imports._print",
    "class_pattern": "patterns._class",
    "complex_pattern": "patterns._complex",
    "decorator": "functions.evaluate_decorators",
    "default_parameter": "functions.Parameters._state",
    "dict_pattern": "patterns._dict",
    "dictionary_splat_pattern": "functions.Parameters._state_rest",
    "dotted_name": "imports._dotted",
    "elif_clause": "control._if",
    "else_clause": "control._if",
    "escape_interpolation": "literals._parts_of",
    "escape_sequence": "literals.unescape",
    "except_clause": "exceptions._handler",
    "finally_clause": "exceptions._finally",
    "for_in_clause": "comprehensions._loop",
    "format_expression": "literals._interpolation",
    "format_specifier": "literals._interpolation",
    "if_clause": "comprehensions._loop",
    "import_prefix": "imports._source",
    "interpolation": "literals._interpolation",
    "keyword_argument": "expressions.evaluate_arguments",
    "keyword_pattern": "patterns._keyword",
    "keyword_separator": "functions.Parameters._state",
    "lambda_parameters": "functions.define_function",
    "module": "__init__.extract",
    "pair": "expressions._dictionary",
    "parameters": "functions.define_function",
    "positional_separator": "functions.Parameters._state",
    "relative_import": "imports._source",
    "splat_pattern": "patterns._bind_splat",
    "string_content": "literals._parts_of",
    "string_start": "literals._string",
    "typed_default_parameter": "functions.Parameters._state",
    "typed_parameter": "functions.Parameters._state",
    "union_pattern": "patterns._union",
    "wildcard_import": "imports._import_from",
    "with_clause": "exceptions._with",
    "with_item": "exceptions._enter",
}

# Kinds that carry no fact of their own.
SILENT = {
    "comment": "read for directives only (imports.directives)",
    "line_continuation": "joins lines",
    "string_end": "a quote",
    "type_conversion": "`!r` changes how a value is shown, not which values flow",
}


def read_cases():
    for path in sorted(CASES.glob("*.txt")):
        for number, text in enumerate(re.split("^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]):
            kinds, _, rest = text.partition("\n")
            source, _, rows = rest.partition("\n--\n")
            yield pytest.param(
                kinds.split(", "),
                source + "\n",
                rows.strip().splitlines(),
                id=f"{path.stem}-{number}-{kinds.split(', ')[0]}",
            )


def row(line):
    relation, _, columns = line.partition(" ")
    return relation, tuple(column.replace("⏎", "\n").replace("→", "\t") for column in columns.split(" ; "))


def named_kinds():
    return {
        tree.GRAMMAR.language.node_kind_for_id(kind)
        for kind in range(tree.GRAMMAR.language.node_kind_count)
        if tree.GRAMMAR.language.node_kind_is_named(kind) and tree.GRAMMAR.language.node_kind_is_visible(kind)
    }


def kinds_in(source):
    found, work = set(), [tree.GRAMMAR.parser.parse(source.encode()).root_node]
    while work:
        node = work.pop()
        found.add(node.type)
        work += node.children
    return found


@pytest.mark.parametrize(("kinds", "source", "expected"), list(read_cases()))
def test_snippet_gives_the_rows_written_for_it(kinds, source, expected):
    assert set(kinds) <= kinds_in(source)
    found = render(facts.extract(source.encode(), "python"))
    wanted = {}
    for line in expected:
        relation, columns = row(line)
        wanted.setdefault(relation, set()).add(columns)
    for relation, rows in wanted.items():
        assert set(found.get(relation, [])) == rows, relation
        assert len(found[relation]) == len(rows), f"{relation} has a row twice"


def test_every_kind_of_the_grammar_is_handled_or_silent():
    handled = tree.STATEMENTS.names() | tree.EXPRESSIONS.names() | PARTS.keys()
    assert named_kinds() == handled | SILENT.keys()
    assert not handled & SILENT.keys()


def test_every_kind_of_the_grammar_has_a_case():
    covered = {kind for case in read_cases() for kind in case.values[0]}
    assert named_kinds() - covered <= {"string_end", "type_conversion"} & SILENT.keys()


@pytest.mark.parametrize("place", sorted(set(PARTS.values())))
def test_parts_are_handled_where_it_is_said(place):
    module, *names = place.split(".")
    found = (
        __import__("facts.python", fromlist=["x"])
        if module == "__init__"
        else getattr(__import__(f"facts.python.{module}").python, module)
    )
    for name in names:
        found = getattr(found, name)
    assert callable(found)


def test_patterns_of_match_have_handlers_of_their_own():
    assert {"class_pattern", "dict_pattern", "union_pattern", "as_pattern"} <= patterns._PATTERNS.keys()
