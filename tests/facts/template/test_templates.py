"""Templates of each syntax: the facts of what they read, print and include.

A case in `cases/*.txt` reads `== FILE`, the template, `--` and the rows: a relation, then its columns between ` ; `. A
relation that a case names has exactly the rows it lists, none if it stands alone.
"""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from facts import extract, language_of, other_content
from facts.render_facts import render


def cases():
    """Yield the file, the template and {relation: rows} of each case."""
    for path in sorted((Path(__file__).parent / "cases").glob("*.txt")):
        for text in re.split("^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, rows = text.partition("\n--\n")
            file, _, template = head.partition("\n")
            wanted = defaultdict(list)
            for line in rows.strip().splitlines():
                relation, _, columns = line.partition(" ")
                wanted[relation] += [tuple(columns.split(" ; "))] if columns else []
            yield file, template, wanted


@pytest.mark.parametrize(("file", "template", "wanted"), list(cases()))
def test_a_template_has_these_facts(file, template, wanted):
    found = render(extract(template.encode(), language_of(file)))
    assert {relation: sorted(found.get(relation, [])) for relation in wanted} == {
        relation: sorted(rows) for relation, rows in wanted.items()
    }


@pytest.mark.parametrize(
    ("file", "page", "code"),
    [
        ("a.html", "<p>text</p>", False),
        ("a.html", "<p>{{ a }}</p>", True),
        ("a.html", "{% a %}", True),
        ("a.html", '<p (click)="a()">{{ b }}</p>', False),
        ("a.html", '<p [title]="a">{{ b }}</p>', False),
        ("a.html", "<p>{{::a}}</p>", False),
        ("a.html", "@if (a) {\n{{ b }}\n}", False),
        ("a.html", "<p>{{ a[0] }} (b) [c] @if</p>", True),
        ("a.ejs", "", True),
    ],
)
def test_a_page_without_code_is_no_template(file, page, code):
    assert (other_content(page.encode(), language_of(file)) is None) is code


@pytest.mark.parametrize(
    ("file", "opening"), [("a.html", "{{"), ("a.ftl", "<#if"), ("a.ftl", "${"), ("a.mako", "${"), ("a.tmpl", "{{")]
)
@pytest.mark.parametrize("quote", ['"', "'"])
def test_escaped_quotes_without_end_are_read_in_linear_time(file, opening, quote):
    template = opening + f" \\{quote}" * 100_000  # In quadratic time it takes minutes.
    assert "unparsed" in render(extract(template.encode(), language_of(file)))


@pytest.mark.parametrize(
    ("file", "template"),
    [
        ("a.pug", "p(a=" + "'b' c=d " * 12_500 + ")\n"),
        ("a.html", "{{<" + " " * 100_000 + "{{ a }}"),
        ("a.html", "{{ a }}" + "\n" * 100_000),
        ("a.html", "{{ " + "(a " * 33_000 + "}}"),
    ],
    ids=["attributes", "spaces", "lines", "parentheses"],
)
def test_long_templates_are_read_in_linear_time(file, template):
    render(extract(template.encode(), language_of(file)))  # In quadratic time it takes a minute.
