"""A batch on a standalone cluster: the bytes of a batch on this machine."""

import subprocess

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

APP = """
import os

def run():
    os.system("ls " + input())
"""


def test_a_batch_on_two_executors_gives_the_same_bytes(repositories, cluster, analyze, contents, tmp_path):
    for name in ("one", "two", "three"):
        repositories.make(name, {"app.py": APP, f"{name}.py": "import os\n"})
    repositories.make("damaged", {"a.py": "x = 1\n"})
    repositories.damage("damaged")

    def batch(master):
        output = tmp_path / master.partition(":")[0]
        rules = ("--rules", "command-injection,unused-import")
        done = subprocess.run(**analyze("batch", repositories.top, "--master", master, "-o", output, *rules))
        assert done.returncode == 3, done.stderr
        return output

    before = executors(cluster)
    there = batch(cluster.master)
    assert [len(after - old) for after, old in zip(executors(cluster), before, strict=True)] == [1, 1]
    assert contents(there) == contents(batch("local[1]"))
    assert b"command-injection" in (there / "sarif" / "two.sarif").read_bytes()


def executors(cluster):
    """The executors that each worker has had."""
    return [set((directory / "work").glob("app-*/*")) for directory in cluster.directories]
