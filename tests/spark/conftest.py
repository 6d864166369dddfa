"""A session of Spark's on the standalone cluster that tests share."""

import os
import sys

import pytest


@pytest.fixture(scope="module")
def spark(cluster):
    """A session that has both executors: Spark waits for as many cores as are asked for.

    Applications of other modules wait as long as this one holds all cores.
    """
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(cluster.master)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executor.memory", "1g")
        .config("spark.cores.max", "2")
        .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", cluster.events.as_uri())
        .config("spark.eventLog.rolling.enabled", "false")
        .config("spark.eventLog.compress", "false")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .getOrCreate()
    )
    yield session
    session.stop()
