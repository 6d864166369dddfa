"""Ranges of integers: programs written at random are run; every number that occurs lies in the range that was found.

The oracle interprets trees of statements, with the integers of Python or of C: it knows no control flow graph and no
static single assignment form. Limits of ±1,000,000,000 are those of the machine's integers, half of that on is unknown.
"""

import operator
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from analyzer.evaluation.program import GIVEN
from analyzer.evaluation.rule_sources import bundled, fact_schema
from facts import extract, mount
from facts.languages import language_of
from rules import catalogue

NAMES = ("a", "b", "c")
UNKNOWN = 500_000_000
NUMBERS = st.one_of(st.integers(-3, 12), st.sampled_from((100, 250, 256, 1000)))
TERMS = st.one_of(NUMBERS, st.sampled_from(NAMES))
TESTS = st.tuples(st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), TERMS, TERMS)
SHIFTED = st.tuples(
    st.sampled_from(("<", "<=", ">", ">=")), st.tuples(st.sampled_from("+-"), st.sampled_from(NAMES), NUMBERS), TERMS
)
CONDITIONS = st.recursive(
    st.one_of(TESTS, SHIFTED),
    lambda inner: st.one_of(st.tuples(st.sampled_from(("and", "or")), inner, inner), st.tuples(st.just("not"), inner)),
    max_leaves=3,
)
EXPRESSIONS = st.one_of(
    TERMS,
    st.tuples(st.sampled_from(("+", "-", "*", "%", "/", "&")), st.sampled_from(NAMES), NUMBERS),
    st.tuples(st.sampled_from("+-"), TERMS, st.sampled_from(NAMES)),
)
SIMPLE = st.one_of(
    st.tuples(st.just("set"), st.sampled_from(NAMES), EXPRESSIONS), st.tuples(st.just("use"), st.sampled_from(NAMES))
)


def counting(name, first, test, bound, body, step):
    """Return statements that count: a loop around others, whose last one steps."""
    return [
        ("set", name, first),
        ("while", (test, name, bound), [*body, ("use", name), ("set", name, ("+", name, step))]),
    ]


def compound(body):
    loops = st.builds(
        counting,
        st.sampled_from(NAMES),
        NUMBERS,
        st.sampled_from(("<", "<=", "!=", ">", ">=")),
        TERMS,
        body,
        st.sampled_from((1, 2, -1)),
    )
    choices = st.tuples(st.just("if"), CONDITIONS, body, body).map(lambda statement: [statement])
    others = st.tuples(st.just("while"), CONDITIONS, body).map(lambda statement: [statement])
    parts = st.lists(
        st.one_of(SIMPLE.map(lambda statement: [statement]), choices, others, loops), min_size=1, max_size=4
    )
    return parts.map(lambda groups: [statement for group in groups for statement in group])


PROGRAMS = st.recursive(st.lists(SIMPLE, min_size=1, max_size=3), compound, max_leaves=8)


class Stopped(Exception):
    """The run has gone on long enough, or does what has no defined result."""


class Exact:
    """The integers of Python."""

    words = {"and": "and", "or": "or", "not": "not ", "/": "//"}

    def given(self, name, number):
        return number

    held = given

    def compute(self, symbol, left, right):
        if symbol in "/%" and right == 0:
            raise Stopped
        return ARITHMETIC[symbol](left, right)

    def compare(self, symbol, left, right):
        return COMPARISONS[symbol](left, right)


class Machine(Exact):
    """C: a is an int, b unsigned, c an unsigned char. A number is (value, is it unsigned, is it constant).

    A run stops at a constant that its type does not hold: constants are known before ranges are, as they are written.
    """

    words = {"and": "&&", "or": "||", "not": "!", "/": "/"}

    def given(self, name, number):
        return self.held(name, (number, False, False))

    def held(self, name, number):
        value, _, constant = self.number(number)
        kept = {"a": value, "b": value % 2**32, "c": value % 2**8}[name]
        if (kept != value and constant) or (name == "a" and not -(2**31) <= value < 2**31):
            raise Stopped
        return kept, name == "b", constant

    @staticmethod
    def number(term):
        return term if isinstance(term, tuple) else (term, False, True)

    def compute(self, symbol, left, right):
        unsigned, constant, left, right = self.converted(left, right)
        if symbol in "/%" and right == 0:
            raise Stopped
        value = self.divided(symbol, left, right) if symbol in "/%" else ARITHMETIC[symbol](left, right)
        kept = value % 2**32 if unsigned else value
        if (kept != value and constant) or (not unsigned and not -(2**31) <= value < 2**31):
            raise Stopped
        return kept, unsigned, constant

    @staticmethod
    def divided(symbol, left, right):
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if symbol == "/" else left - quotient * right

    def converted(self, left, right):
        """Return whether the common type is unsigned, whether both numbers are constant, and what they are in it."""
        (x, a, k), (y, b, m) = self.number(left), self.number(right)
        if not a and not b:
            return False, k and m, x, y
        if k and m and (x < 0 or y < 0):
            raise Stopped
        return True, k and m, x % 2**32, y % 2**32

    def compare(self, symbol, left, right):
        return COMPARISONS[symbol](*self.converted(left, right)[2:])


ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": operator.mod,
    "/": operator.floordiv,
    "&": operator.and_,
}
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Run:
    """Runs a program, and records the numbers of each `use` by its number in the text."""

    def __init__(self, integers, start):
        self.integers, self.steps, self.seen = integers, 0, {}
        self.state = {name: integers.given(name, number) for name, number in zip(NAMES, start, strict=True)}

    def body(self, statements):
        for statement in statements:
            self.steps += 1
            if self.steps > 300:
                raise Stopped
            word, *rest = statement
            if word == "use":
                value = self.state[rest[0]]
                self.seen.setdefault(id(statement), set()).add(value[0] if isinstance(value, tuple) else value)
            elif word == "set":
                self.state[rest[0]] = self.integers.held(rest[0], self.value(rest[1]))
            elif word == "if":
                self.body(rest[1] if self.holds(rest[0]) else rest[2])
            else:
                while self.holds(rest[0]):
                    self.steps += 1
                    self.body(rest[1])

    def value(self, term):
        if isinstance(term, tuple):
            return self.integers.compute(term[0], self.value(term[1]), self.value(term[2]))
        return self.state[term] if isinstance(term, str) else term

    def holds(self, condition):
        word, *parts = condition
        if word == "not":
            return not self.holds(parts[0])
        if word in ("and", "or"):
            return (all if word == "and" else any)(self.holds(part) for part in parts)
        return self.integers.compare(word, *map(self.value, parts))


def term_text(term, words):
    if not isinstance(term, tuple):
        return str(term)
    return f"{term[1]} {words.get(term[0], term[0])} {term[2]}".replace("- -", "+ ")


def condition_text(condition, words):
    word, *parts = condition
    if word == "not":
        return f"{words[word]}({condition_text(parts[0], words)})"
    if word in ("and", "or"):
        return f" {words[word]} ".join(f"({condition_text(part, words)})" for part in parts)
    return f" {word} ".join(term_text(part, words) for part in parts)


def python_lines(statements, uses, indent="    "):
    for statement in statements:
        word, *rest = statement
        if word == "use":
            yield f"{indent}use({next(uses.numbers)}, {rest[0]})"
            uses.of[id(statement)] = uses.last
        elif word == "set":
            yield f"{indent}{rest[0]} = {term_text(rest[1], Exact.words)}"
        else:
            yield f"{indent}{word} {condition_text(rest[0], Exact.words)}:"
            yield from python_lines(rest[1], uses, indent + "    ")
            if word == "if":
                yield f"{indent}else:"
                yield from python_lines(rest[2], uses, indent + "    ")


def c_lines(statements, uses):
    for statement in statements:
        word, *rest = statement
        if word == "use":
            yield f"use({next(uses.numbers)}, {rest[0]});"
            uses.of[id(statement)] = uses.last
        elif word == "set":
            yield f"{rest[0]} = {term_text(rest[1], Machine.words)};"
        else:
            yield f"{word} ({condition_text(rest[0], Machine.words)}) {{"
            yield from c_lines(rest[1], uses)
            yield "}"
            if word == "if":
                yield "else {"
                yield from c_lines(rest[2], uses)
                yield "}"


class Uses:
    """Numbers for the places that use a variable; `of` has them by statement."""

    def __init__(self):
        self.of, self.last = {}, 0
        self.numbers = self._numbers()

    def _numbers(self):
        for number in count(1000):
            self.last = number
            yield number


ASKED = """
.decl use(call: Entity, number: symbol, value: Entity, block: Entity)
use(c, n, a, b) :- call(c, _, f), f = [_, "use", _], argument(c, 0, k), constant(k, _, n), argument(c, 1, a),
    in_block(c, b).
asks_range(a, b) :- use(_, _, a, b).
.decl found(use: symbol, low: number, high: number)
found(n, l, u) :- use(_, n, a, b), range_in(a, b, l, u).
"""


@pytest.fixture(scope="module")
def program():
    library = map(bundled, (*catalogue.library(), *catalogue.models()))
    return engine.outlined(engine.compile([fact_schema(), *library, ASKED]), ["found"], GIVEN).whole


def ranges(program, name, code):
    """Return the ranges of what stands in second place of calls, by the number in their first."""
    mounted = mount([(name, extract(code.encode(), language_of(name)))])
    database = engine.Database(engine.Symbols(mounted.symbols), {"Entity": mounted.entities}, mounted.relations)
    uses, lows, highs = (column.tolist() for column in engine.evaluate(program, database, threads=1).relation("found"))
    return {int(mounted.symbols[use]): (low, high) for use, low, high in zip(uses, lows, highs, strict=True)}


def unbounded(bound):
    return abs(bound) >= UNKNOWN


def assert_contains(found, seen, code):
    for use, numbers in seen.items():
        assert use in found, f"use {use} is reached\n{code}"
        low, high = found[use]
        assert unbounded(low) or low <= min(numbers), f"{use}: {low} to {high}, {numbers}\n{code}"
        assert unbounded(high) or max(numbers) <= high, f"{use}: {low} to {high}, {numbers}\n{code}"


def seen_in_runs(integers, bodies, starts):
    """Return the numbers seen at each use, by the place of its statement."""
    seen = {}
    for statements in bodies:
        for start in starts:
            runner = Run(integers, start)
            with suppress(Stopped):
                runner.body(statements)
            for place, numbers in runner.seen.items():
                seen.setdefault(place, set()).update(numbers)
    return seen


# Whole numbers of which nothing else is known but a lower bound.
BEGIN = ["    a = len(p) - 5", "    b = len(q) - 5", "    c = len(r) - 5"]


def copied(statements):
    """Return the program with tuples of its own: a place is told by its tuple."""
    return [tuple(copied(part) if isinstance(part, list) else part for part in statement) for statement in statements]


# Several programs are one file: most of the time goes into starting an evaluation.
FILES = st.lists(PROGRAMS, min_size=1, max_size=20)
STARTS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4)
SETTINGS = settings(max_examples=settings.default.max_examples // 4)


@SETTINGS
@given(FILES, STARTS)
def test_ranges_hold_every_number_of_a_run_in_python(program, bodies, starts):
    uses, lines, bodies = Uses(), [], list(map(copied, bodies))
    for number, statements in enumerate(bodies):
        lines += [f"def f{number}(p, q, r):", *BEGIN, *python_lines(statements, uses), "    return a", ""]
    code = "\n".join(lines)
    seen = {uses.of[place]: numbers for place, numbers in seen_in_runs(Exact(), bodies, starts).items()}
    assert_contains(ranges(program, "app.py", code), seen, code)


@SETTINGS
@given(FILES, STARTS)
def test_ranges_hold_every_number_of_a_run_in_c(program, bodies, starts):
    uses, lines, bodies = Uses(), [], list(map(copied, bodies))
    for number, statements in enumerate(bodies):
        lines += [f"void f{number}(int a, unsigned b, unsigned char c) {{", *c_lines(statements, uses), "}", ""]
    code = "\n".join(lines)
    seen = {uses.of[place]: numbers for place, numbers in seen_in_runs(Machine(), bodies, starts).items()}
    assert_contains(ranges(program, "app.c", code), seen, code)


# Cousot and Cousot (POPL 1977), the program that counts to 100: its intervals at the points 2, 3 and 4.
COUNTS_TO_100 = """
void f(void) {
    int x = 1;
    while (x <= 100) {
        use(2, x);
        x = x + 1;
        use(3, x);
    }
    use(4, x);
}
"""
# Bodik, Gupta and Sarkar (PLDI 2000), fig. 1: the bidirectional bubble sort, for an array of ten elements. limit is 10
# at most and goes down before j stays below it; st begins at -1 and goes up before j begins there.
BUBBLE_SORT = """
class Sort {
    void f() {
        int[] a = new int[10];
        int limit = a.length;
        int st = -1;
        while (st < limit) {
            st++;
            limit--;
            for (int j = st; j < limit; j++) {
                use(1, j);
                use(2, j + 1);
            }
        }
    }
}
"""
CLAMPED = """
void f(int m, unsigned n, unsigned char c) {
    if (m > 100) m = 100;
    if (m < 0) m = 0;
    use(1, m);
    use(2, m / 3);
    use(3, m * 4);
    use(4, m % 8);
    use(5, c);
    if (n < 10 && n != 0) { use(6, n - 1); }
    if (m + 1 < 10) { use(7, m); }
}
"""
COUNTED = """
def f(xs, n):
    for i in range(3, 10):
        use(1, i)
    j = 20
    while j > 5:
        use(2, j)
        j -= 3
    use(3, j)
    if 0 <= n <= 4:
        use(4, n)
    use(5, min(j, len(xs)))
"""
# The first test keeps control out of the loop: the step, from the only value that the counter has, is no beginning.
NOT_ENTERED = """
void f(int a, unsigned char c) {
    int b = 8;
    while (b >= 9) {
        c = 300;
        b = b + 2;
    }
    use(1, c);
}
"""


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("count.c", COUNTS_TO_100, {2: (1, 100), 3: (2, 101), 4: (101, 101)}),
        ("Sort.java", BUBBLE_SORT, {1: (0, 8), 2: (1, 9)}),
        ("clamp.c", CLAMPED, {1: (0, 100), 2: (0, 33), 3: (0, 400), 4: (0, 7), 5: (0, 255), 6: (0, 8), 7: (0, 8)}),
        ("skipped.c", NOT_ENTERED, {1: (0, 10**9)}),
        ("count.py", COUNTED, {1: (3, 9), 2: (6, 20), 3: (3, 5), 4: (0, 4), 5: (0, 5)}),
    ],
    ids=lambda part: part if isinstance(part, str) and "\n" not in part else "",
)
def test_ranges_are_those_of_the_literature_and_of_arithmetic(program, name, code, expected):
    assert ranges(program, name, code) == expected
