"""Evaluation on Spark: the members of a group are the tasks of one barrier stage.

What flows in: a checked program, and facts as DataFrames or paths that Spark reads. What flows out: Parquet data sets,
one for each output. Spark places the tasks, reads the facts and starts again what failed; the fixpoint is that of
`engine.cluster`, its messages go from task to task. PySpark is imported here and in `analyzer.batch` only.
"""

from typing import TYPE_CHECKING

from engine.lazy_import import load_on_use

if TYPE_CHECKING:
    from engine.spark.datalog_context import DatalogContext as DatalogContext
    from engine.spark.driver import cause as cause
    from engine.spark.evaluate_columns import evaluate as evaluate
    from engine.spark.executor_memory import ExecutorMemory as ExecutorMemory
    from engine.spark.executor_memory import memory_of_executors as memory_of_executors
    from engine.spark.run_program import run as run
    from engine.spark.spark_session import session as session

PUBLIC = {
    "ExecutorMemory": "engine.spark.executor_memory",
    "memory_of_executors": "engine.spark.executor_memory",
    "session": "engine.spark.spark_session",
    "evaluate": "engine.spark.evaluate_columns",
    "cause": "engine.spark.driver",
    "run": "engine.spark.run_program",
    "DatalogContext": "engine.spark.datalog_context",
}

__getattr__ = load_on_use(__name__, PUBLIC)
