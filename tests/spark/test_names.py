"""Names that processes have to agree on."""

import os
import subprocess
import sys

import pytest

TEXT = """
.decl a(x: number, y: number) no_inline brie magic
.decl b(x: number)
b(x) :- a(x, _).
"""
SCRIPT = f"""
import engine
from engine.spark.driver import fingerprint
program = engine.compile([{TEXT!r}])
print(fingerprint(program, {{}}, 2), list(program.relations["a"].qualifiers))
"""


@pytest.mark.slow
def test_the_name_of_a_run_does_not_depend_on_the_seed_of_hashes():
    outputs = []
    for seed in ("1", "2", "3"):
        command, environment = [sys.executable, "-c", SCRIPT], {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        outputs.append(done.stdout.split(" ", 1))
    names, orders = zip(*outputs, strict=True)
    assert len(set(names)) == 1
    assert len(set(orders)) > 1  # The seeds do change the order of a set.
