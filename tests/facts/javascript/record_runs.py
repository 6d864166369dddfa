"""Writes `runs.json`: random programs, and what running them in Node.js showed. `python record_runs.py`, with `node`.

A program assigns distinct numbers to variables and hands variables to `probe(place, value)`. Every branch asks a script
of decisions. Recorded are, over many scripts, the values seen at each place, and the places seen one after the other.
"""

import json
import random
import subprocess
from pathlib import Path

RUNS = Path(__file__).with_name("runs.json")
PROGRAMS, SCRIPTS = 80, 60
VARIABLES = ("a", "b", "c")
SIMPLE = ("constant", "copy", "choose", "both", "either", "swap", "default")
ALL = (*SIMPLE, "branch", "branch", "loop", "loop", "switch", "labelled", "jump", "fail", "attempt", "attempt")
ALL += ("closure", "run_later", "block")

DRIVER = """
const programs = JSON.parse(require("fs").readFileSync(0, "utf8"));
const result = programs.map((source, number) => {
  const values = new Set(), steps = new Set();
  const main = new Function("yes", "fail", "probe", "some", "later", source + "; return main");
  for (let script = 0; script < SCRIPTS; script++) {
    let seed = (number * 7919 + script * 104729 + 12345) >>> 0, left = 80, last = 0;
    const yes = () => {
      if (left-- <= 0) return false;
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return (seed >>> 17) % 2 === 1;
    };
    const fail = () => { if (yes()) throw new Error("x"); return 1 };
    const probe = (place, value) => {
      values.add(place + " " + value);
      if (last) steps.add(last + " " + place);
      last = place;
    };
    const some = (number) => yes() ? yes() ? [number, number] : [number] : [];
    try { main(yes, fail, probe, some, [])() } catch (error) { if (error.message !== "x") throw error }
  }
  const pairs = (set) => [...set].map((text) => text.split(" ").map(Number));
  return { source, values: pairs(values), steps: pairs(steps) };
});
console.log(JSON.stringify(result, null, 0));
"""


class Generator:
    """Writes a function over `VARIABLES`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.numbers, self.places = [], 0, 0

    def program(self):
        self.emit("function main() {")
        self.emit("let " + ", ".join(f"{name} = {self.number()}" for name in VARIABLES) + ";")
        self.block(0, False)
        self.probe()
        self.emit("}")
        return "\n".join(self.lines)

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

    def block(self, depth, loop):
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice(ALL if depth < 3 else SIMPLE)
            getattr(self, f"write_{kind}")(depth + 1, loop)
        self.probe()

    def write_constant(self, depth, loop):
        self.emit(f"{self.name()} = {self.number()};")

    def write_copy(self, depth, loop):
        self.emit(f"{self.name()} = {self.name()};")

    def write_choose(self, depth, loop):
        self.emit(f"{self.name()} = yes() ? {self.number()} : {self.name()};")

    def write_both(self, depth, loop):
        self.emit(f"yes() && ({self.name()} = {self.number()});")

    def write_either(self, depth, loop):
        self.emit(f"{self.name()} {self.random.choice(['&&=', '||=', '??='])} {self.number()};")

    def write_swap(self, depth, loop):
        self.emit(f"[{self.name()}, {self.name()}] = [{self.name()}, {self.number()}];")

    def write_default(self, depth, loop):
        self.emit(f"[{self.name()} = {self.number()}] = [];")

    def write_branch(self, depth, loop):
        test = self.random.choice(["yes()", "!yes()", "yes() && yes()", "yes() || !yes()"])
        self.emit(f"if ({test}) {{")
        self.block(depth, loop)
        if self.random.random() < 0.3:
            self.emit("} else if (yes()) {")
            self.block(depth, loop)
        if self.random.random() < 0.5:
            self.emit("} else {")
            self.block(depth, loop)
        self.emit("}")

    def write_loop(self, depth, loop):
        kind = self.random.randrange(4)
        heads = ["while (yes()) {", "do {", f"for (const x of some({self.number()})) {{ {self.name()} = x;"]
        heads.append(f"for ({self.name()} = {self.number()}; yes(); {self.name()} = {self.number()}) {{")
        self.emit(heads[kind])
        self.block(depth, True)
        self.emit("} while (yes());" if kind == 1 else "}")

    def write_switch(self, depth, loop):
        self.emit("switch (true) {")
        for case in self.random.sample(["case yes():", "default:", "case !yes():"], self.random.randint(1, 3)):
            self.emit(case)
            self.block(depth, loop)
            if self.random.random() < 0.5:
                self.emit("break;")
        self.emit("}")

    def write_labelled(self, depth, loop):
        label = f"l{self.number()}"
        if self.random.random() < 0.5:
            self.emit(f"{label}: {{")
            self.block(depth, loop)
            self.emit(f"if (yes()) break {label};")
        else:
            self.emit(f"{label}: while (yes()) {{ for (; yes(); ) {{")
            self.block(depth, True)
            self.emit(f"if (yes()) {self.random.choice(['break', 'continue'])} {label}; }}")
        self.block(depth, loop)
        self.emit("}")

    def write_jump(self, depth, loop):
        jumps = ["break", "continue", "return"] if loop else ["return"]
        self.emit(f"if (yes()) {self.random.choice(jumps)};")

    def write_fail(self, depth, loop):
        self.emit(self.random.choice(["fail();", 'if (yes()) throw new Error("x");', f"{self.name()} = fail();"]))

    def write_attempt(self, depth, loop):
        self.emit("try {")
        self.block(depth, loop)
        caught = self.random.random() < 0.8
        if caught:
            self.emit("} catch {")
            self.block(depth, loop)
        if not caught or self.random.random() < 0.5:
            self.emit("} finally {")
            self.block(depth, loop)
        self.emit("}")

    def write_closure(self, depth, loop):
        name = f"f{self.number()}"
        self.emit(self.random.choice([f"const {name} = () => {{", f"function {name}() {{"]))
        if self.random.random() < 0.5:
            self.emit(f"{self.name()} = {self.number()};")
        self.probe()
        self.emit(f"}}; later.push({name}); if (yes()) {name}();")

    def write_run_later(self, depth, loop):
        self.emit("later.at(-1)?.();")

    def write_block(self, depth, loop):
        name = self.name()
        self.emit(f"{{ let {name} = {self.number()};")
        self.block(depth, loop)
        self.emit("}")


def main():
    """Run the programs and write what was seen."""
    programs = [Generator(seed).program() for seed in range(PROGRAMS)]
    command = ["node", "-e", DRIVER.replace("SCRIPTS", str(SCRIPTS))]
    done = subprocess.run(command, input=json.dumps(programs), capture_output=True, text=True, check=True)
    RUNS.write_text(done.stdout.replace('{"source"', '\n{"source"'), encoding="utf-8")


if __name__ == "__main__":
    main()
