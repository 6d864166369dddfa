"""Makes `backends` importable, and lets evaluations fork: the threads of the test runner hold no lock of theirs."""

import sys
from pathlib import Path

import pytest

from engine.evaluation.worker_pool import WorkerPool

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="session")
def the_test_runner_has_threads():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerPool, "has_process", True)
        yield
