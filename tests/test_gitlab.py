"""The documented job for GitLab, run by a shell in a scratch checkout beside stubs of what it calls."""

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parents[1] / "docs/ci.md"
ANALYZE = """\
#!/bin/sh
echo "$XDG_CACHE_HOME" > "$SEEN/home"
ls "$XDG_CACHE_HOME/analyze" > "$SEEN/restored"
stat -c %a "$XDG_CACHE_HOME" "$XDG_CACHE_HOME/analyze" > "$SEEN/modes"
ls -A > "$SEEN/checkout"
mkdir -p "$XDG_CACHE_HOME/analyze/kernels" "$XDG_CACHE_HOME/analyze/facts"
echo code > "$XDG_CACHE_HOME/analyze/kernels/index.nbi"
echo facts > "$XDG_CACHE_HOME/analyze/facts/new"
echo '{}' > analyze.json
exit 1
"""
INSTALLERS = ("pip", "pip3", "pipx", "uv", "python", "python3", "curl", "sha256sum")


@pytest.fixture
def job(tmp_path):
    """Run the job in a checkout; return its process and what `analyze` saw."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)
    (text,) = [block for block in blocks if "CI_MERGE_REQUEST" in block]
    described = yaml.safe_load(text)["analyze"]
    stubs, seen, checkout, home = (tmp_path / name for name in ("stubs", "seen", "checkout", "tmp"))
    for directory in (stubs, seen, checkout, home):
        directory.mkdir()
    for name in (*INSTALLERS, "analyze"):
        (stubs / name).write_text(ANALYZE if name == "analyze" else "#!/bin/sh\n")
        (stubs / name).chmod(0o755)

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(["git", *identity, *arguments], cwd=checkout, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def run(prepare):
        git("init", "-q")
        git("remote", "add", "origin", str(checkout))
        (checkout / "app.py").write_text("print(1)\n")
        prepare(checkout)
        git("add", "--all", "--", ":!restored")
        git("commit", "-qm", "all")
        environment = {
            **os.environ,
            **{name: str(value) for name, value in described.get("variables", {}).items()},
            "PATH": f"{stubs}:{os.environ['PATH']}",
            "SEEN": str(seen),
            "TMPDIR": str(home),
            "CI_COMMIT_BEFORE_SHA": git("rev-parse", "HEAD"),
        }
        if (checkout / "restored").exists():
            (checkout / "restored").rename(checkout / ".cache")
        script = "\n".join(described["script"])
        done = subprocess.run(["sh", "-ec", script], cwd=checkout, env=environment, capture_output=True, text=True)
        return done, {path.name: path.read_text().split() for path in seen.iterdir()}

    run.checkout, run.paths = checkout, described["cache"]["paths"]
    return run


def restored(checkout):
    """A cache as GitLab has unpacked it: for all to write, with kernels that somebody has put there."""
    for name in ("facts", "kernels", "commits"):
        (checkout / "restored/analyze" / name).mkdir(parents=True)
        (checkout / "restored/analyze" / name).chmod(0o777)
    (checkout / "restored/analyze/facts/old").write_text("old")
    (checkout / "restored/analyze/kernels/index.nbi").write_text("somebody's code")


@pytest.mark.parametrize("prepare", [restored, lambda checkout: None], ids=["with a cache", "the first time"])
def test_the_cache_is_moved_outside_and_back_and_holds_no_kernels(job, prepare):
    done, seen = job(prepare)
    assert done.returncode == 1, done.stderr  # That of `analyze`, also after the cache has been moved back.
    assert not Path(*seen["home"]).is_relative_to(job.checkout)
    assert seen["restored"] == (["commits", "facts"] if prepare is restored else [])
    assert seen["modes"] == ["700", "700"]
    assert job.paths == [".cache/analyze"]
    assert (job.checkout / "analyze.json").exists()
    cache = job.checkout / ".cache"
    kept = {str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file()}
    assert kept == {"analyze/facts/new", *(["analyze/facts/old"] if prepare is restored else [])}
    assert not any(path.stat().st_mode & stat.S_IWOTH for path in cache.rglob("*"))


def tracked_file(checkout):
    (checkout / ".cache/analyze/kernels").mkdir(parents=True)
    (checkout / ".cache/analyze/kernels/index.nbi").write_text("the change's code")


def tracked_link(checkout):
    (checkout / ".cache").symlink_to("app.py")


@pytest.mark.parametrize("prepare", [tracked_file, tracked_link])
def test_a_tracked_cache_is_refused(job, prepare):
    done, seen = job(prepare)
    assert done.returncode == 2
    assert "the change brings a .cache of its own" in done.stderr
    assert seen == {}
