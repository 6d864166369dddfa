"""What is written is whole: after a failure, a full disk or a kill the old file is there, or none, and no litter."""

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engine
from analyzer.cache_entries import write_atomically
from cli.output import write_file
from engine.atomic_file import replaced
from engine.cfl.edge_output import write_edges
from engine.cfl.edges import Graph, Names


def output(parameters):
    """Write a relation of 20,000 rows as an `.output` directive with these parameters says."""

    def write(path):
        program = engine.compile([f'.decl p(x: number, s: symbol)\n.output p(filename="{path.name}"{parameters})'])
        rows = {"p": {(i * 7919 % 1000003, f"text {i * 104729 % 1000003}") for i in range(20_000)}}
        result = engine.evaluate(engine.compile([".decl p(x: number, s: symbol)"]), engine.facts(program, rows))
        engine.store(program, result, path.parent)

    return write


def edges(path):
    rows = np.arange(40_000).reshape(2, -1)
    names = Names([f"v{i}" for i in range(40_000)])
    write_edges(Graph(names, Names([]), {"e": rows}, {}), path)


TEXT = "0123456789abcdef" * 4096
WRITERS = {
    "report.txt": lambda path: write_file(path, TEXT),
    "entry": lambda path: write_atomically(path, TEXT.encode()),
    "p.csv": output(""),
    "p.json": output(", IO=jsonfile"),
    "p.gz": output(", compress=true"),
    "p.parquet": output(", IO=parquet"),
    "p.sqlite": output(", IO=sqlite"),
    "edges.tsv": edges,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file(name, full_disk, tmp_path):
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    whole = path.read_bytes()
    assert len(whole) > 1 << 14
    if name != "p.sqlite":
        path.write_bytes(b"old")
    before = path.read_bytes()
    with full_disk(), pytest.raises(Exception, match="cannot write|File too large"):
        write(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [name]
    path.unlink()
    with full_disk(), pytest.raises(Exception, match="cannot write|File too large"):
        write(path)
    assert [each.name for each in tmp_path.iterdir()] in ([], ["p.sqlite"])  # SQLite leaves an empty database.


def test_a_kill_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("old")
    script = (
        "import os, signal, sys\nfrom engine.atomic_file import replaced\n"
        "with replaced(sys.argv[1]) as file:\n    file.write(b'new' * 10000)\n    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)])
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1 or not hasattr(os, "O_TMPFILE")


def test_a_file_system_that_has_no_files_without_names_is_written_to(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text("old")
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    with replaced(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_permissions_and_links_stay_and_a_pipe_is_written_to(tmp_path):
    path, link = tmp_path / "report", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to("report")
    with replaced(link) as file:
        file.write(b"new")
    assert link.is_symlink() and path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with replaced(tmp_path / "pipe") as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    with replaced(Path("/dev/null")) as file:
        file.write(b"gone")
    assert not Path("/dev/null").is_file()


OPENED = re.compile(r"""\.write_(text|bytes)\(|open\([^)]*["'][xwa]b?["']""")
KNOWN = {
    "engine/atomic_file.py",  # This is how.
    "engine/incremental/block_file.py",  # New names, switched by the manifest.
    "analyzer/live/client.py",  # What a live process logs.
    "engine/cluster/tls.py",  # A directory of its own, for a moment.
    *(
        "analyzer/batch/result_files.py",
        "analyzer/batch/isolated_process.py",
        "analyzer/batch/scan_job.py",
        "analyzer/batch/scan_process.py",
    ),
}


def test_outputs_are_written_in_one_way():
    """Who opens a file for writing otherwise does so in a directory of its own."""
    top = Path(engine.__path__[0]).parent
    files = [path for package in ("cli", "analyzer", "engine", "facts") for path in (top / package).rglob("*.py")]
    assert {str(path.relative_to(top)) for path in files if OPENED.search(path.read_text())} == KNOWN
