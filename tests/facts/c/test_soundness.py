"""What facts say of a C program, against running it.

Random functions assign distinct numbers to variables and hand variables to `probe(place, value)`. Every branch asks a
script of decisions. All are compiled into one program. What a probe sees in some run must be among the values that SSA,
merges, cells and stores through pointers lead to, and one probe must be reachable from the one before it in the control
flow.
"""

import random
import shutil
import subprocess
from collections import defaultdict

import pytest
from probing import predicted, reachable, sources_of, through_pointers

import facts
from facts.render_facts import render

VARIABLES = ("a", "b", "c")
FUNCTIONS, RUNS = 60, 25

PRELUDE = """
int printf(const char *, ...);
static unsigned long seed; static int left, function;
static int yes(void) {
    if (left-- <= 0) return 0;
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (int)(seed >> 63);
}
static void probe(int place, int value) { printf("%d %d %d\\n", function, place, value); }
"""
MAIN = """
int main(void) {{
    for (int i = 0; i < {functions} * {runs}; i++) {{
        function = i / {runs}; seed = (unsigned long)i * 7919 + 3; left = 60;
        for (int k = 0; k < 8; k++) yes();
        left = 60;
        programs[function]();
        printf("%d 0 0\\n", -1 - function);
    }}
    return 0;
}}
"""


class Generator:
    """Writes a function over `VARIABLES`: `a` has its address taken in some of them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name_of_function = f"program{seed}"
        self.lines, self.numbers, self.places, self.labels = [], 0, 0, 0
        self.pointer = self.random.random() < 0.5

    def program(self):
        self.emit(f"static void {self.name_of_function}(void) {{")
        for name in VARIABLES:
            self.emit(f"int {name} = {self.number()};")
        if self.pointer:
            self.emit("int *p = &a;")
        self.block(0, loop=False)
        self.probe()
        self.emit("}")
        return "\n".join(self.lines) + "\n"

    def emit(self, text):
        self.lines.append(text)

    def number(self):
        self.numbers += 1
        return 1000 + self.numbers

    def name(self):
        return self.random.choice(VARIABLES)

    def probe(self):
        self.places += 1
        self.emit(f"probe({self.places}, {self.name()});")

    def test(self):
        return self.random.choice(["yes()", "!yes()", "yes() && yes()", "yes() || !yes()", "(yes() ? yes() : !yes())"])

    def block(self, depth, loop):
        for _ in range(self.random.randint(1, 3)):
            kinds = ("simple", "branch", "loop", "switch", "jump", "forward", "backward", "scope", "duff")
            getattr(self, self.random.choice(kinds if depth < 3 else ("simple",)))(depth + 1, loop)
        self.probe()

    def simple(self, depth, loop):
        name, other, number = self.name(), self.name(), self.number()
        choices = [
            f"{name} = {number};",
            f"{name} = {other};",
            f"{name} = yes() ? {number} : {other};",
            f"if (yes() && ({name} = {number})) {other} = {name};",
            f"{name} = ({{ {other} = {number}; {other}; }});",
            f"yes(), {name} = {other};",
        ]
        if self.pointer:
            choices += [f"*p = {number};", f"{name} = *p;"]
        self.emit(self.random.choice(choices))

    def branch(self, depth, loop):
        self.emit(f"if ({self.test()}) {{")
        self.block(depth, loop)
        if self.random.random() < 0.6:
            self.emit(f"}} else if ({self.test()}) {{" if self.random.random() < 0.4 else "} else {")
            self.block(depth, loop)
        self.emit("}")

    def loop(self, depth, loop):
        kind = self.random.choice(["while", "do", "for"])
        heads = {
            "while": f"while ({self.random.choice(['yes()', 'yes() && yes()'])}) {{",
            "do": "do {",
            "for": f"for (int i = 0; yes(); {self.name()} = {self.name()}) {{",
        }
        self.emit(heads[kind])
        self.block(depth, loop="continue")
        self.emit("} while (yes());" if kind == "do" else "}")

    def switch(self, depth, loop):
        self.emit("switch (yes() * 2 + yes()) {")
        for label in self.random.sample(["case 0:", "case 1:", "case 2:", "default:"], self.random.randint(1, 4)):
            self.emit(label)
            self.block(depth, loop=loop or "break")
            if self.random.random() < 0.5:
                self.emit("break;")
        self.emit("}")

    def duff(self, depth, loop):
        self.emit("switch (yes()) { case 0: do {")
        self.block(depth, loop="continue")
        self.emit("case 1:")
        self.block(depth, loop="continue")
        self.emit("} while (yes()); }")

    def jump(self, depth, loop):
        ways = ["return;"] + (["break;"] if loop else []) + (["continue;"] if loop == "continue" else [])
        self.emit(f"if (yes()) {self.random.choice(ways)}")

    def label(self):
        self.labels += 1
        return f"l{self.labels}"

    def forward(self, depth, loop):
        label = self.label()
        self.emit(f"if (yes()) goto {label};")
        self.block(depth, loop)
        self.emit(f"{label}:;")

    def backward(self, depth, loop):
        label = self.label()
        self.emit(f"{label}:;")
        self.block(depth, loop)
        self.emit(f"if (yes()) goto {label};")

    def scope(self, depth, loop):
        name = self.name()
        self.emit(f"{{ int {name} = {self.number()};")
        self.block(depth, loop)
        self.emit("}")


@pytest.fixture(scope="module")
def programs():
    return [Generator(seed).program() for seed in range(FUNCTIONS)]


@pytest.fixture(scope="module")
def runs(programs, tmp_path_factory):
    """Return what the probes saw: by function, for every run a list of (place, value)."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "a C compiler is needed to run the programs"
    directory = tmp_path_factory.mktemp("programs")
    names = ", ".join(f"program{seed}" for seed in range(FUNCTIONS))
    text = PRELUDE + "".join(programs) + f"static void (*programs[])(void) = {{ {names} }};\n"
    (directory / "all.c").write_text(text + MAIN.format(functions=FUNCTIONS, runs=RUNS))
    subprocess.run([compiler, "-w", "-O0", "-o", directory / "all", directory / "all.c"], check=True, timeout=60)
    output = subprocess.run([directory / "all"], capture_output=True, check=True, timeout=60, text=True).stdout
    seen, current = defaultdict(list), []
    for line in output.splitlines():
        function, place, value = map(int, line.split())
        if function < 0:
            seen[-1 - function].append(current)
            current = []
        else:
            current.append((place, value))
    return seen


def foreseen(rows):
    return predicted(rows, through_pointers(rows, sources_of(rows)))


@pytest.mark.parametrize("number", range(FUNCTIONS))
def test_every_value_and_path_that_a_run_shows_is_predicted(programs, runs, number):
    program = programs[number]
    rows = render(facts.extract(program.encode(), "c"))
    assert "unparsed" not in rows
    wanted, (paths, _) = foreseen(rows), reachable(rows, "edge")
    assert runs[number]
    for seen in runs[number]:
        for place, value in seen:
            assert value in wanted[place], (place, value, program)
        for (before, _), (after, _) in zip(seen, seen[1:], strict=False):
            assert after in paths[before], (before, after, program)


def test_the_random_programs_are_varied(programs):
    words = "while do for switch case default: goto break continue return *p &&"
    for word in words.split(" "):
        assert sum(word in program for program in programs) >= 10, word
