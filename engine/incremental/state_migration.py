"""A view that begins with what was saved for another program.

The tuples of a component, their iterations and counts follow from its rules, from the components that these read, and
from facts. So where the digests of a component are equal in both programs (`prepared_program`), what was saved is what
a bootstrap would make: it is taken over as it is, with its ids. The others are bootstrapped from there,
on the facts that they had.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.database import Columns
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.recomputed_stratum import given_name
from engine.incremental.view_serialization import Description, StoredView, restore
from engine.kernels.iterations import ABSENT


class CannotMigrate(Exception):
    """The saved state cannot be used; the message is the reason."""


def compatibility(view: MaintainedProgram) -> Description:
    """Return what tells whether something can be taken over, and which components: to be saved with the view."""
    program = view.prepared
    bounds = [[bound.relation, bound.into, len(bound.choices), [*bound.counted], bound.width] for bound in view.bounds]
    return {
        "kept": [program.number_bits, view.exact, bounds],
        "records": dict(program.record_types),
        "columns": dict(program.column_types),
        "digests": {name: component.digest for component in program.components for name in component.relations},
    }


def migrate(view: MaintainedProgram, description: Description, stored: StoredView) -> int:
    """Let a view without tuples hold what its program makes of the facts that were saved.

    Return how many strata have been bootstrapped for that. Raises CannotMigrate.
    """
    own, saved = compatibility(view), description["form"]
    if own["kept"] != saved["kept"] or others(own["records"], saved["records"]):
        raise CannotMigrate("numbers, records, iterations or bounds are others")
    for bound in view.bounds:
        bound.max_rows = description["max_rows"][bound.relation]
    changed = others(own["digests"], saved["digests"])
    anew = [
        node
        for node, stratum in enumerate(view.strata)
        if any(r.name in changed or r.name not in saved["digests"] for r in stratum.relations)
    ]
    restore((view.strata[node] for node in sorted({*range(len(view.strata))} - {*anew})), description, stored)
    facts = {
        relation.name: rows
        for node in anew
        for relation in view.strata[node].relations
        if (rows := facts_of(relation.name, description, stored)).shape[1]
    }
    if differing := others(own["columns"], saved["columns"]) & {*facts}:
        raise CannotMigrate(f"the columns of {', '.join(sorted(differing))} are others")
    if anew:
        view.bootstrap(facts, anew)
    return len(anew)


def others(own: dict[str, Any], saved: dict[str, Any]) -> set[str]:
    """The names that mean something else."""
    return {name for name, meant in own.items() if saved.get(name, meant) != meant}


def facts_of(name: str, description: Description, stored: StoredView) -> Columns:
    """The facts that a relation had been given, [width, n]: not those that stood in the program alone."""
    relations, bounds = {*description["relations"]}, description["form"]["kept"][2]
    is_chosen = any(name == into for _, into, *_ in bounds)
    # A stratum that was evaluated anew has them in a relation of their own; so has what a bound chooses facts of.
    holders = [given_name(name), *([f"{name}@0"] if is_chosen else []), name]
    holder = next((holder for holder in holders if holder in relations), None)
    if holder is None:
        return np.empty((0, 0), np.int32)
    tuples = stored.relation(holder).read()
    found = np.ascontiguousarray(tuples[:-2, tuples[-2] == 0])
    given_too = [] if is_chosen else description["repeated"].get(name, [])
    standing = [*{*description["permanent"].get(name, [])}.difference(given_too)]
    if not standing:
        return found
    held = MaintainedRelation(name, len(found), found.dtype)
    held.enter(held.add(found), 0)
    held.enter(held.known(stored.relation(name).read()[:-2, standing]), ABSENT)
    return held.columns()
