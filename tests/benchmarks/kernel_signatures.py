"""Scan DIRS and write the list of kernels that the first scan on a machine compiles ahead (`engine/precompile.py`).

python tests/benchmarks/kernel_signatures.py DIR... [--history REPO...]

Behind those of scans stand those that `analyze ci` calls beside them, on the last commits of each REPO: from nothing,
and from the state that this leaves.
"""

import argparse
import os
import tempfile
from pathlib import Path

BETWEEN = 10
"""Commits between those that are compared: so many change enough for most rules to have something to do."""


def main(directories, histories):
    with tempfile.TemporaryDirectory() as empty:
        os.environ["XDG_CACHE_HOME"] = empty
        from analyzer.history.ci import compared_commits
        from analyzer.scan import ScanRequest, scan
        from engine import precompile
        from engine.kernels import kernel_cache

        precompile.MAX_PROCESSES = 0
        listed = {}
        code_file = kernel_cache.code_file

        def note_and_find(place, function, types):
            listed[" ".join((function.__module__, function.__name__, *types))] = None
            return code_file(place, function, types)

        kernel_cache.code_file = note_and_find
        for directory in directories:
            scan(ScanRequest(directory, flags={"jobs": 2}))
        for repository in histories:
            for older in (2 * BETWEEN, BETWEEN, 0):
                request = ScanRequest(repository, f"HEAD~{older}", flags={"jobs": 2})
                with compared_commits(request, f"HEAD~{older + BETWEEN}", state_path=Path(empty, "states")):
                    pass
        precompile.LIST.write_text("".join(f"{line}\n" for line in listed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--history", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    main(options.directories, options.history)
