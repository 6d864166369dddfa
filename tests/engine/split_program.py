"""A program of which a part can be evaluated aside, and options by which all that can be is."""

from engine.evaluation.execution import Options

EAGER = Options(large_clauses=2, aside_clauses=1, aside_facts=0)
TEXT = """
.decl arc(x: number, y: number)
.decl reach(x: number, y: number)
reach(x, y) :- arc(x, y).
reach(x, z) :- reach(x, y), arc(y, z).
.decl name(x: number, text: symbol)
name(x, cat("node ", to_string(x))) :- arc(x, _).
.decl longer(x: number, text: symbol)
longer(x, cat(text, "!")) :- name(x, text).
.decl named(from: symbol, to: symbol)
named(a, b) :- reach(x, y), longer(x, a), name(y, b).
.decl last(text: symbol)
last(cat(a, b)) :- named(a, b), a < b.
"""
ARCS = [(i, i + 1) for i in range(8)] + [(8, 0)]
"""9 nodes on a cycle reach all 9."""
