"""Makes random edits in a copy of a directory; every N-th report of a live repository must equal that of a scan.

    python tests/replay/live_edits.py DIR [--edits 700] [--every 10] [--seed 0]

Edits insert, delete, double, break and shuffle lines, and remove, rename and copy files (`tests/live/edits.py`). A
third of the reports are asked for with an unsaved text over one file. The first difference ends the run with exit
code 1.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from analyzer.live.live_repository import LiveRepository  # noqa: E402
from analyzer.scan import ScanRequest, scan  # noqa: E402
from tests.live.edits import Edits  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--edits", type=int, default=700)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve() / "copy"
        shutil.copytree(options.directory, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        live = LiveRepository(root, {}, max_state_bytes=1 << 30)
        try:
            taken = run(live, root, options)
        finally:
            live.close()
    print(f"{options.edits} edits of {options.directory}: equal; median {1000 * median(taken):.0f} ms a report")


def run(live, root, options):
    """Make the edits; return the seconds of each report."""
    edits, taken = Edits(root, options.seed), []
    live.report(live.frozen())
    for number in range(1, options.edits + 1):
        edits.step()
        unsaved = {}
        if edits.random.random() < 1 / 3:
            path = edits.random.choice(edits.files())
            unsaved = {path.relative_to(root).as_posix(): edits.edited(path).encode()}
        begin = time.perf_counter()
        live.report(live.frozen(unsaved))
        taken.append(time.perf_counter() - begin)
        if number % options.every == 0 and live.report(live.frozen()).report != scan(ScanRequest(root)).report:
            sys.exit(f"after {number} edits the reports differ")
    return taken


if __name__ == "__main__":
    main()
