"""Ignore rules against git itself."""

import subprocess

import pytest

from analyzer.sources.ignore import IgnoreRules

CASES = [
    ({"": "*.log\n!keep.log\n/build/\n"}, ["a.log", "keep.log", "build/x.py", "src/build/x.py", "src/a.log"]),
    ({"": "docs\n", "src": "!docs\n*.gen.py\n"}, ["docs/a.py", "src/docs/a.py", "src/x.gen.py", "x.gen.py"]),
    ({"": "*.py\n", "src": "!*.py\n", "src/old": "b.py\n"}, ["a.py", "src/a.py", "src/old/a.py", "src/old/b.py"]),
    ({"": "src/\n", "src": "!a.py\n"}, ["src/a.py", "srcs/a.py"]),
    (
        {"": "**/gen/**/x.py\n# comment\n\\#odd.py\n\ntrailing.py   \n"},
        ["gen/x.py", "a/gen/b/x.py", "#odd.py", "trailing.py"],
    ),
    ({"": "a[bc].py\nq?.py\n"}, ["ab.py", "ad.py", "q1.py", "q12.py"]),
    ({"": "*.log\nlatin-?.py\n"}, ["latin-\udce9.log", "latin-\udce9.py", "latin-\udce9\udce9.py"]),
]


@pytest.mark.parametrize(("files", "paths"), CASES)
def test_nested_ignore_files_decide_as_git_does(tmp_path, files, paths):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    rules = IgnoreRules()
    for directory, text in files.items():
        (tmp_path / directory).mkdir(parents=True, exist_ok=True)
        (tmp_path / directory / ".gitignore").write_text(text)
        rules.add_file(directory, text.encode())
    for path in paths:
        by_git = subprocess.run(["git", "check-ignore", "-q", "--no-index", path], cwd=tmp_path).returncode == 0
        assert rules.ignores(path) == by_git, path


def test_an_unusable_pattern_is_left_out_and_the_rest_counts():
    rules = IgnoreRules()
    rules.add_file("", b"!\n\\\n*.log\n\xff\xfe[\n")
    assert rules.ignores("a.log")
    assert not rules.ignores("a.py")
