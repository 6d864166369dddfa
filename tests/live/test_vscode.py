"""The extension for VS Code: its library of a client and the server are real, the editor's own module is a stand-in."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
EXTENSION = HERE.parents[1] / "editors/vscode"


def test_the_extension_starts_for_the_languages_that_it_asks_for():
    declared = {event.removeprefix("onLanguage:") for event in manifest()["activationEvents"]}
    (listed,) = re.findall(r"LANGUAGES = (\[.*?\]);", (EXTENSION / "extension.js").read_text(), re.DOTALL)
    assert set(json.loads(listed)) == declared


def test_a_workspace_does_not_choose_what_is_started():
    """Nor is a version of the library chosen when it is installed."""
    settings = manifest()["contributes"]["configuration"]["properties"]
    assert {each["scope"] for each in settings.values()} == {"machine"}
    assert all(re.fullmatch(r"[\d.]+", version) for version in manifest()["dependencies"].values())


def manifest():
    return json.loads((EXTENSION / "package.json").read_text())


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    """The extension with its dependencies."""
    if not shutil.which("npm"):
        subprocess.run(["apt-get", "install", "-qq", "--no-install-recommends", "npm"], check=True)
    made = tmp_path_factory.mktemp("extension")
    shutil.copytree(EXTENSION, made, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=made, check=True)
    return made


@pytest.mark.slow
def test_findings_come_to_the_editor(extension, root):
    server = root / "analyze"
    server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m cli "$@"\n')
    server.chmod(0o755)
    settings = json.dumps({"path": str(server), "arguments": ["--rules", "cwe-78"]})
    command = ["node", HERE / "vscode_session.js", extension, root, "app/views.py", settings]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [{"line": 9, "code": "command-injection", "source": "analyze"}]
