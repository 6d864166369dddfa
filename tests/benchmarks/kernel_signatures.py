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
        from engine.kernels.kernel_cache import KernelCache

        precompile.MAX_PROCESSES = 0
        listed = {}
        save = KernelCache.save_overload

        def note_and_save(self, signature, compiled):
            listed[f"{self._py_func.__module__} {self._py_func.__name__} {signature}"] = None
            save(self, signature, compiled)

        KernelCache.save_overload = note_and_save
        for directory in directories:
            scan(ScanRequest(Path(directory), flags={"jobs": 2}))
        precompile.LIST.write_text("".join(f"{line}\n" for line in listed))


if __name__ == "__main__":
    main(sys.argv[1:])
