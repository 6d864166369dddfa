"""However deep code is nested, the C stack is not; beyond the limit a statement is left out, and said to be."""

import threading

import pytest

from facts import extract
from facts.tree_walk import MAX_DEPTH

# An expression stands alone on the second line, calls on the first and the third.
AROUND = {
    "python": "f()\nx = {}\ng()\n",
    "javascript": "f()\nx = {}\ng()\n",
    "typescript": "f()\nx = {}\ng()\n",
    "go": "package p; func a() {{ f() }}\nvar x = {}\nfunc b() {{ g() }}\n",
    "java": "class A {{ int a = f(); }}\nclass B {{ int x = {}; }}\nclass C {{ int b = g(); }}\n",
    "c": "void a(void) {{ f(); }}\nint x = {};\nvoid b(void) {{ g(); }}\n",
}


def facts_of(language, depth, inner):
    return extract(AROUND[language].format("(" * depth + inner + ")" * depth).encode(), language)


def n_calls(found):
    return found.relations["call"].shape[1]


@pytest.mark.parametrize("language", AROUND)
def test_nesting_takes_no_c_stack(language):
    result = []
    size = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: result.append(facts_of(language, 6000, "h()")))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert not result[0].unparsed_lines
    assert n_calls(result[0]) == 3


@pytest.mark.parametrize("language", AROUND)
def test_deeper_than_the_limit_costs_that_statement_only(language):
    found = facts_of(language, MAX_DEPTH, "h()")
    assert found.unparsed_lines == [2]
    assert n_calls(found) == 2
