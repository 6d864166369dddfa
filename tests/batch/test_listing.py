"""What a line of the list means."""

import pytest

from analyzer.batch.repository_list import Listed, parse, read_listing
from analyzer.errors import AnalyzeError

LINES = {
    "repos/flask": Listed("flask", "repos/flask"),
    "repos/flask/@v1.0": Listed("flask", "repos/flask/", "v1.0"),
    "old=repos/flask@feature/x": Listed("old", "repos/flask", "feature/x"),
    "https://example.org/pallets/flask.git@v1": Listed("flask", "https://example.org/pallets/flask.git", "v1"),
    "https://me@example.org/flask": Listed("flask", "https://me@example.org/flask"),
    "https://me@example.org/flask@main": Listed("flask", "https://me@example.org/flask", "main"),
    "git@example.org:pallets/flask.git": Listed("flask", "git@example.org:pallets/flask.git"),
    "git@example.org:pallets/flask.git@v2": Listed("flask", "git@example.org:pallets/flask.git", "v2"),
    "ours=git@example.org:flask.git@v2": Listed("ours", "git@example.org:flask.git", "v2"),
    "file:///srv/a@b/flask.git@v2": Listed("flask", "file:///srv/a@b/flask.git", "v2"),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_names_a_repository_and_perhaps_a_revision(line):
    assert parse(line) == LINES[line]


def test_a_directory_with_an_at_sign_is_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a@b").mkdir()
    assert parse("a@b") == Listed("a-b", "a@b")
    assert parse("a@b@c/d") == Listed("a-b", "a@b", "c/d")


def test_a_list_has_comments_and_is_ordered_by_name(tmp_path):
    path = tmp_path / "list"
    path.write_text("# all of them\n\nz/two  # the second\nhttps://x.org/one#1\n", encoding="utf-8")
    assert [(item.name, item.line) for item in read_listing(path)] == [("one-1", 4), ("two", 3)]


def test_a_directory_lists_the_repositories_in_it(tmp_path):
    (tmp_path / "b" / ".git").mkdir(parents=True)
    for name in ("objects", "refs"):
        (tmp_path / "a.git" / name).mkdir(parents=True)
    (tmp_path / "a.git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").write_text("")
    assert [item.name for item in read_listing(tmp_path)] == ["a", "b"]


def test_two_of_one_name_are_refused(tmp_path):
    (tmp_path / "list").write_text("x/flask\ny/Flask@v1\n")
    with pytest.raises(AnalyzeError) as raised:
        read_listing(tmp_path / "list")
    assert raised.value.code == "B002"
    assert raised.value.help == "list one of them by another name: NAME=y/Flask"


@pytest.mark.parametrize("content", [None, b"", b"# nothing\n", b"\xff\xfe"])
def test_a_list_that_lists_nothing_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "list").write_bytes(content)
    with pytest.raises(AnalyzeError) as raised:
        read_listing(tmp_path / "list")
    assert raised.value.code == "B001"
