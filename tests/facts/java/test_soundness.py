"""What facts say of a program, against running it.

Random programs assign distinct numbers to variables and hand variables to `probe(place, value)`. Every branch asks a
script of decisions. A statement is generated as Java text together with a function that does what the language
specification says of it, so that programs run without a Java machine. What a probe sees in some run must be among the
values that SSA, merges and cells lead to, and one probe must be reachable from the one before it in the control flow.
For programs without exceptions the converse holds too: every value that the facts lead to is seen when all decisions
are tried.
"""

import contextlib
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from probing import all_runs, predicted, random_runs, reachable, sources_of

import facts
from facts.render_facts import render

VARIABLES = ("a", "b", "c")


class Jump(Exception):
    """`break` and `continue`, by kind and label; `yield` and `return` with a value."""

    def __init__(self, kind, label="", value=None):
        self.kind, self.label, self.value = kind, label, value


class Thrown(Exception):
    """An exception of the program: of class A or B."""


@dataclass
class Run:
    """A program while it runs: its variables, what probes saw, lambdas to run, and the decisions."""

    decide: Callable[[int], int]

    def __post_init__(self):
        self.variables, self.seen, self.later = {}, [], []


@dataclass
class Code:
    """Lines of Java, and what they do to a run."""

    lines: list[str]
    execute: Callable[[Run], object]


class Generator:
    """Writes a method body over `VARIABLES`, of the given statement kinds, nested up to `depth`."""

    def __init__(self, seed, kinds, depth=3, width=3):
        self.random, self.kinds, self.depth, self.width = random.Random(seed), kinds, depth, width
        self.numbers, self.places, self.labels, self.loops = 0, 0, 0, []

    def program(self):
        start = [(name, self.number()) for name in VARIABLES]
        body, last = self.block(0), self.probe()

        def execute(run):
            run.variables.update(start)
            try:
                body.execute(run)
                last.execute(run)
            except (Jump, Thrown):
                pass

        lines = [f"int {name} = {number};" for name, number in start] + body.lines + last.lines
        return Code(["class K {", "void main() {", *lines, "}", "}"], execute)

    def number(self):
        self.numbers += 1
        return 1000 + self.numbers

    def name(self):
        return self.random.choice(VARIABLES)

    def probe(self):
        self.places += 1
        place, name = self.places, self.name()
        return Code([f"probe({place}, {name});"], lambda run: run.seen.append((place, run.variables[name])))

    def block(self, depth):
        parts = []
        for _ in range(self.random.randint(1, self.width)):
            kind = self.random.choice(self.kinds if depth < self.depth else SIMPLE)
            parts.append(getattr(self, kind)(depth + 1))
        parts.append(self.probe())
        return Code([line for part in parts for line in part.lines], lambda run: [part.execute(run) for part in parts])

    def operand(self):
        """Return a number or variable, as text and as what it gives."""
        if self.random.random() < 0.5:
            number = self.number()
            return str(number), lambda run: number
        name = self.name()
        return name, lambda run: run.variables[name]

    def assigned(self, text, value):
        name = self.name()
        return Code([f"{name} = {text};"], lambda run: run.variables.update({name: value(run)}))

    def test(self):
        """Return a condition, as text and as what it gives."""
        yes = lambda run: run.decide(2) > 0  # noqa: E731
        return self.random.choice(
            [
                ("yes()", yes),
                ("!yes()", lambda run: not yes(run)),
                ("yes() && (yes())", lambda run: yes(run) and yes(run)),
                ("yes() || !yes()", lambda run: yes(run) or not yes(run)),
            ]
        )

    # ---- Simple statements

    def constant(self, depth):
        return self.assigned(*self.operand())

    def ternary(self, depth):
        (test, holds), (one, first), (other, second) = self.test(), self.operand(), self.operand()
        return self.assigned(f"{test} ? {one} : {other}", lambda run: first(run) if holds(run) else second(run))

    def chained(self, depth):
        name, (text, value) = self.name(), self.operand()

        def inner(run):
            run.variables[name] = value(run)
            return run.variables[name]

        return self.assigned(f"{name} = {text}", inner)

    # ---- Branches

    def branch(self, depth):
        parts = [(*self.test(), self.block(depth)) for _ in range(self.random.choice([1, 1, 2]))]
        last = self.block(depth) if self.random.random() < 0.5 else Code([], lambda run: None)
        lines = []
        for test, _, body in parts:
            lines += [f"{'} else ' if lines else ''}if ({test}) {{", *body.lines]
        lines += ["} else {", *last.lines, "}"] if last.lines else ["}"]

        def execute(run):
            for _, holds, body in parts:
                if holds(run):
                    return body.execute(run)
            return last.execute(run)

        return Code(lines, execute)

    def switch(self, depth):
        """Old groups fall through, or are left by `break`."""
        cases = self.random.sample(["case 0:", "case 1:", "default:"], self.random.choice([2, 3]))
        bodies = [self.block(depth) for _ in cases]
        leaves = [self.random.random() < 0.6 for _ in cases]
        lines = ["switch (pick()) {"]
        for case, body, leave in zip(cases, bodies, leaves, strict=True):
            lines += [case, *body.lines, *(["break;"] if leave else [])]

        def execute(run):
            picked = f"case {run.decide(3)}:"
            start = picked if picked in cases else "default:"
            if start in cases:
                with caught_jump("break"):
                    for body, leave in list(zip(bodies, leaves, strict=True))[cases.index(start) :]:
                        body.execute(run)
                        if leave:
                            return

        return Code([*lines, "}"], execute)

    def rules(self, depth):
        """A switch expression: a value, or a block that yields one."""
        kinds, self.kinds = self.kinds, [kind for kind in self.kinds if kind != "jump"]
        loops, self.loops = self.loops, []
        block, (one, first), (other, second) = self.block(depth), self.operand(), self.operand()
        self.kinds, self.loops = kinds, loops
        test, holds = self.test()
        third, last = self.operand()
        lines = ["switch (pick()) {", f"case 0, 7 -> {one};", "case 1 -> {", *block.lines]
        lines += [f"if ({test}) yield {other};", f"yield {third};", "}", f"default -> {third};", "}"]

        def value(run):
            picked = run.decide(3)
            if picked == 1:
                block.execute(run)
                return second(run) if holds(run) else last(run)
            return last(run) if picked else first(run)

        return self.assigned("\n".join(lines), value)

    # ---- Loops

    def loop(self, depth):
        self.labels += 1
        label, kind = f"l{self.labels}", self.random.choice(["while", "do", "for", "each"])
        self.loops.append(label)
        parts, step = [self.jump(depth), self.block(depth)], None
        if self.random.random() < 0.5:
            parts.reverse()
        body = Code(parts[0].lines + parts[1].lines, lambda run: [part.execute(run) for part in parts])
        # Every condition can be false when no decisions are left.
        test = self.random.choice(["yes()", "yes() && yes()"]) if kind != "do" else "yes()"
        n_asked = test.count("yes")

        def holds(run):
            return all(run.decide(2) for _ in range(n_asked))

        self.loops.pop()
        if kind == "while":
            lines = [f"{label}: while ({test}) {{", *body.lines, "}"]
        elif kind == "do":
            lines = [f"{label}: do {{", *body.lines, f"}} while ({test});"]
        elif kind == "for":
            step = self.constant(depth)
            lines = [f"{label}: for (; {test}; {step.lines[0][:-1]}) {{", *body.lines, "}"]
        else:
            return self.each(label, body)

        def execute(run):
            first = kind == "do"
            with caught_jump("break", label):
                while first or holds(run):
                    first = False
                    with caught_jump("continue", label):
                        body.execute(run)
                    if step:
                        step.execute(run)

        return Code(lines, execute)

    def each(self, label, body):
        number, name = self.number(), self.name()

        def execute(run):
            with caught_jump("break", label):
                for _ in range(run.decide(4)):
                    run.variables[name] = number
                    with caught_jump("continue", label):
                        body.execute(run)

        each = f"each{number}"
        lines = [f"{label}: for (int {each} : some({number})) {{", f"{name} = {each};", *body.lines, "}"]
        return Code(lines, execute)

    def named(self, depth):
        """A labelled block."""
        self.labels += 1
        label = f"l{self.labels}"
        body, after, (test, holds) = self.block(depth), self.constant(depth), self.test()

        def execute(run):
            body.execute(run)
            if not holds(run):
                after.execute(run)

        return Code([f"{label}: {{", *body.lines, f"if ({test}) break {label};", *after.lines, "}"], execute)

    def jump(self, depth):
        kinds = [("return", "", "return")] if not self.loops or self.random.random() < 0.2 else []
        for label in self.loops:
            kinds += [("break", label, f"break {label}"), ("continue", label, f"continue {label}")]
        kind, label, text = self.random.choice(kinds)

        def execute(run):
            if run.decide(2):
                raise Jump(kind, label)

        return Code([f"if (yes()) {text};"], execute)

    # ---- Exceptions and lambdas

    def fail(self, depth):
        if self.random.random() < 0.5:
            name, number = self.name(), self.number()

            def execute(run):
                may_fail(run)
                run.variables[name] = number

            return Code([f"{name} = fail() ? {number} : {number};"], execute)
        return Code(["fail();"], may_fail)

    def throw(self, depth):
        kind = self.random.choice("AB")

        def execute(run):
            if run.decide(2):
                raise Thrown(kind)

        return Code([f"if (yes()) throw new {kind}();"], execute)

    def attempt(self, depth):
        body = self.block(depth)
        caught = self.random.choice([["A"], ["B", "A"], ["A | B"], ["Throwable"], []])
        handlers = [self.block(depth) for _ in caught]
        last = self.block(depth) if not caught or self.random.random() < 0.5 else None
        is_resource = self.random.random() < 0.4
        lines = [f"try (var r{self.number()} = fail()) {{" if is_resource else "try {", *body.lines]
        for kinds, handler in zip(caught, handlers, strict=True):
            lines += [f"}} catch ({kinds} e{self.number()}) {{", *handler.lines]
        lines += ["} finally {", *last.lines, "}"] if last else ["}"]

        def guarded(run):
            if not is_resource:
                return body.execute(run)
            may_fail(run)
            try:
                body.execute(run)
            except Thrown:
                # What closing throws then is lost.
                with contextlib.suppress(Thrown):
                    may_fail(run)
                raise
            except Jump:
                may_fail(run)
                raise
            may_fail(run)
            return None

        def handled(run):
            try:
                guarded(run)
            except Thrown as thrown:
                for kinds, handler in zip(caught, handlers, strict=True):
                    if str(thrown) in kinds.split(" | ") or kinds == "Throwable":
                        return handler.execute(run)
                raise
            return None

        def execute(run):
            try:
                handled(run)
            finally:
                if last:
                    last.execute(run)

        return Code(lines, execute)

    def closure(self, depth):
        self.labels += 1
        self.places += 1
        name, held, place = self.name(), f"held{self.labels}", self.places

        def execute(run):
            value = run.variables[name]
            run.later.append(lambda: run.seen.append((place, value)))
            if run.decide(2):
                run.later[-1]()

        return Code(
            [f"int {held} = {name};", f"keep(() -> probe({place}, {held}));", "if (yes()) last().run();"], execute
        )


class caught_jump:
    """Ends a jump of this kind, without a label or with this one."""

    def __init__(self, kind, label=""):
        self.kind, self.label = kind, label

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return isinstance(error, Jump) and error.kind == self.kind and error.label in ("", self.label)


def may_fail(run):
    if run.decide(2):
        raise Thrown("AB"[run.decide(2)])


SIMPLE = ("constant", "ternary", "chained")
STRUCTURED = (*SIMPLE, "branch", "branch", "switch", "rules", "loop", "named", "jump")
ALL = (*STRUCTURED, "fail", "throw", "attempt", "attempt", "closure")


def run(program, decide):
    """Return what the probes saw, in order: (place, value). `decide(n)` gives one of n possibilities."""
    state = Run(decide)
    program.execute(state)
    return state.seen


@pytest.mark.parametrize("seed", range(120))
def test_every_value_and_path_that_a_run_shows_is_predicted(seed):
    program = Generator(seed, ALL).program()
    source = "\n".join(program.lines)
    rows = render(facts.extract(source.encode(), "java"))
    assert "unparsed" not in rows
    wanted = predicted(rows, sources_of(rows))
    paths, bodies = reachable(rows, "edge", "exception_edge")
    for seen in random_runs(run, program, 30, 60):
        for place, value in seen:
            assert value in wanted[place], (place, source)
        for (before, _), (after, _) in zip(seen, seen[1:], strict=False):
            if bodies[before] == bodies[after] == "class K/def main()":
                assert after in paths[before], (before, after, source)


@pytest.mark.parametrize("seed", range(200))
def test_without_exceptions_every_predicted_value_is_seen_in_some_run(seed):
    program = Generator(seed, STRUCTURED, depth=2, width=1).program()
    source = "\n".join(program.lines)
    rows = render(facts.extract(source.encode(), "java"))
    wanted, values = predicted(rows, sources_of(rows)), defaultdict(set)
    for seen in all_runs(run, program, 16):
        for place, value in seen:
            values[place].add(value)
    for place, numbers in wanted.items():
        assert place not in values or numbers <= values[place], (place, source)


def test_the_random_programs_are_varied():
    programs = ["\n".join(Generator(seed, ALL).program().lines) for seed in range(120)]
    words = ("while (", "do {", "for (;", "for (int", "switch (", "yield", "try {", "try (var", "catch", "finally")
    for word in (*words, "break l", "continue l", "return;", "throw new", "->", "? ", "else if"):
        assert sum(word in program for program in programs) >= 15, word
    small = ["\n".join(Generator(seed, STRUCTURED, depth=2, width=1).program().lines) for seed in range(200)]
    for word in ("while (", "do {", "for (", "switch (", "yield", "if (", "continue l"):
        assert sum(word in program for program in small) >= 3, word
