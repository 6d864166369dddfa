"""The function of extraction workers. It imports only `facts`, to start fast: no numba, no rich."""

from __future__ import annotations

import facts


def extract(language: str, data: bytes) -> bytes:
    """Return the saved facts of `data`."""
    return facts.save(facts.extract(data, language))
