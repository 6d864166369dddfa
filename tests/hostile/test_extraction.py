"""Files made to keep extraction busy: each costs its own facts and no other file's."""

from analyzer.collect import collect
from analyzer.config import Config
from analyzer.machine import ThisMachine
from analyzer.pool import MAX_FALSE_STARTS
from analyzer.trees import MemoryTree

# A sum of so many calls takes many times the limit of a tenth of a second.
SLOW = b"x = " + b" + ".join(b"g(%d)" % n for n in range(30_000)) + b"\n"


def test_files_over_the_limit_cost_their_own_facts_only(attack, tmp_path, monkeypatch):
    n_slow = MAX_FALSE_STARTS + 1
    files = {f"slow{n}.py": SLOW + b"# %d\n" % n for n in range(n_slow)} | {"good.py": b"import os\n"}
    config = Config(extract_timeout_s=0.1)
    found = collect(MemoryTree(files), config, tmp_path, ThisMachine(2))
    attack(
        "nine files that take longer than extract-timeout-s",
        expected=f"{n_slow} problems, good.py analysed",
        got=f"{sum('longer' in problem.message for problem in found.problems)} problems, "
        + ", ".join(f"{source.path} analysed" for source in found.files),
    )
