"""Wrong programs and the exact text they are answered with.

A case in errors.txt is a line `==== NAME`, a program, a line `----`, and the text that must be rendered for it. Where
the name begins with "grammar: ", it is not a program but a grammar; with "modules: ", lines `// module NAME` begin its
modules, of which the last is test.dl.
"""

import re
from pathlib import Path

import pytest

import engine
from engine.cfl.grammar_files import parse_grammar
from engine.language.diagnostics import CODES

HERE = Path(__file__).parent


def read_cases(path: Path) -> dict[str, tuple[str, str]]:
    """Return program and rendered text by name."""
    cases = {}
    for part in path.read_text(encoding="utf-8").split("==== ")[1:]:
        title, _, rest = part.partition("\n")
        program, _, expected = rest.partition("----\n")
        cases[title] = (program, expected.strip("\n"))
    return cases


CASES = read_cases(HERE / "errors.txt")


def rendered(name: str, text: str) -> str:
    """Return the text of the errors of a program, or of a grammar, called test.dl; or "" if it has none."""
    try:
        if name.startswith("grammar: "):
            parse_grammar("test.dl", text)
        else:
            engine.compile(sources(text) if name.startswith("modules: ") else [engine.Source("test.dl", text)])
    except engine.ProgramError as error:
        return error.render()
    return ""


def sources(text: str) -> list[engine.Source]:
    """Return the modules of a case."""
    parts = re.split(r"^// module (.+)\n", text, flags=re.MULTILINE)[1:]
    *others, (last, own) = zip(parts[::2], parts[1::2], strict=True)
    return [engine.Source(f"{name}.dl", part, module=name) for name, part in others] + [
        engine.Source("test.dl", own, module=last)
    ]


@pytest.mark.parametrize("name", CASES)
def test_error_is_shown_as_written(name):
    program, expected = CASES[name]
    assert rendered(name, program) == expected


@pytest.mark.parametrize("name", CASES)
def test_every_error_has_a_place_and_help(name):
    errors = CASES[name][1].split("\n\n")
    assert errors and all("\n  --> test.dl:" in error and "\nhelp: " in error for error in errors)


def test_untrusted_sources_name_no_files():
    text = '.decl a(x: number)\n.input a\n.comp C {\n.output a\n}\n.include "x.dl"\n.printsize a\n'
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([engine.Source("user.dl", text, trusted=False)])
    found = [(d.code, d.span.line, d.message) for d in caught.value.diagnostics]
    assert found == [
        ("E006", 2, "'.input' is not allowed in this source, which is not trusted"),
        ("E006", 4, "'.output' is not allowed in this source, which is not trusted"),
        ("E006", 6, "'.include' is not allowed in this source, which is not trusted"),
    ]


def test_errors_of_included_sources_name_them():
    files = {"b.dl": "b(x) :- a(y).\n", "c.dl": '.include "c.dl"\n'}
    program = '.decl a(x: number)\n.decl b(x: number)\n.include "b.dl"\n.include "c.dl"\n'
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile(
            [engine.Source("a.dl", program)], resolve=lambda path, including: engine.Source(path, files[path])
        )
    places = [(d.code, d.span.source, d.span.line, d.line_text) for d in caught.value.diagnostics]
    assert places == [("E014", "b.dl", 1, "b(x) :- a(y)."), ("E004", "c.dl", 1, '.include "c.dl"')]


def test_every_code_is_shown_by_a_case_and_explained():
    shown = set(re.findall(r"error\[(E\d+)\]", "".join(expected for _, expected in CASES.values()))) | {"E006"}
    explained = re.findall(r"^### (E\d+): (.+)$", (HERE.parents[2] / "docs/errors.md").read_text("utf-8"), re.MULTILINE)
    assert shown == set(CODES)
    assert dict(explained) == CODES


@pytest.mark.parametrize("opening, closing", [("[", "]"), ("1 + ", ""), ("- ", ""), ("bnot -", ""), ("2 ^ ", ""),
    ("strlen(", ")"), ("1 + (", ")"), ("sum 1 : { a(", ")}")])  # fmt: skip
def test_deep_nesting_is_an_error(opening, closing):
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([f".decl a(x: number)\na({opening * 2000}1{closing * 2000})."])
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["E007"]


def test_parentheses_may_be_deep():
    engine.compile([f".decl a(x: number)\na({'(' * 2000}1{')' * 2000}) :- {'(' * 2000}a(1){')' * 2000}."])


@pytest.mark.parametrize("text", ["\x00", "a(", "((((", "." * 50, '"', ".decl", "$", "a(1). b(", "é(1).", ".comp A {"])
def test_no_text_is_too_wrong(text):
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([text])
    assert all(diagnostic.span.line for diagnostic in caught.value.diagnostics)


def codes(text):
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([text])
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def test_too_many_alternatives_are_one_error():
    body = ", ".join(["(x = 1 ; x = 2)"] * 10)
    assert codes(f".decl a(x: number)\n.decl r(x: number)\na(1).\nr(x) :- {body}, a(x).") == ["E007"]


@pytest.mark.parametrize("directive, help", [
    ('.input a(filemname="b.csv")', "did you mean 'filename'?"),
    ('.output a(IO=file, delimitr=",")', "did you mean 'delimiter'?"),
    (".limitsize a(n=3, m=4)", "parameters are n"),
    ('.output a(columns="1")', "parameters are IO"),
])  # fmt: skip
def test_an_unknown_parameter_is_an_error(directive, help):
    with pytest.raises(engine.ProgramError) as caught:
        engine.compile([f".decl a(x: number)\n{directive}\n"])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E053"
    assert diagnostic.help.startswith(help)
