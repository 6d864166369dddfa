"""Trees of files: disk, commits, index; what git would run is not run."""

import os
import shutil
import subprocess

import pytest

from analyzer.errors import AnalyzeError
from analyzer.report import Problem
from analyzer.sources import trees
from analyzer.sources.git import Repository
from analyzer.sources.trees import Entry, GitTree, WorkingTree, find_upwards

IDENTITY = {"GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@example.com"}
IDENTITY |= {"GIT_COMMITTER_NAME": "T", "GIT_COMMITTER_EMAIL": "t@example.com", "GIT_CONFIG_GLOBAL": os.devnull}

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(path, *arguments):
    command = ["git", "-C", str(path), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | IDENTITY).stdout.strip()


def paths(tree):
    return [entry.path for entry in tree.entries() if entry.kind == "file"]


@pytest.fixture
def repository(tmp_path):
    """A repository with a commit, an ignored file, and changes in the working tree after it."""
    top = tmp_path / "repo"
    (top / "pkg").mkdir(parents=True)
    (top / "a.py").write_text("old = 1\n")
    (top / "pkg/b.py").write_text("b = 1\n")
    (top / ".gitignore").write_text("*.gen.py\n")
    (top / "tracked.gen.py").write_text("t = 1\n")
    git(tmp_path, "init", "-q", "-b", "main", "repo")
    git(top, "add", "-f", ".")
    git(top, "commit", "-q", "-m", "first")
    (top / "a.py").write_text("new = 2\n")
    (top / "c.py").write_text("c = 1\n")
    (top / "ignored.gen.py").write_text("i = 1\n")
    (top / "pkg/b.py").unlink()
    return top


def test_a_working_tree_has_tracked_and_new_files_but_no_ignored_or_deleted_ones(repository):
    tree = WorkingTree(repository)
    assert paths(tree) == [".gitignore", "a.py", "c.py", "tracked.gen.py"]
    assert tree.read("a.py") == b"new = 2\n"


def test_a_commit_is_read_from_objects(repository):
    tree = GitTree.at(repository, "HEAD")
    assert paths(tree) == [".gitignore", "a.py", "pkg/b.py", "tracked.gen.py"]
    assert tree.read("a.py") == b"old = 1\n"
    assert tree.revision == git(repository, "rev-parse", "HEAD")
    tree.close()
    assert git(repository, "status", "--porcelain").splitlines() == ["M a.py", " D pkg/b.py", "?? c.py"]


def test_a_subdirectory_has_paths_of_its_own_and_a_prefix(repository):
    tree = GitTree.at(repository / "pkg", "HEAD")
    assert (paths(tree), tree.prefix) == (["b.py"], "pkg/")
    tree.close()
    (repository / "pkg/new.py").write_text("")
    working = WorkingTree(repository / "pkg")
    assert (paths(working), working.prefix) == (["new.py"], "pkg/")
    assert find_upwards(working, ".gitignore") == (".gitignore", b"*.gen.py\n")
    assert find_upwards(working, "absent") is None


def test_bare_repositories_and_worktrees_can_be_read(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", "repo", "bare.git")
    git(repository, "worktree", "add", "-q", "../side", "-b", "side")
    for place in ("bare.git", "side"):
        tree = GitTree.at(tmp_path / place, "HEAD")
        assert tree.read("pkg/b.py") == b"b = 1\n"
        tree.close()
    assert paths(WorkingTree(tmp_path / "side")) == [".gitignore", "a.py", "pkg/b.py", "tracked.gen.py"]
    with pytest.raises(AnalyzeError, match="bare repository") as caught:
        WorkingTree(tmp_path / "bare.git")
    assert "--rev" in caught.value.help


@pytest.mark.parametrize("revision", ["nonsense", "--help", "HEAD~99", "", ":/x"])
def test_an_unknown_revision_is_an_error(repository, revision):
    with pytest.raises(AnalyzeError) as caught:
        GitTree.at(repository, revision)
    assert caught.value.code == "G002"


def test_a_directory_that_is_no_repository_has_files_but_no_commits(tmp_path):
    (tmp_path / "a.py").write_text("")
    (tmp_path / "sub/deep").mkdir(parents=True)
    (tmp_path / "sub/.gitignore").write_text("deep\n")
    (tmp_path / "sub/b.py").write_text("")
    (tmp_path / "sub/deep/c.py").write_text("")
    assert paths(WorkingTree(tmp_path)) == ["a.py", "sub/.gitignore", "sub/b.py"]
    with pytest.raises(AnalyzeError) as caught:
        GitTree.at(tmp_path, "HEAD")
    assert caught.value.code == "G001"


def test_links_and_pipes_are_listed_and_not_followed(tmp_path):
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "self.py").symlink_to("self.py")
    (tmp_path / "out.py").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.py")
    tree = WorkingTree(tmp_path)
    assert tree.entries() == [
        Entry("loop", "symlink", 1), Entry("out.py", "symlink", 11),
        Entry("pipe.py", "special", 0), Entry("self.py", "symlink", 7),
    ]  # fmt: skip
    for path in ("out.py", "pipe.py", "self.py"):
        with pytest.raises(OSError):
            tree.read(path)


def test_a_directory_that_cannot_be_listed_is_a_problem(tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "shut").mkdir()
    (tmp_path / "open/a.py").write_text("")
    listed = trees.list_beneath

    def guarded(root, directory):
        if directory == "shut":
            raise PermissionError(13, "Permission denied")
        return listed(root, directory)

    monkeypatch.setattr(trees, "list_beneath", guarded)
    tree = WorkingTree(tmp_path)
    assert paths(tree) == ["open/a.py"]
    assert [(problem.file, problem.level) for problem in tree.problems()] == [("shut", "error")]


def test_submodules_and_nested_repositories_are_named(repository, tmp_path):
    git(tmp_path, "clone", "-q", "repo", "other")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "other"), "module")
    git(repository, "clone", "-q", str(tmp_path / "other"), "nested")
    kinds = {entry.path: entry.kind for entry in WorkingTree(repository).entries()}
    assert kinds["module"] == kinds["nested/"] == "submodule"
    git(repository, "commit", "-q", "-m", "with a submodule")
    tree = GitTree.at(repository, "HEAD")
    assert {entry.path: entry.kind for entry in tree.entries()}["module"] == "submodule"
    tree.close()


def test_programs_named_by_a_repositorys_configuration_are_not_run(repository, tmp_path):
    witness = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {witness}\n")
    program.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "core.alternateRefsCommand",
        "core.askPass",
        "credential.helper",
        "uploadpack.packObjectsHook",
    ):
        git(repository, "config", key, str(program))
    for hook in ("post-index-change", "post-checkout", "reference-transaction"):
        shutil.copy(program, repository / ".git/hooks" / hook)
    (repository / ".gitattributes").write_text("* filter=x diff=x\n")
    paths(WorkingTree(repository))
    tree = GitTree.at(repository, "HEAD")
    tree.read("a.py")
    tree.close()
    Repository(repository).staged_paths()
    changed = Repository(repository).changed_lines(EMPTY_TREE, "HEAD")
    assert list(changed) == [".gitignore", "a.py", "pkg/b.py", "tracked.gen.py"]
    assert not witness.exists()


def test_git_variables_of_a_hook_do_not_redirect_a_scan(repository, tmp_path, monkeypatch):
    git(tmp_path, "init", "-q", "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "elsewhere/.git/index")
    assert "a.py" in paths(WorkingTree(repository))


def test_the_index_holds_what_is_staged(repository):
    git(repository, "add", "c.py")
    whole = Repository(repository, in_hook=True)
    tree = GitTree(whole, whole.index(), "repo", "")
    assert tree.read("a.py") == b"old = 1\n"
    assert tree.read("c.py") == b"c = 1\n"
    assert whole.staged_paths() == {"c.py"}
    tree.close()


def test_before_the_first_commit_everything_is_staged(tmp_path):
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "a.py").write_text("")
    git(tmp_path, "add", "a.py")
    assert Repository(tmp_path, in_hook=True).staged_paths() == {"a.py"}


def test_a_missing_object_is_an_error_of_that_file(repository):
    blob = git(repository, "rev-parse", "HEAD:a.py")
    tree = GitTree.at(repository, "HEAD")
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(OSError, match="missing"):
        tree.read("a.py")
    assert tree.read("pkg/b.py") == b"b = 1\n"
    tree.close()


WRAPPER = """#!/bin/sh
case "$*" in *ls-files*) printf "warning: could not open directory 'sub/a\\nb/': Permission denied\\n" >&2 ;; esac
exec {git} "$@"
"""


def test_a_directory_that_git_cannot_read_is_a_problem(tmp_path, monkeypatch):
    top, programs = tmp_path / "top", tmp_path / "bin"
    for path in (top / "sub", programs):
        path.mkdir(parents=True)
    (top / "sub/app.py").write_text("x = 1\n")
    subprocess.run(["git", "init", "-q", top], check=True)
    (programs / "git").write_text(WRAPPER.format(git=shutil.which("git")))
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    tree = WorkingTree(top / "sub")
    assert [entry.path for entry in tree.entries()] == ["app.py"]
    assert tree.problems() == [Problem("cannot list directory: Permission denied", file="a\nb")]


def test_a_directory_whose_path_is_too_long_for_git_is_a_problem(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "app.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    for _ in range(17):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    tree = WorkingTree(tmp_path)
    assert [entry.path for entry in tree.entries()] == ["app.py"]
    (problem,) = tree.problems()
    assert problem.level == "error" and problem.message.startswith("git: could not open directory 'ddd")
