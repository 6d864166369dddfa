"""Claims on entries of the fact cache."""

import os
import signal
import subprocess
import sys

from analyzer.extraction.cache_locks import Claims

HOLD = """
import sys, time
from pathlib import Path
from analyzer.extraction.cache_locks import Claims
claims = Claims(Path(sys.argv[1]))
print(claims.claim(("python", "a")), flush=True)
time.sleep(60)
"""


def test_a_claim_of_another_process_is_seen_until_that_process_ends(tmp_path):
    claims = Claims(tmp_path)
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "True\n"
        assert not claims.claim(("python", "a"))
        assert claims.claim(("python", "b"))
        os.kill(other.pid, signal.SIGKILL)
    claims.wait(("python", "a"))
    assert claims.claim(("python", "a"))
    claims.close()


def test_where_nothing_can_be_locked_everything_may_be_made(tmp_path):
    (tmp_path / "occupied").write_text("a file, not a directory")
    claims = Claims(tmp_path / "occupied")
    assert claims.claim(("python", "a"))
    claims.wait(("python", "a"))
    claims.close()
