"""The examples of docs/ci.md, each step run as it stands there, on clones as a pipeline has them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).resolve().parents[2]
EXAMPLES = {
    title: yaml.safe_load(text)
    for title, text in re.findall(r"^## (\w+).*?```yaml\n(.*?)```", (TOP / "docs/ci.md").read_text(), re.M | re.S)
}
IDENTITY = {f"GIT_{role}_{key}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
APP = """\
import os
from flask import request

def run():
    os.system(name())
"""
ZEROS = "0" * 40
CONSTANT = "\ndef name():\n    return 'ls'\n"
REQUESTED = "\ndef name():\n    return request.args['name']\n"


def git(path, *arguments):
    command = ["git", "-C", str(path), *arguments]
    environment = os.environ | IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@pytest.fixture
def commits(tmp_path):
    """The repository that a pipeline clones, with three commits: the last brings a finding."""
    origin = tmp_path / "origin"
    git(tmp_path, "init", "-q", "-b", "main", "origin")
    found = []
    for text in (APP, APP + CONSTANT, APP + REQUESTED):
        (origin / "app.py").write_text(text)
        git(origin, "add", ".")
        git(origin, "commit", "-q", "-m", "next")
        found.append(git(origin, "rev-parse", "HEAD"))
    return found


class Runner:
    """Runs the steps of a job in a fresh clone of all branches; only the cached directory is there in the next job."""

    def __init__(self, path, cache, environment):
        self.path, self.cache, self.environment = path, cache, environment
        tools = path / "tools"
        tools.mkdir()
        python = f'#!/bin/sh\nexec "{sys.executable}" -P -c "from cli import main; main()" "$@"\n'
        for name, text in {"pip": "#!/bin/sh\n", "analyze": python}.items():
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)

    def job(self, commit, steps, restored=None, **variables):
        """Return the exit code of the last step; the ones before must succeed. `restored` becomes the `.cache`."""
        clone = self.path / "clone"
        shutil.rmtree(clone, ignore_errors=True)
        git(self.path, "init", "-q", "clone")
        git(clone, "remote", "add", "origin", (self.path / "origin").as_uri())
        git(clone, "fetch", "-q", "origin")
        git(clone, "checkout", "-q", commit)
        if restored is not None and restored.exists():
            shutil.copytree(restored, clone / ".cache", symlinks=True)
        environment = os.environ | {"PYTHONPATH": str(TOP), "PATH": f"{self.path}/tools:{os.environ['PATH']}"}
        environment |= self.environment | variables
        for step in steps:
            done = subprocess.run(
                ["bash", "-e", "-c", step], cwd=clone, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0 or step is steps[-1], done.stderr
        assert "Traceback" not in done.stderr
        return done.returncode

    def states(self):
        return {place.name for place in self.cache.glob("commits/*/*")}


def share_kernels(cache):
    """Let a cache use what is compiled already."""
    shared = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "analyze"
    cache.mkdir(parents=True)
    for name in ("kernels", "programs"):
        (shared / name).mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(shared / name)


@pytest.mark.slow
def test_the_steps_for_github_find_what_is_new_and_go_on_from_the_state(tmp_path, commits):
    example = EXAMPLES["GitHub"]["jobs"]["analyze"]
    steps = [step["run"] for step in example["steps"] if "run" in step]
    (cached,) = [step["with"]["path"] for step in example["steps"] if step.get("uses", "").startswith("actions/cache")]
    cache = tmp_path / "home" / Path(cached).relative_to("~")
    share_kernels(cache)
    assert set(example["env"]) == {"BASE", "ANALYZE"}
    assert any(step.get("with") == {"fetch-depth": 0} for step in example["steps"])
    runner = Runner(tmp_path, cache, {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""})
    assert runner.job(commits[1], steps, BASE=commits[0]) == 0
    assert len(runner.states()) == 1  # That of the head, from which the base is reached, too.
    assert runner.job(commits[2], steps, BASE=commits[1]) == 1
    assert len(runner.states()) == 2  # That of the base was found again.
    (run,) = json.loads((tmp_path / "clone/analyze.sarif").read_text())["runs"]
    assert [result["baselineState"] for result in run["results"]] == ["new"]
    git(tmp_path / "origin", "checkout", "-q", "-b", "topic")
    git(tmp_path / "origin", "branch", "-f", "main", commits[1])
    for base in (ZEROS, "1" * 40):  # The first push of a branch, and a force push.
        assert runner.job(commits[2], steps, BASE=base) == 1
        (run,) = json.loads((tmp_path / "clone/analyze.sarif").read_text())["runs"]
        assert [result["baselineState"] for result in run["results"]] == ["new"]
        assert run["properties"]["baseRevision"] == commits[1]


@pytest.mark.slow
def test_the_steps_for_gitlab_find_what_is_new(tmp_path, commits):
    example = EXAMPLES["GitLab"]["analyze"]
    project, kept = tmp_path / "clone", tmp_path / "kept"
    assert example["cache"]["paths"] == [".cache/analyze"]
    runner = Runner(tmp_path, kept / "analyze", {"CI_DEFAULT_BRANCH": "main"})
    script = ["\n".join(example["script"])]

    def job(commit, **variables):
        code = runner.job(commit, script, kept, **variables)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(project / ".cache", kept)
        document = json.loads((project / example["artifacts"]["paths"][0]).read_text())
        return code, [finding["rule"] for finding in document["new"]]

    assert job(commits[2], CI_MERGE_REQUEST_DIFF_BASE_SHA=commits[1]) == (1, ["command-injection"])
    assert job(commits[1], CI_COMMIT_BEFORE_SHA=commits[2])[0] == 0
    assert len(runner.states()) == 2
    git(tmp_path / "origin", "branch", "topic", commits[2])
    git(tmp_path / "origin", "checkout", "-q", "topic")
    git(tmp_path / "origin", "branch", "-f", "main", commits[1])
    assert job(commits[2], CI_COMMIT_BEFORE_SHA=ZEROS) == (1, ["command-injection"])
