"""The memory limit: results that are spilled, the error where that is not enough, and what the ledger knows."""

import gc
import json
import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import operating_system
from engine.evaluation.execution import Options
from engine.evaluation.stratum_evaluation import StratumEvaluation
from engine.storage import memory
from engine.storage.memory import Ledger, MemoryLimitReached
from engine.storage.spill_files import SpillFiles

TOP = Path(__file__).resolve().parents[2]

# A chain of n nodes has n(n-1)/2 connected pairs: 3,500 nodes make 6.1 million tuples, 49 MB.
SCRIPT = """
import gc, json, threading
import numpy as np
import engine
from engine.storage.memory import LEDGER
from engine.operating_system import release_free_memory, resident_bytes

TEXT = '''
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
tc(x, y) :- arc(x, y).
tc(x, y) :- tc(x, z), arc(z, y).
.decl back(x: number, y: number)
back(y, x) :- arc(x, y).
back(y, x) :- back(z, x), arc(z, y), !arc(y, x).
'''
# No partition of a relation is done before the rule is, and pairs so far apart are not bits of a matrix.
PRODUCT = '''
.decl arc(x: number, y: number)
.decl product(x: number, y: number)
product(x * 7919, y * 104729) :- arc(x, _), arc(_, y).
'''

def chain(n):
    return engine.Database(relations={"arc": np.array([range(n - 1), range(1, n)], np.int32)})

def run(text, n, limit):
    peak, done = [0], threading.Event()
    def watch():
        while not done.wait(0.002):
            peak[0] = max(peak[0], resident_bytes())
    gc.collect()
    release_free_memory()
    limit = limit and int((resident_bytes() + limit) / 0.9)  # A tenth is held back.
    before = LEDGER.files.spilled_bytes
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        found = engine.evaluate(engine.compile([text]), chain(n), threads=2, memory_limit=limit)
    except engine.EvaluationError as error:
        return {"error": str(error)}
    finally:
        done.set()
        watcher.join()
    spilled = LEDGER.files.spilled_bytes - before
    rows = {name: found.relation(name) for name in ("tc", "back")}
    pairs = [rows["tc"], rows["back"][::-1]]
    seen = np.zeros((2, n, n), np.bool_)
    for marked, (x, y) in zip(seen, pairs):
        marked[x, y] = True
    return {"distinct": seen.sum(axis=(1, 2)).tolist(), "rows": [x.size for x, y in pairs],
            "forward": all(bool((x < y).all()) for x, y in pairs),
            "spilled": spilled, "over": peak[0] - limit if limit else None}

# Compiling a kernel takes memory too: let all be compiled.
free = run(TEXT, 3500, None)
run(TEXT, 3500, 200_000_000)
print(json.dumps([free, run(TEXT, 3500, 90_000_000), run(PRODUCT, 2500, 25_000_000)]))
"""


def spilling_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_results_beyond_the_limit_are_spilled_and_equal(tmp_path):
    free, limited, impossible = spilling_runs(tmp_path)
    pairs = 3500 * 3499 // 2
    assert free["distinct"] == limited["distinct"] == free["rows"] == limited["rows"] == [pairs, pairs]
    assert free["forward"] and limited["forward"]
    assert free["spilled"] == 0
    assert limited["spilled"] > 10_000_000
    assert limited["over"] < 10_000_000, "resident memory keeps to the limit, but for small arrays"
    assert "product: evaluation needs more than the memory limit" in impossible["error"]
    assert "rows with their indexes" in impossible["error"] and "raise the limit" in impossible["error"]
    assert not list(tmp_path.iterdir())


def test_the_ledger_knows_what_is_held():
    gc.collect()
    before = memory.LEDGER.held_bytes
    array = memory.empty((2, 1 << 20), np.int32)
    part = array[:, :5]
    assert memory.LEDGER.held_bytes == before + (1 << 23)
    del array
    gc.collect()
    assert memory.LEDGER.held_bytes == before + (1 << 23), "a view keeps it"
    del part
    gc.collect()
    assert memory.LEDGER.held_bytes == before


COPIES = """
.decl a(x: number, y: number)
.decl b(x: number, y: number)
.decl c(x: number, y: number)
.decl d(x: number, y: number)
.decl e(n: number)
b(y, x) :- a(x, y).
c(y, x) :- b(x, y), !a(x, x).
d(y, x) :- c(x, y), !a(x, x).
e(n) :- n = count : { d(_, _) }.
"""


def test_relations_that_nothing_reads_any_more_are_let_go(monkeypatch):
    n, held = 100, []
    database = engine.Database(relations={"a": np.array([range(n), range(1, n + 1)], np.int32)})
    stratum = StratumEvaluation.stratum

    def measured(evaluation, each):
        done = stratum(evaluation, each)
        held.append(sum(relation.n for relation in evaluation.relations.values()))
        return done

    monkeypatch.setattr(StratumEvaluation, "stratum", measured)
    options = Options(large_rows=0)
    everything = engine.evaluate(engine.compile([COPIES]), database, options=options)
    assert held == [n, 2 * n, 3 * n, 4 * n, 4 * n + 1]
    held.clear()
    asked = engine.evaluate(engine.compile([COPIES]), database, options=options, asked=["e"])
    assert held == [n, 2 * n, 3 * n, 3 * n, n + 1], "of the relation before, `d` is the last reader"
    assert set(asked.relations) == {"e"} and asked.relation("e").tolist() == everything.relation("e").tolist() == [[n]]


def room(n_bytes):
    """Return the limit that leaves so much for an evaluation, with nothing that a garbage collection could add."""
    gc.collect()
    operating_system.release_free_memory()
    return int((operating_system.resident_bytes() + n_bytes) / (1 - memory.RESERVE))


class PartitionOwner:
    def __init__(self, n_bytes):
        self.rows = np.arange(n_bytes // 4, dtype=np.int32)


def test_the_oldest_offers_are_spilled_first_and_no_more_than_needed():
    ledger, owners = Ledger(), [PartitionOwner(1 << 24) for _ in range(4)]
    ledger._measure = lambda: None
    with ledger.limited(None):
        ledger.limit_bytes, ledger.held_bytes, ledger.other_bytes = 100 << 20, 4 << 24, 36 << 20
        for owner in owners:
            ledger.offer(owner, "rows")
        ledger.withdraw(owners[0])
        spill, ledger.files.write = ledger.files.write, lambda array: (ledger.leave(array.nbytes), spill(array))[1]
        ledger.enter(1 << 20)
    assert [memory.is_spilled(owner.rows) for owner in owners] == [False, True, False, False]
    assert all((owner.rows == np.arange(1 << 22)).all() for owner in owners)


def test_what_cannot_be_spilled_is_refused():
    ledger = Ledger()
    with ledger.limited(room(1 << 25)):
        with pytest.raises(MemoryLimitReached, match="1.1 GB more do not fit"):
            ledger.enter(1 << 30)
    ledger.enter(1 << 30)


def test_spilled_arrays_share_unnamed_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    gc.collect()
    files, descriptors = SpillFiles(), len(os.listdir("/proc/self/fd"))
    arrays = [np.arange(i, i + 3000, dtype=np.int64).reshape(2, -1) for i in range(100)]
    spilled = [files.write(array) for array in arrays]
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 1
    assert not list(tmp_path.iterdir())
    assert all((a == b).all() for a, b in zip(arrays, spilled, strict=True))
    spilled[0][0, 0] = 7
    assert arrays[0][0, 0] == 0 and spilled[1][0, 0] == 1
    del files, spilled
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_what_is_spilled_to_memory_counts_as_memory(tmp_path, monkeypatch):
    """A file in a file system without a disk frees nothing."""
    device = os.stat(tmp_path).st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 35 {os.major(device)}:{os.minor(device)} / {tmp_path} rw shared:1 - tmpfs tmpfs rw\n")
    told = operating_system.proc_text
    monkeypatch.setattr(
        operating_system, "proc_text", lambda name: mounts.read_text() if name == mounts.name else told(name)
    )
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ledger, owner = Ledger(), PartitionOwner(1 << 24)
    with ledger.limited(room(1 << 25)):
        ledger.offer(owner, "rows")
        with pytest.raises(MemoryLimitReached):
            ledger.enter(1 << 28)
        assert not memory.is_spilled(owner.rows)
        monkeypatch.setattr(memory, "LEDGER", ledger)
        with pytest.raises(MemoryLimitReached):
            memory.for_result((1 << 25,), np.dtype(np.int64), [])


def test_the_limit_of_a_control_group_counts(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    limit.write_text("1000000\n")
    monkeypatch.setattr(operating_system, "control_files", lambda: [tmp_path / "none", limit])
    assert operating_system.machine_bytes() == 1_000_000
    limit.write_text("max\n")
    assert operating_system.machine_bytes() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")


def test_a_limit_of_the_process_itself_is_heeded():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))\n"
        "from engine.operating_system import machine_bytes; print(machine_bytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 1 << 29


CLOSURE = """
.decl arc(x: number, y: number)
.input arc
.decl tc(x: number, y: number)
.output tc
tc(x, y) :- arc(x, y).
tc(x, y) :- tc(x, z), arc(z, y).
"""


MEASURED = """
import atexit, pathlib
from engine.operating_system import peak_bytes
atexit.register(lambda: pathlib.Path("peak").write_text(str(peak_bytes())))
from cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit_mb", [None, 300, 400])
def test_the_resident_size_of_a_run_keeps_to_the_limit(limit_mb, tmp_path):
    """A chain of 5,000 nodes has 12.5 million connected pairs: 100 MB of rows, sorted and written as 110 MB of text."""
    n = 5000
    (tmp_path / "tc.dl").write_text(CLOSURE)
    (tmp_path / "arc.facts").write_text("".join(f"{i}\t{i + 1}\n" for i in range(n - 1)))
    command = [sys.executable, "-P", "-c", MEASURED, "run", "tc.dl", "-F", ".", "-D", "out"]
    command += ["--memory-limit", f"{limit_mb}M"] if limit_mb else []
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(TOP)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    with open(tmp_path / "out" / "tc.csv") as file:
        rows = (line.split() for line in file)
        assert all((int(x), int(y)) == pair for (x, y), pair in zip(rows, combinations(range(n), 2), strict=True))
    peak_mb = int((tmp_path / "peak").read_text()) / 1e6
    assert peak_mb > 500 if limit_mb is None else peak_mb < 1.1 * limit_mb


def test_a_limit_below_what_the_process_holds_says_the_least(analyze, tmp_path):
    (tmp_path / "a.dl").write_text(".decl a(x: number)\na(1).\n")
    told = analyze("run", tmp_path / "a.dl", "--memory-limit", "16M", code=2).output
    assert re.match(r"error\[V001\]: the memory limit of 16.8 MB is too small: the process needs \d+", told)
