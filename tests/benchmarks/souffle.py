"""The peer Soufflé, compiled to C++: `--souffle PATH` names its binary. Load is excluded.

What is excluded is the time of a second program, compiled likewise, that reads the same relations and has no rules.
"""

import hashlib
import re
import resource
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
        """Return seconds without load (medians) and the rows printed; seconds are None beyond TIMEOUT_S."""
        whole, load = self.compiled(source), self.compiled(loading(source))
        try:
            runs_of_both = [(self.run(whole, facts, threads), self.run(load, facts, threads)) for _ in range(runs)]
        except subprocess.TimeoutExpired:
            return {"elapsed_s": None, "processor_s": None, "rows": {}}
        elapsed_s, processor_s = (statistics.median(w[i] - r[i] for w, r in runs_of_both) for i in (0, 1))
        return {"elapsed_s": elapsed_s, "processor_s": processor_s, "rows": runs_of_both[0][0][2]}

    def run(self, program, facts, threads):
        """Return seconds by the clock, seconds of processors, and the rows printed."""
        command = [program, "-F", facts, f"-j{threads}"]
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT_S)
        elapsed_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        processor_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        rows = {name: int(n) for name, n in re.findall(r"^(\w+)\t(\d+)$", done.stdout, re.MULTILINE)}
        return elapsed_s, processor_s, rows


def loading(source):
    """The program that reads the inputs of another and counts them."""
    inputs = set(re.findall(r"^\.input (\w+)", source, re.MULTILINE))
    kept = [
        line
        for line in source.splitlines()
        if (line.startswith(".decl") and re.match(r"\.decl (\w+)", line)[1] in inputs) or line.startswith(".input")
    ]
    return "\n".join([*kept, *(f".printsize {name}" for name in sorted(inputs))]) + "\n"
