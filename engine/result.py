"""What an evaluation gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.database import Columns
from engine.symbols import Symbols


@dataclass
class RuleStatistics:
    """What one rule cost: `produced` counts rows before duplicates were dropped, `added` the new ones."""

    rule: str
    relation: str
    elapsed_s: float = 0.0
    runs: int = 0
    produced: int = 0
    added: int = 0

    @property
    def duplicates(self) -> int:
        return self.produced - self.added


@dataclass
class StratumStatistics:
    """What one stratum cost.

    `restarts` counts widenings; `peak_bytes` is the process's largest resident size up to the stratum's end.
    """

    relations: tuple[str, ...]
    recursive: bool
    local: bool = False
    elapsed_s: float = 0.0
    iterations: int = 0
    restarts: int = 0
    rows: int = 0
    peak_bytes: int = 0
    rules: list[RuleStatistics] = field(default_factory=list)


@dataclass
class Result:
    """The relations of a program after evaluation, values as in the Database it was given (tables may have grown)."""

    symbols: Symbols
    records: Mapping[str, Columns]
    relations: Mapping[str, Columns]
    statistics: list[StratumStatistics] = field(default_factory=list)

    def relation(self, name: str) -> Columns:
        """Return the tuples of `name` as [arity, n], in declared column order and no particular row order."""
        return self.relations[name]
