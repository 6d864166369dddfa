"""Run-time directories for live processes, and a repository that editors open."""

import shutil
import tempfile

import pytest

from analyzer.live.client import connected
from tests.live.edits import FILES


@pytest.fixture
def run_time(state_directory, monkeypatch):
    """A run-time directory of its own."""
    made = tempfile.mkdtemp(prefix="a-")  # Paths of sockets must be short.
    monkeypatch.setenv("XDG_RUNTIME_DIR", made)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def root(tmp_path, run_time):
    """A directory of files with findings. A live process that an editor has started in it is stopped."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    yield tmp_path
    if client := connected(tmp_path):
        with client:
            client.call("stop")
