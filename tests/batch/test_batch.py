"""A batch on Spark: one repository fails alone, and one that is killed half-way ends as if it had not been."""

import os
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pyarrow.dataset
import pytest

from analyzer.batch import result_files

pytestmark = pytest.mark.xdist_group("spark")

CHECK = "sql-injection"
APP = """\
import sqlite3
from flask import request

def user():
    sqlite3.connect("users.db").cursor().execute("SELECT * FROM users WHERE name = '" + request.args["name"] + "'")
"""
VENDORED = {f"lib/{name}.py": f"def {name}(x):\n    return x + 1\n" for name in ("a", "b", "c", "d")}


@pytest.fixture
def listing(repositories, tmp_path):
    """Two sound repositories that share files, one of them twice, and a damaged one."""
    repositories.make("app", {"app.py": APP, **VENDORED})
    repositories.make("fork", {"other.py": APP + "\n" * 3, **VENDORED})
    repositories.commit("fork", {"more.py": "y = 1\n"})
    repositories.make("damaged", {"a.py": "x = 1\n"})
    repositories.damage("damaged")
    top = repositories.top
    path = tmp_path / "list"
    path.write_text(f"{top}/app\n{top}/fork\nbefore={top}/fork@main~1\n{top}/damaged  # beyond repair\n")
    return path


@pytest.mark.slow
def test_one_that_was_killed_goes_on_and_ends_with_the_same_bytes(listing, analyze, contents, tmp_path):
    rules = ("--rules", CHECK)

    def batch(output):
        return analyze("batch", listing, "--master", "local[1]", "-o", output, *rules)

    whole = subprocess.run(**batch(tmp_path / "whole"))
    assert whole.returncode == 3, whole.stderr
    assert "4: 3 complete, 0 incomplete, 1 failed" in whole.stdout
    # app.py, other.py, more.py and four vendored files, of which each of three repositories has its own.
    assert "16, 7 different; 7 extracted (9 extractions saved by sharing" in " ".join(whole.stdout.split())

    unfinished = tmp_path / "killed.unfinished"
    process = subprocess.Popen(**batch(tmp_path / "killed"))
    while len(done := published(unfinished)) < 2 and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert "damaged" in done and len(done) < 4
    assert not (tmp_path / "killed").exists()
    assert is_left_alone(unfinished)

    resumed = subprocess.run(**batch(tmp_path / "killed"))
    assert resumed.returncode == 3, resumed.stderr
    assert f"{4 - len(done)} scanned in" in resumed.stdout
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert not unfinished.exists()
    after = published(tmp_path / "killed")
    assert {name: after[name] for name in done} == done
    check_outputs(tmp_path / "whole")

    # Started again, it tries the failure again, for which no Spark is needed, and leaves the rest as it is.
    again = subprocess.run(**analyze("batch", listing, "--master", "no master", "-o", tmp_path / "killed", *rules))
    assert again.returncode == 3, again.stderr
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert {name: stamp for name, stamp in published(tmp_path / "killed").items() if name != "damaged"} == {
        name: stamp for name, stamp in after.items() if name != "damaged"
    }


@pytest.mark.slow
def test_interrupted_by_ctrl_c_it_says_so_in_a_line_and_leaves_nothing_running(listing, analyze, tmp_path):
    command = analyze("batch", listing, "--master", "local[1]", "-o", tmp_path / "out", "--rules", CHECK)
    process = subprocess.Popen(**command, start_new_session=True)
    unfinished = tmp_path / "out.unfinished"
    while not working_in(unfinished) and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # As a terminal does: Spark's processes get it, too.
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.splitlines()[-1].startswith("interrupted; ") and "Traceback" not in errors
    assert is_left_alone(unfinished)
    assert not (tmp_path / "out").exists()


def published(directory):
    """The repositories that are done, and what tells a file from one that was written again."""
    found = {}
    for path in directory.glob("coverage/repository=*/part-0.parquet"):
        status = path.stat()
        found[path.parent.name.partition("=")[2]] = (status.st_ino, status.st_mtime_ns)
    return found


def working_in(directory):
    """The processes whose working directory is there or below."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.readlink().is_relative_to(directory):
                found.append(link.parent.name)
        except OSError:
            continue
    return found


def is_left_alone(directory):
    """Whether nothing works there any more, or soon will not."""
    for _ in range(300):
        if not working_in(directory):
            return True
        time.sleep(0.1)
    return False


def check_outputs(output):
    """All outputs tell the same."""
    found = pyarrow.dataset.dataset(output / "findings", partitioning="hive").to_table().to_pylist()
    assert sorted((row["repository"], row["file"], row["line"]) for row in found) == [
        *[("app", "app.py", 5), ("before", "other.py", 5), ("fork", "other.py", 5)]
    ]
    files = pyarrow.dataset.dataset(output / "files", partitioning="hive").to_table()
    assert files.num_rows == 16
    (row,) = result_files.read(output, "damaged", "coverage")
    assert row["status"] == "failed" and row["reason"].startswith("cannot be read")
    with sqlite3.connect(output / "findings.sqlite") as database:
        assert database.execute("select repository, rule from findings order by 1").fetchall() == [
            *[("app", CHECK), ("before", CHECK), ("fork", CHECK)]
        ]
        assert database.execute("select count(*) from files").fetchone() == (16,)
        assert database.execute("select name from repositories where status = 'failed'").fetchall() == [("damaged",)]
    assert sorted(os.listdir(output / "sarif")) == ["app.sarif", "before.sarif", "damaged.sarif", "fork.sarif"]
    page = (output / "summary.html").read_text()
    assert CHECK in page and "cannot be read" in page
    assert not re.search(r"<script|src=|https?://", page)


@pytest.mark.parametrize(
    "options, words",
    [
        (("--rules", "py/no-such-check"), "error[R002]: no check matches the selector 'py/no-such-check'"),
        (("--memory", "5"), "'5' is less than the minimum, 256M"),
    ],
)
def test_options_that_no_repository_could_be_scanned_with_end_it_at_once(
    analyze, repositories, tmp_path, options, words
):
    repositories.make("a", {"a.py": "x = 1\n"})
    done = subprocess.run(**analyze("batch", repositories.top, "-o", tmp_path / "out", *options))
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "out.unfinished").exists()


def test_a_master_that_does_not_answer_is_said_in_a_line(listing, analyze, tmp_path):
    done = subprocess.run(**analyze("batch", listing, "--master", "spark://127.0.0.1:1", "-o", tmp_path / "out"))
    assert done.returncode == 2
    assert done.stderr.startswith("error[B007]: no Spark master answers at spark://127.0.0.1:1")
    assert not (tmp_path / "out").exists()
