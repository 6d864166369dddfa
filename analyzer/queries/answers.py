"""Answers to a query: rows of values as a reader sees them, ordered by content, cut to a limit."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.report import Place, Problem


@dataclass(frozen=True, slots=True)
class Code:
    """An entity: its place, and the first line of what stands there.

    One that is implicit has the place of what encloses it, and its label.
    """

    place: Place | None
    text: str


Value = Code | str | int | float


@dataclass(frozen=True, slots=True)
class Column:
    """A variable of the query, and its type; `is_code` if its values are entities."""

    name: str
    type: str
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Answers:
    """The first `rows` of `total`. A query without variables has one row if it holds, else none.

    Paths are relative to the directory that was asked, which `prefix` leads to from the repository's top.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    total: int
    problems: tuple[Problem, ...] = ()
    prefix: str = ""

    @property
    def n_left_out(self) -> int:
        return self.total - len(self.rows)
