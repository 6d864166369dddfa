"""The fixpoint of one component: its rules once, then its recursive variants until nothing is new.

Components with stages advance in iterations only: which rows a choice lets in depends on when they are derived. So do
those with equivalences, which no column partitions, and with aggregates that are not premappable. Of the others, one
relation is advanced after the other (`engine.plan.turns`), unless they are partitioned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter

import numpy as np

from engine.evaluation.bindings import Bindings
from engine.evaluation.coordination_policy import GLOBAL
from engine.evaluation.execution import Execution, Job
from engine.evaluation.insert_stages import Stage
from engine.evaluation.match_cache import cached_match_rule
from engine.evaluation.partition_fixpoint import GroupFixpoint, LocalFixpoint
from engine.evaluation.row_limit import RecursionSize
from engine.evaluation.semi_naive_variants import Variant, variants_of
from engine.plan.auxiliary_relations import Auxiliaries, Auxiliary
from engine.plan.binarise import binarise
from engine.plan.cost_model import RowCostModel
from engine.plan.decomposable import pivot
from engine.plan.discriminating_sets import Placement, place
from engine.plan.linearise import linearise
from engine.plan.rule import Rule
from engine.plan.rule_text import rule_text
from engine.plan.turns import turns
from engine.plan.variable_elimination import Always, Elimination, eliminate_variables
from engine.result import RuleStatistics, StratumStatistics
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.partition import Block, Partition
from engine.storage.relation import Relation


class LimitReached(Exception):
    """A relation of the component has passed its limit at the end of an iteration, or of a round of turns."""

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation.name)
        self.relation = relation


class SemiNaiveComponent:
    """Mutually recursive relations (or a single one that is not recursive) with their rules."""

    def __init__(
        self,
        relations: Sequence[Relation],
        rules: Sequence[Rule],
        bindings: Bindings,
        execution: Execution,
        stages: Mapping[str, Stage],
        premappable: bool = True,
    ) -> None:
        self.statistics = StratumStatistics(tuple(r.name for r in relations), False)
        self.execution, self.stages, self.bindings = execution, stages, bindings
        names = frozenset(relation.name for relation in relations)
        self.statistics.recursive = any(names.intersection(rule.relations()) for rule in rules)
        self.relations, self.rules = list(relations), list(rules)
        self.premappable = premappable
        self.exchanges = False
        self.placement: Placement | None = None
        self.base: Relation | None = None
        read = {name for rule in rules for name in rule.relations()}
        self.auxiliaries = Auxiliaries({name: bindings.relations[name].dtype == np.int64 for name in read})
        self.made: list[Relation] = []
        widenings = execution.widenings
        self.limited = [
            (r, RecursionSize(widenings[r.name].width)) for r in relations if r.name in execution.row_limits
        ]
        self.wide = self.eliminate_variables()
        if self.statistics.recursive:
            self.coordinate()
        self.in_turn = self.may_take_turns
        names = frozenset(relation.name for relation in self.relations)
        self.initial: list[Variant] = []
        self.variants: dict[str, list[Variant]] = {name: [] for name in names}
        for rule in self.rules:
            statistics = self.account(rule)
            found = variants_of(rule, bindings, statistics, names, self.in_turn)
            if not found:
                self.initial.append(Variant(rule, bindings, statistics, steps=self.wide.orders.get(rule)))
            for name, variant in found:
                self.variants[name].append(variant)
        self.cached_rules = {
            variant: rule
            for variants in self.variants.values()
            for variant in variants
            if (rule := cached_match_rule(variant.rule, variant.delta, bindings, names)) is not None
        }
        self.prior = [Variant(rule, bindings, self.account(rule)) for rule in self.wide.prior]

    def account(self, rule: Rule) -> RuleStatistics:
        """Keep statistics of a rule."""
        statistics = RuleStatistics(rule=rule.text, relation=rule.relation)
        if self.execution.profiled:
            statistics.text, statistics.iterations = rule_text(rule), {}
        self.statistics.rules.append(statistics)
        return statistics

    def every_variant(self) -> Iterator[Variant]:
        yield from self.prior
        yield from self.initial
        for variants in self.variants.values():
            yield from variants

    def eliminate_variables(self) -> Elimination:
        """Have auxiliary relations hold a part of wide bodies, unless what is derived depends on the iteration."""
        if self.is_ordered or self.is_limited:
            return Elimination(self.rules)
        barred = {relation.name for relation in self.relations if isinstance(relation, AggregateRelation)}
        always = self.execution.options.always_eliminate
        choice = Always() if always else RowCostModel(self.bindings.sizes)
        wide = eliminate_variables(self.rules, self.statistics.relations, barred, self.auxiliaries, choice)
        self.rules = wide.rules
        self.make(self.auxiliaries.made)
        self.relations += [self.bindings.relations[name] for name in wide.recursive]
        return wide

    def make(self, auxiliaries: Sequence[Auxiliary]) -> None:
        self.made += map(self.bindings.make, auxiliaries)

    @property
    def is_ordered(self) -> bool:
        """True if the relations can only be advanced together, iteration by iteration."""
        return bool(self.stages) or not self.premappable or not all(relation.splits for relation in self.relations)

    @property
    def is_limited(self) -> bool:
        limited = self.execution.row_limits.keys()
        return bool(self.execution.meter.charged) or not limited.isdisjoint(self.statistics.relations)

    @property
    def may_take_turns(self) -> bool:
        """True if it does not matter in which iteration a tuple is derived."""
        names = {relation.name for relation in self.relations}
        return (
            self.statistics.recursive
            and len(names) > 1
            and self.statistics.policy == GLOBAL.name
            and not (self.is_ordered or self.execution.meter.charged)
            and names.isdisjoint(self.execution.dated)
        )

    @property
    def plans_beside(self) -> bool:
        """True if rules may be planned while others add rows: plans see the rows of earlier iterations alone."""
        return all(type(relation) is Relation for relation in self.targets)

    def coordinate(self) -> None:
        """Choose how the recursion is run: in partitions that need no exchange, by exchange, or under barriers."""
        self.statistics.policy = GLOBAL.name
        if self.is_ordered or self.is_limited:
            return
        self.linearise()
        self.decompose()
        self.exchanges = all(relation.is_exact for relation in self.relations)
        for relation in self.relations:
            relation.read_early = self.exchanges and relation.partitions[0].paired
        if self.statistics.local or (self.execution.policy != GLOBAL and self.exchanges):
            self.statistics.policy = self.execution.policy.name
            if not self.statistics.local:
                self.begin_exchange()

    def begin_exchange(self) -> None:
        """Rewrite the rules for an exchange and place the relations; auxiliary ones become part of the component."""
        self.rules, auxiliaries, self.placement = self.placed()
        self.make(auxiliaries)
        self.relations += [self.bindings.relations[made.name] for made in auxiliaries]
        for relation in self.relations:
            relation.discriminating = np.array(self.placement.owner_keys[relation.name], np.int64)

    def placed(self) -> tuple[list[Rule], list[Auxiliary], Placement]:
        """Return the rules as an exchange takes them, the auxiliary relations that they need, and where all live."""
        auxiliaries = self.auxiliaries.copy()
        columns: dict[str, Sequence[int]] = {relation.name: relation.group for relation in self.relations}
        rules = binarise(self.rules, columns, auxiliaries)
        made = auxiliaries.made[len(self.auxiliaries.made) :]
        columns.update((auxiliary.name, range(auxiliary.arity)) for auxiliary in made)
        return rules, made, place(columns, rules)

    def linearise(self) -> None:
        """Rewrite a rule that composes the relation with itself; `base` is to hold what the relation begins from."""
        first = self.relations[0]
        if first.is_keyed:
            return
        name = f"{first.name}&base"
        found = linearise({relation.name: relation.group for relation in self.relations}, first.arity, self.rules, name)
        if found is not None:
            self.rules = found
            self.base = self.bindings.relations[name] = Relation(name, first.arity, first.dtype)
            self.auxiliaries.wide[name] = first.dtype == np.int64

    def decompose(self) -> None:
        """Partition the relations so that no exchange is needed, if that is possible."""
        columns = pivot({relation.name: relation.group for relation in self.relations}, self.rules)
        if columns is not None:
            self.statistics.local = True
            for relation in self.relations:
                relation.discriminating = np.array([columns[relation.name]], np.int64)

    def run(self) -> StratumStatistics:
        self.execution.pool.begin_iteration(0)
        for variant, made in zip(self.prior, self.before, strict=True):
            self.run_once(variant, [made])
            self.execution.advance([made])
            made.finish()
        for variant in self.initial:
            self.run_once(variant, self.targets)
        if self.statistics.local:
            self.run_local()
        elif self.in_turn:
            self.run_in_turn()
        else:
            self.run_rounds()
        return self.statistics

    def run_rounds(self) -> None:
        """Advance all relations together, iteration by iteration; go over to an exchange when there is enough to do."""
        while (n_delta := self.advance(self.relations)) and self.statistics.recursive:
            if self.statistics.policy != GLOBAL.name and n_delta > self.execution.options.alone_rows:
                self.run_exchange()
                return
            self.begin_iteration()
            self.run_round([v for r in self.relations if r.n_delta for v in self.variants[r.name]])

    def run_in_turn(self) -> None:
        """Advance one relation after the other, round by round, until none gets anything new."""
        order = [self.bindings.relations[name] for name in turns([r.name for r in self.relations], self.rules)]
        while True:
            found = False
            for relation in order:
                if relation.has_new_rows and self.advance([relation]):
                    found = True
                    self.run_round(self.variants[relation.name])
            if not found:
                return
            self.begin_iteration()

    def begin_iteration(self) -> None:
        self.statistics.iterations += 1
        self.execution.pool.begin_iteration(self.statistics.iterations)
        self.execution.meter.check_rows()
        self.check_limits()
        self.execution.tend()

    def advance(self, relations: Sequence[Relation]) -> int:
        """Advance relations to the next iteration; return the size of all deltas."""
        begin = perf_counter()
        n_delta = self.execution.advance(relations)
        self.statistics.arranging_s += perf_counter() - begin
        return n_delta

    def check_limits(self) -> None:
        for relation, size in self.limited:
            widening, limit = self.execution.widenings[relation.name], self.execution.row_limits[relation.name]
            n_others = sum(other.n for other in self.relations if other.name in widening.counted)
            if size.passes(limit, relation.n, n_others, lambda relation=relation: relation.columns()[0]):
                raise LimitReached(relation)

    def run_local(self) -> None:
        if not self.advance(self.relations):
            return
        if self.base is not None:
            self.base.replace([copied(self.relations[0].delta, self.base)])
        plans = {
            name: [(plan, v.statistics) for v in variants if (plan := v.plan(self.execution.epoch)) is not None]
            for name, variants in self.variants.items()
        }
        in_place = any(isinstance(relation, AggregateRelation) for relation in self.relations)
        fixpoint = GroupFixpoint if in_place else LocalFixpoint
        self.statistics.iterations = fixpoint(self.relations, plans, self.execution).run()
        if self.base is not None:
            self.base.clear()

    def run_exchange(self) -> None:
        from engine.evaluation.thread_exchange import Routes, ThreadExchange

        routes = Routes(self.relations, self.placement)
        for rule, ports, statistics in zip(self.rules, self.placement.joins, self.statistics.rules, strict=False):
            if ports:
                routes.add(rule, ports, statistics, self.bindings)
        ThreadExchange(self.relations, routes, self.execution).run(self.statistics)

    def close(self) -> None:
        """Let go of the auxiliary relations, and of what workers hold for the others."""
        self.execution.pool.forget_relations()
        for relation in self.made:
            self.bindings.relations.pop(relation.name).clear()

    @property
    def before(self) -> Sequence[Relation]:
        """The auxiliary relations that are complete before the others begin."""
        return [self.bindings.relations[variant.rule.relation] for variant in self.prior]

    @property
    def targets(self) -> Sequence[Relation]:
        """The relations that rules write."""
        return *self.relations, *(stage.source for stage in self.stages.values())

    def run_round(self, variants: Sequence[Variant]) -> None:
        """Run each variant over its delta, or recompute the cached matches of its rule."""
        ready = [v for v in variants if v in self.cached_rules and self.cached_rules[v].is_ready(self.execution)]
        # The others may split the partitions that matches belong to.
        for variant in ready:
            self.cached_rules[variant].run(self.execution, variant.statistics)
        self.run_variants([variant for variant in variants if variant not in ready], self.targets)

    def run_variants(self, variants: Sequence[Variant], targets: Sequence[Relation]) -> None:
        """Run variants that read deltas; each is planned when its turn comes, if what the others write allows it."""
        ready = [variant for variant in variants if variant.has_work]
        n_rows = sum(variant.source.n_delta for variant in ready)
        jobs: Iterable[Job] = (job for variant in ready if (job := self.job(variant)) is not None)
        if not self.plans_beside:
            jobs = list(jobs)
        self.execution.run_planned(jobs, n_rows, len(ready), targets)
        self.deliver(variants)

    def run_once(self, variant: Variant, targets: Sequence[Relation]) -> None:
        if (job := self.job(variant)) is not None:
            self.execution.run([job], targets)
        self.deliver([variant])

    def job(self, variant: Variant) -> Job | None:
        plan = variant.plan(self.execution.epoch)
        if plan is None:
            return None
        if plan.source is None:
            return plan, variant.statistics, []
        return plan, variant.statistics, plan.source.blocks() if variant.delta is None else plan.source.delta

    def deliver(self, variants: Sequence[Variant]) -> None:
        written = {variant.rule.relation for variant in variants}
        for stage in [stage for name, stage in self.stages.items() if name in written]:
            stage.deliver()


def copied(blocks: Sequence[Block], like: Relation) -> Partition:
    """Return a partition with the rows of some blocks, which are distinct."""
    partition = Partition(like.arity, like.dtype)
    for rows, lo, hi in blocks:
        partition.extend(rows[:, lo:hi])
    return partition
