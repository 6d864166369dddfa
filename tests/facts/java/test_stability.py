"""Entities are stable: an edit changes the rows it has to, and no others."""

from functools import partial
from pathlib import Path

import edited_facts
import pytest
from edited_facts import PLACES

import facts
from facts.render_facts import render

difference = partial(edited_facts.difference, "java")

SOURCE = """\
import java.util.List;

class Store extends Base {
    static final int LIMIT = 10;
    private int size = LIMIT;

    int first(List<String> a, int b) {
        int x = a.get(b).length();
        if (x > LIMIT) {
            x = join(a, "tail");
        } else if (b > 0) {
            for (String i : a) {
                x += i.length();
            }
        }
        return x;
    }

    Runnable second(int[] items) {
        int total = 0;
        while (more(items)) {
            try (Lock lock = lock(items)) {
                total += items[0];
                break;
            } catch (Failure | Other e) {
                log(e);
            } finally {
                close(items);
            }
        }
        int last = switch (total) {
            case 1, 2 -> 3;
            default -> {
                log(total);
                yield 4;
            }
        };
        size = last;
        return () -> log(last);
    }
}
"""
HERE = Path(__file__).parent


def inserted(source, at, line):
    lines = source.splitlines()
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return edited_facts.inserted(source, at, indent + line)


def lines_where(wanted):
    return [index for index, line in enumerate(SOURCE.splitlines()) if line.strip() and wanted(line.strip(), line)]


def statements():
    """Return the lines before which a statement of a method can stand."""
    keep = ("}", "case", "default")
    return lines_where(lambda text, line: line.startswith(" " * 8) and not text.startswith(keep))


@pytest.mark.parametrize("at", lines_where(lambda text, line: True))
def test_blank_lines_and_comments_change_locations_only(at):
    gone, new = difference(SOURCE, inserted(inserted(SOURCE, at, ""), at, "// a comment"))
    assert {relation for relation, _ in gone | new} <= {"location"}


def test_formatting_changes_locations_only():
    edited = SOURCE.replace(", ", " ,\n      ").replace("(int", "( int").replace(" = ", "  =  ")
    gone, new = difference(SOURCE, edited)
    assert {relation for relation, _ in gone | new} <= {"location"}


@pytest.mark.parametrize("at", statements())
def test_a_new_statement_takes_nothing_away_but_order(at):
    gone, new = difference(SOURCE, inserted(SOURCE, at, "unrelated(77);"))
    assert {relation for relation, _ in gone} <= PLACES
    # The block that the statement stands in may raise now.
    allowed = {*PLACES, "exception_edge"}
    assert all("unrelated" in " ".join(row) or "77" in " ".join(row) for name, row in new if name not in allowed)


def test_a_new_method_leaves_others_alone():
    for at in lines_where(lambda text, line: text.startswith(("int first", "Runnable second"))):
        gone, new = difference(SOURCE, inserted(SOURCE, at, "int first(long a) { return unrelated(a, LIMIT); }"))
        assert {relation for relation, _ in gone} <= PLACES
        allowed = ("first(long)", "long")
        assert all(any(word in " ".join(row) for word in allowed) for name, row in new if name not in PLACES)


def test_methods_that_swap_places_change_places_only():
    first, second = "int a(int x) { return f(x.b(1)); }", "int c(int d) { return g(d, f(d)); }"
    gone, new = difference(f"class K {{ {first} {second} }}", f"class K {{ {second} {first} }}")
    assert {relation for relation, _ in gone | new} <= PLACES


def test_locations_are_lines_and_columns_of_characters():
    found = render(facts.extract('class É {\r\n\tint f(int ü) { return g("ß", ü.x); }\r\n}'.encode(), "java"))
    places = {row[0]: row[1:] for row in found["location"]}
    assert places["class É"] == ("1", "1", "3", "2")
    assert places["class É/def f(int)"] == ("2", "2", "2", "38")
    assert places["class É/def f(int)/ü"] == ("2", "12", "2", "13")
    assert places["class É/def f(int)/ü.x"] == ("2", "31", "2", "34")
    assert places["class É/def f(int)/g()"] == ("2", "24", "2", "35")


def test_facts_of_equal_bytes_are_equal():
    for path in (HERE / "sources").glob("*.java"):
        first, second = (facts.save(facts.extract(path.read_bytes(), "java")) for _ in range(2))
        assert first == second
