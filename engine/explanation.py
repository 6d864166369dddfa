"""A plan as plain data: what `analyze run --explain` shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A literal in its place in a join order.

    `bound` are the columns of an atom that are known when it is reached; `fan_out` is the number of matches expected
    for each row, measured on a sample of bindings or estimated, `rows` the number of rows expected afterwards.
    `operators` are the steps of evaluation that it became.
    """

    literal: str
    operators: tuple[str, ...]
    is_atom: bool
    bound: tuple[str, ...]
    fan_out: float
    is_measured: bool
    rows: float


@dataclass(frozen=True, slots=True)
class VariantPlan:
    """A rule as it is evaluated once, or in each iteration with one atom reading the delta.

    `delta` is the number of that atom among the atoms of the body, from 1 on. `n_plans` counts the plans made, one each
    time that sizes had changed by an order of magnitude; where it is 0, an empty relation left nothing to do, and the
    plan is a guess.
    """

    delta: int | None
    source: str
    n_plans: int
    is_satisfiable: bool
    steps: tuple[StepPlan, ...]


@dataclass(frozen=True, slots=True)
class RulePlan:
    place: str
    text: str
    variants: tuple[VariantPlan, ...]


@dataclass(frozen=True, slots=True)
class RelationPlan:
    """A relation of a stratum: its size, and the columns whose hash says in which of the partitions a row is."""

    name: str
    columns: tuple[str, ...]
    rows: int
    discriminating: tuple[str, ...]
    partitions: int


@dataclass(frozen=True, slots=True)
class ArrangementPlan:
    """An index of a relation by some columns; `readers` are the rules that share it, by their place."""

    relation: str
    key: tuple[str, ...]
    rows: int
    keys: int
    bytes: int
    readers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PortPlan:
    """A copy of a relation, partitioned by some columns; `readers` are the rules that read it.

    At its owners a relation is stored and deduplicated. Further ports are copies of it.
    """

    relation: str
    columns: tuple[str, ...]
    is_owner: bool
    readers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartitioningPlan:
    """The partitioning of a recursion among workers that exchange tuples, and its cost by Read/Write Analysis.

    The cost is 1 for each rule and recursive atom whose result may belong elsewhere and for each copy at a port, 3 for
    a copy in one place. `auxiliaries` are relations made up to cut rules with more than two recursive atoms.
    """

    ports: tuple[PortPlan, ...]
    cost: int
    auxiliaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubJoinPlan:
    """An auxiliary relation that holds a part of a rule's body, without the variable `eliminated`.

    `without` and `rows` are those that the rule was expected to derive as it is, and with the auxiliary relation; where
    sizes are not known before the end, if the relation `dense` holds all it could. Both are None if all bodies are cut.
    """

    name: str
    place: str
    eliminated: str
    without: float | None
    rows: float | None
    dense: str


@dataclass(frozen=True, slots=True)
class StratumPlan:
    """A component of mutually recursive relations. `decomposable` is None where there is no recursion.

    `reason` says why the recursion is decomposable or not, `policy` how workers were coordinated. `partitioning` is
    None where there is no recursion that can be divided.
    """

    relations: tuple[RelationPlan, ...]
    recursive: bool
    decomposable: bool | None
    reason: str
    policy: str
    subjoins: tuple[SubJoinPlan, ...]
    partitioning: PartitioningPlan | None
    rules: tuple[RulePlan, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan of a program: its strata in order, and the arrangements that they share."""

    strata: tuple[StratumPlan, ...]
    arrangements: tuple[ArrangementPlan, ...]
