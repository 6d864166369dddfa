"""What a checkout needs to be set up: interpreter, versions, wheel."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from analyzer import VERSION

TOP = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(("version", "said"), [("Python 3.9.2", "is Python 3.9.2"), (None, "is missing")])
def test_an_unusable_interpreter_is_said_with_what_to_install(tmp_path, version, said):
    interpreter = tmp_path / "python"
    if version:
        interpreter.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo {version} || exit 1\n')
        interpreter.chmod(0o755)
    environment = os.environ | {"PYTHON": str(interpreter)}
    done = subprocess.run([TOP / ".ci/setup", tmp_path / "venv"], env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert said in done.stderr and "apt-get install python3 python3-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_pinned_versions_are_names_and_versions_only():
    lines = (TOP / "constraints.txt").read_text().splitlines()
    assert lines
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!]+", line) for line in lines)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    from hatchling.builders.wheel import WheelBuilder

    (path,) = WheelBuilder(str(TOP)).build(directory=str(tmp_path_factory.mktemp("wheel")))
    return Path(path)


def test_the_wheel_holds_the_packages_with_their_rules(wheel):
    assert wheel.name.startswith(f"datalyze-{VERSION}-")
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {name for name in names if not name.startswith("datalyze-")}
    assert {name.split("/")[0] for name in shipped} == {"analyzer", "cli", "engine", "facts", "rules"}
    wanted = {".py", ".typed", ".dl", ".md", ".lark", ".html", ".txt"}
    for package in ("analyzer", "cli", "engine", "facts", "rules"):
        files = {path.relative_to(TOP).as_posix() for path in (TOP / package).rglob("*") if path.suffix in wanted}
        assert files <= shipped


def test_a_wheel_brings_compiled_rules_and_kernels(wheel, tmp_path):
    """The first scan on a machine compiles none."""
    installed, cache, tree = (tmp_path / name for name in ("installed", "cache", "tree"))
    zipfile.ZipFile(wheel).extractall(installed)
    tree.mkdir()
    (tree / "app.py").write_text("import os\n\nos.system(input())\n")
    environment = os.environ | {"PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-P", "-c", "from cli import main; main()", "scan", tree, "--format", "json"]
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "command-injection" in done.stdout
    assert list((cache / "analyze").glob("programs/*")) == list(cache.rglob("*.kernel")) == []
