"""CFL reachability: the pairs of vertices that paths join whose labels spell a word of a context-free language.

What flows in: a grammar and labelled edges, in files as Graspan and POCR have them (`grammar_files`, `edges`).
What flows out: for each symbol the pairs of vertices that it joins (`solver`), as a list of edges (`edge_output`).

Between them the grammar is made into one of at most two symbols a body that has no ε and composes with as little as it
can (`normalise`), and that into Datalog (`to_datalog`): each symbol is a relation, each production a rule, as in Reps,
*Program Analysis via Graph Reachability* (1998). An edge is followed backwards by an atom with its arguments swapped.
"""
