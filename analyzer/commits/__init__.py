"""From one commit to the next: what a change costs, and which findings it brings.

What flows in: a repository, two commits, the state of an evaluation. What flows out: the report of the second commit,
and its findings as new, fixed or unchanged.
`ci` (the pipeline) → `snapshot` (which files, and what became of each) → `numbering` (stable ids) → `follower` (the
program's relations at a commit, moved to another) → `comparison` (two reports) → `causes` (the changed line behind a
new finding); `states` keeps followers on disk.
"""
