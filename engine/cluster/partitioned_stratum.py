"""A stratum divided among members: which rules only begin, which join what moves, and where.

The rules that only begin are each led by one atom, of which every member scans its part. The others read what the rules
write, or shuffled relations: those of earlier strata that are too large to be replicated. They meet at ports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.cluster.communicator import Communicator, broadcast
from engine.cluster.skew import DividedJoins
from engine.cluster.superstep_exchange import Supersteps
from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_plan import Plan, build
from engine.evaluation.execution import Execution
from engine.evaluation.semi_naive import SemiNaiveComponent
from engine.evaluation.semi_naive_variants import Variant
from engine.evaluation.thread_exchange import Routes
from engine.plan.auxiliary_relations import Auxiliaries
from engine.plan.binarise import binarise
from engine.plan.decomposable import pivot
from engine.plan.discriminating_sets import Placement, place
from engine.plan.rule import Intersect, Match, Rule
from engine.result import RuleStatistics, StratumStatistics
from engine.storage.relation import Relation


class PartitionedStratum:
    """The rules that write `relations`, and those of auxiliary relations that join shuffled relations or more than two
    atoms.

    `partition_by` gives some relations the columns that partition them. `pivots` are those by which the recursion
    decomposes, if it does: then nothing moves after the first tuples.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        relations: Sequence[Relation],
        shuffled: Sequence[Relation],
        bindings: Bindings,
        partition_by: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.relations, self.shuffled = list(relations), list(shuffled)
        written = {relation.name for relation in relations}
        moving = written | {relation.name for relation in shuffled}
        auxiliaries = Auxiliaries({name: relation.dtype == np.int64 for name, relation in bindings.relations.items()})
        self.rules = binarise(rules, moving, auxiliaries)
        self.auxiliaries = list(map(bindings.make, auxiliaries.made))
        self.written = [*relations, *self.auxiliaries]
        self.bindings = bindings
        self.columns = {relation.name: relation.group for relation in self.written}
        self.statistics = [RuleStatistics(rule=rule.text, relation=rule.relation) for rule in self.rules]
        self.first: list[tuple[int, int | None]] = []
        self.joining: list[int] = []
        self.divided: list[str] = []
        for number, rule in enumerate(self.rules):
            at = [
                i for i, x in enumerate(rule.body) if isinstance(x, Match) and x.relation in moving | set(self.columns)
            ]
            if len(at) < 2 and all(rule.body[i].relation not in self.columns for i in at):
                self.first.append((number, at[0] if at else None))
            else:
                self.joining.append(number)
        self.recursive = any(self.columns.keys() & set(rule.relations()) for rule in self.rules)
        self.fixed = {name: partition_by[name] for name in partition_by.keys() & self.columns.keys()}
        self.pivots = None if shuffled or not self.recursive else pivot(self.columns, self.rules)
        if self.pivots and any(key != (self.pivots[name],) for name, key in self.fixed.items()):
            self.pivots = None

    def supersteps(self, group: Communicator, execution: Execution) -> Supersteps:
        """Place relations and rules, and send the shuffled relations to their ports."""
        if self.pivots is not None:
            placement = Placement({name: (column,) for name, column in self.pivots.items()}, [], 0)
        else:
            columns = {**self.columns, **{relation.name: relation.group for relation in self.shuffled}}
            placement = place(columns, [self.rules[i] for i in self.joining], self.fixed)
        for relation in self.written:
            relation.discriminating = np.array(placement.owner_keys[relation.name], np.int64)
        routes = Routes(self.written, placement)
        shuffled = {relation.name: relation.columns() for relation in self.shuffled}
        divided = DividedJoins(group, shuffled)
        for number, ports in zip(self.joining if self.pivots is None else (), placement.joins, strict=True):
            places = divided.meet(ports, [self.bindings.relations[port.relation].dtype for port in ports])
            routes.add(self.rules[number], places, self.statistics[number], self.bindings)
        self.divided = list(dict.fromkeys(divided.descriptions))
        heavy = {channel: divided.sides[port] for port, channel in routes.numbers.items() if port in divided.sides}
        steps = Supersteps(group, self.written, routes, execution, heavy)
        for port, channel in routes.numbers.items():
            if port.relation in shuffled:
                steps.arrive(channel, shuffled[port.relation])
        return steps

    def run(self, steps: Supersteps, after: Callable[[Supersteps], None]) -> StratumStatistics:
        """Run to the fixpoint; `after` is called with each superstep."""
        self.begin(steps)
        names = tuple(relation.name for relation in self.relations)
        done = StratumStatistics(names, self.recursive, rules=self.statistics, policy="supersteps")
        if self.pivots is None:
            steps.run(after)
        else:
            steps.settle()
            rest = [self.rules[i] for i in self.joining]
            done = SemiNaiveComponent(self.relations, rest, self.bindings, steps.execution, {}).run()
            done.rules += [self.statistics[i] for i, _ in self.first]
        done.rounds, done.tuples_sent = (steps.n_supersteps,), steps.n_sent
        done.divided = self.divided
        done.partition_by = {relation.name: tuple(relation.discriminating.tolist()) for relation in self.relations}
        for auxiliary in self.auxiliaries:
            del self.bindings.relations[auxiliary.name]
        return done

    # ---- the rules that only begin

    def begin(self, steps: Supersteps) -> None:
        """Run them, each on this member's part of the atom that leads it. The first member chooses which that is."""
        leaders = [self.leader(self.rules[number]) if at is None else at for number, at in self.first]
        for (number, read_at), at in zip(self.first, broadcast(steps.group, leaders), strict=True):
            plan = self.led(number, at).plan(steps.execution.epoch)
            if plan is None:
                continue
            blocks = [] if plan.source is None else plan.source.blocks()
            if at is None:
                blocks = blocks if steps.group.rank == 0 else []
            elif read_at is None:
                rank, size = steps.group.rank, steps.group.size
                blocks = [b._replace(lo=b.hi * rank // size, hi=b.hi * (rank + 1) // size) for b in blocks]
            if plan.scan is not None or steps.group.rank == 0:
                self.run_plan(plan, self.statistics[number], blocks, steps)

    def run_plan(self, plan: Plan, statistics: RuleStatistics, blocks: Sequence, steps: Supersteps) -> None:
        if plan.scan is None:
            steps.execution.run_seed(plan, statistics, steps.owner)
        for rows, lo, hi in blocks:
            steps.execution.run_rows(plan, statistics, rows, lo, hi, steps.owner)
        steps.execution.account(steps.owner)

    def led(self, number: int, at: int | None) -> Variant:
        """A rule that scans the atom at a position of its body, whatever constants it has; all atoms read all rows."""
        rule = self.rules[number]
        if at is None:
            return Variant(rule, self.bindings, self.statistics[number])
        body = (rule.body[at], *rule.body[:at], *rule.body[at + 1 :])
        leader = frozenset({body[0].relation})
        return Variant(replace(rule, body=body), self.bindings, self.statistics[number], 0, leader)

    def leader(self, rule: Rule) -> int | None:
        """The position of the atom that a rule is best led by; None if that needs no scan."""
        plan = build(rule, self.bindings)
        if plan.never or plan.source is None:
            return None
        for step in plan.steps:
            for atom in step.literal.atoms if isinstance(step.literal, Intersect) else (step.literal,):
                if isinstance(atom, Match):
                    return next(i for i, x in enumerate(rule.body) if x is atom)
        return None
