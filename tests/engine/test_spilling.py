"""Recursion that is not decomposable under a memory limit: in rounds and by exchange it spills its own rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

# Node x has arcs to x + 1, x + 13 and x + 170. Pairs are turned round and go on from their second node: of the pairs
# of n nodes only (0, 0) is not found. Nothing keeps a column, so this is not decomposable. 54 MB of rows, in matrices
# of bits. Multiplied, nodes are so far apart that pairs are kept in tables of hashes, which must stay in memory.
SCRIPT = """
import gc, json, sys
import numpy as np
import engine
from engine.evaluation.execution import Options
from engine.storage.memory import LEDGER
from engine.operating_system import release_free_memory, resident_bytes

TEXT = '''
.decl arc(x: number, y: number)
.decl pair(x: number, y: number)
pair(x, y) :- arc(x, y).
pair(y, x) :- pair(x, y).
pair(x, z) :- pair(x, y), arc(y, z).
'''
N = 2600
SMALL = Options(split_rows=1 << 17)  # What is spilled are partitions: of a million rows each there were too few.

def run(step, policy, limit):
    nodes = np.arange(N)
    ends = [(x, x + d) for d in (1, 13, 170) for x in nodes[:-d]]
    arcs = np.ascontiguousarray(np.array(ends, np.int32).T * step)
    gc.collect()
    release_free_memory()
    limit = limit and int((resident_bytes() + limit) / 0.9)  # A tenth is held back.
    before = LEDGER.files.spilled_bytes
    try:
        database = engine.Database(relations={"arc": arcs})
        chosen = {"threads": 2, "policy": policy, "memory_limit": limit, "options": SMALL}
        found = engine.evaluate(engine.compile([TEXT]), database, **chosen)
    except engine.EvaluationError as error:
        return {"error": str(error)}
    seen = np.zeros((N, N), np.bool_)
    x, y = found.relation("pair")
    seen[x, y] = True
    (recursive,) = [s for s in found.statistics if s.recursive]
    return {"rows": x.size, "seen": int(seen.sum()), "none": bool(seen[0, 0]), "rounds": list(recursive.rounds),
            "local": recursive.local, "spilled": LEDGER.files.spilled_bytes - before}

policy = {"global": engine.Global(), "ssp": engine.Ssp(1), "dws": engine.Dws()}[sys.argv[1]]
# Compiling a kernel takes memory too: let all be compiled.
free = run(1, policy, None)
run(1, policy, 200_000_000)
print(json.dumps([free, run(1, policy, 48_000_000), run(1_000_003, policy, 48_000_000)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["global", "ssp", "dws"])
def test_a_recursion_spills_what_it_does_not_write_to(policy, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, policy],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    free, limited, impossible = json.loads(done.stdout)
    for found in (free, limited):
        assert (found["rows"], found["seen"], found["none"]) == (2600**2 - 1, 2600**2 - 1, False)
        assert not found["local"] and len(found["rounds"]) == (0 if policy == "global" else 2)
    assert free["spilled"] == 0 and limited["spilled"] > 10_000_000
    assert "pair: evaluation needs more than the memory limit" in impossible["error"]
    assert not list(tmp_path.iterdir())
