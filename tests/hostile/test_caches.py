"""Caches that somebody else may have filled: they are not read, and the user is told what to do."""

import os
import warnings
from pathlib import Path

import pytest

from analyzer.state_directory import StateDirectory, top_of
from engine import kernel_directory, kernels, trusted_directories
from engine.incremental.saved_state import State, StateError
from engine.language.compiler import compile

NOBODY = 65534


@pytest.fixture(autouse=True)
def kernels_stay():
    """Tests that leave the kernels' directory come back to it."""
    directory = kernels.directory
    yield
    kernels.use_cache(directory)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    (tmp_path / "tree" / "sub").mkdir()
    return tmp_path / "tree"


def writable(path, mode):
    path.mkdir(parents=True)
    path.chmod(mode)
    return path


def shared(tmp_path):
    return writable(tmp_path / "cache" / "analyze", 0o777)


def in_a_shared_directory(tmp_path):
    return writable(tmp_path / "shared", 0o777) / "analyze"


def linked_to_a_shared_one(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "analyze").symlink_to(writable(tmp_path / "target", 0o777))
    return tmp_path / "cache" / "analyze"


def linked_from_a_shared_one(tmp_path):
    link = writable(tmp_path / "shared", 0o777) / "analyze"
    link.symlink_to(writable(tmp_path / "own", 0o700))
    return link


def with_shared_programs(tmp_path):
    directory = writable(tmp_path / "cache" / "analyze", 0o700)
    (directory / "programs").symlink_to(writable(tmp_path / "target", 0o777))
    return directory


def in_the_tree(tmp_path):
    return tmp_path / "tree" / ".cache" / "analyze"


def linked_into_the_tree(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "tree" / ".cache").mkdir()
    (tmp_path / "cache" / "analyze").symlink_to(tmp_path / "tree" / ".cache")
    return tmp_path / "cache" / "analyze"


def with_kernels_in_the_tree(tmp_path):
    directory = writable(tmp_path / "cache" / "analyze", 0o700)
    (tmp_path / "tree" / ".cache").mkdir()
    (directory / "kernels").symlink_to(tmp_path / "tree" / ".cache")
    return directory


BY_OTHERS, IN_TREE = "can be written by others: chmod go-w", "lies in the scanned tree"
CACHES = [
    (shared, BY_OTHERS),
    (in_a_shared_directory, BY_OTHERS),
    (linked_to_a_shared_one, BY_OTHERS),
    (linked_from_a_shared_one, BY_OTHERS),
    (with_shared_programs, BY_OTHERS),
    (in_the_tree, IN_TREE),
    (linked_into_the_tree, IN_TREE),
    (with_kernels_in_the_tree, IN_TREE),
]


@pytest.mark.parametrize(("make", "said"), CACHES, ids=[make.__name__ for make, _ in CACHES])
def test_a_cache_that_others_fill_is_not_used(make, said, tree, tmp_path, attack):
    directory = make(tmp_path)
    state = StateDirectory(directory, trees=[tree / "sub"])
    try:
        place, mode = state.path.resolve(), state.path.parent.stat().st_mode & 0o777
        used = "the cache" if place == directory.resolve() else f"a temporary one, {mode:o}"
        attack(f"a cache {make.__name__.replace('_', ' ')}", expected="a temporary one, 700", got=used)
        assert said in state.warning and "XDG_CACHE_HOME" in state.warning and "\n" not in state.warning
        assert not place.is_relative_to(tree)
        assert Path(os.environ["XDG_CACHE_HOME"], "analyze") == state.path  # Children use it, too.
        assert not kernels.directory.is_relative_to(directory)
    finally:
        state.close()
    assert not state.path.exists()


def test_a_cache_of_ones_own_is_used_without_a_word(tree, tmp_path):
    old_mask = os.umask(0o002)  # As distributions have it that give each user a group.
    try:
        directory = tmp_path / "home" / "analyze"
        directory.parent.mkdir(mode=0o755)
        for _ in range(2):
            state = StateDirectory(directory, trees=[tree])
            assert (state.path, state.warning) == (directory, "")
            state.close()
    finally:
        os.umask(old_mask)


@pytest.mark.parametrize("owner", ["directory", "above"])
def test_a_directory_of_another_user_is_not_used(owner, tmp_path, monkeypatch, attack):
    """Also as root, who could use any."""
    (tmp_path / "above" / "directory").mkdir(parents=True)
    place, stat = tmp_path / "above" / "directory", Path.stat

    def owned(path, **options):
        found = stat(path, **options)
        others = [*found]
        others[4] = NOBODY
        return os.stat_result(others) if path.name == owner else found

    monkeypatch.setattr(Path, "stat", owned)
    why = trusted_directories.why_distrusted(place)
    attack(f"a cache with {owner} of another user", expected=True, got=f"belongs to user {NOBODY}, not to you" in why)


def test_a_checkout_is_what_holds_a_tree(tree, tmp_path):
    assert top_of(tree / "sub") == tree
    (tmp_path / "plain").mkdir()
    assert top_of(tmp_path / "plain") == tmp_path / "plain"


def test_kernels_of_a_shared_directory_are_not_read(tmp_path, monkeypatch, attack):
    monkeypatch.setenv("XDG_CACHE_HOME", str(writable(tmp_path / "cache", 0o777)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        directory = kernel_directory.cache_directory()
    attack("compiled kernels in a shared cache", expected=False, got=directory.is_relative_to(tmp_path / "cache"))
    (one,) = caught
    assert BY_OTHERS in str(one.message)


def test_a_state_of_a_shared_directory_is_not_read(tmp_path, attack):
    state = State(writable(tmp_path / "state", 0o777), compile([".decl p(x: number)\np(1)."]))
    with pytest.raises(StateError, match=BY_OTHERS):
        state.open(0)
    attack("a state in a shared directory", expected=[], got=os.listdir(tmp_path / "state"))
