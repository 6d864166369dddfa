"""Progress bars: on a terminal, and only there."""

import os
import pty
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def run_on_terminal(*arguments):
    """Run the command with standard error on a terminal; return exit code, output and what the terminal was sent."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-c", "from cli import main; main()", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(TOP), "TERM": "xterm-256color"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    sent = b""
    while chunk := read(ours):
        sent += chunk
    output, _ = process.communicate()
    return process.returncode, output.decode(), sent.decode()


def read(descriptor):
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_bars_are_shown_on_a_terminal_and_are_not_in_the_output(repository, state_directory):
    code, output, sent = run_on_terminal("scan", repository, "--rules", "sql-injection")
    assert code == 1
    assert "Reading files" in sent and "Evaluating rules" in sent
    assert "Evaluating rules" not in output and "SQL query" in output
