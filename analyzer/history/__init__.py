"""Incremental scans: the findings that a commit introduces and fixes, at the cost of its changes.

What flows in: a repository, two commits, the state of an evaluation. What flows out: the report of the second commit,
and its findings as new, fixed or unchanged.
`ci` (the pipeline) → `snapshot` (the files of a commit and their status) → `stable_ids` → `commit_update` (the
program's relations at a commit, updated to another) → `comparison` (two reports) → `causes` (the changed line behind a
new finding); `states` stores relations on disk.
"""
