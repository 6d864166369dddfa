"""Discriminating sets on the papers' programs, and the binarisation of recursive rules."""

import pytest

import engine
from engine.plan.auxiliary_relations import Auxiliaries
from engine.plan.binarise import binarise
from engine.plan.discriminating_sets import MAX_ASSIGNMENTS, ExchangePort, Search, place
from engine.plan.flatten import flatten

HEADER = ".decl arc(x: number, y: number)\n"
CLOSURE = HEADER + ".decl tc(x: number, y: number)\ntc(x, y) :- arc(x, y).\n"


def recursive_rules(text: str, *names: str):
    """The rules of the stratum that holds `names`, and the relations' columns."""
    program = engine.compile([text])
    stratum = next(s for s in program.strata if names[0] in s.relations)
    rules = [flatten(clause, program, lambda constant: int(constant.value)) for clause in stratum.clauses]
    return rules, {name: range(program.relations[name].arity) for name in stratum.relations}


def binarised(rules, wide):
    """The rules for an exchange of a component `tc`, and the auxiliary relations among their heads."""
    auxiliaries = Auxiliaries(wide)
    return binarise(rules, {"tc"}, auxiliaries), auxiliaries.made


def placement(text: str, *names: str):
    rules, columns = recursive_rules(text, *names)
    return place(columns, rules)


@pytest.mark.parametrize(
    "step, home", [("tc(x, y) :- tc(x, z), arc(z, y).", (0,)), ("tc(x, y) :- arc(x, z), tc(z, y).", (1,))]
)
def test_linear_closure_sends_nothing(step, home):
    """Paper 003, Examples 10 and 13: the pivot set is the argument that the recursion leaves alone."""
    found = placement(CLOSURE + step, "tc")
    assert (found.owner_keys, found.cost) == ({"tc": home}, 0)


def test_non_linear_closure_has_two_ports_and_lives_at_one():
    """DCDatalog, §4.3: one copy by each argument; both variants derive tuples that belong elsewhere."""
    found = placement(CLOSURE + "tc(x, z) :- tc(x, y), tc(y, z).", "tc")
    assert found.joins[1] == (ExchangePort("tc", (1,)), ExchangePort("tc", (0,)))
    assert found.owner_keys["tc"] in ((0,), (1,))
    assert found.cost == 1 + 2


def test_same_generation_sends_what_it_derives():
    text = (
        HEADER
        + """
        .decl sg(x: number, y: number)
        sg(x, y) :- arc(p, x), arc(p, y), x != y.
        sg(x, y) :- arc(a, x), sg(a, b), arc(b, y).
    """
    )
    found = placement(text, "sg")
    assert (found.owner_keys, found.cost) == ({"sg": (0, 1)}, 1)


def test_shortest_paths_are_placed_by_what_groups_them():
    """APSP, linear: the column of distances cannot discriminate; the source stays the same."""
    text = """
        .decl warc(x: number, y: number, d: number)
        .decl path(x: number, y: number, d: number)
        path(x, y, d) :- warc(x, y, d).
        path(x, y, d + e) :- path(x, z, d), warc(z, y, e), d < 100.
    """
    rules, _ = recursive_rules(text, "path")
    assert place({"path": (0, 1)}, rules).owner_keys == {"path": (0,)}
    rules, _ = recursive_rules(text.replace("warc(z, y, e), d", "path(z, y, e), d"), "path")
    found = place({"path": (0, 1)}, rules)
    assert found.joins[1] == (ExchangePort("path", (1,)), ExchangePort("path", (0,))) and found.cost == 3


def test_mutual_recursion_is_placed_together():
    """As in Attend (DCDatalog, Query 4): from `told` to `hears` tuples move, the other way they stay."""
    text = """
        .decl friend(y: number, x: number)
        .decl hears(y: number, x: number)
        .decl told(x: number)
        told(0).
        hears(y, x) :- told(x), friend(y, x).
        told(x) :- hears(x, n), n > 0.
    """
    found = placement(text, "told")
    assert (found.owner_keys, found.cost) == ({"told": (0,), "hears": (0,)}, 1)


def test_atoms_that_share_nothing_meet_at_one_place():
    found = placement(CLOSURE + "tc(x, w) :- tc(x, y), tc(z, w), y < z.", "tc")
    assert found.joins[1] == (ExchangePort("tc", ()), ExchangePort("tc", ()))


def test_improvement_finds_what_the_enumeration_finds():
    """Chains of relations, where the only placement without messages keeps the first argument everywhere."""
    names = [f"r{i}" for i in range(8)]
    text = HEADER + "".join(f".decl {n}(x: number, y: number)\n" for n in names) + "r0(x, y) :- arc(x, y).\n"
    for this, following in zip(names, names[1:] + names[:1], strict=True):
        text += f"{following}(x, y) :- {this}(x, z), arc(z, y).\n"
    rules, columns = recursive_rules(text, "r0")
    search = Search(columns, rules)
    assert 3**8 > MAX_ASSIGNMENTS
    assert place(columns, rules).cost == min(search.cost([(c,)] * 8 + [()] * 9) for c in (0, 1))[0] == 0


def test_three_recursive_atoms_become_two():
    """CSPA's ValueAlias: flows(z, x), memory(z, w), flows(w, y)."""
    text = CLOSURE + "tc(x, y) :- tc(z, x), tc(z, w), tc(w, y)."
    rules, _ = recursive_rules(text, "tc")
    done, auxiliaries = binarised(rules, {"tc": False, "arc": False})
    assert [(a.arity, a.wide) for a in auxiliaries] == [(2, False)]
    assert [[x.relation for x in rule.body] for rule in done] == [["arc"], ["tc", "tc"], [auxiliaries[0].name, "tc"]]
    assert done[1].head == ("x", "w")


def test_four_recursive_atoms_are_joined_through_an_auxiliary_of_an_auxiliary():
    text = CLOSURE + "tc(x, v) :- tc(x, y), tc(y, z), tc(z, w), tc(w, v)."
    rules, _ = recursive_rules(text, "tc")
    done, auxiliaries = binarised(rules, {"tc": True, "arc": False})
    assert [a.arity for a in auxiliaries] == [2, 2]
    assert all(len(rule.body) <= 2 for rule in done)


def test_atoms_that_only_others_connect_meet_through_an_auxiliary_relation():
    """Andersen's store: points(y, z), points(x, w) and store(y, x)."""
    text = CLOSURE + "tc(z, w) :- arc(y, x), tc(y, z), tc(x, w)."
    rules, columns = recursive_rules(text, "tc")
    done, auxiliaries = binarised(rules, {"tc": False, "arc": False})
    assert [[x.relation for x in rule.body] for rule in done] == [["arc"], ["tc", "arc"], [auxiliaries[0].name, "tc"]]
    found = place(columns | {auxiliaries[0].name: range(2)}, done)
    assert all(port.key for pair in found.joins for port in pair)
