"""Results that are kept up to date as facts come and go.

What flows in: a checked program, facts, and then facts inserted and deleted. What flows out: relations as columns, and
the tuples that each update has inserted and deleted.
`view` (a program) → `stratum` or `recompute` (a component) → `variants`, `stamps` (plans of rules) → `tracked`, `agenda`.
"""
