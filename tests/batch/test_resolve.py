"""From the list to commits."""

import pytest

from analyzer.batch.repository_list import parse
from analyzer.batch.resolve_commits import resolve_all
from analyzer.errors import AnalyzeError


def resolve(lines, clones):
    return resolve_all([parse(line) for line in lines], clones, 60, lambda *_: None)


def test_revisions_name_commits_and_sizes_count_what_has_an_extractor(repositories, tmp_path):
    old = repositories.make("a", {"a.py": "x = 1\n", "sub/b.py": "y = 2\n", "notes.txt": "nothing to extract\n"})
    new = repositories.commit("a", {"a.py": "x = 1\nx = 2\n"})
    place = repositories.top / "a"
    found = resolve([f"{place}", f"old={place}@main~1", f"sub={place}/sub", f"hash={place}@{old}"], tmp_path / "clones")
    assert [target.commit for target in found] == [new, old, new, old]
    assert [target.n_bytes for target in found] == [18, 12, 6, 12]
    assert {target.problem for target in found} == {""}


def test_files_that_a_partial_clone_has_not_have_no_size(repositories, tmp_path):
    repositories.make("a", {"a.py": "x = 1\n", "far.py": "y = 22\n"})
    repositories.lose("a", "far.py")
    (found,) = resolve([f"{repositories.top}/a"], tmp_path / "clones")
    assert (found.n_bytes, found.problem) == (6, "")


def test_a_url_is_fetched_and_later_found_again(repositories, tmp_path):
    old = repositories.make("a", {"a.py": "x = 1\n"})
    new = repositories.commit("a", {"a.py": "x = 22\n"})
    url = f"file://{repositories.top}/a"
    (first,) = resolve([url], tmp_path / "clones")
    assert (first.commit, first.n_bytes, first.name) == (new, 7, "a")
    assert str(tmp_path / "clones") in first.path
    by_hash, by_branch = resolve([f"old={url}@{old}", f"new={url}@main"], tmp_path / "clones")
    assert (by_hash.commit, by_branch.commit) == (old, new)
    repositories.commit("a", {"a.py": "x = 333\n"})
    assert [target.n_bytes for target in resolve([url], tmp_path / "clones")] == [8]


@pytest.mark.parametrize(
    "line, code, words",
    [
        ("{top}/nowhere", "B003", "no such directory"),
        ("{top}/plain", "B003", "is not a git repository"),
        ("{top}/a@v9", "B004", "unknown revision 'v9'"),
        ("{top}/a@" + "f" * 40, "B004", "unknown revision"),
        ("file://{top}/a@v9", "B004", "unknown revision 'v9'"),
    ],
)
def test_what_is_wrong_with_the_list_is_an_error(repositories, tmp_path, line, code, words):
    repositories.make("a", {"a.py": "x = 1\n"})
    (repositories.top / "plain").mkdir()
    with pytest.raises(AnalyzeError) as raised:
        resolve([line.format(top=repositories.top)], tmp_path / "clones")
    assert raised.value.code == code
    assert words in raised.value.message
    assert raised.value.help


def test_a_repository_that_cannot_be_read_is_its_own_problem(repositories, tmp_path):
    for name in ("damaged", "headless", "good"):
        repositories.make(name, {"a.py": "x = 1\n"})
    repositories.damage("damaged")
    (repositories.top / "headless" / ".git" / "HEAD").write_text("")
    lines = [f"{repositories.top}/{name}" for name in ("damaged", "headless", "good")]
    found = resolve([*lines, f"again={lines[0]}@main", f"file://{repositories.top}/gone"], tmp_path / "clones")
    assert [bool(target.problem) for target in found] == [True, True, False, True, True]
    assert all(target.problem.startswith("cannot be read: ") for target in found if target.problem)
