"""Results that are kept up to date as facts come and go.

What flows in: a checked program, facts, and then facts inserted and deleted. What flows out: relations as columns, and
the tuples that each update has inserted and deleted.
`update_policy` (update or bootstrap) → `maintained_program` → `maintained_stratum` or `recomputed_stratum` (of one)
→ `counting_bootstrap`, or `update_plans` and `iteration_stamps` (plans of rules) → `maintained_relation` and `agenda`
(what is stored, and what is to be decided). `skip_test` saves plans that would match nothing; `duration_model` predicts
how long an update takes; `provenance` says what a tuple is derived from.
From files: `program_update` (a command) → `delta_files` (facts that change) and `saved_state` (a view in a directory) →
`view_serialization` (a view as arrays), `mapped_file` (arrays in files), `state_manifest` and `state_identity` (which
files are valid, and for which program), `state_migration` (what another program takes over), `file_lock`.
"""
