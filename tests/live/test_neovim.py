"""A session in Neovim, as Debian has it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def neovim():
    """The editor, installed where it is missing."""
    if not shutil.which("nvim"):
        subprocess.run(["apt-get", "install", "-qq", "--no-install-recommends", "neovim"], check=True)
    return shutil.which("nvim")


@pytest.mark.slow
def test_findings_follow_what_is_typed(neovim, root):
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE.parents[1]),
        "COMMAND": json.dumps([sys.executable, "-P", "-m", "cli", "lsp"]),
    }
    command = [
        neovim,
        "--headless",
        "-n",
        "-u",
        "NONE",
        "-i",
        "NONE",
        "app/views.py",
        "-c",
        f"luafile {HERE}/session.lua",
        "-c",
        "cquit",
    ]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
    steps = json.loads(done.stdout.splitlines()[-1])
    assert [(step["name"], step["came"]) for step in steps] == [
        *(("opened", True), ("typed", True), ("taken back", True), ("suppressed", True))
    ]
    assert [found["code"] for found in steps[0]["shown"]] == ["command-injection"]
    assert steps[0]["shown"] == steps[2]["shown"]
