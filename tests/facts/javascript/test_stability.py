"""Entities are stable: an edit changes the rows it has to, and no others."""

import random
from functools import partial

import edited_facts
import pytest
from edited_facts import PLACES, inserted

import facts
from facts.render_facts import render

difference = partial(edited_facts.difference, "javascript")

SOURCES = {
    "functions": """\
const fs = require("fs");
let limit = 10;
function first(a, b = limit) {
  let x = a.open(b);
  if (x) {
    x = fs.join(a, "tail");
  } else if (b) {
    x = b.map((i) => i + 1);
  }
  return x;
}
const second = (items, ...rest) => {
  let total = 0;
  for (const item of items) {
    while (item.more()) {
      total += item.next()[0];
      if (total > limit) break;
    }
    rest = [item, ...rest];
  }
  return `${total} of ${rest}`;
};
""",
    "classes": """\
import { Base, decorate } from "./base";
export class Store extends Base {
  size = 3;
  constructor(name) {
    super(name);
    this.items = { a: 1, [name]: this.size };
  }
  get(key, other) {
    const value = this.items[key];
    this.items[key] = value || other;
    return () => value;
  }
}
export default function main() {
  const store = new Store("x");
  store.get("a");
  delete store.items.a;
  return store;
}
""",
    "exceptions": """\
async function load(path, retries) {
  let result = null;
  while (retries) {
    try {
      const file = await open(path);
      result = file?.read();
      return result;
    } catch (error) {
      retries--;
      log(error);
    } finally {
      close(path);
    }
  }
  switch (result) {
    case null:
      throw new Error(path);
    default:
      return result.k ?? path;
  }
}
app.get("/a", (request) => load(request.path, 3));
app.get("/b", (request) => load(request.other, 4));
""",
}


def statements(source):
    """Return the lines before which a statement of the same indentation can stand."""
    keep = ("}", "case", "default:", "size", "constructor", "get(")
    lines = enumerate(source.splitlines())
    return [at for at, line in lines if line.strip() and not line.strip().startswith(keep)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", SOURCES)
def test_blank_lines_and_comments_change_locations_only(name, seed):
    source = random.Random(seed)
    edited = SOURCES[name]
    for _ in range(source.randint(1, 6)):
        at = source.randint(0, edited.count("\n"))
        edited = inserted(edited, at, source.choice(["", "// a comment", "/* a\n b */", "  "]))
    gone, new = difference(SOURCES[name], edited)
    assert {relation for relation, _ in gone | new} <= {"location"}


@pytest.mark.parametrize("name", SOURCES)
def test_formatting_changes_locations_only(name):
    edited = SOURCES[name].replace(", ", " ,\n      ").replace(" = ", "  =\n  ").replace("(error)", "( error )")
    gone, new = difference(SOURCES[name], edited)
    assert {relation for relation, _ in gone | new} <= {"location"}


@pytest.mark.parametrize("name", ["functions", "classes"])
def test_a_new_statement_takes_nothing_away_but_order(name):
    source = SOURCES[name]
    assert len(statements(source)) >= 9
    for at in statements(source):
        gone, new = difference(source, inserted(source, at, "unrelated(77);"))
        assert {relation for relation, _ in gone} <= PLACES, (at, gone)
        assert all(
            "unrelated" in " ".join(row) or "77" in " ".join(row) for relation, row in new if relation not in PLACES
        ), (at, new)


def test_a_callback_more_leaves_the_others_alone():
    source = SOURCES["exceptions"]
    at = source.splitlines().index('app.get("/b", (request) => load(request.other, 4));')
    gone, new = difference(source, inserted(source, at, 'app.get("/c", () => other());'))
    for relation, row in gone | new:
        assert relation in PLACES or not any("'/a'" in column or "'/b'" in column for column in row if "def" in column)


def test_a_function_that_moves_changes_places_only():
    first, second = "function a(x) { return x.b(1) }\n", "function c(d) { return [d, e(d)] }\n"
    gone, new = difference(first + second, second + first)
    assert {relation for relation, _ in gone | new} <= PLACES


def test_locations_are_lines_and_columns_of_characters():
    found = render(facts.extract("let é = 1;\r\nfunction f(ü) {\r\n\treturn 'ß' + ü.x }\r\n".encode(), "javascript"))
    places = {row[0]: row[1:] for row in found["location"]}
    assert places["é"] == ("1", "5", "1", "6")
    assert places["def f"] == ("2", "1", "3", "20")
    assert places["def f/ü"] == ("2", "12", "2", "13")
    assert places["def f/ü.x"] == ("3", "15", "3", "18")


def test_facts_of_equal_bytes_are_equal():
    for source in SOURCES.values():
        first, second = (facts.save(facts.extract(source.encode(), "javascript")) for _ in range(2))
        assert first == second
