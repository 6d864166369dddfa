"""A plugin of pytest that notes what becomes of each test: a line of JSON [test, has it failed, seconds].

The lines go to the file that OUTCOMES names. With pytest-xdist the controller writes them all.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

OUTCOMES = os.environ.get("OUTCOMES")
seconds = defaultdict(float)


def ungrouped(test):
    """Return the name of a test without the group that pytest-xdist appends."""
    return test.rpartition("@")[0] if test.rfind("@") > test.rfind("]") else test


def pytest_runtest_logreport(report):
    if OUTCOMES and "PYTEST_XDIST_WORKER" not in os.environ:
        seconds[report.nodeid] += report.duration
        if report.failed or report.when == "teardown":
            with Path(OUTCOMES).open("a") as file:
                file.write(json.dumps([ungrouped(report.nodeid), report.failed, seconds[report.nodeid]]) + "\n")
