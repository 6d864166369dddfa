"""The process of one repository: `python -P -m analyzer.batch.scan_process THREADS PARENT`, where job.json is.

It writes the results beside that, and last `outcome.json`: the costs of the scan, or the reason of its failure. If that
file is missing, the process did not finish.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TypedDict

from analyzer.batch.isolated_process import confine, lacks_memory

JOB = "job.json"
OUTCOME = "outcome.json"


class Outcome(TypedDict, total=False):
    """The costs of a scan, or the reason of its failure."""

    extracted: int
    contents: int
    phases_s: dict[str, float]
    error: str
    may_be_tried_again: bool
    out_of_memory: bool


def main(threads: int, parent: int) -> None:
    here = Path.cwd()
    outcome: Outcome
    try:
        outcome = scanned(here, threads, parent)
    except MemoryError:
        outcome = {"out_of_memory": True}
    (here / OUTCOME).write_text(json.dumps(outcome))


def scanned(here: Path, threads: int, parent: int) -> Outcome:
    """Scan the repository and write its results. Return its costs, or the error that ended it.

    Modules are loaded before the memory limit holds: libraries that lack memory then end the process silently.
    """
    from analyzer.batch.result_files import write
    from analyzer.batch.scan_job import Job
    from analyzer.errors import AnalyzeError, NotEnoughMemory
    from analyzer.scan import scan

    job = Job.load(here / JOB)
    confine(job.memory_bytes, parent)
    try:
        result = scan(job.request(threads))
    except NotEnoughMemory:
        return {"out_of_memory": True}
    except AnalyzeError as error:
        return {"error": f"{error.message} [{error.code}]"}
    except Exception as error:
        if isinstance(error, MemoryError) or lacks_memory(str(error)):
            return {"out_of_memory": True}
        return {"error": f"internal error: {type(error).__name__}: {error}", "may_be_tried_again": True}
    write(result.report, job.target, result.config.fail_on, here)
    n_contents = len({(file.language, file.blob) for file in result.report.files})
    return {"extracted": result.extracted, "contents": n_contents, "phases_s": result.phases_s}


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
