"""What every command pays before it evaluates anything: small programs in processes of their own, cold and warm."""

import os
import subprocess
import sys
import tempfile
import time

SMALL = """
.type Pair = [x: number, y: symbol]
.decl arc(x: number, y: number, z: symbol)
arc(1, 2, "a"). arc(2, 3, "b"). arc(3, 1, "c").
.decl reach(x: number, y: number)
reach(x, y) :- arc(x, y, _).
reach(x, z) :- reach(x, y), reach(y, z).
.decl named(p: Pair, n: number)
named([x, cat(s, "!")], x + y) :- arc(x, y, s), reach(y, x), !arc(y, x, s), x < y.
.decl total(x: number, n: number)
total(x, n) :- arc(x, _, _), n = sum y : { reach(x, y) }.
"""


def five_hundred_rules():
    """500 rules over empty relations, every five of them recursive: what a rule costs that has nothing to do."""
    lines = [".decl r0(x: number, y: number)", ".input r0"]
    for i in range(1, 501):
        lines.append(f".decl r{i}(x: number, y: number)")
        other = i + 4 if i % 5 == 1 else i - 1
        lines.append(f"r{i}(x, z) :- r{i - 1}(x, y), r{min(other, 500)}(y, z), r0(z, x).")
    return "\n".join([*lines, ".printsize r500"])


def seconds():
    """Run with an empty kernel cache and then from it, and 500 rules with nothing to do; return the seconds of each."""
    with tempfile.TemporaryDirectory() as cache:
        return {
            "cold kernels": process(SMALL, cache),
            "warm kernels": process(SMALL, cache),
            "500 rules over empty relations": process(five_hundred_rules(), cache),
        }


def process(source, cache):
    program = f"import engine; engine.evaluate(engine.compile([engine.Source('a', {source!r})]), engine.Database())"
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "XDG_CACHE_HOME": cache})
    return time.perf_counter() - began
