"""Compiled programs in the cache: whatever stands there, what is evaluated is what the sources say."""

import pickle
import random
from types import SimpleNamespace

import pytest

import engine
import facts
from analyzer.cache_entries import save_entry
from analyzer.evaluation import program
from analyzer.evaluation.program import compile_cached, prepare_cached
from analyzer.evaluation.rule_sources import bundled, fact_schema, own
from analyzer.evaluation.rulebook import build_rulebook
from engine import UNITS_CODEC, check_sources, outlined
from rules import catalogue

SOURCES = [engine.Source("a.dl", '.decl p(x: number, s: symbol)\np(1, "a").\n.decl q(s: symbol)\nq(s) :- p(_, s).\n')]


def compile_whole(*arguments, **more):
    return compile_cached(*arguments, **more).whole


class Mischief:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("make", [compile_whole, prepare_cached])
def test_a_pickle_in_the_cache_runs_nothing(make, tmp_path):
    expected, told = make(SOURCES, tmp_path, ("q",)), []
    for entry in (tmp_path / "programs").iterdir():
        save_entry(entry, pickle.dumps(Mischief(tmp_path / "ran")))
    assert make(SOURCES, tmp_path, ("q",), tell=told.append) == expected
    assert not (tmp_path / "ran").exists()
    assert told and all("were damaged; compiled anew" in text for text in told)


@pytest.mark.parametrize("make", [compile_whole, prepare_cached])
def test_flipped_bits_are_told_and_the_program_is_compiled_anew(make, tmp_path):
    expected, choose = make(SOURCES, tmp_path, ("q",)), random.Random(make.__name__)
    for _ in range(25):
        told = []
        for entry in (tmp_path / "programs").iterdir():
            content = bytearray(entry.read_bytes())
            content[choose.randrange(len(content))] ^= 1 << choose.randrange(8)
            entry.write_bytes(content)
        assert make(SOURCES, tmp_path, ("q",), tell=told.append) == expected
        assert told
        told.clear()
        assert make(SOURCES, tmp_path, ("q",), tell=told.append) == expected and told == []


def test_each_layer_of_the_bundled_sources_stands_alone(shared_state):
    """What does not is checked anew for each edited rule."""
    files = (*catalogue.library(), *catalogue.models(), *(check.file for check in catalogue.checks()))
    sources = [fact_schema(), *map(bundled, files)]
    units = program._units(program._layers(sources), shared_state, program.nobody)
    assert [source.name for source in sources if source not in units] == []


def test_a_process_decodes_a_program_once(tmp_path):
    compile_cached(SOURCES, tmp_path, ("q",))
    assert compile_cached(SOURCES, tmp_path, ("q",)) is compile_cached(SOURCES, tmp_path, ("q",))


@pytest.fixture
def small_bundle(monkeypatch):
    """A schema, an analysis, a model and a check that stand for the bundled ones."""
    files = {
        "facts/schema.dl": ".decl fact(x: number)\nfact(1).\n",
        "rules/lib/a.dl": ".decl a(x: number) public\na(x) :- fact(x).\n",
        "rules/models/m.dl": ".decl m(x: number) public\nm(x) :- a(x).\n",
        "rules/checks/c.dl": ".decl c(x: number) public\nc(x) :- m(x), !a(2).\n",
    }
    schema, analysis, model, check = (catalogue.DatalogFile(name, text) for name, text in files.items())
    monkeypatch.setattr(facts, "schema_text", lambda: schema.text)
    monkeypatch.setattr(program.library, "analysis", lambda: [analysis])
    monkeypatch.setattr(program.catalogue, "library", lambda: (analysis,))
    monkeypatch.setattr(program.catalogue, "models", lambda: (model,))
    monkeypatch.setattr(program.catalogue, "checks", lambda: (SimpleNamespace(file=check),))
    return [fact_schema(), *map(bundled, (analysis, model, check))]


def test_bundled_rules_are_read_once_for_all_programs_with_them(small_bundle, read, tmp_path):
    def relations(sources, *wanted):
        read.clear()
        return set(compile_cached(sources, tmp_path, wanted, ("fact",)).names)

    assert relations(small_bundle, "c") == {"fact", "a", "m", "c"}
    assert sorted(read) == sorted(source.name for source in small_bundle)
    assert relations(small_bundle[:3], "m") == {"fact", "a", "m"}
    assert read == []
    for text in (".decl own(x: number)\nown(x) :- a(x).\n", ".decl own(x: number)\nown(x) :- a(x), x > 0.\n"):
        assert relations([*small_bundle, engine.Source("own.dl", text, trusted=False)], "own") == {"fact", "a", "own"}
        read.remove("own.dl")
    assert read == []
    assert relations([small_bundle[0], engine.Source("rules/lib/a.dl", ".decl a(x: number)\n")], "a") == {"fact", "a"}
    assert "rules/lib/a.dl" in read


def test_bundled_rules_that_lack_others_are_compiled_with_all(small_bundle, tmp_path):
    own = engine.Source("own.dl", ".decl a(x: number)\na(1).\n")
    sources = [small_bundle[0], *small_bundle[2:], own]
    assert (
        compile_whole(sources, tmp_path, ("c",), ("fact",))
        == outlined(engine.compile(sources), ("c",), ("fact",)).whole
    )


def test_units_that_are_damaged_are_told_and_made_again(small_bundle, tmp_path):
    own = engine.Source("own.dl", ".decl own(x: number)\nown(x) :- c(x).\n")
    expected, told = compile_whole([*small_bundle, own], tmp_path, ("own",), ("fact",)), []
    for entry in (tmp_path / "programs").iterdir():
        save_entry(entry, pickle.dumps(Mischief(tmp_path / "ran")))
    assert compile_whole([*small_bundle, own], tmp_path, ("own",), ("fact",), told.append) == expected
    assert len(told) == 4 and not (tmp_path / "ran").exists()


RIGHT = """
.decl shop_called(call: Entity, text: symbol)
shop_called(c, t) :- calls(c, "requests.get"), argument(c, 0, a), constant_value(a, "string", t).
suspect("shop/plain-http", c, t) :- shop_called(c, t), match("http://.*", t), !dead(c).
sink_argument("mail", "shop.mail.send", "to"). text_kind("mail"). taint_check("shop/mail", "mail").
.init shop_flow = Carried
shop_flow.origin(c) :- shop_called(c, _).
suspect("shop/carried", c, "") :- shop_flow.carried(c, _).
"""
WRONG_NAME = ".decl shop(c: Entity) shop(c) :- call_targets(c, _)."
NOT_OPEN = 'calls(c, "shop.buy") :- call(c, _, _).'
PRIVATE = ".decl shop(c: Entity) shop(c) :- tests_write(c)."
CYCLE = """
.decl shop(c: Entity)
shop(c) :- call_target(c, _).
call_target(c, f) :- call_target(_, f), calls(c, "shop"), !shop(c).
"""


@pytest.mark.slow
def test_rules_beside_the_bundled_ones_make_the_program_that_all_make_together():
    def outcome(sources, units):
        try:
            return engine.compile(sources, units=units)
        except engine.ProgramError as error:
            return error.render()

    bundled = build_rulebook([], []).sources
    units = dict(zip(bundled, UNITS_CODEC.unpack(UNITS_CODEC.pack(check_sources(bundled).units)), strict=True))
    for text, begin in (
        (RIGHT, None),
        (WRONG_NAME, "error[E010]"),
        (CYCLE, "error[E030]"),
        (NOT_OPEN, "error[E082]"),
        (PRIVATE, "error[E080]"),
    ):
        sources = [*bundled, own(".analyze/rules/shop.dl", text, ())]
        found = outcome(sources, units)
        assert found == outcome(sources, {})
        assert isinstance(found, engine.CheckedProgram) if begin is None else found.startswith(begin)
