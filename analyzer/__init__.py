"""The pipeline: a repository at a commit → facts → engine → findings → reports.

What flows in: a path (and revision), configuration. What flows out: a report: findings with paths, coverage, statistics.
"""
