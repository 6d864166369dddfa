"""The peer DuckDB: recursive SQL that updates a table by key. `duck.py PROGRAM FACTS.npz THREADS RUNS` prints JSON.

DuckDB is no dependency of this project: `pip install duckdb`.
"""

import json
import statistics
import sys
import time

import numpy as np

QUERIES = {
    "cc": """
        WITH RECURSIVE cc(x, least) USING KEY (x) AS (
            SELECT x, min(x) FROM arc GROUP BY x
          UNION
            SELECT arc.y, min(cc.least)
            FROM cc JOIN arc ON cc.x = arc.x JOIN recurring.cc AS known ON known.x = arc.y
            WHERE cc.least < known.least GROUP BY arc.y)
        SELECT count(*), sum(least) FROM cc""",
    "sssp": """
        WITH RECURSIVE sp(x, distance) USING KEY (x) AS (
            SELECT 0, 0
          UNION
            SELECT arc.y, min(sp.distance + arc.z)
            FROM sp JOIN arc ON sp.x = arc.x LEFT JOIN recurring.sp AS known ON known.x = arc.y
            WHERE known.distance IS NULL OR sp.distance + arc.z < known.distance GROUP BY arc.y)
        SELECT count(*), sum(distance) FROM sp""",
    "apsp": """
        WITH RECURSIVE path(x, y, distance) USING KEY (x, y) AS (
            SELECT x, y, min(z) FROM arc GROUP BY x, y
          UNION
            SELECT path.x, arc.y, min(path.distance + arc.z)
            FROM path JOIN arc ON path.y = arc.x
            LEFT JOIN recurring.path AS known ON known.x = path.x AND known.y = arc.y
            WHERE known.distance IS NULL OR path.distance + arc.z < known.distance GROUP BY path.x, arc.y)
        SELECT count(*), sum(distance) FROM path""",
    "delivery": """
        WITH RECURSIVE delivery(x, days) USING KEY (x) AS (
            SELECT x, y FROM basic
          UNION
            SELECT assembled.x, max(delivery.days)
            FROM delivery JOIN assembled ON delivery.x = assembled.y
            LEFT JOIN recurring.delivery AS known ON known.x = assembled.x
            WHERE known.days IS NULL OR delivery.days > known.days GROUP BY assembled.x)
        SELECT count(*), sum(days) FROM delivery""",
    # It adds in any order, so a rank may fall and rise by its last digit for ever: it ends when none rises.
    "pagerank": """
        WITH RECURSIVE rank(x, value) USING KEY (x) AS (
            SELECT x, y FROM base
          UNION
            SELECT x, value FROM (
                SELECT known.x, first(known.value) AS before,
                    first(base.y) + sum(0.85 * (source.value / matrix.z)) AS value
                FROM (SELECT DISTINCT matrix.y FROM rank JOIN matrix ON matrix.x = rank.x) AS changed
                JOIN matrix ON matrix.y = changed.y JOIN recurring.rank AS source ON source.x = matrix.x
                JOIN recurring.rank AS known ON known.x = matrix.y JOIN base ON base.x = matrix.y
                GROUP BY known.x)
            WHERE value > before)
        SELECT count(*), NULL FROM rank""",
}
COUNTED = {"cc": "cc", "sssp": "sp", "apsp": "path", "delivery": "delivery", "pagerank": "rank"}
FLOATS = {"base", "matrix"}
"""The relations whose last column is one of floats: facts hold their bits."""


def main(program, facts, threads, runs):
    try:
        import duckdb
    except ImportError:
        sys.exit("duckdb is not installed: pip install duckdb")
    connection = duckdb.connect(config={"threads": threads})
    with np.load(facts) as stored:
        for name in stored.files:
            columns = dict(zip("xyz", stored[name], strict=False))
            if name in FLOATS:
                last = max(columns)
                columns[last] = columns[last].view(np.float64)
            connection.register("columns", columns)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM columns")
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        count, total = connection.execute(QUERIES[program]).fetchone()
        seconds.append(time.perf_counter() - began)
    print(
        json.dumps(
            {
                "elapsed_s": statistics.median(seconds),
                "rows": {COUNTED[program]: count},
                "sums": {} if total is None else {COUNTED[program]: int(total)},
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
