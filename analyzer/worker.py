"""What an extraction worker runs. It imports `facts` and nothing heavier: no numba, no rich."""

from __future__ import annotations

import facts


def extract(language: str, data: bytes) -> bytes:
    """Return the saved facts of `data`."""
    return facts.save(facts.extract(data, language))
