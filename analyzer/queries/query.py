"""A query, and rules of one's own that it may read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from analyzer.errors import AnalyzeError
from engine import Source


@dataclass(frozen=True, slots=True)
class Query:
    """A query, rules of one's own that it may read, and the number of answers to show (None: all)."""

    text: str
    sources: tuple[Source, ...] = ()
    limit: int | None = None


def own_rules(texts: Iterable[str], files: Iterable[Path]) -> tuple[Source, ...]:
    """Return rules of one's own as sources, given as texts and as files. Raises AnalyzeError A001."""
    sources = [Source(f"<rules {number}>", text, trusted=False) for number, text in enumerate(texts, 1)]
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise AnalyzeError("A001", f"cannot read {file}: {error.strerror}") from None
        sources.append(Source(str(file), text, trusted=False))
    return tuple(sources)
