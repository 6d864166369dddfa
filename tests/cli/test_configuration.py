"""Configuration, ignore files, default skips and suppressions, each through the command."""

import pytest

CHECK = "sql-injection"


def files(report):
    return sorted({finding["file"] for finding in report["findings"]})


@pytest.fixture
def copies(repository):
    """The vulnerable file in several directories."""

    def place(*paths):
        for path in paths:
            (repository / path).parent.mkdir(parents=True, exist_ok=True)
            (repository / path).write_text((repository / "app.py").read_text())
        return repository

    return place


@pytest.mark.parametrize("name", [".analyze.toml", "pyproject.toml"])
def test_settings_are_read_and_flags_override_them(scan, repository, name):
    section = "[tool.analyze]\n" if name == "pyproject.toml" else ""
    (repository / name).write_text(section + 'fail-on = "never"\n')
    scan(repository, code=0)
    scan(repository, "--fail-on", "error", code=1)


def test_a_subdirectory_has_the_configuration_of_its_repository(scan, copies, spawn):
    import subprocess

    repository = copies("src/deep/app.py")
    subprocess.run(["git", "init", "-q", repository], check=True)
    (repository / "pyproject.toml").write_text('[tool.analyze]\nfail-on = "never"\n')
    scan(repository / "src/deep", code=0)


def test_excluded_and_ignored_paths_are_not_scanned_and_ignored_ones_counted(scan, copies):
    repository = copies("docs/a.py", "gen/b.py", "gen/keep.py", "src/c.py")
    (repository / ".analyze.toml").write_text('exclude = ["docs/"]\n')
    (repository / "gen/.analyzeignore").write_text("*.py\n!keep.py\n")
    report = scan(repository, "--exclude", "/src/", code=1)
    assert files(report) == ["app.py", "docs/a.py", "gen/keep.py"]
    report = scan(repository, code=1)
    assert files(report) == ["app.py", "gen/keep.py", "src/c.py"]
    assert report["coverage"]["skippedFiles"] == {"ignored": ["docs/a.py", "gen/b.py"]}


def test_files_are_skipped_by_default_and_counted(scan, copies):
    repository = copies("vendor/lib.py", "web/node_modules/x/y.py")
    (repository / "big.py").write_text("x = 1  # and more\n" * 70_000)
    (repository / "binary.py").write_bytes(b"\x00\x01\x02" * 100)
    (repository / "link.py").symlink_to("app.py")
    report = scan(repository, code=1)
    assert files(report) == ["app.py"]
    assert report["complete"]
    assert report["coverage"]["skippedFiles"] == {
        "binary": ["binary.py"],
        "over 1 MB": ["big.py"],
        "symbolic link": ["link.py"],
        "vendored": ["vendor/lib.py", "web/node_modules/x/y.py"],
    }
    (repository / "big.py").write_text("x = 1  # and more\n" * 100)
    report = scan(repository, "--include-vendored", "--max-file-kb", 1, code=1)
    assert files(report) == ["app.py", "vendor/lib.py", "web/node_modules/x/y.py"]
    assert report["coverage"]["skippedFiles"]["over 1 KB"] == ["big.py"]


def suppress(repository, old, new):
    path = repository / "app.py"
    source = path.read_text()
    assert old in source
    path.write_text(source.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    cursor.execute(", "    # analyze: ignore[sql-injection] a test\n    cursor.execute("),
        ('"\'")\n', '"\'")  # analyze: ignore[sql-*] a test\n'),
        ("    cursor.execute(", "    # analyze: ignore\n    # in a test\n    cursor.execute("),
    ],
)
def test_a_comment_on_the_line_or_before_it_suppresses(scan, repository, old, new):
    suppress(repository, old, new)
    report = scan(repository, code=0)
    assert [finding["suppression"] is not None for finding in report["findings"]] == [True]
    assert report["unusedSuppressions"] == []


def test_a_suppressed_finding_counts_in_no_output(analyze, repository):
    suppress(repository, "    cursor.execute(", "    # analyze: ignore[sql-injection] a test\n    cursor.execute(")
    text = analyze("scan", repository, "--rules", CHECK).output
    assert "1 suppressed" in text and "app.py:" not in text
    sarif = analyze("scan", repository, "--rules", CHECK, "--format", "sarif").output
    assert '"kind": "inSource"' in sarif


def test_an_unused_suppression_is_reported(analyze, scan, repository):
    suppress(repository, "import sqlite3\n", "import sqlite3  # analyze: ignore[sql-injection]\n")
    report = scan(repository, code=1)
    assert [(unused["file"], unused["line"]) for unused in report["unusedSuppressions"]] == [("app.py", 1)]
    assert "unused suppression of sql-injection" in analyze("scan", repository, "--rules", CHECK, code=1).output


def test_selectors_choose_checks_and_a_wrong_one_is_an_error(analyze, scan, repository):
    for selector in (CHECK, "sql-*", "cwe-89", "injection"):
        ran = analyze("scan", repository, "--rules", selector, "--format", "json", code=1)
        assert CHECK in ran.output
    wrong = analyze("scan", repository, "--rules", "sql-injektion", code=2)
    assert "did you mean 'sql-injection'?" in wrong.output


def test_a_wrong_configuration_is_an_error_with_its_place(analyze, repository):
    (repository / "pyproject.toml").write_text('[tool.analyze]\njobs = 2\nfial-on = "error"\n')
    output = analyze("scan", repository, code=2).output
    assert "error[C002]" in output and "pyproject.toml:3" in output and "did you mean 'fail-on'?" in output


MODEL = 'source_parameter_name("http", "taint_me").\n'
OWN_CHECK = """\
// @id own/print
// @name Call of print
// @severity warning
// @precision high
// @message print is called.
finding("own/print", c, "") :- calls(c, "builtins.print").
"""


def test_own_models_are_loaded_from_the_repository_and_by_option(scan, tmp_path, repository):
    (repository / "app.py").write_text(
        "import sqlite3\n\ndef f(taint_me):\n    sqlite3.connect('x').cursor().execute('SELECT ' + taint_me)\n"
    )
    assert scan(repository)["findings"] == []
    (tmp_path / "model.dl").write_text(MODEL)
    assert len(scan(repository, "--models", tmp_path / "model.dl", code=1)["findings"]) == 1
    (repository / ".analyze/models").mkdir(parents=True)
    (repository / ".analyze/models/own.dl").write_text(MODEL)
    assert len(scan(repository, code=1)["findings"]) == 1


def test_own_checks_are_loaded_from_the_repository_and_by_option(analyze, tmp_path, repository):
    (repository / "app.py").write_text("print('hello')\n")
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks/print.dl").write_text(OWN_CHECK)
    output = analyze("scan", repository, "--rules", "own/*", "--rules-dir", tmp_path / "checks", code=1).output
    assert "Call of print" in output and "app.py:1:1" in output
    (repository / ".analyze/rules").mkdir(parents=True)
    (repository / ".analyze/rules/print.dl").write_text(OWN_CHECK)
    assert "Call of print" in analyze("scan", repository, "--rules", "own/*", code=1).output


@pytest.mark.parametrize(
    "directive",
    ['.decl stolen(x: symbol)\n.input stolen(filename="/etc/passwd")', ".output finding", '.include "/etc/passwd"'],
)
def test_rules_of_a_scanned_repository_name_no_files(analyze, repository, directive, monkeypatch):
    monkeypatch.chdir(repository)
    (repository / ".analyze/rules").mkdir(parents=True)
    (repository / ".analyze/rules/evil.dl").write_text(OWN_CHECK + directive + "\n")
    output = analyze("scan", repository, "--rules", "sql-injection,own/*", code=3).output
    assert "error[E006]" in output and ".analyze/rules/evil.dl:" in output
    assert "SQL query built from user-controlled data" in output


def test_a_configuration_names_no_models_outside_the_repository(analyze, repository, tmp_path):
    (tmp_path / "secret.dl").write_text("a secret\n")
    (repository / ".analyze.toml").write_text('models = ["../secret.dl"]\n')
    output = analyze("scan", repository, code=2).output
    assert "lies outside" in output and "a secret" not in output


@pytest.mark.parametrize(
    "data", [b"name = 'caf\xe9'\n", b"[[[ not TOML\n", b"a = " + b"[" * 100_000], ids=["Latin-1", "no TOML", "deep"]
)
def test_a_pyproject_without_our_settings_ends_no_scan(scan, repository, data):
    (repository / "pyproject.toml").write_bytes(data)
    scan(repository, code=1)


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("pyproject.toml", b"[tool.analyze]\nexclude = ['caf\xe9']\n"),
        (".analyze.toml", b"exclude = ['caf\xe9']\n"),
        (".analyze.toml", b"exclude = " + b"[" * 100_000),
        ("pyproject.toml", b"[tool.analyze]\nexclude = " + b"[" * 100_000),
    ],
)
def test_settings_that_are_not_utf8_or_nested_too_deeply_are_errors_that_name_the_file(analyze, repository, file, data):
    (repository / file).write_bytes(data)
    output = analyze("scan", repository, code=2).output
    assert output.startswith("error[C001]") and f"--> {file}" in output
