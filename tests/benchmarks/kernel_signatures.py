"""Scan DIRS and write the list of kernels that the first scan on a machine compiles ahead (`engine/precompile.py`).

python tests/benchmarks/kernel_signatures.py DIR...
"""

import os
import sys
import tempfile
from pathlib import Path


def main(directories):
    with tempfile.TemporaryDirectory() as empty:
        os.environ["XDG_CACHE_HOME"] = empty
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
            scan(ScanRequest(Path(directory), flags={"jobs": 2}))
        precompile.LIST.write_text("".join(f"{line}\n" for line in listed))


if __name__ == "__main__":
    main(sys.argv[1:])
