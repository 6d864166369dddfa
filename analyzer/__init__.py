"""The pipeline: a repository at a commit → facts → engine → findings → reports.

What flows in: a path (and revision) and a configuration. What flows out: a report, which holds findings with their
paths, coverage and problems; every output is made from it. Open `scan` first: it is the pipeline in order.

    trees → discover → collect (pool, worker, state) → program (rulebook) → findings (paths) → suppress → report
    report → sarif, jsonreport, database; rendering for people is in `cli`

Importing this package loads nothing; its modules import the engine, facts and rules when they are needed.
"""

VERSION = "0.1.0"
