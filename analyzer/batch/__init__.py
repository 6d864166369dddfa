"""Many repositories, scanned on Spark: one task per repository, each in a process of its own.

What flows in: a list of repositories with revisions, and the options of a scan. What flows out: a directory with the
findings, files and coverage of all of them as Parquet, a SARIF log each, a SQLite file and a summary.

    listing → resolve (remote) → plan → workspace → run: Spark → task → isolate → scanned → results
    workspace → database → summary → page

Open `run` first: it is the batch in order. `scanned` is what runs in a process for one repository, `task` what Spark
runs around it. Tasks write files into the workspace, the driver reads those; no finding goes through Spark. PySpark is
imported here and in `engine.spark` only.
"""
