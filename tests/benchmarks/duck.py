"""The peer DuckDB: recursive SQL, where need be on a table that is updated by key.

`duck.py PROGRAM FACTS.npz THREADS RUNS` prints JSON. Rows of what is not recursive are counted and not kept.
DuckDB is no dependency of this project: `pip install duckdb`.
"""

import json
import statistics
import sys
import time

import numpy as np

QUERIES = {
    "tc": """
        WITH RECURSIVE tc(x, y) AS (
            SELECT x, y FROM arc
          UNION
            SELECT tc.x, arc.y FROM tc JOIN arc ON tc.y = arc.x)
        SELECT count(*), NULL FROM tc""",
    "sg": """
        WITH RECURSIVE sg(x, y) AS (
            SELECT one.y, other.y FROM arc AS one JOIN arc AS other ON one.x = other.x WHERE one.y <> other.y
          UNION
            SELECT one.y, other.y FROM sg JOIN arc AS one ON one.x = sg.x JOIN arc AS other ON other.x = sg.y)
        SELECT count(*), NULL FROM sg""",
    "csda": """
        WITH RECURSIVE nulls(x, y) AS (
            SELECT x, y FROM source
          UNION
            SELECT nulls.x, flow.y FROM nulls JOIN flow ON nulls.y = flow.x)
        SELECT count(*), NULL FROM nulls""",
    # Two atoms of a rule are recursive: each in turn reads what is new, the other one all there is.
    "andersen": """
        WITH RECURSIVE points_to(x, y) USING KEY (x, y) AS (
            SELECT x, y FROM address_of
          UNION
            SELECT x, y FROM (
                SELECT assign.x, points_to.y FROM assign JOIN points_to ON assign.y = points_to.x
              UNION SELECT load.x, other.y FROM load JOIN points_to ON load.y = points_to.x
                JOIN recurring.points_to AS other ON other.x = points_to.y
              UNION SELECT load.x, points_to.y FROM load JOIN recurring.points_to AS other ON load.y = other.x
                JOIN points_to ON points_to.x = other.y
              UNION SELECT points_to.y, other.y FROM store JOIN points_to ON store.x = points_to.x
                JOIN recurring.points_to AS other ON store.y = other.x
              UNION SELECT other.y, points_to.y FROM store JOIN recurring.points_to AS other ON store.x = other.x
                JOIN points_to ON store.y = points_to.x) AS derived
            WHERE NOT EXISTS (
                SELECT 1 FROM recurring.points_to AS known WHERE known.x = derived.x AND known.y = derived.y))
        SELECT count(*), NULL FROM points_to""",
    "triangles": """
        SELECT count(*), NULL
        FROM arc AS a JOIN arc AS b ON a.y = b.x JOIN arc AS c ON b.y = c.x AND c.y = a.x""",
    "four_cycles": """
        SELECT count(*), NULL
        FROM arc AS a JOIN arc AS b ON a.y = b.x JOIN arc AS c ON b.y = c.x JOIN arc AS d ON c.y = d.x AND d.y = a.x""",
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
COUNTED = {
    "andersen": "points_to",
    "csda": "null",
    "triangles": "triangle",
    "four_cycles": "cycle",
    "sssp": "sp",
    "apsp": "path",
    "pagerank": "rank",
}
"""The relations that queries count, where they are not named as their program."""
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
    seconds, counted = [], COUNTED.get(program, program)
    for _ in range(runs):
        began = time.perf_counter()
        count, total = connection.execute(QUERIES[program]).fetchone()
        seconds.append(time.perf_counter() - began)
    print(
        json.dumps(
            {
                "elapsed_s": statistics.median(seconds),
                "rows": {counted: count},
                "sums": {} if total is None else {counted: int(total)},
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
