"""Texts that a terminal would act upon, wherever text of others comes from: nothing that is printed holds one."""

import json
import os
import re
from pathlib import Path

import pytest

from analyzer.escaping import CODES
from cli.terminal import console, say

TOP = Path(__file__).resolve().parents[2]
NASTY = "\x1b]0;owned\x07\x1b[31m\x9b31m\x7f\u202e\u2066\u2028\u061c[red][link=http://x]y[/link]\U000e0041"
TOML = json.dumps(NASTY[:-1])  # Of characters beyond U+FFFF, JSON makes two.
IN_NAMES = "\x1b[31m\x9b\u202e[red]"
CHECK = f"""\
// @id own/calls
// @name Call {NASTY}
// @severity warning
// @precision high
// @message {{detail}} is called {NASTY}.
finding("own/calls", c, "{NASTY}") :- calls(c, "builtins.print").
""".replace("\u2028", "")
CODE = f'''\
# analyze: ignore[own/{NASTY}] {NASTY}
def f{IN_NAMES[4]}(): pass
print("{NASTY}")  # {NASTY}
'''.replace(f"f{IN_NAMES[4]}", "f")


def acted_upon(text):
    return sorted({f"U+{ord(sign):04X}" for sign in text if ord(sign) in CODES and sign not in "\n\t"})


@pytest.fixture
def nasty(history):
    """A repository with such texts in names, code, comments, rules, models, ignore files, and a commit's message."""
    name = f"{IN_NAMES}.py"
    base = history.commit({"app.py": "x = 1\n"})
    history.commit(
        {
            name: CODE,
            "broken.py": f"def broken(: # {NASTY}\n",
            f"{IN_NAMES}/deep.py": "def run():\n    print(1)\n",
            ".analyze/rules/own.dl": CHECK,
            f".analyze/rules/{IN_NAMES}.dl": CHECK,
            f".analyze/models/{IN_NAMES}.dl": f'no_flow("{NASTY}"',
            ".analyzeignore": f"{NASTY}\n",
            ".analyze.toml": f"exclude = [{TOML}]\n",
        }
    )
    (history.path / os.fsdecode(b"latin-\xe9.py")).write_text("print(1)\n")
    history.git(history.path, "add", "-A")
    history.git(history.path, "commit", "-q", "-m", NASTY)
    history.git(history.path, "branch", "nasty-\u202e\x9b")
    history.base = base
    return history


@pytest.mark.slow
def test_no_command_prints_what_a_terminal_acts_upon(nasty, analyze, attack, monkeypatch, tmp_path):
    top = nasty.path
    monkeypatch.chdir(top)
    own = ("--rules", "own/calls")
    facts = tmp_path / "facts"
    commands = [
        *(("scan", top, *own, "--format", format) for format in ("text", "json", "sarif")),
        *(
            ("ci", top, "--base", nasty.base, "--config-from", "head", *own, "--format", f)
            for f in ("text", "json", "sarif")
        ),
        ("ci", top, "--base", nasty.base, *own[:1], "sql-injection"),
        ("hook", *own),
        *(("callgraph", top, "--format", format) for format in ("json", "dot", "graphml")),
        *(("callgraph", top, "--dead", "--format", format) for format in ("json", "text")),
        ("facts", top, "-o", facts),
        *(("rules", "list", "--rules-dir", top / ".analyze/rules", "--format", format) for format in ("text", "json")),
        ("rules", "show", "own/calls", "--rules-dir", top / ".analyze/rules"),
    ]
    for arguments in commands:
        result = analyze(*arguments, code=None)
        output = result.output
        assert result.exit_code != 2 or arguments[0] == "rules", output
        title = " ".join(str(argument) for argument in arguments[:1]) + " " + str(arguments[-1])[-8:]
        attack(f"escapes everywhere: {title.strip()}", expected=[], got=acted_upon(output))
        if result.exit_code != 2 and ("json" in arguments or "sarif" in arguments):
            json.loads(result.stdout)


MISTAKES = {
    "scan": ("scan", NASTY),
    "--rules": ("scan", ".", "--rules", NASTY),
    "--rev": ("scan", ".", "--rev", NASTY),
    "--base": ("ci", "--base", NASTY),
    "an option": ("scan", f"--{NASTY}"),
    "a choice": ("scan", "--format", NASTY),
    "rules show": ("rules", "show", NASTY),
    "run": ("run", NASTY),
    "a program": ("run", "program.dl"),
    "a command": (NASTY,),
}


@pytest.mark.parametrize("title", MISTAKES)
def test_errors_hold_nothing_that_a_terminal_acts_upon(history, analyze, attack, monkeypatch, title):
    history.commit({"program.dl": f'.decl a(x: number)\na("{NASTY}") :- b{NASTY}(x).\n'})
    monkeypatch.chdir(history.path)
    output = analyze(*MISTAKES[title], code=2).output
    attack(f"an error about escapes: {title}", expected=[], got=acted_upon(output))
    assert output


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".analyze.toml", f'"{NASTY[-3]}" = 1\n'),
        (".analyze.toml", f"fail-on = {TOML}\n"),
        (".analyze.toml", f"rules = [{TOML}]\n"),
        (".analyze.toml", f"models = [{TOML.replace('[/link]', '.dl')}]\n"),
        (".analyze.toml", f"exclude = [ {NASTY}\n"),
        ("pyproject.toml", f"[tool.analyze]\n{TOML} = 1\n"),
    ],
)
def test_errors_of_a_configuration_hold_none(history, analyze, attack, file, text):
    history.commit({file: text})
    output = analyze("scan", history.path, code=2).output
    attack(f"escapes in {file}: {text[:8]!r}", expected=[], got=acted_upon(output))


def test_a_terminal_gets_colours_of_ours_and_no_markup_of_others(attack, capsys):
    import io

    buffer = io.StringIO()
    made = console(file=buffer, force_terminal=True, color_system="standard", width=200)
    made.print(NASTY, style="red")
    inner = re.sub(r"\x1b\[[0-9;]*m", "", buffer.getvalue())
    attack(
        "escapes and markup on a terminal",
        expected=([], True),
        got=(acted_upon(inner), "[red][link=http://x]" in inner),
    )
    say(NASTY)
    assert acted_upon(capsys.readouterr().out) == []


def test_there_is_no_other_way_to_a_terminal():
    others = re.compile(r"\bclick\.(echo|secho|style)\b|\bConsole\((?!\))|(?<![\w.])print\(|sys\.std(out|err)\.write")
    found = []
    for path in sorted((TOP / "cli").rglob("*.py")):
        if path.name != "terminal.py":
            found += [f"{path.name}: {line}" for line in path.read_text().splitlines() if others.search(line)]
    assert found == []
