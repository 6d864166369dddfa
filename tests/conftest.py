"""Fixtures that several parts share."""

import os
from pathlib import Path

import pytest

from analyzer.report import Check, Coverage, Finding, Place, Problem, Report, SourceFile, Step, Suppression


@pytest.fixture
def state_directory(tmp_path_factory, monkeypatch):
    """A state directory of the test's own; compiled kernels and programs are shared with the other runs."""
    shared = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "analyze"
    state = tmp_path_factory.mktemp("cache") / "analyze"
    state.mkdir()
    for name in ("kernels", "programs"):
        (shared / name).mkdir(parents=True, exist_ok=True)
        (state / name).symlink_to(shared / name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(state.parent))
    return state


@pytest.fixture
def sample_report():
    """A hand-made report with a path, a suppressed finding, a partly parsed and an unreadable file."""
    sql = Check(
        id="py/sql-injection",
        name="SQL query built from user-controlled data",
        severity="error",
        precision="high",
        message="This SQL query depends on {source}.",
        help="A user who controls part of a query can read or change any data.\n\nPass values as parameters.",
        summary="A user who controls part of a query can read or change any data.",
        cwe=(89,),
        security_severity="8.8",
    )
    unused = Check("py/unused-import", "Unused import", "note", "very-high", "{name} is imported and never used.")
    code = ["def user():", '    name = request.args["name"]', '    cur.execute("SELECT * FROM t WHERE n=\'" + name)']
    sink, source = Place("app/db.py", 42, 5, 42, 53), Place("app/db.py", 41, 12, 41, 32)
    path = (Step(source, "a request parameter enters here", code[1]), Step(sink, "", code[2]))
    findings = (
        Finding(sql.id, "This SQL query depends on a request parameter.", sink, path, "f1", "a:1", tuple(code), 40),
        Finding(unused.id, "os is imported and never used.", Place("app/é [x].py", 1, 8, 1, 10), (), "f2", "b:1"),
        Finding(
            unused.id, "re is imported and never used.", Place("app/z.py", 1, 8, 1, 10), (), "f3", "c:1",
            suppression=Suppression("app/z.py", 1, (unused.id,), "kept for users"),
        ),
    )  # fmt: skip
    coverage = Coverage(
        parsed=81, lines=12345, languages={"python": 82}, unparsed={"app/bad.py": (3, 4)},
        skipped={"over 1 MB": ("big.py",), "vendored": ("vendor/a.py", "vendor/b.py")},
        calls_resolved=1204, calls_by_name=180, calls_unresolved=200,
    )  # fmt: skip
    return Report(
        target="repo",
        revision="c" * 40,
        prefix="sub/",
        checks=(sql, unused),
        findings=findings,
        coverage=coverage,
        files=(SourceFile("app/db.py", "python", "0" * 40, 120), SourceFile("app/bad.py", "python", "1" * 40, 9)),
        problems=(Problem("cannot be read: Permission denied", "app/secret.py"),),
        unused_suppressions=(Suppression("app/db.py", 7, ("py/xss",), ""),),
    )
