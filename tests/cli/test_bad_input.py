"""Bad input of every kind: a clear message or a coverage line, and the rest of the scan goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analyzer.sources import trees

CHECK = "sql-injection"
TOP = Path(__file__).resolve().parents[2]


def found(report):
    return [finding["file"] for finding in report["findings"]]


def warnings(report):
    return [problem["message"] for problem in report["problems"] if problem["level"] == "warning"]


def test_a_file_with_syntax_errors_keeps_the_findings_of_its_sound_parts(scan, repository):
    source = (repository / "app.py").read_text()
    (repository / "app.py").write_text(source + "\n\ndef broken(:\n    retrun ((\n")
    report = scan(repository, code=3)
    assert found(report) == ["app.py"]
    assert not report["complete"]
    (lines,) = report["coverage"]["unparsed"].values()
    assert set(lines) <= {14, 15, 16} and lines


ODD_FILES = {
    "empty": b"",
    "blank": b"\n",
    "bom": b"\xef\xbb\xbfx = 1\n",
    "latin_1": b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
    "undeclared_latin_1": b"name = '\xe9'\n",
    "unknown_codec": b"# coding: no-such-codec\nx = 1\n",
    "nulls": b"\0" * 64,
    "a_null": b"x = '\0'\n",
    "line_ends": b"x = 1\r\ny = 2\rz = 3\n",
    "parentheses": b"x = " + b"(" * 2000 + b"1" + b")" * 2000 + b"\n",
    "unclosed": b"x = " + b"[" * 3000,
    "unary": b"x = " + b"-" * 5000 + b"1\n",
    "attributes": b"x = a" + b".b" * 5000 + b"\n",
    "sum": b"x = " + b" + ".join([b"y"] * 5000) + b"\n",
    "ifs": b"if x:\n" + b"".join(b" " * i + b"if x:\n" for i in range(1, 300)) + b" " * 300 + b"pass\n",
}
SOUND = {"empty", "blank", "bom", "latin_1", "undeclared_latin_1", "unknown_codec", "line_ends", "parentheses"}
SKIPPED_FILES = {"five_mb": b"x = 1\n" * 900_000, "program": b"\x7fELF\2\1\1" + b"\0" * 64}


def test_odd_files_are_analysed_or_named_and_the_rest_goes_on(scan, repository):
    for name, data in (ODD_FILES | SKIPPED_FILES).items():
        (repository / f"{name}.py").write_bytes(data)
    report = scan(repository, code=3)
    assert found(report) == ["app.py"]
    not_whole = {*report["coverage"]["unparsed"], *(problem["file"] for problem in report["problems"])}
    assert not not_whole & {f"{name}.py" for name in SOUND}
    assert report["coverage"]["filesParsed"] + len(not_whole) == 1 + len(ODD_FILES)
    assert "unclosed.py" in not_whole
    assert report["coverage"]["skippedFiles"] == {"over 1 MB": ["five_mb.py"], "binary": ["program.py"]}


def test_a_symlink_loop_leads_nowhere(scan, repository):
    (repository / "loop").symlink_to(".", target_is_directory=True)
    (repository / "self.py").symlink_to("self.py")
    report = scan(repository, code=1)
    assert found(report) == ["app.py"]
    assert report["coverage"]["skippedFiles"] == {"symbolic link": ["self.py"]}


def test_an_unreadable_file_makes_the_scan_incomplete(analyze, scan, repository, monkeypatch):
    monkeypatch.chdir(repository)
    (repository / "secret.py").write_text("x = 1\n")
    read = trees.read_beneath

    def guarded(root, path):
        if path == "secret.py":
            raise PermissionError(13, "Permission denied")
        return read(root, path)

    monkeypatch.setattr(trees, "read_beneath", guarded)
    report = scan(repository, code=3)
    assert found(report) == ["app.py"]
    assert [(problem["file"], problem["level"]) for problem in report["problems"]] == [("secret.py", "error")]
    output = analyze("scan", repository, "--rules", CHECK, code=3).output
    assert "secret.py cannot be read: Permission denied" in output


def test_a_revision_outside_a_repository_is_an_error(analyze, repository):
    output = analyze("scan", repository, "--rev", "HEAD", code=2).output
    assert output.startswith("error[G001]") and "not in a git repository" in output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("finding(", "error[E001]"),
        ('finding("own/x", c, "") :- no_such_relation(c).\n', "error[E010]"),
        (".decl call(x: number)\n", "left out"),
        (".decl calls(x: number) public\n", "error[E011]"),
        ("\0\xff", "left out"),
    ],
)
def test_a_rule_file_that_is_wrong_costs_only_itself(analyze, repository, text, said):
    header = "// @id own/x\n// @name X\n// @severity note\n// @precision low\n// @message x\n"
    (repository / ".analyze/rules").mkdir(parents=True)
    (repository / ".analyze/rules/x.dl").write_text(header + text)
    output = analyze("scan", repository, "--rules", f"{CHECK},own/x", code=3).output
    assert said in output and ".analyze/rules/x.dl" in output
    assert "SQL query built from user-controlled data" in output


def test_an_error_in_a_rule_is_shown_with_its_line_and_what_was_meant(scan, repository):
    (repository / ".analyze/rules").mkdir(parents=True)
    header = "// @id own/x\n// @name X\n// @severity note\n// @precision low\n// @message x\n"
    line = 'finding("own/x", c, "") :- cal(c, _, _).'
    (repository / ".analyze/rules/x.dl").write_text(f"{header}{line}\n")
    (repository / ".analyze/rules/y.dl").write_text(header.replace("@severity", "@sevrity"))
    header_wrong, wrong = scan(repository, "--rules", "own/x", code=3)["problems"]
    first = line.index("cal(") + 1
    assert (wrong["file"], wrong["line"], wrong["column"]) == (".analyze/rules/x.dl", 6, first)
    assert (wrong["code"], wrong["help"]) == (line, "did you mean 'call'?")
    assert (header_wrong["code"], header_wrong["help"]) == ("// @sevrity note", "did you mean '@severity'?")


def test_checks_without_a_header_or_of_a_taken_id_cost_only_themselves(analyze, repository):
    header = f"// @id {CHECK}\n// @name X\n// @severity note\n// @precision low\n// @message x\n"
    (repository / ".analyze/rules").mkdir(parents=True)
    (repository / ".analyze/rules/x.dl").write_text('finding("own/x", c, "") :- call(c, _, _).\n')
    (repository / ".analyze/rules/y.dl").write_text(header)
    output = " ".join(analyze("scan", repository, "--rules", CHECK, code=3).output.split())
    assert "lacks @id, @name" in output
    assert f"another check has the id '{CHECK}'" in output
    assert "SQL query built from user-controlled data" in output


def test_a_damaged_cache_entry_is_made_again(scan, repository, state_directory):
    scan(repository, code=1)
    entries = [path for path in (state_directory / "facts").rglob("*") if path.is_file()]
    assert entries
    whole = [path.read_bytes() for path in entries]
    for damage in (lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:-1] + b"?"):
        for path in entries:
            path.write_bytes(damage(path.read_bytes()))
        report = scan(repository, code=1)
        assert found(report) == ["app.py"]
        assert any("were damaged" in text for text in warnings(report))
        assert [path.read_bytes() for path in entries] == whole
    assert warnings(scan(repository, code=1)) == []


def test_a_state_directory_that_cannot_be_written_is_a_warning(analyze, repository, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "occupied"))
    output = analyze("scan", repository, "--rules", CHECK, code=1).output
    assert "nothing is cached for the next run" in output


@pytest.mark.parametrize(
    "arguments",
    [
        ["scan", "/no/such/directory"],
        ["scan", ".", "--format", "xml"],
        ["scan", ".", "--jobs", "0"],
        ["scan", ".", "--fail-on", "sometimes"],
        ["scan", ".", "--models", "/no/such/model.dl"],
        ["scan", ".", "--rules-dir", "/no/such/directory"],
        ["scan", ".", "--no-such-option"],
        ["rules", "show", "py/none"],
        ["run", "/no/such/program.dl"],
        ["facts", "/no/such/directory", "-o", "out"],
        ["callgraph", "/no/such/directory"],
        ["no-such-command"],
    ],
)
def test_wrong_arguments_are_one_message_and_exit_code_2(analyze, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = analyze(*arguments, code=2).output
    assert "rror" in output and len(output.splitlines()) <= 5


def test_an_output_that_cannot_be_written_is_an_error(analyze, repository):
    output = analyze("scan", repository, "--rules", CHECK, "-o", "/no/such/directory/report", code=2).output
    assert output.startswith("error[A003]")


RAISING = "raise SystemExit('scanned code was executed')\n"
SHADOWS = ["engine", "rules", "facts", "analyzer", "numpy"]
MODULES = ["pickle.py", "signal.py", "conftest.py", "sitecustomize.py", "usercustomize.py", "threading.py", "json.py"]


def test_scanned_code_is_never_executed(spawn, repository):
    for package in SHADOWS:
        (repository / package).mkdir()
        (repository / package / "__init__.py").write_text(RAISING)
    for module in MODULES:
        (repository / module).write_text(RAISING)
    done = spawn("scan", ".", "--rules", CHECK, "--jobs", 2, cwd=repository)
    assert "scanned code was executed" not in done.stdout + done.stderr
    assert done.returncode == 1, done.stderr
    assert f"{1 + len(SHADOWS) + len(MODULES)} parsed" in done.stdout


@pytest.mark.slow
def test_ctrl_c_ends_with_one_line_and_leaves_a_sound_cache(scan, repository, state_directory):
    for number in range(400):
        lines = [f"def f{number}_{n}(x):\n    return [x + {n}, x.y({n})]\n" for n in range(150)]
        (repository / f"module{number}.py").write_text("\n".join(lines))
    command = [sys.executable, "-P", "-c", "from cli import main; main()", "scan", str(repository), "--rules", CHECK]
    environment = os.environ | {"PYTHONPATH": str(TOP)}
    process = subprocess.Popen(
        ["env", "--default-signal=INT", *command],  # A shell's background job, and so its children, would ignore it.
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: saved_facts(state_directory))
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors == "interrupted; what was cached so far is kept\n"
    entries = [path for path in (state_directory / "facts").rglob("*") if path.is_file()]
    assert 0 < len(entries) < 400
    for number in range(400):
        (repository / f"module{number}.py").unlink(missing_ok=number >= 3)
    assert found(scan(repository, code=1)) == ["app.py"]


def saved_facts(state_directory):
    """The entries of the cache that are in place."""
    return [path for path in state_directory.glob("facts/*/*/*/*") if not path.name.startswith(".")]


def wait_for(condition, timeout_s=60.0):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
