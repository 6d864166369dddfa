"""Entities are stable: an edit changes the rows it has to, and no others."""

from functools import partial

import edited_facts
import pytest
from edited_facts import PLACES, inserted

import facts

difference = partial(edited_facts.difference, "go")

SOURCES = {
    "functions": """\
package store

import "os"

const limit = 10

func open(path string, retries int) (*os.File, error) {
	for i := 0; i < retries; i++ {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		return file, nil
	}
	return nil, errors.New("no file")
}

func second(items []item, rest ...string) string {
	total := 0
	for _, item := range items {
		total += item.size
		if total > limit {
			break
		}
		rest = append(rest, item.name)
	}
	return rest[0]
}
""",
    "methods": """\
package store

type Store struct {
	mu    sync.Mutex
	items map[string]int
}

func (s *Store) Get(key string) (value int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	value, ok := s.items[key]
	switch {
	case !ok:
		return 0, errors.New(key)
	case value > 3:
		go s.notify(key)
	}
	select {
	case s.changes <- key:
		value++
	default:
		value = 0
	}
	return value, nil
}
""",
}


def statements(source):
    """Return the lines of functions before which a statement of the same indentation can stand."""
    lines, inside = source.splitlines(), False
    for index, line in enumerate(lines):
        if inside and line.strip() and not line.strip().startswith(("}", "case", "default")):
            yield index
        inside = (inside or line.startswith("func ")) and line != "}"


@pytest.mark.parametrize("name", SOURCES)
def test_comments_and_layout_change_locations_only(name):
    for at in statements(SOURCES[name]):
        edited = inserted(SOURCES[name], at, "// a comment", "", "/* another */").replace(", ", " ,  ")
        gone, new = difference(SOURCES[name], edited)
        assert {relation for relation, _ in gone | new} <= {"location"}


@pytest.mark.parametrize("name", SOURCES)
def test_a_new_statement_takes_nothing_away_but_order(name):
    found = list(statements(SOURCES[name]))
    assert len(found) > 10
    for at in found:
        gone, new = difference(SOURCES[name], inserted(SOURCES[name], at, "unrelated(77)"))
        assert {relation for relation, _ in gone} <= PLACES, (at, gone)
        assert all(
            "unrelated" in " ".join(row) or "77" in " ".join(row) for relation, row in new if relation not in PLACES
        ), (at, new)


@pytest.mark.parametrize("name", SOURCES)
def test_a_new_statement_leaves_other_functions_alone(name):
    source = SOURCES[name] + "\nfunc last(a T) T { b := a.c(1); return b }\n"
    for at in statements(SOURCES[name]):
        gone, new = difference(source, inserted(source, at, "if unrelated(77) {", "\tother := 1", "}"))
        assert not [row for relation, row in gone | new if relation != "location" and "def last" in " ".join(row)]


def test_functions_that_move_change_places_only():
    first, second = "func first(a T) int { return a.b(1) }\n", "func second(c T) []T { return []T{c, g(c)} }\n"
    gone, new = difference("package p\n" + first + second, "package p\n" + second + first)
    assert {relation for relation, _ in gone | new} <= PLACES


def test_facts_of_equal_bytes_are_equal():
    for source in SOURCES.values():
        first, second = (facts.save(facts.extract(source.encode(), "go")) for _ in range(2))
        assert first == second
