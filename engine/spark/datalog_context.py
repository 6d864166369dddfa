"""Datalog from PySpark: `DatalogContext(spark).datalog(rules).datasource("arc", frame).query("tc(X, Y)")`.

The programming interface of BigDatalog (Shkapsky et al. 2016; Condie et al. 2018, Figure 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit

from engine.cluster.member import REPLICATED_ROWS
from engine.language.compiler import compile
from engine.language.parse_query import read_query
from engine.language.syntax import Constant, Variable
from engine.spark.driver import query


@dataclass(frozen=True)
class DatalogContext:
    """A program with its data sources; each method returns a new context.

    `members` tasks evaluate it, as many as the cluster has cores if that is None. Relations up to `replicated_rows`
    rows are broadcast, larger ones partitioned.
    """

    spark: SparkSession
    members: int | None = None
    replicated_rows: int = REPLICATED_ROWS
    number_bits: int = 32
    texts: tuple[str, ...] = ()
    sources: Mapping[str, DataFrame] = field(default_factory=dict)

    def datalog(self, text: str) -> DatalogContext:
        """Add declarations and rules."""
        return replace(self, texts=(*self.texts, text))

    def datasource(self, relation: str, frame: DataFrame) -> DatalogContext:
        """Take the facts of a relation from a DataFrame, its columns by name or else by position."""
        return replace(self, sources={**self.sources, relation: frame})

    def query(self, text: str) -> DataFrame:
        """Return the rows that agree with an atom such as `tc(1, Y)`, evaluated when they are asked for.

        Raises ProgramError for what is wrong with the program or the query, KeyError for an unknown data source.
        """
        program = compile(["\n".join(self.texts)], number_bits=self.number_bits)
        for name in self.sources:
            if name not in program.relations:
                raise KeyError(f"the program declares no relation '{name}'")
        goal = read_query(text, program)
        declared = program.relations[goal.relation]
        found = query(
            program,
            self.spark,
            self.sources,
            goal.relation,
            members=self.members,
            replicated_rows=self.replicated_rows,
        )
        first: dict[str, str] = {}
        for column, term in zip(declared.columns, goal.arguments, strict=True):
            if isinstance(term, Constant):
                found = found.filter(col(column.name) == lit(term.value))
            elif isinstance(term, Variable) and first.setdefault(term.name, column.name) != column.name:
                found = found.filter(col(column.name) == col(first[term.name]))
        return found
