"""Makes importable what these tests share, and the simulator, which is with the benchmarks."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
