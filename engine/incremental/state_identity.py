"""The identity of a saved state, which must match on loading: the program, and the storage format."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache

from engine.language.checked_program import CheckedProgram

FORMAT = 7
"""To be raised with any change to what is saved, or to how it is encoded."""


def format_name() -> str:
    """The form of what is saved."""
    return f"{FORMAT}-{sys.byteorder}"


def digest(program: CheckedProgram) -> str:
    """A digest of what a program derives: not of what it reads and writes."""
    return digest_of(replace(program, inputs=(), outputs=(), printsizes=(), pragmas=()))


def digest_of(value: object) -> str:
    """A digest that is equal for equal values, in any process."""
    return hashlib.blake2b(canonical(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def identity(digest: str, exact: bool) -> str:
    """Return what tells the states of a program apart from those of others: also which iterations are kept."""
    return f"{digest}-{'exact' if exact else 'any'}"


@cache
def compared_fields(dataclass: type) -> list[str]:
    return [field.name for field in fields(dataclass) if field.compare]


def canonical(value: object) -> str:
    """A text that is equal for equal values, in any process."""
    if is_dataclass(value):
        compared = (canonical(getattr(value, name)) for name in compared_fields(type(value)))
        return f"{type(value).__name__}({', '.join(compared)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{canonical(k)}: {canonical(v)}' for k, v in value.items()))}}}"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(canonical, value)))}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(canonical, value))}]"
    return repr(value)
