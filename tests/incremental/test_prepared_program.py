"""A program taken apart and stored: what a process reads of it gives what the program gives."""

import numpy as np
import reference

import engine
from engine.database import Database
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.prepared_program import PREPARED_CODEC, prepare_program
from engine.incremental.saved_state import State
from engine.symbols import Symbols

PROGRAM = engine.compile(
    [
        """
        .decl arc(x: symbol, y: symbol)
        .input arc
        arc("a", "b").
        .decl reach(x: symbol, y: symbol)
        reach(x, y) :- arc(x, y), x != "closed".
        reach(x, z) :- reach(x, y), arc(y, z).
        .decl last(x: symbol)
        last(x) :- arc(_, x), !arc(x, _).
        .decl degree(x: symbol, n: number)
        degree(x, n) :- arc(x, _), n = count : { arc(x, _) }.
        .decl once(x: symbol, y: symbol) choice-domain x
        once(x, y) :- arc(x, y).
        .decl named(x: symbol)
        named(cat(x, "!")) :- degree(x, 2), !last("b").
        """
    ]
)
ARCS = {("b", "c"), ("c", "closed"), ("closed", "a"), ("b", "closed")}
EXPECTED = reference.evaluate(PROGRAM, {"arc": ARCS})


def stored():
    return PREPARED_CODEC.unpack(PREPARED_CODEC.pack(prepare_program(PROGRAM)))


def tuples(view):
    """The tuples of all relations, symbols by their texts."""
    found = {}
    for name, declared in PROGRAM.relations.items():
        values = [view.symbols.texts(c) if f.type.kind == "symbol" else c.tolist()
                  for f, c in zip(declared.columns, view.columns(name), strict=True)]  # fmt: skip
        found[name] = set(zip(*values, strict=True))
    return found


def test_symbols_of_rules_and_facts_are_those_of_the_view_that_reads_them():
    for texts in ([], ["closed", "zero", "b"]):
        view = MaintainedProgram(stored(), Database(Symbols(texts)), threads=1)
        view.bootstrap({"arc": view.symbols.intern(x for arc in sorted(ARCS) for x in arc).reshape(-1, 2).T})
        assert tuples(view) == EXPECTED


def test_a_process_that_goes_on_from_a_state_reads_the_rules_of_what_has_changed_only(tmp_path):
    state = State(tmp_path, stored())
    state.open(0)
    view = MaintainedProgram(PROGRAM, Database(), threads=1)
    some = sorted(ARCS - {("b", "closed")})
    view.bootstrap({"arc": view.symbols.intern(x for arc in some for x in arc).reshape(-1, 2).T})
    state.save(view)
    state.close()
    view = State(tmp_path, stored()).load(threads=1)
    view.update({}, {})
    assert not any("rules" in vars(stratum) for stratum in view.strata)
    view.update({"arc": np.array([view.symbols.intern(["b", "closed"])]).T}, {})
    read = {relation.name for s in view.strata if "rules" in vars(s) for relation in s.relations}
    degree = {"degree", "degree&asked0", "degree&fold0"}
    assert read == {"arc", "arc/0", "reach", "last", "named", *degree}  # `once` is evaluated anew, by a program.
    assert tuples(view) == EXPECTED
