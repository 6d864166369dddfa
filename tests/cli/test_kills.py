"""Commands that are killed, that share a cache, or have none: the next run, and each of several, gives the right bytes.

`python tests/replay/kills.py` kills each command as often as one likes.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


def load_kills():
    specification = spec_from_file_location("kills", TOP / "tests/replay/kills.py")
    module = sys.modules["kills"] = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


kills = load_kills()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*kills.COMMANDS} - {"batch"}))  # Of a batch: tests/batch/test_batch.py.
def test_a_killed_command_leaves_nothing_that_misleads_the_next(name, shared_state):
    kills.kills(name, 2, 15, shared_state)  # Fails by itself.


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scan", "update"])
def test_four_processes_on_one_cache_give_the_same(name, shared_state, tmp_path):
    subject = kills.subject(name, tmp_path / name, shared_state)
    expected = subject.run()
    subject.forget()
    processes = [subject.start() for _ in range(4)]
    errors = [process.communicate()[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [expected[0]] * 4, errors
    assert {*errors} <= {"", "another run is using state; waiting for its end\n"}
    assert subject.run() == expected


@pytest.mark.slow
def test_two_versions_side_by_side_keep_apart_what_they_keep(shared_state, tmp_path):
    """The other version has other extractors, compiled rules and states, by their digests."""
    subject = kills.subject("ci", tmp_path / "ci", shared_state)
    expected = subject.run()
    other = tmp_path / "other"
    for package in ("analyzer", "cli", "engine", "facts", "rules"):
        shutil.copytree(TOP / package, other / package)
    for file in ("engine/codec.py", "facts/tree_walk.py", "analyzer/history/states.py"):
        with (other / file).open("a") as source:
            source.write("\n# Another version.\n")
    command = [sys.executable, "-P", "-c", "from cli import main; main()", *subject.arguments]
    environment = {**os.environ, "PYTHONPATH": str(other), "XDG_CACHE_HOME": str(subject.cache)}
    done = subprocess.run(command, cwd=subject.top, env=environment, capture_output=True, text=True)
    assert (done.returncode, subject.output.read_bytes()) == expected, done.stderr
    for kept in ("facts", "commits"):
        assert len(os.listdir(subject.cache / "analyze" / kept)) == 2
    assert subject.run() == expected


@pytest.mark.slow
def test_a_home_that_cannot_be_written_costs_a_warning(shared_state, tmp_path):
    """Root may write anywhere, but not below a file."""
    subject = kills.subject("scan", tmp_path / "scan", shared_state)
    code, _ = subject.run()
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.cache").write_text("")
    (tmp_path / "home").chmod(0o500)
    command = [sys.executable, "-P", "-c", "from cli import main; main()", *subject.arguments]
    environment = {**os.environ, "PYTHONPATH": str(TOP), "HOME": str(tmp_path / "home")}
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(command, cwd=subject.top, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert subject.output.read_text().count("nothing is cached for the next run") == 1
