"""Derivations are valid, of the height that brute force finds, and the same whatever led to the tuples."""

import gc
import weakref

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from least_height import Oracle
from sampled_rules import RECURSIONS

import engine
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.provenance import Explainer
from engine.provenance.derivations import CHAIN, CUT, GIVEN, GROUP, LINKED, RULE, STATED, STEPS
from engine.tables import Decoder

DECLARED = """
.type Pair = [first: number, rest: Pair]
.decl edge(x: number, y: number)
.decl mark(x: number)
.decl left(x: number, y: number)
.decl right(x: number, y: number)
.decl odd(x: number, y: number)
.decl even(x: number, y: number)
.decl wide(x: number, y: number, z: number)
.decl lacking(x: number, y: number)
.decl flag()
.decl again(x: number)
.decl least(x: number, d: number)
.decl most(x: number, d: number)
.decl total(x: number, d: number)
.decl out(x: number, n: number)
.decl same(x: number, y: number) eqrel
.decl near(x: number, y: number)
.decl chosen(x: number, y: number) choice-domain x
.decl list(p: Pair, n: number)
.decl word(s: symbol, n: number)
"""
COUNTED = (
    *RECURSIONS,
    "flag() :- left(1, 2).",
    "flag() :- left(x, x), mark(x).",
    "again(x) :- mark(x). again(y) :- again(x), left(x, y), x < y. again(3).",
    "left(2, 5). left(y, x) :- left(x, y), flag(), mark(x).",
    "lacking(x, y) :- edge(x, _), edge(_, y), !left(x, y).",
    "lacking(x, x) :- mark(x), !right(x, _), lacking(_, x).",
)
OTHERS = (
    "least(x, min<0>) :- mark(x). least(y, min<d>) :- least(x, c), edge(x, y), d = c + 1.",
    "most(x, max<y>) :- left(x, y).",
    "total(x, sum<y>) :- left(x, y), y != 3.",
    "out(x, n) :- edge(x, _), n = count : { left(x, _) }.",
    "same(x, y) :- left(x, y), !mark(y).",
    "same(x, y) :- least(x, d), least(y, d), d > 1. same(2, 2) :- flag().",
    "near(x, y) :- same(x, y), x < y. same(x, y) :- near(_, x), mark(y), near(x, y).",
    "chosen(x, y) :- left(x, y).",
    "list([x, nil], 1) :- mark(x). list([x, p], n + 1) :- list(p, n), p = [y, _], edge(y, x), n < 3.",
    'word("a", n) :- least(_, n). word(cat(s, to_string(x)), n - 1) :- word(s, n), n > 0, edge(n, x).',
)
number = st.integers(0, 5)
EDB = {"edge": st.tuples(number, number), "mark": st.tuples(number), "left": st.tuples(number, number)}
facts = st.fixed_dictionaries({name: st.sets(row, max_size=9 if name == "edge" else 2) for name, row in EDB.items()})
update = st.tuples(facts, facts)


def programs(*rules):
    return st.sets(st.sampled_from(rules), min_size=1).map(lambda chosen: [rule for rule in rules if rule in chosen])


def columns(program, rows):
    return {
        name: np.array(sorted(found), np.int32).reshape(len(found), program.relations[name].arity).T
        for name, found in rows.items()
    }


def made(rules, facts):
    program = engine.compile([engine.Source("p.dl", DECLARED + "\n".join(rules))])
    view = MaintainedProgram(program, engine.Database(), threads=1)
    view.bootstrap(columns(program, facts))
    return program, view


def rows_of(view, name):
    return list(map(tuple, view.relations[name].columns().T.tolist()))


class Reading:
    """A derivation in values, as the oracle has them."""

    def __init__(self, program, view, oracle):
        self.program, self.oracle = program, oracle
        self.decoder = Decoder(program.records, view.result().records, view.symbols)

    def fact(self, fact):
        name, row = fact[0].removeprefix(LINKED), fact[1]
        types = [column.type for column in self.program.relations[name].columns]
        return name, tuple(self.decoder.value(v, t) for v, t in zip(row, types, strict=True))

    def check(self, derivation, given):
        """Assert that each step holds on the relations, and leads to tuples that are lower or of a lower step."""
        relations = self.oracle.evaluator.relations
        for fact in self.reached(derivation):
            step, height = derivation.steps[fact], derivation.heights[fact]
            name, row = self.fact(fact)
            assert row in relations[name] or (step.how == RULE and row[::-1] in relations[name])
            heights = [derivation.heights[below] for below in step.below]
            assert height == step.weight + max(heights, default=0)
            if step.how == GIVEN:
                assert row in given.get(name, ()) or row[::-1] in given.get(name, ())
            elif step.how == STATED:
                assert tuple(term.value for term in step.clause.head.arguments) == row
            elif step.how == CHAIN:
                self.check_chain(row, [self.fact(below)[1] for below in step.below])
            elif step.how == RULE:
                self.check_instance(step.rule.clause, step.bindings, (name, row), step.below)
            else:
                assert step.how == GROUP and step.contributions

    def reached(self, derivation):
        pending, seen = [derivation.root], {}
        while pending:
            fact = pending.pop()
            if fact not in seen:
                seen[fact] = True
                pending += derivation.steps[fact].below
        return seen

    def check_chain(self, row, links):
        ends = {row[0]}
        for a, b in links:
            assert {a, b} & ends
            ends = {b} if a in ends else {a}
        assert row[1] in ends or row[0] == row[1]

    def check_instance(self, clause, bindings, head, below):
        known = {n: self.decoder.value(v, clause.variables[n]) for n, v in bindings.items() if n in clause.variables}
        solutions = list(self.oracle.evaluator.solve(clause.body, known, set(known)))
        assert solutions and all({**known, **each} == each for each in solutions)
        row = tuple(self.oracle.value(term, solutions[0]) for term in clause.head.arguments)
        assert (clause.head.relation, row) in (head, (head[0], head[1][::-1]))
        assert all(self.fact(each)[1] in self.oracle.evaluator.relations[self.fact(each)[0]] for each in below)


@given(programs(*COUNTED, *OTHERS), facts)
def test_derivations_are_valid_and_of_least_height(rules, given):
    program, view = made(rules, given)
    oracle = Oracle(program, view)
    expected = oracle.heights(given)
    reading, explainer = Reading(program, view, oracle), Explainer(view)
    for name in program.relations:
        for row in rows_of(view, name)[:5]:
            derivation = explainer.derivations.derivation((name, row))
            assert derivation.is_least
            reading.check(derivation, given)
            assert derivation.height == expected[reading.fact((name, row))], (name, row)
            others = explainer.derivations.alternatives((name, row))
            assert others[0].height == derivation.height
            for other in others[:3]:
                reading.check(other, given)


@given(programs(*COUNTED), facts)
def test_without_a_search_heights_are_least_within_a_recursion(rules, given):
    program, view = made(rules, given)
    reading = Reading(program, view, Oracle(program, view))
    explainer = Explainer(view, most_tuples=0)
    for stratum in view.strata:
        if not isinstance(stratum, MaintainedStratum):
            continue
        for name in stratum.names & program.relations.keys():
            for row in rows_of(view, name)[:5]:
                derivation = explainer.derivations.derivation((name, row))
                assert not derivation.is_least and CUT not in {each.how for each in derivation.steps.values()}
                reading.check(derivation, given)
                iteration = explainer.derivations.tuples.iteration(name, row)
                assert longest_within(stratum.names, derivation, (name, row)) == iteration


def longest_within(names, derivation, fact):
    """Return how many steps deep a derivation is within some relations."""
    step = derivation.steps[fact]
    own = [longest_within(names, derivation, below) for below in step.below if below[0] in names]
    return step.weight + max(own, default=0)


@given(programs(*COUNTED, *OTHERS), facts, st.lists(update, max_size=2), st.sampled_from([2_000, 0]))
def test_explanations_are_the_same_after_updates_and_from_scratch(rules, given, updates, most_tuples):
    program, view = made(rules, given)
    for inserted, deleted in updates:
        view.update(columns(program, inserted), columns(program, deleted))
        given = {name: (given[name] - deleted[name]) | inserted[name] for name in given}
    _, anew = made(rules, given)
    texts = sorted(f"{name}({', '.join('_' * program.relations[name].arity)})" for name in program.relations)
    after, fresh = Explainer(view, most_tuples=most_tuples), Explainer(anew, most_tuples=most_tuples)
    for text in texts:
        (_, found), (_, expected) = after.matches(text), fresh.matches(text)
        assert [after.why(fact) for fact in found[:4]] == [fresh.why(fact) for fact in expected[:4]]
        assert after.why_not(after.reader.read(text)) == fresh.why_not(fresh.reader.read(text))


JOINED = {
    "a field of a record": ("[x, n] = p", "pair(p)"),
    "a functor": ("n = y + x", "value(y)"),
    "a functor of text": ('to_string(n) = cat(to_string(y), "")', "value(y)"),
    "a comparison": ("y > n, y < n + 2", "value(y)"),
    "a field of a record that another has": ("p = [x, m], m = n", "pair(p)"),
}


@pytest.mark.parametrize("test, atom", JOINED.values(), ids=JOINED)
def test_a_row_among_many_that_only_a_test_finds_is_explained(test, atom):
    n_rows, wanted = STEPS + STEPS // 2, STEPS + STEPS // 3
    rule = f"found(x, n) :- asked(x, n), {atom}, {test}."
    text = f"""
    .type Pair = [first: number, second: number]
    .decl asked(x: number, n: number)  .decl value(y: number)  .decl pair(p: Pair)  .decl found(x: number, n: number)
    value(range(0, {n_rows})).
    pair([0, y]) :- value(y).
    {rule}
    """
    program = engine.compile([engine.Source("p.dl", text)])
    view = MaintainedProgram(program, engine.Database(), threads=1)
    view.bootstrap(columns(program, {"asked": {(0, wanted)}}))
    tree = Explainer(view).why(("found", (0, wanted)))
    assert tree["by"] == RULE
    assert f"asked(0, {wanted})" in {part["tuple"]["atom"] for part in tree["body"] if "tuple" in part}


@pytest.mark.parametrize("order", [("shorter", "longer"), ("longer", "shorter")])
def test_texts_of_several_parts_are_joined_apart_from_those_of_fewer(order):
    text = """
    .decl value(y: number)
    .decl shorter, longer(s: symbol, y: number)
    value(range(0, 300)).
    shorter(s, y) :- value(y), s = cat("a", to_string(y)), strlen(s) > 2.
    longer(s, y) :- value(y), s = cat("a", to_string(y), "b"), strlen(s) > 2.
    """
    program = engine.compile([engine.Source("p.dl", text)])
    view = MaintainedProgram(program, engine.Database(), threads=1)
    view.bootstrap(columns(program, {}))
    explainer = Explainer(view)
    for name in order:
        _, facts = explainer.matches(f"{name}(_, _)")
        for fact in facts:
            parts = [part["tuple"]["atom"] for part in explainer.why(fact)["body"] if "tuple" in part]
            assert parts == [f"value({fact[1][1]})"]


def test_an_explainer_leaves_nothing_for_the_collector():
    """It holds copies of whole relations: they go with it, not when cycles of objects are looked for."""
    _, view = made(COUNTED, {"edge": {(1, 2), (2, 3), (3, 1)}})
    gc.disable()
    try:
        explainer = Explainer(view)
        assert explainer.why(("left", (1, 3)))
        assert explainer.why(("left", (1, 3)), 2)
        assert explainer.why_not(explainer.reader.read("left(7, 1)"))["rules"]
        tuples = weakref.ref(explainer.derivations.tuples)
        del explainer
        assert tuples() is None
    finally:
        gc.enable()


POSITIVE = [rule for rule in COUNTED if "!" not in rule]


@given(programs(*POSITIVE), facts, st.tuples(number, number))
def test_the_tuple_that_is_missing_would_have_derived_it(rules, given, row):
    program, view = made(rules, given)
    for name in ("left", "right", "odd", "even"):
        if row in rows_of(view, name):
            continue
        explainer = Explainer(view)
        for failure in explainer.failures.of(explainer.reader.read(f"{name}({row[0]}, {row[1]})")):
            if failure.n_missing != 1 or not hasattr(failure.rule.body[failure.missing], "relation"):
                continue
            atom = failure.rule.body[failure.missing]
            fact = tuple(failure.bindings.get(t, 0) if isinstance(t, str) else t for t in atom.terms)
            assert fact not in rows_of(view, atom.relation)
            changed = MaintainedProgram(program, engine.Database(), threads=1)
            added = {**given, atom.relation: given.get(atom.relation, set()) | {fact}}
            changed.bootstrap(columns(program, added))
            # What is missing may be a value that a test of the rule refuses, where nothing else says which it is.
            if not set(atom.variables) - failure.bindings.keys():
                assert row in rows_of(changed, name)
