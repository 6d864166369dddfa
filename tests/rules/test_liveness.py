"""Liveness: assignments whose value is lost, against dataflow equations over variables, solved round by round.

The oracle has blocks of its own: it takes programs as trees of statements, and knows nothing of static single
assignment form. Its equations are those of Aho, Lam, Sethi and Ullman, 9.2.5: in = use ∪ (out − def), and out is the
union of in of what follows.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from analyzer.evaluation.program import GIVEN
from facts import schema_text
from rules import library

NAMES = ("a", "b", "c")
# A statement: (target, names read), or ("if" | "while", name tested, body, other branch).
ASSIGNMENTS = st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=2))
STATEMENTS = st.recursive(
    st.lists(ASSIGNMENTS, min_size=1, max_size=3),
    lambda body: st.lists(
        st.one_of(ASSIGNMENTS, st.tuples(st.sampled_from(("if", "while")), st.sampled_from(NAMES), body, body)),
        min_size=1,
        max_size=4,
    ),
    max_leaves=6,
)


def written(statements, depth=1):
    """Return the program as lines of Python. Line i assigns what no other line does."""
    lines = []
    for statement in statements:
        indent = "    " * depth
        if len(statement) == 2:
            lines.append(f"{indent}{statement[0]} = g({', '.join(statement[1])})")
            continue
        word, name, body, otherwise = statement
        lines += [f"{indent}{word} {name}:", *written(body, depth + 1)]
        if word == "if":
            lines += [f"{indent}else:", *written(otherwise, depth + 1)]
    return lines


class Oracle:
    """A graph of single statements: (line, defined name, read names), and what follows each."""

    def __init__(self, statements):
        self.nodes, self.after = [], {}
        self.line = 1
        for end in self.add(statements, []):
            self.after[end].append("exit")
        self.live = {"exit": {"a"}} | {at: set() for at in range(len(self.nodes))}

    def node(self, target, reads, before):
        self.line += 1
        self.nodes.append((self.line, target, set(reads)))
        at = len(self.nodes) - 1
        self.after[at] = []
        for previous in before:
            self.after[previous].append(at)
        return at

    def add(self, statements, before):
        """Append statements behind some nodes; return the nodes that control leaves from."""
        for statement in statements:
            if len(statement) == 2:
                before = [self.node(*statement, before)]
                continue
            word, name, body, otherwise = statement
            test = self.node(None, [name], before)
            ends = self.add(body, [test])
            if word == "while":
                for end in ends:
                    self.after[end].append(test)
                before = [test]
            else:
                self.line += 1  # else:
                before = ends + self.add(otherwise, [test])
        return before

    def dead_lines(self):
        changed = True
        while changed:
            changed = False
            for at, (_, target, reads) in enumerate(self.nodes):
                now = reads | (self.out(at) - {target})
                changed |= now != self.live[at]
                self.live[at] = now
        return {line for at, (line, target, _) in enumerate(self.nodes) if target and target not in self.out(at)}

    def out(self, at):
        return set().union(*(self.live[following] for following in self.after[at]))


@pytest.fixture(scope="module")
def program():
    text = (library.HERE / "liveness.dl").read_text(encoding="utf-8")
    lost = '.decl lost(line: number)\nlost(l) :- binds(v, _, _, "variable"), location(v, _, l, _, _, _), !live(v).'
    return engine.outlined(engine.compile([schema_text(), text, lost]), ["lost"], GIVEN)


@pytest.fixture(scope="module")
def lost_lines(program, evaluate):
    return lambda name, code: set(evaluate(program, {name: code}).relation("lost")[0].tolist())


@settings(max_examples=2 * settings.default.max_examples)
@given(STATEMENTS)
def test_lost_values_are_those_of_the_dataflow_equations(lost_lines, statements):
    code = "\n".join(["def f(a, b, c, g):", *written(statements), "    return a"])
    assert lost_lines("app.py", code) == Oracle(statements).dead_lines()


# The flow graph of Fig. 9.13: i = m - 1, j = n, a = u1 | i = i + 1, j = j - 1 | a = u2 | i = u3, and back to the second
# block, directly or around the third. Nothing reads a; the last block gives i a value before the second one reads it
# again, so that of the second is lost, too. i and j of the first block, j of the second and i of the last are live.
DRAGON = {
    "app.py": """def f(m, n, u1, u2, u3, e):
    i = m - 1
    j = n
    a = u1
    while e():
        i = i + 1
        j = j - 1
        if e():
            a = u2
        i = u3
""",
    "app.c": """void f(int m, int n, int u1, int u2, int u3, int (*e)(void)) {
    int i = m - 1;
    int j = n;
    int a = u1;
    while (e()) {
        i = i + 1;
        j = j - 1;
        if (e())
            a = u2;
        i = u3;
    }
}
""",
}


@pytest.mark.parametrize("name", DRAGON)
def test_the_flow_graph_of_the_dragon_book(lost_lines, name):
    assert lost_lines(name, DRAGON[name]) == {4, 6, 9}
