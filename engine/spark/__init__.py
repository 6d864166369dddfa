"""Evaluation on Spark: the members of a group are the tasks of one barrier stage.

What flows in: a checked program, and facts as DataFrames or paths that Spark reads. What flows out: Parquet data sets,
one for each output. Spark places the tasks, reads the facts and starts again what failed; the fixpoint is that of
`engine.cluster`, its messages go from task to task. PySpark is imported here and in `analyzer.batch` only.
"""
