"""Programs that are maintained beside another one: they read its relations, and bring strata of their own.

Relations and arrangements that are there are shared; what a program brings goes when no program needs it any more. A
stratum that two programs bring alike, the projection that a negated atom with wildcards reads, is shared, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from engine.database import EvaluationError
from engine.evaluation.bindings import Bindings
from engine.evaluation.declared_storage import record_table
from engine.incremental.maintained_relation import ASKED_FOR, Arranged
from engine.incremental.make_strata import StrataMaker, Stratum, empty
from engine.incremental.prepared_program import Component, PreparedProgram
from engine.incremental.update_plans import Feed

if TYPE_CHECKING:
    from engine.incremental.maintained_program import MaintainedProgram


@dataclass(frozen=True, eq=False)
class Installed:
    """A program that is installed; its relations are those of the view by their names."""

    program: PreparedProgram


@dataclass(eq=False)
class Placed:
    """A stratum that an installed program has brought, made of a component, and the relations that came with it."""

    component: Component
    owner: Installed
    stratum: Stratum
    names: tuple[str, ...]


class PlanningLock(AbstractContextManager[None]):
    """Held by who plans, alone. The arrangements that plans ask for meanwhile are added to `asked`."""

    def __init__(self, lock: Lock, asked: set[Arranged]) -> None:
        self._lock, self._asked = lock, asked

    def __enter__(self) -> None:
        self._lock.acquire()
        self._before = ASKED_FOR.set(self._asked)

    def __exit__(self, *_: object) -> None:
        ASKED_FOR.reset(self._before)
        self._lock.release()


class Installations:
    """The programs that are installed beside a view's own, with what each of them needs.

    `asked` are the arrangements that the plans of each have asked for, those of the view's own program under None.
    """

    def __init__(self, view: MaintainedProgram) -> None:
        self.view, self._lock = view, Lock()
        self.placed: list[Placed] = []
        self.needs: dict[Installed, set[Placed]] = {}
        self.asked: dict[Installed | None, set[Arranged]] = {}

    def bindings(self, owner: Installed | None) -> Bindings:
        """Return what a program's plans are bound to."""
        asked = self.asked.setdefault(owner, set())
        return replace(self.view.bindings, lock=PlanningLock(self._lock, asked))

    # ---- coming

    def add(self, program: PreparedProgram) -> Installed:
        """Add the strata of a program, which are empty. Raises EvaluationError where it contradicts what is there."""
        self.check(program)
        installed, known = Installed(program), {*self.view.joined}
        self.add_records(program)
        maker = StrataMaker(self.view, program, self.bindings(installed))
        for component in program.components:
            if known.isdisjoint(component.relations):
                self.place(component, maker, installed)
        self.view.order_strata()
        self.needs[installed] = self.needed_by(installed)
        return installed

    def check(self, program: PreparedProgram) -> None:
        view = self.view
        if program.number_bits != view.prepared.number_bits:
            raise EvaluationError(f"numbers have {view.prepared.number_bits} bits here, not {program.number_bits}")
        derived = {clause.head.relation for clause in program.program.clauses}
        for name, (width, dtype) in program.shapes.items():
            held = view.relations.get(name)
            if held is not None and name in derived:
                raise EvaluationError(f"{name}: there is a relation of that name, which takes no further rules")
            if held is not None and (held.width, held.dtype.str) != (width, dtype):
                raise EvaluationError(f"{name}: there is a relation of that name, with other columns")
        for each in (view.prepared, *(installed.program for installed in self.needs)):
            for name in program.record_types.keys() & each.record_types.keys():
                if program.record_types[name] != each.record_types[name]:
                    raise EvaluationError(f"{name}: there is a record type of that name, with other fields")

    def add_records(self, program: PreparedProgram) -> None:
        for name in program.records.keys() - self.view.records.keys():
            self.view.records[name] = record_table(program, name, None)

    def place(self, component: Component, maker: StrataMaker, owner: Installed) -> Placed:
        """Add the stratum of a component."""
        view, prepared, before = self.view, maker.prepared, {*self.view.joined}
        shapes = {name: prepared.shapes.get(name) or prepared.projections[name] for name in component.relations}
        made = empty(shapes, prepared.equivalences)
        view.add_relations(made)
        view.relations.update({name: relation for name, relation in made.items() if name in prepared.shapes})
        stratum = maker.stratum(component)
        placed = Placed(component, owner, stratum, tuple(name for name in view.joined if name not in before))
        self.placed.append(placed)
        view.strata.append(stratum)
        return placed

    def needed_by(self, installed: Installed) -> set[Placed]:
        """Return the strata of a program, and those of others that they read."""
        pending, first, graph = self.nodes_of(installed), self.view.n_own, self.view.graph
        found = {*pending}
        while pending:
            new = {node for node in graph.dag.parents[pending.pop()] if node >= first} - found
            found |= new
            pending += new
        return {self.placed[node - first] for node in found}

    def nodes_of(self, installed: Installed) -> list[int]:
        """Return the numbers of the strata that a program has brought."""
        return [node for node, each in enumerate(self.placed, self.view.n_own) if each.owner is installed]

    def follow(self, other: Installations) -> None:
        """Install what is installed beside another view of the same program."""
        made: dict[Placed, Placed] = {}
        for each in other.placed:
            self.add_records(each.owner.program)
            maker = StrataMaker(self.view, each.owner.program, self.bindings(each.owner))
            made[each] = self.place(each.component, maker, each.owner)
        self.needs = {installed: {made[each] for each in needed} for installed, needed in other.needs.items()}
        self.view.order_strata()

    def n_bytes(self, installed: Installed) -> int:
        """Return the memory that the relations of a program take that it has brought."""
        names = (name for each in self.placed if each.owner is installed for name in each.names)
        return sum(self.view.joined[name].n_bytes for name in names)

    # ---- going

    def remove(self, installed: Installed) -> None:
        """Remove a program's strata, relations and arrangements, but for those that others need."""
        del self.needs[installed]
        needed = set[Placed]().union(*self.needs.values())
        gone = [each for each in self.placed if each not in needed]
        self.placed = [each for each in self.placed if each in needed]
        self.view.strata[self.view.n_own :] = [each.stratum for each in self.placed]
        self.view.remove_relations(self.with_feeds(name for each in gone for name in each.names))
        self.hand_over(installed)
        self.view.order_strata()

    def with_feeds(self, names: Iterable[str]) -> set[str]:
        """Return names of relations, and those of the feeds from which rules for them begin."""
        found = {*names}
        relations: Mapping[str, object] = self.view.bindings.relations
        return found | {name for name, each in relations.items() if isinstance(each, Feed) and each.reader in found}

    def hand_over(self, installed: Installed) -> None:
        """Let the arrangements and records that a program has asked for go, but for those that others have, too."""
        asked = self.asked.pop(installed)
        for each in self.placed:
            if each.owner is installed:
                each.owner = next(other for other, needed in self.needs.items() if each in needed)
                self.asked[each.owner] |= asked
        for name, key in asked - set[Arranged]().union(*self.asked.values()):
            if name in self.view.joined:
                self.view.joined[name].arrangements.pop(key, None)
        programs = [self.view.prepared, *(each.owner.program for each in self.placed)]
        for name in self.view.records.keys() - {name for program in programs for name in program.records}:
            del self.view.records[name]
