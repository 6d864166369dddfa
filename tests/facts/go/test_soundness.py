"""What facts say of a Go program, against running the same program written in Python.

Random functions are written in both languages, statement by statement: they assign distinct numbers to variables and
hand variables to `probe(place, value)`. Every branch asks a script of decisions. What a probe sees in some run of the
Python text must be among the values that the facts of the Go text lead to, and one probe must be reachable from the one
before it in the control flow.
"""

import random

import pytest
from probing import predicted, reachable, sources_of, through_pointers

import facts
from facts.render_facts import render

VARIABLES = ("a", "b", "c")
FUNCTIONS, RUNS = 50, 25


class Generator:
    """Writes a function over `VARIABLES`; `known` is what each is called in Python, where blocks hide nothing."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.go, self.python, self.indent = [], [], 1
        self.numbers, self.places, self.fresh = 0, 0, 0
        self.known = {name: name for name in VARIABLES}

    def program(self):
        """Return the texts in Go and in Python."""
        for name in VARIABLES:
            number = self.number()
            self.emit(f"{name} := {number}", f"{name} = {number}")
        self.block(0, loop=False)
        self.probe()
        go = "package p\n\nfunc main() {\n" + "\n".join(self.go) + "\n}\n"
        return go, "def main(yes, probe):\n" + "\n".join(self.python) + "\n"

    def emit(self, go, python):
        if go:
            self.go.append(go)
        if python:
            self.python.append("    " * self.indent + python)

    def number(self):
        self.numbers += 1
        return 1000 + self.numbers

    def new(self, prefix):
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def name(self):
        name = self.random.choice(VARIABLES)
        return name, self.known[name]

    def probe(self):
        self.places += 1
        go, python = self.name()
        self.emit(f"probe({self.places}, {go})", f"probe({self.places}, {python})")

    def test(self):
        return self.random.choice(
            [
                ("yes()", "yes()"),
                ("!yes()", "not yes()"),
                ("yes() && yes()", "yes() and yes()"),
                ("!(yes() || !yes())", "not (yes() or not yes())"),
            ]
        )

    def block(self, depth, loop):
        known = dict(self.known)
        for _ in range(self.random.randint(1, 3)):
            kinds = ("simple", "simple", "branch", "loop", "switch", "jump", "scope", "closure", "pointer", "choice")
            getattr(self, self.random.choice(kinds if depth < 3 else ("simple",)))(depth + 1, loop)
        self.probe()
        self.known = known

    def inside(self, depth, loop):
        self.indent += 1
        self.block(depth, loop)
        self.indent -= 1

    def simple(self, depth, loop):
        (go, python), (go_other, python_other), number = self.name(), self.name(), self.number()
        if self.random.random() < 0.3 and go != go_other:
            self.emit(f"{go}, {go_other} = {go_other}, {go}", f"{python}, {python_other} = {python_other}, {python}")
        else:
            go_value, value = self.random.choice([(number, number), (go_other, python_other)])
            self.emit(f"{go} = {go_value}", f"{python} = {value}")

    def branch(self, depth, loop):
        go, python = self.test()
        (name, _), known = self.name(), dict(self.known)
        if self.random.random() < 0.3:
            hidden, number = self.new(name), self.number()
            self.emit(f"if {name} := {number}; {go} {{", f"{hidden} = {number}")
            self.known[name] = hidden
        else:
            self.emit(f"if {go} {{", "")
        self.emit("", f"if {python}:")
        self.inside(depth, loop)
        if self.random.random() < 0.6:
            self.emit("} else {", "else:")
            self.inside(depth, loop)
        self.emit("}", "")
        self.known = known

    def loop(self, depth, loop):
        (go, python), (go_other, python_other) = self.name(), self.name()
        kind, first = self.random.choice(["clause", "while", "range"]), self.new("first")
        heads = {
            "clause": f"for i := 0; yes(); {go} = {go_other} {{",
            "while": "for yes() {",
            "range": "for range xs {",
        }
        self.emit(heads[kind], f"{first} = True")
        self.emit("", "while True:")
        self.indent += 1
        if kind == "clause":
            self.emit("", f"if not {first}: {python} = {python_other}")
        self.emit("", f"{first} = False")
        self.emit("", "if not yes(): break")
        self.block(depth, loop="continue")
        self.indent -= 1
        self.emit("}", "")

    def switch(self, depth, loop):
        """A switch in Python: 0 while no case was taken, 1 behind `fallthrough`, 2 when a case was left."""
        state = self.new("state")
        self.emit("switch {", f"{state} = 0")
        self.emit("", "for _ in (0,):")
        self.indent += 1
        count = self.random.randint(1, 3)
        for index in range(count):
            is_default = index == count - 1 and self.random.random() < 0.5
            self.emit("default:" if is_default else "case yes():", "")
            self.emit("", f"if {state} == 1 or ({state} == 0 and {'True' if is_default else 'yes()'}):")
            self.indent += 1
            self.emit("", f"{state} = 2")
            self.block(depth, loop="break")
            if index < count - 1 and self.random.random() < 0.4:
                self.emit("fallthrough", f"{state} = 1")
            self.indent -= 1
        self.indent -= 1
        self.emit("}", "")

    def jump(self, depth, loop):
        ways = ["return"] + (["break"] if loop else []) + (["continue"] if loop == "continue" else [])
        way = self.random.choice(ways)
        self.emit(f"if yes() {{ {way} }}", f"if yes(): {way}")

    def scope(self, depth, loop):
        """A block with a variable of its own that hides one around."""
        (name, _), number, known = self.name(), self.number(), dict(self.known)
        hidden = self.new(name)
        self.emit(f"{{\n{name} := {number}", f"{hidden} = {number}")
        self.known[name] = hidden
        self.block(depth, loop)
        self.emit("}", "")
        self.known = known

    def closure(self, depth, loop):
        """A closure that assigns a variable, called once or twice around a probe."""
        (name, python), (other, python_other), number = self.name(), self.name(), self.number()
        function = self.new("f")
        value = self.random.choice([(number, number), (other, python_other)])
        self.emit(f"{function} := func() {{ {name} = {value[0]} }}", f"def {function}():")
        self.emit("", f"    nonlocal {python}")
        self.emit("", f"    {python} = {value[1]}")
        if self.random.random() < 0.5:
            self.simple(depth, loop)
        self.emit(f"if yes() {{ {function}() }}", f"if yes(): {function}()")
        self.probe()
        self.simple(depth, loop)
        self.emit(f"{function}()", f"{function}()")

    def pointer(self, depth, loop):
        """A store and a load through a pointer."""
        (name, python), (other, python_other), number = self.name(), self.name(), self.number()
        pointer = self.new("p")
        self.emit(f"{pointer} := &{name}", "")
        self.simple(depth, loop)
        self.emit(f"*{pointer} = {number}", f"{python} = {number}")
        self.probe()
        self.emit(f"{other} = *{pointer}", f"{python_other} = {python}")

    def choice(self, depth, loop):
        """`select`, or a switch on a type: nobody knows which case is taken."""
        (name, python), (other, python_other), number = self.name(), self.name(), self.number()
        if self.random.random() < 0.5:
            self.emit(f"switch v := any({name}).(type) {{\ncase T:\n{other} = v\ndefault:\n{other} = {number}\n}}", "")
            self.emit("", f"{python_other} = {python} if yes() else {number}")
            return
        self.emit("select {\ncase ch <- 1:", "if yes():")
        self.inside(depth, loop=False)
        self.emit("default:", "else:")
        self.inside(depth, loop=False)
        self.emit("}", "")


def run(program, seed):
    """Return what the probes of a Python program saw: (place, value)."""
    decisions, left, seen = random.Random(seed), [60], []

    def yes():
        left[0] -= 1
        return left[0] > 0 and decisions.random() < 0.5

    names = {}
    exec(program, names)
    names["main"](yes, lambda place, value: seen.append((place, value)))
    return seen


def foreseen(rows):
    return predicted(rows, through_pointers(rows, sources_of(rows, "cast")))


@pytest.mark.parametrize("seed", range(FUNCTIONS))
def test_every_value_and_path_that_a_run_shows_is_predicted(seed):
    go, python = Generator(seed).program()
    found = facts.extract(go.encode(), "go")
    assert not found.unparsed_lines
    rows = render(found)
    wanted, (paths, _) = foreseen(rows), reachable(rows, "edge")
    for number in range(RUNS):
        seen = run(python, number)
        for place, value in seen:
            assert value in wanted[place], (place, value, go)
        for (before, _), (after, _) in zip(seen, seen[1:], strict=False):
            assert after in paths[before], (before, after, go)


def test_most_variables_have_few_values():
    """What the facts lead to is not everything: without closures and pointers about what a straight reading gives."""
    go = "package p\nfunc main() {\na := 1\nb := 2\nif yes() { a = 3 }\nprobe(4, a)\na = b\nprobe(5, a)\n}\n"
    assert foreseen(render(facts.extract(go.encode(), "go"))) == {4: {1, 3}, 5: {2}}
