"""Kinds of harm: as many as there are bits, and what makes one harmless makes all of its class harmless."""

import re
from pathlib import Path

RULES = Path(__file__).parents[2] / "rules"
BITS = 32


def facts(relation):
    """The facts of a relation of two symbols in all rules."""
    fact = re.compile(rf'\b{relation}\("([^"]+)",\s*"([^"]+)"\)\.')
    return [match.groups() for path in sorted(RULES.rglob("*.dl")) for match in fact.finditer(path.read_text())]


def test_each_class_of_kinds_has_a_bit():
    """A kind beyond them is guarded by nothing: say then which kinds the same makes harmless (`same_harm`)."""
    same = dict(facts("same_harm"))
    kinds = {kind for _, kind in facts("taint_check") + facts("library_check")} | {"fetched"}
    assert "sql" in kinds and kinds >= same.keys()
    assert len({same.get(kind, kind) for kind in kinds}) <= BITS


def test_a_class_is_named_by_one_of_its_kinds():
    same = dict(facts("same_harm"))
    assert not same.keys() & set(same.values())


def test_own_kinds_beyond_the_bits_share_the_last_one(rows):
    kinds = [f"own {n:02}" for n in range(BITS + 4)]
    rules = f"""
    .use applied_models
    .decl own(kind: symbol)
    {" ".join(f'own("{kind}").' for kind in kinds)}
    kind(k) :- own(k).
    sink(k, c, c) :- own(k), call(c, _, _).
    .decl shares(kind: symbol, other: symbol)
    shares(k, o) :- own(k), own(o), kind_bit(k, b), kind_bit(o, b), b != 0.
    """
    last = kinds[BITS - 1 :]
    alone = {(kind, kind) for kind in kinds[: BITS - 1]}
    assert {*rows("shares", {"app.py": "f()\n"}, rules=rules)} == alone | {(k, o) for k in last for o in last}
