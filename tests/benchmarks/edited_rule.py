"""`analyze scan` after one of the repository's rules was edited, against the same scan again.

    python tests/benchmarks/edited_rule.py REPOSITORY [--runs 5]

Works on a copy, with a check and a model in `.analyze`, and a cache of its own that two scans have filled. Seconds are
of whole processes, by the clock and of the processor; each edit gives a text that was never compiled.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

TOP = Path(__file__).resolve().parents[2]
SCAN = "from cli import main; main()"
CHECK = """// @id shop/plain-http
// @name Request without encryption
// @severity warning   @precision high
// @message This request to '{detail}' is not encrypted.
.decl shop_called(call: Entity, text: symbol)
shop_called(c, t) :- calls(c, "requests.get"), argument(c, 0, a), constant_value(a, "string", t).
suspect("shop/plain-http", c, t) :- shop_called(c, t), match("http://.*", t), !dead(c), t != "EDIT".
"""
WRONG = CHECK.replace("!dead(c)", "!deed(c)")
MODEL = 'sink_argument("mail", "shop.mail.send", "to").\ntext_kind("mail").\ntaint_check("shop/plain-http", "mail").\n'


def scan(tree, environment):
    """Scan in a process of its own; return the seconds by the clock and of the processor."""
    begin, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-c", SCAN, "scan", str(tree), "--format", "json", "-o", f"{tree}.json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    elapsed_s, after = perf_counter() - begin, getrusage(RUSAGE_CHILDREN)
    assert done.returncode in (0, 1, 3), done.stderr
    return elapsed_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(tree, environment, runs):
    """Return the seconds of scans by what was done before each."""
    rules = tree / ".analyze" / "rules"
    rules.mkdir(parents=True)
    (tree / ".analyze" / "models").mkdir()
    (tree / ".analyze" / "models" / "shop.dl").write_text(MODEL)
    found = {"first, cold": [], "unedited": [], "edited": [], "edited, wrong": []}
    for run in range(-1, runs):
        for name, text in (("edited", CHECK), ("edited, wrong", WRONG)):
            (rules / "shop.dl").write_text(text.replace("EDIT", f"edit {run}"))
            spent, again = scan(tree, environment), scan(tree, environment)
            if run < 0:
                found["first, cold"] += [spent] if name == "edited" else []
            else:
                found[name].append(spent)
                found["unedited"] += [again] if name == "edited" else []
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        shutil.copytree(options.repository, tree, ignore=shutil.ignore_patterns(".git", ".analyze"))
        environment = {**os.environ, "PYTHONPATH": str(TOP), "XDG_CACHE_HOME": str(Path(scratch) / "cache")}
        found = measured(tree, environment, options.runs)
    print(f"medians of {options.runs}, in seconds" + 10 * " " + "   clock     cpu")
    for name, seconds in found.items():
        elapsed_s, cpu_s = (statistics.median(each) for each in zip(*seconds, strict=True))
        print(f"{name:32} {elapsed_s:7.2f} {cpu_s:7.2f}")
    more = [statistics.median(e[1] for e in found[n]) - statistics.median(e[1] for e in found["unedited"])
            for n in ("edited", "edited, wrong")]  # fmt: skip
    print(f"an edit costs {more[0]:.2f} s of cpu more than none, a wrong one {more[1]:.2f} s")


if __name__ == "__main__":
    main()
