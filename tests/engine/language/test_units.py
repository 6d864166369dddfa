"""Sources checked beside units: the program, or the text of its errors, is that of all sources compiled together."""

import re
from pathlib import Path

import pytest

import engine
from engine.codec import Damaged
from engine.language.compiler import check_sources, compile
from engine.language.units_codec import UNITS_CODEC
from tests.engine.language.test_errors import read_cases

CASES = read_cases(Path(__file__).parent / "errors.txt")
LIBRARY = """
.type Name <: symbol
.type Pair = [name: Name, next: Pair]
.type Shape = Dot {} | Line { from: number, to: number }
.decl called(f: Name, n: number)
called("f", 1). called("g", 2).
.decl shape(s: Shape)
shape($Line(1, 2)).
.decl least(f: Name, n: number)
least(f, min<n>) :- called(f, n).
.decl sound(f: Name, n: number) inline
sound(f, n) :- called(f, n), n > 1, n < m, m = n + 1.
.decl unseen(f: Name) inline
unseen(f) :- called(f, _), !least(f, _).
.decl safe(f: Name)
safe(f) :- sound(f, _), called(f, n), !unseen(f).
.comp Closure {
  .decl edge(a: Name, b: Name)
  .decl reach(a: Name, b: Name) overridable
  reach(a, b) :- edge(a, b).
  reach(a, c) :- reach(a, b), edge(b, c).
}
.init inner = Closure
inner.edge(f, f) :- safe(f).
"""
OWN = {
    "a rule": ".decl own(f: Name) own(f) :- safe(f), !called(f, 3).",
    "a rule for a relation of the library": 'called("h", n) :- called("g", n).',
    "nothing": "",
    "an instance": ".init own = Closure own.edge(f, f) :- called(f, _). safe(f) :- own.reach(f, _).",
    "a component": """.comp Own : Closure { .override reach reach(a, b) :- edge(b, a). }
        .init own = Own own.edge(f, f) :- inner.reach(f, _).""",
    "what is inlined": ".decl own(f: Name) own(f) :- sound(f, _), sound(f, n), n != 2, safe(f).",
    "what is inlined, and looked up": ".decl own(f: Name) own(f) :- called(f, _), !unseen(f). own(f) :- unseen(f).",
    "inlined rules": '.decl own(f: Name) inline own(f) :- sound(f, m), m = 2. safe(f) :- own(f), f != "".',
    "types": ".type Own <: Name .type All = Name | Own .decl own(f: All, p: Pair) own(f, [f, nil]) :- safe(f).",
    "branches": ".decl own(n: number) own(x) :- shape($Line(x, _)). .type Form = Disc { r: number } | Box {}",
    "aggregates": ".decl own(f: Name, n: number) own(f, sum<n>) :- called(f, n). least(f, min<n>) :- own(f, n).",
    "a recursion that goes through the library": 'safe(f) :- inner.reach("f", f). inner.edge(f, "h") :- safe(f).',
    "a counter, and directives": """.decl own(f: Name, n: number) own(f, autoinc()) :- called(f, _).
        .output own
        .pragma "a" "b" """,
}
"""Own sources for which the units of the library serve, but for the order of their names."""
WRONG = {
    "an undeclared relation": ".decl own(f: Name) own(f) :- saf(f).",
    "a wrong type": ".decl own(f: number) own(f) :- safe(f).",
    "a relation declared twice": ".decl safe(f: number) safe(1).",
    "a type declared twice": ".type Name <: number",
    "a branch declared twice": ".type Own = Dot {} | Other {}",
    "a component declared twice": ".comp Closure { .decl edge(a: number) } .decl own(f: Name) own(f) :- safe(f, f).",
    "an instance of the name of a relation": ".init safe = Closure",
    "an instance declared twice": ".init inner = Closure",
    "a rule for what is inlined, with a wrong body": "sound(f, n) :- called(f, n, n).",
    "a rule for what is inlined, which binds less": "sound(f, n) :- called(f, _).",
    "a negation in a cycle through the library": """
        .decl own(f: Name) own(f) :- called(f, _), !inner.reach(f, f). safe(f) :- own(f).""",
    "another aggregate": "least(f, max<n>) :- called(f, n).",
    "a syntax error": ".decl own(f: Name) own(f) : safe(f).",
}  # fmt: skip


def outcome(sources, units):
    """The program made of the sources with the order of its parts, or the text of their errors."""
    try:
        program = compile(sources, units=units)
    except engine.ProgramError as error:
        return error.render()
    orders = [list(names) for names in (program.types, program.records, program.relations)]
    return program, orders, [clause.span for clause in program.clauses]


def units_of(sources):
    """The units of sources, as they are kept."""
    return dict(zip(sources, UNITS_CODEC.unpack(UNITS_CODEC.pack(check_sources(sources).units)), strict=True))


LIBRARY_SOURCES = [engine.Source(f"{at}.dl", part) for at, part in enumerate(LIBRARY.split("\n.comp"))]
LIBRARY_SOURCES[1] = engine.Source("1.dl", f".comp{LIBRARY_SOURCES[1].text}")


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("name", OWN)
def test_own_rules_are_read_alone_and_make_the_same_program(name, at, read):
    units = units_of(LIBRARY_SOURCES)
    sources = [*LIBRARY_SOURCES[:at], engine.Source("own.dl", OWN[name]), *LIBRARY_SOURCES[at:]]
    read.clear()
    found = outcome(sources, units)
    assert read == ["own.dl"]
    assert found == outcome(sources, {})
    assert isinstance(found, tuple)


@pytest.mark.parametrize("at", [0, 2])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_own_rules_have_the_same_errors(name, at):
    sources = [*LIBRARY_SOURCES[:at], engine.Source("own.dl", WRONG[name]), *LIBRARY_SOURCES[at:]]
    found = outcome(sources, units_of(LIBRARY_SOURCES))
    assert found == outcome(sources, {})
    assert name.startswith("a rule for what is inlined, which") or "error[" in found


def test_errors_of_own_rules_take_no_more_than_reading_them(read):
    units = units_of(LIBRARY_SOURCES)
    read.clear()
    sources = [*LIBRARY_SOURCES, engine.Source("own.dl", WRONG["an undeclared relation"])]
    assert "did you mean 'safe'?" in outcome(sources, units)
    assert read == ["own.dl"]


def test_wrong_programs_in_two_sources_have_the_same_errors():
    n_compared = 0
    for name, (text, _) in CASES.items():
        lines = text.splitlines(keepends=True)
        for at in range(1, len(lines) if not name.startswith("grammar: ") else 1):
            sources = [engine.Source("a.dl", "".join(lines[:at])), engine.Source("b.dl", "".join(lines[at:]))]
            for base in sources:
                try:
                    units = units_of([base])
                except engine.ProgramError:
                    continue
                n_compared += 1
                assert outcome(sources, units) == outcome(sources, {}), (name, at)
    assert n_compared > 100


def test_units_that_are_damaged_are_no_units():
    packed = UNITS_CODEC.pack(check_sources(LIBRARY_SOURCES).units)
    for broken in (packed[:-1], packed[1:], b"", b"\x93\xa1a\xa1b\xa1c", re.sub(b"safe", b"sa\xffe", packed)):
        with pytest.raises(Damaged):
            UNITS_CODEC.unpack(broken)
