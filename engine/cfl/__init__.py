"""CFL reachability: the pairs of vertices that paths join whose labels spell a word of a context-free language.

What flows in: a grammar and labelled edges, in files as Graspan and POCR have them (`grammar_files`, `edges`).
What flows out: for each symbol the pairs of vertices that it joins (`solver`), as a list of edges (`edge_output`).

Between them the grammar is made into one of at most two symbols a body that has no ε and composes with as little as it
can (`normalise`), and that into Datalog (`to_datalog`): each symbol is a relation, each production a rule, as in Reps,
*Program Analysis via Graph Reachability* (1998). An edge is followed backwards by an atom with its arguments swapped.
"""

from typing import TYPE_CHECKING

from engine.lazy_import import load_on_use

if TYPE_CHECKING:
    from engine.cfl.edge_output import write_edges as write_edges
    from engine.cfl.edge_output import write_solution as write_solution
    from engine.cfl.edges import Graph as Graph
    from engine.cfl.edges import Names as Names
    from engine.cfl.edges import read_edges as read_edges
    from engine.cfl.grammar import Grammar as Grammar
    from engine.cfl.grammar_files import FORMATS as FORMATS
    from engine.cfl.grammar_files import parse_grammar as parse_grammar
    from engine.cfl.solver import Solution as Solution
    from engine.cfl.solver import program_for as program_for
    from engine.cfl.solver import solve as solve
    from engine.cfl.solver import wanted_symbols as wanted_symbols

PUBLIC = {
    "Graph": "engine.cfl.edges",
    "Names": "engine.cfl.edges",
    "read_edges": "engine.cfl.edges",
    "Grammar": "engine.cfl.grammar",
    "FORMATS": "engine.cfl.grammar_files",
    "parse_grammar": "engine.cfl.grammar_files",
    "Solution": "engine.cfl.solver",
    "program_for": "engine.cfl.solver",
    "solve": "engine.cfl.solver",
    "wanted_symbols": "engine.cfl.solver",
    "write_edges": "engine.cfl.edge_output",
    "write_solution": "engine.cfl.edge_output",
}

__getattr__ = load_on_use(__name__, PUBLIC)
