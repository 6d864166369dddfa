"""Many repositories, scanned on Spark: one task per repository, each in a process of its own.

What flows in: a list of repositories with revisions, and the options of a scan. What flows out: a directory with the
findings, files and coverage of all of them as Parquet, a SARIF log each, a SQLite file and a summary.

    repository_list → resolve_commits (remote_repositories) → batch_plan → workspace
    batch_pipeline: Spark → repository_task → isolated_process → scan_process → result_files
    workspace → result_database → batch_summary → summary_page

Open `batch_pipeline` first: it is the batch in order. `scan_process` is what runs in a process for one repository,
`repository_task` what Spark runs around it. Tasks write files into the workspace, the driver reads those; no finding
goes through Spark. PySpark is imported here and in `engine.spark` only.
"""
