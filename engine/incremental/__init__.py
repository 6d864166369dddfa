"""Results that are kept up to date as facts come and go.

What flows in: a checked program, facts, and then facts inserted and deleted. What flows out: relations as columns, and
the tuples that each update has inserted and deleted.
`policy` (update or bootstrap) → `view` (a program) → `stratum` or `recompute` (a component) → `rounds` (a
bootstrap), or `variants` and `stamps` (plans of rules) → `tracked` and `agenda` (what is stored, and what is to be
decided). `witness` says what a tuple is
derived from.
From files: `run` (a command) → `delta` (facts that change) and `state` (a view in a directory) → `frozen` (a view as
arrays), `datafile` (arrays in files), `manifest` and `identity` (which files are valid, and for which program),
`adoption` (what another program takes over), `lock`.
"""
