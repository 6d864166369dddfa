"""What the command says where a cluster cannot do what is asked: a line, at once."""

import os
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

PROGRAM = """
.decl arc(x: number, y: number)
.input arc
.decl tc(x: number, y: number)
.output tc
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
.printsize tc
"""
TOP = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(spawn, tmp_path):
    (tmp_path / "tc.dl").write_text(PROGRAM)
    (tmp_path / "arc.facts").write_text("".join(f"{i}\t{i + 1}\n" for i in range(9)))

    def run(*arguments, facts=tmp_path, env=None):
        common = ("run", tmp_path / "tc.dl", "-D", tmp_path / "out", "--engine", "spark", "-F", facts)
        return spawn(*common, *arguments, env=env)

    return run


def told(done):
    """The line that a command ends with; another one may say where."""
    assert done.returncode == 2, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("spark: ", "WARNING: Using inc"))]
    assert [line.startswith("  --> ") for line in lines] in ([False], [False, True])
    return lines[0]


def test_too_many_members(run):
    line = told(run("--master", "local[2]", "--members", "3"))
    assert line == (
        "error[V001]: 3 members need as many cores at once, and the executors have 2: take fewer (--members), "
        "or more executors"
    )


def test_facts_where_spark_has_no_file_system(run):
    done = run("--master", "local[2]", facts="s3://b/facts")
    assert "Spark has no file system for s3://; write s3a://…" in told(done)
    assert done.stderr.splitlines()[-1] == "  --> s3://b/facts/arc.facts"


def test_an_executor_that_never_comes(run, cluster):
    asked = ("--conf", "spark.executor.memory=64g", "--conf", "spark.analyze.wait=3")
    assert f"no executor on {cluster.master} yet" in told(run("--master", cluster.master, *asked))


@pytest.fixture
def bare_python(tmp_path):
    """A Python for executors that has all but our package."""
    packages = Path(find_spec("numpy").origin).parents[1]
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n')
    path.chmod(0o755)
    return {"PYSPARK_PYTHON": str(path), "PYTHONPATH": ""}


def test_the_package_is_sent_to_executors_that_lack_it(run, bare_python, tmp_path, monkeypatch):
    """As docs/spark.md says, but with our own code alone in the archive: it is that which these executors lack."""
    monkeypatch.chdir(tmp_path)
    cluster = ("--master", "local-cluster[2,1,1024]")
    assert "the executors lack the package (no module 'engine')" in told(run(*cluster, env=bare_python))
    with tarfile.open(tmp_path / "lib.tar.gz", "w:gz") as archive:
        for name in ("analyzer", "cli", "engine", "facts", "rules"):
            archive.add(TOP / name, name)
    settings = (f"spark.archives={tmp_path}/lib.tar.gz#lib", "spark.executorEnv.PYTHONPATH=lib")
    done = run(*cluster, *(part for setting in settings for part in ("--conf", setting)), env=bare_python)
    assert (done.returncode, done.stdout) == (0, "tc\t45\n"), done.stderr
    assert os.listdir(tmp_path / "out") == ["tc.parquet"]
