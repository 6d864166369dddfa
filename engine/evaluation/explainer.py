"""Explain an evaluation from the variants of its components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from engine.evaluation.body_aggregates import Fold
from engine.evaluation.compile_plan import Plan
from engine.evaluation.multiway_join import Intersection
from engine.evaluation.operators import Contains, Exists, Join, Operator
from engine.evaluation.semi_join import SemiJoin
from engine.evaluation.semi_naive import SemiNaiveComponent
from engine.evaluation.semi_naive_variants import Variant
from engine.explanation import (
    ArrangementPlan,
    Explanation,
    PartitioningPlan,
    PortPlan,
    RelationPlan,
    RulePlan,
    StepPlan,
    StratumPlan,
    SubJoinPlan,
    VariantPlan,
)
from engine.kernels.csr_runs import LENGTH
from engine.language.checked_program import CheckedProgram
from engine.language.clause_text import variable_text
from engine.plan.decomposable import obstacle
from engine.plan.discriminating_sets import ExchangePort, Placement, owner_ports
from engine.plan.join_order import Step
from engine.plan.rule import Intersect, Match, Rule, Some
from engine.plan.rule_text import Texts
from engine.plan.variable_elimination import SubJoin
from engine.storage.arrangement import Arrangement
from engine.storage.narrowed_arrangement import RangedArrangement
from engine.storage.relation import Relation
from engine.symbols import Symbols


class Explainer:
    """Reads plans; `readers` collects the rules that read each arrangement."""

    def __init__(self, program: CheckedProgram, symbols: Symbols) -> None:
        self.program = program
        self.texts = Texts(program, symbols)
        self.strata: list[StratumPlan] = []
        self.readers: dict[tuple[str, Arrangement], dict[str, None]] = {}

    def explanation(self) -> Explanation:
        """Return the plans of the components added so far."""
        return Explanation(tuple(self.strata), tuple(self.arrangement(*arranged) for arranged in self.readers))

    def add(self, component: SemiNaiveComponent) -> None:
        """Add the plans of a component whose evaluation has ended."""
        self.strata.append(self.stratum(component))

    def stratum(self, component: SemiNaiveComponent) -> StratumPlan:
        every = (*component.wide.prior, *component.rules)
        rules: dict[int, tuple[Rule, list[VariantPlan]]] = {id(rule): (rule, []) for rule in every}
        for variant in component.every_variant():
            rules[id(variant.rule)][1].append(self.variant(variant))
        recursive = component.statistics.recursive
        return StratumPlan(
            tuple(map(self.relation, (*component.relations, *component.before))),
            recursive,
            component.statistics.local if recursive else None,
            self.reason(component) if recursive else "",
            component.statistics.policy,
            tuple(map(subjoin, component.wide.chosen)),
            self.partitioning(component),
            tuple(RulePlan(rule.text, self.texts.rule(rule), tuple(variants)) for rule, variants in rules.values()),
        )

    def reason(self, component: SemiNaiveComponent) -> str:
        """Return why the recursion is decomposable, or why not."""
        if component.statistics.local:
            local = [relation for relation in component.relations if len(relation.discriminating)]
            kept = (f"{r.name}.{self.columns(r.name, r.discriminating)[0]}" for r in local)
            reason = f"every recursive rule keeps {', '.join(kept)} from body to head"
            if component.base is not None:
                name = component.relations[0].name
                reason += f"; of what {name} is composed with itself, one side is what it begins from"
            return reason
        if component.stages:
            names = " and ".join(relation.name for relation in component.relations)
            return f"which rows {names} takes depends on the iteration that derives them"
        whole = [relation.name for relation in component.relations if not relation.splits]
        if whole:
            return f"the classes of {' and '.join(whole)} are kept in one place"
        if not component.premappable:
            return "its aggregates are premappable by the program's word alone"
        bare = [relation.name for relation in component.relations if not relation.group]
        if bare:
            return f"{' and '.join(bare)} has no column to be partitioned by"
        rule, why = obstacle({relation.name: relation.group for relation in component.relations}, component.rules)
        return f"{rule.text} {why}"

    def partitioning(self, component: SemiNaiveComponent) -> PartitioningPlan | None:
        """Return the partitioning of the recursion, or the one it would have if the policy were not rounds."""
        if component.statistics.local:
            owner_keys = {
                r.name: tuple(r.discriminating.tolist()) for r in component.relations if len(r.discriminating)
            }
            return self.ports(component.rules, Placement(owner_keys, owner_ports(component.rules, owner_keys), 0), ())
        if not component.exchanges:
            return None
        if component.placement is not None:
            made = [r.name for r in component.relations if r.name not in component.statistics.relations]
            return self.ports(component.rules, component.placement, made)
        rules, auxiliaries, placement = component.placed()
        return self.ports(rules, placement, [made.name for made in auxiliaries])

    def ports(self, rules: Sequence[Rule], placement: Placement, auxiliaries: Sequence[str]) -> PartitioningPlan:
        owner_keys = [ExchangePort(name, key) for name, key in placement.owner_keys.items()]
        readers: dict[ExchangePort, dict[str, None]] = {port: {} for port in owner_keys}
        for rule, ports in zip(rules, placement.joins, strict=True):
            for port in ports:
                readers.setdefault(port, {})[rule.text] = None
        cut = {rule.relation: rule for rule in rules if rule.relation in auxiliaries}
        plans = []
        for port, read in readers.items():
            rule = cut.get(port.relation)
            key = tuple(str(rule.head[c]) for c in port.key) if rule else self.columns(port.relation, port.key)
            plans.append(PortPlan(port.relation, key, port in owner_keys, tuple(read)))
        texts = (
            f"{self.texts.atom(Match(name, rule.head))} :- {', '.join(map(self.texts.literal, rule.body))}."
            for name, rule in cut.items()
        )
        return PartitioningPlan(tuple(plans), placement.cost, tuple(texts))

    def columns(self, relation: str, columns: Iterable[int]) -> tuple[str, ...]:
        declared = self.program.relations.get(relation)
        return tuple(str(column) if declared is None else declared.columns[column].name for column in columns)

    def relation(self, relation: Relation) -> RelationPlan:
        return RelationPlan(
            relation.name,
            self.columns(relation.name, range(relation.arity)),
            relation.n,
            self.columns(relation.name, relation.discriminating),
            len(relation.partitions),
        )

    def arrangement(self, relation: str, arrangement: Arrangement) -> ArrangementPlan:
        lengths = arrangement.runs[:, LENGTH]
        return ArrangementPlan(
            relation,
            self.columns(relation, arrangement.key),
            int(lengths.sum()),
            int(np.count_nonzero(lengths)),
            arrangement.runs.nbytes + (0 if arrangement.arena is None else arrangement.arena.nbytes),
            tuple(self.readers[relation, arrangement]),
        )

    # ---- rules

    def variant(self, variant: Variant) -> VariantPlan:
        plan, rule = variant.last_plan(), variant.rule
        for arranged in arrangements_of(plan.operators):
            self.readers.setdefault(arranged, {})[rule.text] = None
        delta = None
        if variant.delta is not None:
            delta = sum(isinstance(literal, Match) for literal in rule.body[: variant.delta + 1])
        source = "" if plan.source is None else plan.source.name
        return VariantPlan(delta, source, variant.n_plans, not plan.never, tuple(self.steps(plan)))

    def steps(self, plan: Plan) -> Iterator[StepPlan]:
        begin = 0
        for step, end in zip(plan.steps, plan.ends or [0] * len(plan.steps), strict=True):
            operators = [self.operator(operator) for operator in plan.operators[begin:end]]
            if end > len(plan.operators):
                operators = ["compute in the join"]
            if isinstance(step.literal, Match) and plan.scan is not None and not step.bound and not begin:
                operators.insert(0, "scan")
            begin = end
            yield self.step(step, operators)

    def step(self, step: Step, operators: Sequence[str]) -> StepPlan:
        bound: tuple[str, ...] = ()
        atom = step.literal.atom if isinstance(step.literal, Some) else step.literal
        if isinstance(atom, Match):
            bound = self.columns(atom.relation, step.bound)
        return StepPlan(
            self.texts.literal(step.literal),
            tuple(operators),
            isinstance(step.literal, Match | Intersect | Some),
            bound,
            step.fan_out,
            step.is_measured,
            step.rows,
        )

    def operator(self, operator: Operator) -> str:
        name = "join" if isinstance(operator, Join) else type(operator).__name__.lower()
        match operator:
            case Join() | Exists():
                key = ", ".join(self.columns(operator.relation, operator.arrangement.key))
                word = "join" if isinstance(operator, Join) else "exists" if operator.wanted else "not exists"
                if isinstance(operator.arrangement, RangedArrangement):
                    (column,) = self.columns(operator.relation, (operator.arrangement.column,))
                    key = f"{key}, {column} between" if key else f"{column} between"
                return f"{word} {operator.relation}[{key}]"
            case Intersection():
                return "least of " + ", ".join(self.operator(branch.join) for branch in operator.branches)
            case SemiJoin():
                return " and ".join(("some " + self.operator(operator.join), *map(self.operator, operator.filters)))
            case Contains():
                return f"{'contains' if operator.wanted else 'not contains'} {operator.relation.name}"
            case Fold():
                return "fold { " + ", ".join(map(self.operator, operator.operators)) + " }"
        return name


def subjoin(made: SubJoin) -> SubJoinPlan:
    eliminated, expected = variable_text(made.eliminated), made.expected
    if expected is None:
        return SubJoinPlan(made.name, made.rule.text, eliminated, None, None, "")
    return SubJoinPlan(made.name, made.rule.text, eliminated, expected.without, expected.rows, expected.dense)


def arrangements_of(operators: Iterable[Operator]) -> Iterator[tuple[str, Arrangement]]:
    """The arrangements that operators read, those inside aggregates included."""
    for operator in operators:
        if isinstance(operator, Join | Exists):
            yield operator.relation, getattr(operator.arrangement, "base", operator.arrangement)
        elif isinstance(operator, Intersection):
            for branch in operator.branches:
                yield from arrangements_of((branch.join, *branch.rest))
        elif isinstance(operator, SemiJoin):
            yield from arrangements_of((operator.join, *operator.filters))
        elif isinstance(operator, Fold):
            yield from arrangements_of(operator.operators)
