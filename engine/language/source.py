"""Source texts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A source text. An untrusted one may not name files: no inputs, outputs or includes.

    One that is a module has a name that it is imported by.
    """

    name: str
    text: str
    trusted: bool = True
    module: str = ""
