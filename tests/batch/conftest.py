"""Small repositories of git's, and what a test asks of a batch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
SAFE = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "gc.auto=0")
TIMED = {"timings.json", "summary.html"}
DATES = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}


def git(path, *arguments):
    done = subprocess.run(["git", *SAFE, *arguments], cwd=path, env=os.environ | DATES, capture_output=True, check=True)
    return done.stdout.decode().strip()


class Repositories:
    """Repositories in a directory."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir()

    def make(self, name, files):
        """Make a repository of one commit."""
        (self.top / name).mkdir()
        git(self.top / name, "init", "--quiet", "--initial-branch=main")
        return self.commit(name, files)

    def commit(self, name, files):
        for file, text in files.items():
            path = self.top / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git(self.top / name, "add", "--force", ".")
        git(self.top / name, "commit", "--quiet", "-m", "x")
        return git(self.top / name, "rev-parse", "HEAD")

    def damage(self, name):
        """Overwrite all objects."""
        for path in (self.top / name / ".git" / "objects").glob("??/*"):
            path.chmod(0o600)
            path.write_bytes(b"junk")

    def lose(self, name, file):
        """Remove the content of a file from the objects."""
        blob = git(self.top / name, "rev-parse", f"HEAD:{file}")
        (self.top / name / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


@pytest.fixture
def repositories(tmp_path):
    return Repositories(tmp_path / "repositories")


@pytest.fixture
def analyze(state_directory):
    """The command, to be run in a process of its own: what `subprocess` takes."""

    def arguments(*arguments):
        command = [sys.executable, "-P", "-c", "from cli import main; main()", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(TOP)}
        return {"args": command, "env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

    return arguments


@pytest.fixture
def contents():
    def contents(directory):
        """The bytes of all files of an output that depend on the plan alone."""
        files = (path for path in directory.rglob("*") if path.is_file())
        return {str(path.relative_to(directory)): path.read_bytes() for path in files if path.name not in TIMED}

    return contents
