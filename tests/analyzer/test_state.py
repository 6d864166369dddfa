"""The state directory and the fact cache."""

import subprocess

from analyzer.cache_entries import write_atomically
from analyzer.extraction.fact_cache import FactCache
from analyzer.sources.git import blob_hash
from analyzer.state_directory import StateDirectory
from engine import operating_system


def test_a_blob_is_named_as_git_names_it(tmp_path):
    data = b"print('h\xc3\xa9')\r\n"
    (tmp_path / "a.py").write_bytes(data)
    named = subprocess.run(["git", "hash-object", "--no-filters", tmp_path / "a.py"], capture_output=True, text=True)
    assert blob_hash(data) == named.stdout.strip()


def test_an_entry_comes_back_and_a_damaged_one_does_not(tmp_path):
    cache = FactCache(tmp_path, "1")
    cache.save("python", "ab" * 20, b"facts")
    assert cache.load("python", "ab" * 20) == b"facts"
    entry = cache.path("python", "ab" * 20)
    for damaged in (b"", entry.read_bytes()[:-1], b"\0" + entry.read_bytes()[1:], entry.read_bytes() + b"x"):
        entry.write_bytes(damaged)
        assert cache.load("python", "ab" * 20) is None


def test_entries_of_another_extractor_version_or_language_are_not_taken(tmp_path):
    FactCache(tmp_path, "1").save("python", "ab" * 20, b"facts")
    assert FactCache(tmp_path, "2").load("python", "ab" * 20) is None
    assert FactCache(tmp_path, "1").load("java", "ab" * 20) is None


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    (tmp_path / "entry").write_bytes(b"old")
    try:
        write_atomically(tmp_path / "entry", "not bytes")
    except TypeError:
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["entry"]
    assert (tmp_path / "entry").read_bytes() == b"old"


def test_where_there_is_little_room_it_is_said(tmp_path, monkeypatch):
    assert not StateDirectory(tmp_path).warning
    monkeypatch.setattr(operating_system, "free_bytes", lambda path: 3 << 20)
    state = StateDirectory(tmp_path)
    assert state.path == tmp_path and "has 3 MB left; what does not fit is recomputed" in state.warning


def test_where_nothing_is_writable_a_temporary_directory_is_used_and_said_so(tmp_path):
    (tmp_path / "occupied").write_text("a file, not a directory")
    state = StateDirectory(tmp_path / "occupied" / "analyze")
    assert state.path.is_dir()
    assert "nothing is cached" in state.warning
    state.close()
    assert not state.path.exists()
