"""What an extraction worker runs. It imports `facts` and nothing heavier: no numba, no rich."""

from __future__ import annotations

import contextlib
from pathlib import Path

import facts
from analyzer.state import FactCache


def extract(directory: Path, language: str, blob: str, data: bytes) -> bytes:
    """Return the saved facts of `data`, having put them into the cache in `directory` where that is possible."""
    payload = facts.save(facts.extract(data, language))
    with contextlib.suppress(OSError):
        FactCache(directory, facts.version()).save(language, blob, payload)
    return payload
