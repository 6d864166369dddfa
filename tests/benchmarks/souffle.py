"""The peer Soufflé, compiled to C++: `--souffle PATH` names its binary. Load is excluded.

What is excluded is the time of a second program, compiled likewise, that reads the same relations and has no rules.
"""

import hashlib
import re
import statistics
import subprocess
import time
from pathlib import Path

TIMEOUT_S = 600


class Souffle:
    """Compiles programs once into a directory and runs them there."""

    def __init__(self, binary, folder):
        self.binary, self.folder = Path(binary).resolve(), Path(folder)

    def compiled(self, source):
        target = self.folder / ("souffle-" + hashlib.sha256(source.encode()).hexdigest()[:16])
        if not target.exists():
            text = target.with_suffix(".dl")
            text.write_text(source)
            subprocess.run([self.binary, "-o", target, text], check=True, capture_output=True, text=True)
        return target

    def measure(self, source, facts, threads, runs):
        """Return seconds without load (median) and the rows printed; seconds are None beyond TIMEOUT_S."""
        try:
            whole = [self.run(self.compiled(source), facts, threads) for _ in range(runs)]
        except subprocess.TimeoutExpired:
            return {"elapsed_s": None, "rows": {}, "load_s": None}
        load = [self.run(self.compiled(loading(source)), facts, threads)[0] for _ in range(runs)]
        load_s = statistics.median(load)
        return {
            "elapsed_s": statistics.median(seconds for seconds, _ in whole) - load_s,
            "load_s": load_s,
            "rows": whole[0][1],
        }

    def run(self, program, facts, threads):
        began = time.perf_counter()
        done = subprocess.run(
            [program, "-F", facts, f"-j{threads}"], check=True, capture_output=True, text=True, timeout=TIMEOUT_S
        )
        elapsed_s = time.perf_counter() - began
        return elapsed_s, {name: int(n) for name, n in re.findall(r"^(\w+)\t(\d+)$", done.stdout, re.MULTILINE)}


def loading(source):
    """The program that reads the inputs of another and counts them."""
    inputs = set(re.findall(r"^\.input (\w+)", source, re.MULTILINE))
    kept = [
        line
        for line in source.splitlines()
        if (line.startswith(".decl") and re.match(r"\.decl (\w+)", line)[1] in inputs) or line.startswith(".input")
    ]
    return "\n".join([*kept, *(f".printsize {name}" for name in sorted(inputs))]) + "\n"
