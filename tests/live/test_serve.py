"""The live process: what commands print is the same with it and without it, whatever becomes of it."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import analyzer
from analyzer.extraction.collect_facts import silent
from analyzer.live.client import Client, NoAnswer
from analyzer.live.messages import ANSWER_CODEC, unpacked
from analyzer.live.rendezvous import Rendezvous, code_stamp
from analyzer.queries.live_queries import TreeQueries
from analyzer.queries.query import Query
from analyzer.queries.shared_queries import SharedQueries, queries_on
from tests.live.edits import FILES, Edits

TOP = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-P", "-m", "cli"]


class Place:
    """A repository, and a run-time directory for its live process."""

    def __init__(self, history, run_time):
        self.path, self.history = history.path, history
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": run_time, "PYTHONPATH": str(TOP)}
        self.environment.pop("CI", None)

    def run(self, *arguments):
        """Return the exit code, standard output and standard error of a command in the repository."""
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], cwd=self.path, env=self.environment, capture_output=True, text=True
        )
        return done.returncode, done.stdout, done.stderr

    def serve(self, *arguments):
        """Start a live process and return its id."""
        code, out, err = self.run("serve", "--background", *arguments)
        assert code == 0, err
        return int(out.split()[-1])

    def both(self, *arguments):
        """Return what a command gives with the live process, once it is the same without."""
        live, cold = self.run(*arguments, "--live", "on"), self.run(*arguments, "--live", "off")
        assert live == cold
        return live

    def connect(self):
        return Client(Rendezvous.of(self.path).socket)


@pytest.fixture
def place(history, run_time, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    history.commit(FILES)
    found = Place(history, run_time)
    yield found
    found.run("serve", "--stop")


def ended(pid):
    """Wait until a process has ended: its lock is free then, too."""
    descriptor = os.pidfd_open(pid)
    try:
        import select

        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)


def test_a_scan_is_the_same_with_a_live_process_and_without(place):
    place.serve()
    code, before, _ = place.both("scan", "--format", "json")
    assert code == 1 and json.loads(before)["findings"]
    edits = Edits(place.path, 5)
    for _ in range(4):
        edits.step()
        place.both("scan", ".", "--format", "sarif")
    with place.connect() as client:
        assert client.call("status")["answered"] == 5


def test_the_hook_is_the_same_with_a_live_process_and_without(place):
    place.serve()
    (place.path / "app/views.py").write_text("import os\nos.system(input())\n")
    place.history.git(place.path, "add", "-A")
    (place.path / "app/views.py").write_text("pass\n")
    code, out, _ = place.both("hook", "--format", "json")
    assert code == 1 and "app/views.py" in out
    (place.path / ".analyze.toml").write_text('fail-on = "never"\n')
    place.history.git(place.path, "add", "-A")
    code, out, _ = place.both("hook", "--format", "json")
    assert "weaker staged settings" in out
    with place.connect() as client:
        assert client.call("status")["answered"] == 2


QUESTIONS = {
    "a query": ("query", "call_target(c, f), qualified_name(f, name)", "--format", "json"),
    "a query on facts": ("query", "function(f, _, name)"),
    "a query for what no report reads": ("query", "immediate_dominator(a, b)", "--limit", "5"),
    "rules of one's own": ("query", "own(c)", "-e", ".decl own(c: Entity)\nown(c) :- finding(_, c, _)."),
    "a finding": ("explain", "app/views.py:10"),
    "a whole derivation": ("explain", "app/views.py:10", "--full"),
    "tuples": ("explain", "call_target(_, _)", "--limit", "4", "--format", "json"),
    "silence": ("explain", "--why-not", "command-injection", "app/views.py:15"),
    "silence from a line": ("explain", "--why-not", "sql-injection", "app/store.py:6", "--from", "app/store.py:4"),
    "a check that does not run": ("explain", "--why-not", "started-command", "app/views.py:10"),
}
MISTAKES = [
    ("query", "cal_target(c, f)"),
    ("query", "own(c)", "-e", ".decl own("),
    ("explain", "app/views.py:1"),
    ("explain", "no_relation(_)"),
    ("explain", "--why-not", "no-such-check", "app/views.py:10"),
    ("explain", "--why-not", "command-injection", "views.py:0x"),
]


def test_questions_have_the_same_answers_with_a_live_process_and_without(place):
    place.serve()
    for name in ("a query", "a finding", "silence"):
        code, out, _ = place.both(*QUESTIONS[name])
        assert code == 0 and out, name
    (place.path / "app/wrong.py").write_text("def (:\n")
    (place.path / "app/views.py").write_text("\n" + FILES["app/views.py"])
    code, _, err = place.both(*QUESTIONS["a query"])
    assert code == 3 and "error: app/wrong.py:1: syntax errors" in err
    place.both("explain", "--why-not", "command-injection", "app/views.py:16", "--format", "json")
    with place.connect() as client:
        assert client.call("status")["answered"] == 5


@pytest.mark.slow
def test_all_questions_have_the_same_answers_after_edits(place):
    place.serve()
    edits = Edits(place.path, 3)
    for _ in range(3):
        for question in QUESTIONS.values():
            place.both(*question)
        edits.step()


def test_mistakes_are_told_alike(place):
    place.serve()
    for mistake in MISTAKES:
        code, _, err = place.both(*mistake)
        assert code == 2 and err.startswith("error[")


def test_questions_are_answered_for_the_settings_they_are_asked_under(place):
    place.serve()
    question = ("query", "finding(check, e, _)", "--exclude", "app", "--format", "json")
    cold = place.run(*question, "--live", "off")
    assert place.run(*question, "--live", "auto") == cold
    code, out, err = place.run(*question, "--live", "on")
    assert (code, out) == cold[:2] and "--live on: other settings are maintained" in err


def test_a_shell_asks_the_live_process_and_goes_on_without_it(place):
    place.serve()
    place.run("scan", "--live", "on")  # It is ready then.
    asked, other = Query("call_target(c, f), qualified_name(f, name)"), Query("function(f, _, name)")
    with closing(TreeQueries.on(place.path, {})) as own:
        cold, cold_other, known = own.ask(asked), own.ask(other), own.relations()
    queries, warning = queries_on(place.path, ("auto", {}), silent)
    with closing(queries):
        assert isinstance(queries, SharedQueries) and not warning
        assert queries.ask(asked) == cold and queries.relations() == known
        with place.connect() as client:
            assert client.call("status")["answered"] >= 2
        assert queries._own is None, "nothing is derived here while it answers"
        assert "tools.clean" in queries.why('qualified_name(f, "app.tools.clean")')
        place.run("serve", "--stop")
        assert queries.ask(other) == cold_other


def test_other_branches_are_followed(place):
    place.serve()
    place.history.commit({"app/new.py": "import os\nos.system(input())\n", "web/server.js": None})
    place.both("scan", "--format", "json")
    place.history.git(place.path, "checkout", "-q", "HEAD~1")
    place.both("scan", "--format", "json")


@pytest.mark.parametrize("option", [("--tier", "audit"), ("--rules", "cwe-78"), ("--exclude", "app")])
def test_what_is_not_maintained_is_scanned(place, option):
    place.serve()
    live = place.run("scan", *option, "--format", "json", "--live", "auto")
    assert live == place.run("scan", *option, "--format", "json", "--live", "off")
    code, _, err = place.run("scan", *option, "--format", "json", "--live", "on")
    assert code == live[0] and "warning: --live on: other settings are maintained" in err


def test_a_process_starts_when_a_command_asks_for_it(place):
    assert place.run("serve", "--status")[:2] == (1, "no live process for .\n")
    assert place.run("scan", "--live", "auto", "--format", "json") == place.both("scan", "--format", "json")
    code, out, _ = place.run("serve", "--status")
    assert code == 0 and f"for {place.path}: ready" in out
    assert place.run("serve", "--stop")[0] == 0


def test_after_a_kill_the_next_command_is_right(place):
    pid = place.serve()
    cold = place.both("scan", "--format", "json")
    os.kill(pid, signal.SIGKILL)
    assert ended(pid)
    assert place.run("scan", "--format", "json", "--live", "auto") == cold
    assert place.run("serve", "--status")[0] == 1
    assert place.serve() != pid
    assert place.both("scan", "--format", "json") == cold


def test_one_process_serves_a_directory(place):
    pid = place.serve()
    assert place.serve() == pid
    code, _, err = place.run("serve")
    assert code == 2 and "error[L003]" in err


def test_it_ends_beyond_its_memory_limit_and_after_idle_time(place):
    pid = place.serve("--memory-limit", "1M")
    assert ended(pid)
    pid = place.serve("--idle-minutes", "0.001")
    assert ended(pid)
    assert place.run("serve", "--status")[0] == 1


def test_only_its_user_reaches_the_socket(place):
    place.serve()
    found = Rendezvous.of(place.path).socket
    assert found.stat().st_mode & 0o777 == 0o600
    assert found.parent.stat().st_mode & 0o777 == 0o700
    found.parent.chmod(0o777)
    assert place.run("serve", "--status")[0] == 1
    found.parent.chmod(0o700)


def test_unsaved_texts_are_those_of_a_connection(place):
    place.serve()
    with place.connect() as editor, place.connect() as other:
        editor.call("unsaved", texts={"app/tools.py": "import os\nos.system(input())\n"})
        mine = editor.call("report", flags={}, unsaved=True, wait=True)["answer"]
        assert mine != editor.call("report", flags={}, wait=True)["answer"]
        assert without_times(other.call("report", flags={}, unsaved=True)) == without_times(
            other.call("report", flags={})
        )


def without_times(answer):
    return unpacked(ANSWER_CODEC, answer["answer"]).report


@pytest.mark.parametrize("is_checkout", [True, False])
def test_a_checkout_whose_rules_change_meets_elsewhere(tmp_path, monkeypatch, is_checkout):
    """Installed files are written all at once: one of them tells."""
    for name in ("analyzer/__init__.py", "engine/plan/a.py", "facts/a.py", "rules/lib/a.dl"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    if is_checkout:
        (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(analyzer, "__path__", [str(tmp_path / "analyzer")])

    def stamp():
        code_stamp.cache_clear()
        return code_stamp()

    try:
        before = stamp()
        os.utime(tmp_path / "rules/lib/a.dl", ns=(before + 5, before + 5))
        assert stamp() == (before + 5 if is_checkout else before)
    finally:
        code_stamp.cache_clear()


@pytest.mark.parametrize(
    "line",
    [b"\n", b"{\n", b"[]\n", b'{"id": 1, "method": "nothing"}\n', b'{"id": 1, "method": "report", "params": 3}\n']
    + [b'{"id": 1, "method": "unsaved", "params": {"texts": {"a": 1}}}\n', b"\xff" * 10 + b"\n"]
    + [b'{"id": 1, "method": "report", "params": {"wait": true, "staged": {"entries": [[1]]}}}\n'],
    ids=repr,
)
def test_what_is_no_request_costs_the_connection_at_most(place, line):
    place.serve()
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(Rendezvous.of(place.path).socket))
        raw.sendall(line)
        answer = raw.makefile("rb").readline()
        assert not answer or "error" in json.loads(answer)
    with place.connect() as client:
        assert client.call("status")["ready"] in (True, False)
        with pytest.raises(NoAnswer):
            client.call("nothing")


@pytest.mark.slow
def test_a_hundred_kills(place):
    edits = Edits(place.path, 1)
    for number in range(100):
        pid = place.serve()
        if number % 4:
            place.run("scan", "--live", "on")
        os.kill(pid, signal.SIGKILL)
        assert ended(pid)
        edits.step()
        if number % 10 == 9:
            place.both("scan", "--format", "json")
