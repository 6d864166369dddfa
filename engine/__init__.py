"""The Datalog engine: language, planner, columnar storage and evaluation.

What flows in: Datalog source text, and an EDB as integer columns with a symbol table.
What flows out: an IDB in the same form, statistics, and coded diagnostics.
The engine knows nothing of source code, git or findings, and imports none of our other packages.
"""
