"""Whose `$` a program calls: jQuery's makes elements of markup, others find an element by its id."""

import pytest
from marked_lines import lines_with_findings, marked_lines

OPENS = """function openTab() {{
  $(location.hash.slice(1)).show(); // {mark}
}}
openTab();
"""
PROGRAMS = {
    "Prototype in another script": ({"a.js": "$$('p').invoke('hide');\n"}, "harmless"),
    "the program's own": (
        {"a.js": "function $(id) {\n  return document.getElementById(id);\n}\n"},
        "harmless",
    ),
    "one that makes elements": (
        {"a.js": "function $(text) {\n  const box = make('div');\n  return box.fill(text);\n}\n"},
        "harmful",
    ),
    "both libraries": ({"a.js": "$$('p').invoke('hide');\n", "b.js": "jQuery('p').hide();\n"}, "harmful"),
    "jQuery": ({"a.js": "$.ajax('/list');\n"}, "harmful"),
    "nothing else": ({}, "harmful"),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_markup_is_made_by_jquery_alone(program):
    others, mark = PROGRAMS[program]
    files = {**others, "tab.js": OPENS.format(mark=mark)}
    harmful = {(name, line) for name, line, mark, _ in marked_lines(files) if mark == "harmful"}
    assert lines_with_findings(files, "cross-site-scripting") == harmful
