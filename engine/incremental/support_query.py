"""The supports of a tuple: the tuples it is derived from, queried one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from engine.incremental.bounded_recursion import BoundedRecursion
from engine.incremental.group_ends import Gather
from engine.incremental.iteration_stamps import AFTER, BEFORE, Stamper, marked
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.update_plans import Feed
from engine.kernels.iterations import ABSENT
from engine.plan.rule import Absent, Match, Rule
from engine.result import RuleStatistics

Tuple = tuple[str, tuple[int, ...]]
"""A relation and a row of it."""


def supports(view: MaintainedProgram, relation: str, row: tuple[int, ...]) -> Iterator[tuple[list[Tuple], list[Tuple]]]:
    """Yield the supports of a tuple that is there: the tuples of a rule's positive atoms, and those it finds absent.

    The positive ones of its relation's own recursion are those derived before it. A fact has none, nor has an
    aggregate, nor a tuple of a stratum that is evaluated anew.
    """
    stratum = next(s for s in view.strata if relation in {member.name for member in s.relations})
    stratum = stratum.final if isinstance(stratum, BoundedRecursion) else stratum
    if not isinstance(stratum, MaintainedStratum):
        return
    head = view.bindings.relations[relation]
    ids = head.known(np.array([row], head.dtype).T)
    if ids[0] < 0 or head.later[ids[0]] in (0, ABSENT):
        return
    for rule in stratum.rules:
        if rule.relation == relation:
            yield from _of_rule(view, stratum, rule, ids)


def _of_rule(
    view: MaintainedProgram, stratum: MaintainedStratum, rule: Rule, ids: np.ndarray
) -> Iterator[tuple[list[Tuple], list[Tuple]]]:
    rule, head = marked(rule), view.bindings.relations[rule.relation]
    feed = Feed(f"{head.name}!", head.width + 3, head.dtype)
    feed.fill(head.rows_of(ids, np.zeros(1), np.zeros(1)))
    view.bindings.relations[feed.name] = feed
    given = Match(feed.name, (*rule.head, None, BEFORE, AFTER))
    asked = replace(rule, body=(given, *rule.body))
    found = [literal for literal in rule.body if isinstance(literal, Match)]
    absent = [literal for literal in rule.body if isinstance(literal, Absent)]
    wanted = [literal.terms[-1] for literal in found] + [term for literal in absent for term in literal.terms]
    plan, registers = Stamper(asked, view.bindings, stratum.context.epoch, given, True).plan(asked, wanted)
    del view.bindings.relations[feed.name]
    if plan.never:
        return
    end = Gather(len(registers)).end(registers)
    plan = replace(plan, operators=(*plan.operators, end))
    view.pool.run([(plan, RuleStatistics(), feed.delta)])
    for values in end.give().T.tolist():
        if values[-1] + 1 <= head.later[ids[0]]:
            yield _tuples(view, found, absent, values)


def _tuples(
    view: MaintainedProgram, found: list[Match], absent: list[Absent], values: list[int]
) -> tuple[list[Tuple], list[Tuple]]:
    positive, at = [], len(found)
    for literal, id in zip(found, values, strict=False):
        relation = view.bindings.relations[literal.relation]
        positive.append((relation.name, tuple(relation.partitions[0].rows[: relation.width, id].tolist())))
    negative = []
    for literal in absent:
        negative.append((literal.relation, tuple(values[at : at + len(literal.terms)])))
        at += len(literal.terms)
    return positive, negative
