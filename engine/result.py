"""The result of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import tables
from engine.database import Columns
from engine.language.checked_program import CheckedClause, CheckedProgram
from engine.operating_system import peak_bytes
from engine.symbols import Symbols

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from engine.explanation import Explanation
    from engine.tables import Declared


@dataclass
class Costs:
    """The cost of a rule, in seconds summed over threads.

    `read` counts the rows of the first atom (of the delta, in recursion), `produced` the rows derived before duplicates
    were dropped, `added` the new ones.
    """

    elapsed_s: float = 0.0
    read: int = 0
    produced: int = 0
    added: int = 0

    @property
    def duplicates(self) -> int:
        return self.produced - self.added


@dataclass
class IterationCosts(Costs):
    """The costs of one iteration; `peak_bytes` is the process's largest resident size up to its end."""

    peak_bytes: int = 0


@dataclass
class RuleStatistics(Costs):
    """The costs of one rule in all.

    `rule` says where the rule stands, and `text` what it says, where a profile is asked for. `planning_s` are the
    seconds spent on join orders and on building the arrangements that they read. Costs by iteration are kept where a
    profile is asked for; a local fixpoint counts the iterations of each partition.
    """

    rule: str = ""
    relation: str = ""
    text: str = ""
    runs: int = 0
    planning_s: float = 0.0
    iterations: dict[int, IterationCosts] | None = None

    def charge(self, iteration: int, elapsed_s: float, read: int) -> None:
        """Add one run of the rule."""
        self.elapsed_s += elapsed_s
        self.read += read
        self.runs += 1
        if self.iterations is not None:
            costs = self.iterations.setdefault(iteration, IterationCosts())
            costs.elapsed_s += elapsed_s
            costs.read += read
            costs.peak_bytes = peak_bytes()

    def credit(self, iteration: int, produced: int, added: int) -> None:
        """Add rows that the rule has derived."""
        self.produced += produced
        self.added += added
        if self.iterations is not None and produced:
            costs = self.iterations.setdefault(iteration, IterationCosts())
            costs.produced += produced
            costs.added += added
            costs.peak_bytes = peak_bytes()


@dataclass
class StratumStatistics:
    """The cost of one stratum.

    `restarts` counts widenings, `discarded` the rows that had been derived when they came; `arranging_s` are the
    seconds in which new rows were added to arrangements; `peak_bytes` is the process's largest resident size up to the
    stratum's end. `policy` is how the workers of a recursion were coordinated. Where they exchanged tuples, `rounds`
    are the local iterations of each worker, `tuples_sent` went from one to another, and a rule's `added` is its share
    by what it produced.
    In a group of processes `rounds` counts supersteps, `partition_by` has the columns that each relation is partitioned
    by, `divided` says of which relations heavy keys were divided among members, and `reason` why the first member did
    it alone, if it did.
    """

    relations: tuple[str, ...]
    recursive: bool
    local: bool = False
    elapsed_s: float = 0.0
    arranging_s: float = 0.0
    iterations: int = 0
    restarts: int = 0
    discarded: int = 0
    rows: int = 0
    peak_bytes: int = 0
    rules: list[RuleStatistics] = field(default_factory=list)
    policy: str = ""
    rounds: tuple[int, ...] = ()
    tuples_sent: int = 0
    reason: str = ""
    partition_by: dict[str, tuple[int, ...]] = field(default_factory=dict)
    divided: list[str] = field(default_factory=list)


class Tables:
    """Relations to be read as tables, by what a program declares. Raises TableError for one that it does not."""

    def tuples(self: Declared, name: str) -> set[tuple[Any, ...]]:
        """Return the tuples of a relation."""
        return tables.to_tuples(tables.program_of(self), self, name)

    def numpy(self: Declared, name: str) -> dict[str, np.ndarray]:
        """Return a relation as arrays by column, its rows in the order of their values."""
        return tables.to_numpy(tables.program_of(self), self, name)

    def arrow(self: Declared, name: str) -> pyarrow.Table:
        """Return a relation as an Arrow table, its rows in the order of their values. Needs pyarrow."""
        return tables.to_arrow(tables.program_of(self), self, name)

    def pandas(self: Declared, name: str) -> pandas.DataFrame:
        """Return a relation as a data frame, its rows in the order of their values. Needs pandas."""
        return tables.to_pandas(tables.program_of(self), self, name)


@dataclass
class TableSet(Tables):
    """Some tuples of some relations, to be read as tables."""

    program: CheckedProgram
    symbols: Symbols
    records: Mapping[str, Columns]
    relations: Mapping[str, Columns]


@dataclass
class Result(Tables):
    """The relations of a program after evaluation, values as in the Database it was given (tables may have grown).

    `plan` is the plan it went by, where that was asked for; `left_out` are the rules that there was no time for.
    `program` declares the relations, if they are those of one.
    """

    symbols: Symbols
    records: Mapping[str, Columns]
    relations: Mapping[str, Columns]
    statistics: list[StratumStatistics] = field(default_factory=list)
    plan: Explanation | None = None
    left_out: tuple[CheckedClause, ...] = ()
    program: CheckedProgram | None = None

    def relation(self, name: str) -> Columns:
        """Return the tuples of `name` as [arity, n], in declared column order and no particular row order."""
        return self.relations[name]
