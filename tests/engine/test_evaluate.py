"""The engine against the oracle, on random programs and facts."""

from dataclasses import replace
from statistics import median

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from backends import ROUNDS, TINY, Backend, assert_as_the_oracle
from hypothesis import given, settings

import engine
from engine import tables
from engine.evaluation.coordination_policy import Dws, Ssp
from engine.evaluation.execution import Options

# Sizes so small that every buffer fills up, every partition splits and every chunk is cut.


@st.composite
def exchanges(draw) -> Backend:
    """Threads, a policy that exchanges tuples, and sizes so small that queues and outboxes are often full."""
    policy = draw(st.sampled_from([Dws(), Dws(), *map(Ssp, range(4))]))
    bits, room = draw(st.integers(0, 4)), draw(st.integers(1, 3))
    options = replace(TINY, exchange_bits=bits, queue_batches=room, buffer_rows=draw(st.sampled_from([1, 2, 50])))
    return Backend(draw(st.integers(1, 3)), policy, options)


BASE = {"e": "nn", "f": "nnn", "g": "sn", "u": "n", "h": "pn"}
KINDS = {"n": "number", "s": "symbol", "p": "Pair"}
SYMBOLS = ["a", "b", "cc", "d d", ""]
HEADER = """
.decl e(a: number, b: number)
.decl f(a: number, b: number, c: number)
.decl g(a: symbol, b: number)
.decl u(a: number)
.type Pair = [first: number, second: number]
.decl h(a: Pair, b: number)
h([a, b], b) :- e(a, b).
"""
NUMBERS = st.integers(0, 9)


@st.composite
def cases(draw) -> tuple[str, dict[str, set[tuple]]]:
    """A program of levels: rules read their own level positively, lower levels in any way."""
    facts = {
        "e": draw(st.sets(st.tuples(NUMBERS, NUMBERS), min_size=8, max_size=16)),
        "f": draw(st.sets(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=10)),
        "g": draw(st.sets(st.tuples(st.sampled_from(SYMBOLS), NUMBERS), min_size=2, max_size=8)),
        "u": draw(st.sets(st.tuples(NUMBERS), min_size=2, max_size=5)),
    }
    known, text = dict(BASE), HEADER
    for level in range(draw(st.integers(1, 3))):
        kinds = st.sampled_from(["nn", "nn", "nn", "n", "nnn", "sn", "ns", "np", ""])
        own = {f"r{level}{i}": draw(kinds) for i in range(draw(st.integers(1, 2)))}
        for name, columns in own.items():
            declared = ", ".join(f"c{i}: {KINDS[k]}" for i, k in enumerate(columns))
            text += f".decl {name}({declared})\n"
        for name, columns in own.items():
            for i in range(draw(st.integers(2, 4))):
                text += draw(rules(name, columns, known, own if i else {}))
            text += draw(st.sampled_from(STEPS.get(columns, [""]))).replace("R", name)
        known |= own
    return text, facts


STEPS = {
    "nn": ["R(x, y) :- R(x, z), e(z, y).\n", "R(x, y) :- e(x, z), R(z, y).\n", "R(x, z) :- R(x, y), R(y, z).\n"],
    "n": ["R(x + 1) :- R(x), x < 9.\n", "R(y) :- R(x), e(x, y).\n"],
    "sn": ["R(s, y) :- R(s, x), e(x, y), !u(y).\n", "R(s, y) :- R(s, x), h([x, y], y), R(_, y).\n"],
    "np": ["R(y, [x, y]) :- R(x, [_, x]), e(x, y).\n", "R(y, p) :- R(x, p), e(x, y).\n"],
    "nnn": ["R(x, z, y) :- R(x, y, z), e(y, z).\n", "R(x, y, w) :- R(x, y, z), e(z, w).\n"],
}
"""Steps of recursion by the kinds of the columns, so that most recursion goes on for a while."""


@st.composite
def rules(draw, head: str, columns: str, lower: dict[str, str], own: dict[str, str]) -> str:
    """A rule for `head`; a chain of atoms, so that most bodies join, then what filters or computes."""
    atoms = [draw(st.sampled_from(sorted(own)))] if own and draw(st.integers(0, 5)) else []
    atoms += draw(st.lists(st.sampled_from([*sorted(lower), *"eeee"]), min_size=0 if atoms else 1, max_size=2))
    if own and not draw(st.integers(0, 4)):
        atoms.append(draw(st.sampled_from(sorted(own))))
    if draw(st.booleans()):
        atoms.reverse()
    bound: dict[str, list[str]] = {"n": [], "s": [], "p": []}
    body = []
    for atom in atoms:
        kinds = (lower | own)[atom]
        joined = draw(st.integers(0, max(0, len(kinds) - 1)))
        terms = [draw(term(kind, bound, reuse=i == joined)) for i, kind in enumerate(kinds)]
        body.append(f"{atom}({', '.join(terms)})")
    if own or draw(st.booleans()):
        body += draw(extras(bound, lower))
    terms = [draw(head_term(kind, bound, body, last=i > 0)) for i, kind in enumerate(columns)]
    return f"{head}({', '.join(terms)}) :- {', '.join(body)}.\n"


@st.composite
def term(draw, kind: str, bound: dict[str, list[str]], *, reuse: bool) -> str:
    choice = draw(st.integers(0, 19))
    if choice == 0:
        return "_"
    if choice == 1:
        return draw(constant(kind))
    if kind == "p" and choice < 12:
        return f"[{draw(term('n', bound, reuse=reuse))}, {draw(term('n', bound, reuse=False))}]"
    if bound[kind] and (reuse or choice == 2):
        return draw(st.sampled_from(bound[kind]))
    bound[kind].append(f"{kind}{len(bound[kind])}")
    return bound[kind][-1]


@st.composite
def constant(draw, kind: str) -> str:
    if kind == "p":
        return f"[{draw(NUMBERS)}, {draw(NUMBERS)}]"
    return str(draw(NUMBERS)) if kind == "n" else f'"{draw(st.sampled_from(SYMBOLS))}"'


@st.composite
def head_term(draw, kind: str, bound: dict[str, list[str]], body: list[str], *, last: bool) -> str:
    if not bound[kind]:
        return draw(constant(kind))
    # Mostly the ends of the chain of atoms, as recursion has it.
    name = draw(st.sampled_from([*bound[kind], *[bound[kind][-last]] * 4]))
    if kind == "n" and not draw(st.integers(0, 3)):
        body.append(f"{name} < {draw(st.integers(4, 9))}")
        return f"{name} + 1"
    if kind == "p" and bound["n"] and draw(st.booleans()):
        return f"[{bound['n'][0]}, {bound['n'][-1]}]"
    if kind == "s" and not draw(st.integers(0, 3)):
        body.append(f"strlen({name}) < 4")
        return f'cat({name}, "x")'
    return name


@st.composite
def extras(draw, bound: dict[str, list[str]], lower: dict[str, str]) -> list[str]:
    """Literals that filter or compute on bound variables."""
    found = []
    for kind in draw(st.lists(st.sampled_from(["compare", "negate", "compute", "fold", "text"]), max_size=2)):
        numbers = bound["n"] or ["3"]
        x, y = (draw(st.sampled_from(numbers)) for _ in range(2))
        if kind == "compare":
            found.append(f"{x} {draw(st.sampled_from(['!=', '<', '<=', '>', '>=']))} {draw(NUMBERS)}")
        elif kind == "negate":
            name = draw(st.sampled_from(sorted(lower)))
            terms = [draw(st.sampled_from((bound[k] or ["_"]) + ["_"])) for k in lower[name]]
            found.append(f"!{name}({', '.join(terms)})")
        elif kind == "compute":
            functor = draw(st.sampled_from(["+", "*", "/", "%", "-", "band"]))
            target = f"n{len(bound['n'])}"
            found += [f"{target} = {x} {functor} {y}", f"{target} >= 0", f"{target} < 9"]
            bound["n"].append(target)
        elif kind == "fold":
            found.append(draw(folds(x, bound, lower)))
        elif bound["s"]:
            found.append(
                f'{draw(st.sampled_from(["match", "contains"]))}("{draw(st.sampled_from("abc"))}", {bound["s"][0]})'
            )
    return found


@st.composite
def folds(draw, x: str, bound: dict[str, list[str]], lower: dict[str, str]) -> str:
    target, inner = f"n{len(bound['n'])}", f"i{len(bound['n'])}"
    bound["n"].append(target)
    names = sorted(name for name, kinds in lower.items() if kinds.count("n") >= 2)
    name = draw(st.sampled_from(names))
    first = lower[name].index("n")
    second = lower[name].index("n", first + 1)
    terms = ["_"] * len(lower[name])
    terms[first], terms[second] = draw(st.sampled_from([x, "_"])), inner
    kind = draw(st.sampled_from(["count", "sum", "min", "max"]))
    aggregate = "count" if kind == "count" else f"{kind} {inner}"
    return f"{target} = {aggregate} : {{ {name}({', '.join(terms)}) }}, {target} < 9"


@settings(max_examples=4 * settings.default.max_examples)
@given(cases(), st.data())
def test_random_queries_answer_as_the_oracle(case, data):
    text, facts = case
    program = engine.compile([text])
    expected = reference.evaluate(program, facts)
    derived = sorted(program.relations.keys() - BASE.keys())
    for name in data.draw(st.lists(st.sampled_from(derived), min_size=1, max_size=3)):
        columns = [column.type.kind for column in program.relations[name].columns]
        terms, wanted = [], {}
        for i, kind in enumerate(columns):
            known = sorted({row[i] for row in expected[name]}) if kind != "record" else []
            if known and data.draw(st.booleans()):
                wanted[i] = data.draw(st.sampled_from(known))
                terms.append(f'"{wanted[i]}"' if kind == "symbol" else str(wanted[i]))
            else:
                terms.append("_" if kind == "record" else f"v{i}")
        rows = {row for row in expected[name] if all(row[i] == value for i, value in wanted.items())}
        result = engine.query(
            program, f"{name}({', '.join(terms)})", engine.facts(program, facts), threads=1, options=TINY
        )
        assert tables.decode(program, result, [name]) == {name: rows}
        assert result.relation(name).shape[1] == len(rows)


@given(cases(), st.sampled_from([Options(), TINY]))
def test_random_programs_on_facts_that_change(case, options):
    """On a view of the facts alone: half of them, then the others too but for every third one."""
    text, facts = case[0], {name: sorted(rows) for name, rows in case[1].items()}
    program = engine.compile([text])
    given = replace(program, strata=tuple(replace(stratum, clauses=()) for stratum in program.strata))
    with engine.View(given, {n: rows[::2] for n, rows in facts.items()}, threads=2, options=options) as view:
        view.evaluate(program)
        for name, rows in facts.items():
            view.insert(name, rows[1::2])
            view.delete(name, rows[::3])
        view.commit()
        found = tables.decode(program, view.evaluate(program), program.relations)
    expected = reference.evaluate(program, {n: {r for i, r in enumerate(rows) if i % 3} for n, rows in facts.items()})
    assert found == expected


SEEN: list[tuple[bool, list[bool], int]] = []
"""Of each program run: is it recursive, which derived relations have rows, how many iterations did recursion take."""


@pytest.mark.xdist_group("random programs")
@settings(max_examples=4 * settings.default.max_examples)
@given(cases(), exchanges())
def test_random_programs_answer_as_the_oracle(case, exchange):
    text, facts = case
    program = engine.compile([text])
    expected, results = assert_as_the_oracle(program, facts, {**ROUNDS, "exchange": exchange})
    iterations = max((stratum.iterations for result in results for stratum in result.statistics), default=0)
    derived = [relation for relation in program.relations if relation not in BASE]
    SEEN.append((any(s.recursive for s in program.strata), [bool(expected[r]) for r in derived], iterations))


@pytest.mark.xdist_group("random programs")
def test_random_programs_are_worth_running():
    """The mix above: mostly recursive, mostly with results, with recursion that takes a few iterations."""
    if len(SEEN) < 4 * settings.default.max_examples:
        pytest.fail("runs after the random programs")
    recursive = [iterations for is_recursive, _, iterations in SEEN if is_recursive]
    assert len(recursive) >= 0.5 * len(SEEN)
    results = [has_rows for _, derived, _ in SEEN for has_rows in derived]
    assert sum(results) >= 0.7 * len(results)
    assert median(recursive) >= 3


ORDERS = {
    "in order": [(0, 5), (0, 6), (1, 0), (1, 9), (2, 2)],
    "in order of the second column": [(9, 0), (3, 1), (4, 1), (0, 7)],
    "in no order": [(3, 1), (1, 4), (2, 2)],
    "in order, with a row twice": [(0, 5), (1, 3), (1, 3), (2, 0)],
    "in order of the second column, with a row twice": [(5, 0), (3, 1), (3, 1), (0, 2)],
    "one row": [(7, 7)],
    "no rows": [],
}


@pytest.mark.parametrize("rows", ORDERS.values(), ids=ORDERS)
def test_facts_are_distinct_in_whatever_order_they_come(rows):
    program = engine.compile(
        [
            ".decl r(x: number, y: number)\n.decl n(c: number)\n.decl s(y: number, x: number)\n"
            "n(c) :- c = count : { r(_, _) }.\ns(y, x) :- r(x, y)."
        ]
    )
    columns = np.array(rows, np.int32).reshape(-1, 2).T.copy()
    given = columns.copy()
    result = engine.evaluate(program, engine.Database(relations={"r": columns}))
    found = tables.decode(program, result, ["r", "n", "s"])
    assert found == {"r": set(rows), "n": {(len(set(rows)),)}, "s": {(y, x) for x, y in rows}}
    assert result.relation("r").shape[1] == len(set(rows))
    assert (columns == given).all() and not np.shares_memory(columns, result.relation("r"))
