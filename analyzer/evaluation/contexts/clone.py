"""The facts of clones: a copy of each function, with its own entities, for every context but its first.

A row belongs to the innermost function that it speaks of, and is there once for each copy of that function; other
functions in it are those around the copy. A definition (`define`) belongs to where it stands, and gives the first copy
of what is defined there: calls choose another one (`clone_at`, `clone_for`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

import facts
from analyzer.evaluation.contexts.bodies import NONE, Bodies
from analyzer.evaluation.contexts.choose import Contexts, distinct, extended, matches, plain_edges, received_edges
from facts import schema

ORIGINAL = -1
"""The copy that code of no function is in."""


@dataclass
class Cloned:
    """Mounted facts with those of clones. `origin[e]` is the entity that e is a clone of, or e; ids begin at 1."""

    mounted: facts.Mounted
    origin: np.ndarray
    n_functions: int
    """The number of functions analysed in several contexts."""
    n_clones: int


def clone(bodies: Bodies, contexts: Contexts, wide: np.ndarray) -> Cloned:
    """Return the facts with clones for the contexts, and `wide` values wide in all of them."""
    copies = Copies(bodies, contexts)
    mounted = bodies.mounted
    relations = {
        name: np.concatenate([rows, cloned_rows(copies, declared(name), rows)], axis=1).astype(np.int32)
        for name, rows in mounted.relations.items()
    }
    relations |= {name: rows.astype(np.int32) for name, rows in chosen_by_calls(copies, contexts).items()}
    relations["repeated"] = repeated(copies)[None].astype(np.int32)
    relations["wide"] = copies.all_of(wide)[None].astype(np.int32)
    entities = np.concatenate([mounted.entities, copies.entities()], axis=1).astype(np.int32)
    n_functions = len(np.unique(copies.function[copies.chosen]))
    cloned = replace(mounted, entities=entities, relations=relations)
    return Cloned(cloned, copies.origin, n_functions, int(copies.chosen.sum()))


class Copies:
    """Every function with each of its contexts, in each copy of the function around it, as arrays by number.

    `function`, `parent` (the copy around), `context` (a row of the contexts), and whether that is the `first`. A copy
    is `chosen` if its context, or one around it, is not: the others are the functions themselves. Behind the `n` copies
    the arrays have an element for ORIGINAL.
    """

    def __init__(self, bodies: Bodies, contexts: Contexts) -> None:
        self.bodies, self.contexts = bodies, contexts.rows
        self.first_context = np.searchsorted(contexts.rows[0], np.arange(bodies.n + 2))
        self.enumerate()
        self.place()

    def enumerate(self) -> None:
        """Number the copies, by function, copy of the function around and context."""
        counts = np.diff(self.first_context)
        around = np.array([[NONE], [ORIGINAL]])
        pieces, number = [np.empty((4, 0), np.int64)], 0
        for depth in range(1, int(self.bodies.depth.max(initial=0)) + 1):
            functions = np.flatnonzero(self.bodies.depth == depth)
            at, copy = matches(self.bodies.parent[functions], around[0])
            times = counts[functions[at]]
            context = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
            function, parent = np.repeat(functions[at], times), np.repeat(around[1][copy], times)
            own = np.arange(number, number + len(function))
            number += len(own)
            pieces.append(np.stack([own, function, parent, context]))
            order = np.argsort(function, kind="stable")
            around = np.stack([function[order], own[order]])
        old, function, parent, context = np.concatenate(pieces, axis=1)
        order = np.lexsort((context, parent, function))
        renumbered = np.full(number + 1, ORIGINAL)
        renumbered[old[order]] = np.arange(number)
        self.n = number
        self.function = np.append(function[order], NONE)
        self.parent = np.append(renumbered[parent[order]], ORIGINAL)
        self.context = np.append(self.first_context[function[order]] + context[order], 0)
        self.first = np.append(context[order] == 0, True)

    def place(self) -> None:
        """Give the entities of clones their ids, behind all others."""
        bodies = self.bodies
        self.chosen, inner = ~self.first, self.parent
        while (inner != ORIGINAL).any():
            self.chosen, inner = self.chosen | ~self.first[inner], self.parent[inner]
        sizes = np.where(self.chosen, bodies.size[self.function], 0)
        self.offset = bodies.n + 1 + np.cumsum(sizes) - sizes
        by_owner = np.argsort(bodies.owner, kind="stable")
        self.copy_of_entity, owned = matches(np.where(self.chosen, self.function, -1), bodies.owner[by_owner])
        self.cloned_entity = by_owner[owned]
        self.origin = np.concatenate([np.arange(bodies.n + 1), self.cloned_entity])
        self.key = self.key_of(self.parent, self.context)[: self.n]
        self.by_key = np.argsort(self.key, kind="stable")

    def key_of(self, parent: np.ndarray, context: np.ndarray) -> np.ndarray:
        return (parent + 1) * (self.contexts.shape[1] + 1) + context

    def copy(self, parent: np.ndarray, context: np.ndarray) -> np.ndarray:
        """Return the copies with these contexts in copies of the functions around."""
        return self.by_key[np.searchsorted(self.key, self.key_of(parent, context), sorter=self.by_key)]

    def entity(self, entity: np.ndarray, copy: np.ndarray) -> np.ndarray:
        """Return entities as they are in copies of their own functions; in ORIGINAL, as they are."""
        return np.where(self.chosen[copy], self.offset[copy] + self.bodies.rank[entity], entity)

    def around(self, copy: np.ndarray, function: np.ndarray) -> np.ndarray:
        """Return the copies of the functions that copies stand in or are, ORIGINAL where there is none."""
        while (further := (copy != ORIGINAL) & (self.function[copy] != function)).any():
            copy = np.where(further, self.parent[copy], copy)
        return copy

    def resolved(self, entity: np.ndarray, copy: np.ndarray) -> np.ndarray:
        """Return entities as code in the copies sees them."""
        return self.entity(entity, self.around(copy, self.bodies.owner[entity]))

    def of(self, function: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all copies of functions: positions in the argument, and copies; ORIGINAL alone for NONE."""
        with_none = np.concatenate([[NONE], self.function[: self.n]])
        at, found = matches(function, with_none)
        return at, found - 1

    def with_several(self, rows: np.ndarray, column: int) -> np.ndarray:
        """Return the rows whose function has several contexts."""
        return rows[:, np.diff(self.first_context)[rows[column]] > 1]

    def all_of(self, entity: np.ndarray) -> np.ndarray:
        """Return entities in all copies of their functions."""
        at, copy = self.of(self.bodies.owner[entity])
        return self.entity(entity[at], copy)

    def entities(self) -> np.ndarray:
        """Return scope, label and ordinal of the entities of clones. Ordinals tell clones of a function apart."""
        scope, label, ordinal = self.bodies.mounted.entities.astype(np.int64)
        entity, copy = self.cloned_entity, self.copy_of_entity
        stride = int(ordinal.max(initial=0)) + 1
        context = self.context[copy] - self.first_context[self.function[copy]]
        is_function = self.function[copy] == entity
        numbered = ordinal[entity - 1] + np.where(is_function, context * stride, 0)
        return np.stack([self.resolved(scope[entity - 1], copy), label[entity - 1], numbered])


def cloned_rows(copies: Copies, relation: schema.Relation, rows: np.ndarray) -> np.ndarray:
    """Return the rows of a relation of the schema for all clones."""
    columns = [i for i, kind in enumerate(relation.kinds) if kind == schema.ENTITY]
    if not columns or not rows.shape[1]:
        return np.empty((relation.arity, 0), np.int64)
    at, copy = copies.of(owners(copies.bodies, relation.name, rows[columns]))
    is_new = copies.chosen[copy]
    at, copy = at[is_new], copy[is_new]
    made = rows[:, at].astype(np.int64)
    for column in columns:
        made[column] = copies.resolved(made[column], copy)
    if relation.name == "define":
        made[1] = as_defined(copies, rows[1, at].astype(np.int64), copy)
    return made


def declared(name: str) -> schema.Relation:
    """Return a relation of the schema; what else is bound with facts, such as a question, is a set of entities."""
    return schema.relations().get(name) or schema.Relation(name, ("entity",), (schema.ENTITY,))


def owners(bodies: Bodies, name: str, entities: np.ndarray) -> np.ndarray:
    """Return the functions that rows belong to, by their columns of entities."""
    owner = bodies.owner[entities]
    if name == "define":
        return owner[0]
    innermost = np.argmax(bodies.depth[owner], axis=0)
    return owner[innermost, np.arange(owner.shape[1])]


def as_defined(copies: Copies, definition: np.ndarray, copy: np.ndarray) -> np.ndarray:
    """Return functions and classes as they are defined in copies of the functions around."""
    found = copies.resolved(definition, copy)
    is_function = copies.bodies.depth[definition] * (copies.bodies.owner[definition] == definition) > 0
    inner = np.flatnonzero(is_function)
    own = copies.copy(copy[inner], copies.first_context[definition[inner]])
    found[inner] = copies.entity(definition[inner], own)
    return found


def repeated(copies: Copies) -> np.ndarray:
    """Return the calls, operations and stores of clones that repeat those of the first contexts.

    A store to a variable of the copy's own, or of a function around it, does only if the contexts between differ.
    """
    relations = copies.bodies.mounted.relations
    places = np.unique(np.concatenate([relations["call"][0], relations["operation"][0]])).astype(np.int64)
    store, cell, _ = relations["store_cell"].astype(np.int64)
    places = np.setdiff1d(places, store)
    at, copy = copies.of(copies.bodies.owner[places])
    is_new = copies.chosen[copy]
    again = [copies.entity(places[at[is_new]], copy[is_new])]
    at, copy = copies.of(copies.bodies.owner[store])
    owner, inner, chosen = copies.bodies.owner[cell[at]], copy, np.zeros(len(copy), bool)
    while (further := (inner != ORIGINAL) & (copies.function[inner] != owner)).any():
        chosen |= further & ~copies.first[inner]
        inner = np.where(further, copies.parent[inner], inner)
    again.append(copies.entity(store[at[chosen]], copy[chosen]))
    return np.unique(np.concatenate(again))


# ---- Which clone a call runs


def chosen_by_calls(copies: Copies, contexts: Contexts) -> Mapping[str, np.ndarray]:
    """Return the facts of `rules/lib/context_clones.dl` that tell clones and choose among them."""
    every = np.arange(copies.n)
    function = copies.entity(copies.function[every], every)
    several = np.diff(copies.first_context)[copies.function[every]] > 1
    group = copies.key_of(copies.parent, copies.first_context[copies.function])[every]
    order = np.argsort(group, kind="stable")
    one, other = matches(group[several], group[order])
    one, other = np.flatnonzero(several)[one], order[other]
    fellows = np.stack([function[one], function[other]])[:, one != other]
    return {
        "has_clones": function[several][None],
        "is_clone": function[~copies.first[every]][None],
        "fellow_clone": fellows,
        "clone_at": clones_at(copies, contexts),
        "clone_for": clones_for(copies, contexts),
    }


def clones_at(copies: Copies, contexts: Contexts) -> np.ndarray:
    """Return [3, n]: call, function, clone, for the functions whose context the call gives; for ambient calls all."""
    calls, policy = contexts.calls, contexts.policy
    pairs = copies.with_several(calls.plain, 1)
    giver, function, element, place = plain_edges(copies.bodies, policy, *pairs)
    at, caller = copies.of(copies.bodies.owner[pairs[0]])
    row = given(copies, function[at], element[at], place[at], np.where(giver[at] == NONE, ORIGINAL, caller))
    chosen = selected(copies, copies.entity(pairs[0, at], caller), function[at], row)
    call, function = copies.with_several(calls.ambient, 1)
    at, caller = copies.of(copies.bodies.owner[call])
    call, function = copies.entity(call[at], caller), function[at]
    every, row = matches(function, copies.contexts[0])
    return np.concatenate([chosen, selected(copies, call[every], function[every], row)], axis=1)


def clones_for(copies: Copies, contexts: Contexts) -> np.ndarray:
    """Return [3, n]: function, site, clone, for the functions whose context is their receiver."""
    pairs = copies.with_several(distinct(contexts.calls.received[1:]), 0)
    _, function, element, place = received_edges(copies.bodies, contexts.policy, *pairs)
    at, maker = copies.of(copies.bodies.owner[pairs[1]])
    row = given(copies, function[at], element[at], place[at], maker)
    return selected(copies, copies.entity(pairs[1, at], maker), function[at], row)[[1, 0, 2]]


def given(
    copies: Copies, function: np.ndarray, element: np.ndarray, place: np.ndarray, giver: np.ndarray
) -> np.ndarray:
    """Return the contexts, as rows, that functions get by edges from the contexts of copies."""
    last, before = (np.where(giver == ORIGINAL, 0, row[copies.context[giver]]) for row in copies.contexts[1:])
    return find(copies.contexts, np.concatenate([function[None], extended(element, place, last, before)]))


def selected(copies: Copies, subject: np.ndarray, function: np.ndarray, context: np.ndarray) -> np.ndarray:
    """Return [3, n]: subject, function, and its clone in the context, in each copy of the function around it."""
    at, parent = copies.of(copies.bodies.parent[function])
    first = copies.copy(parent, copies.first_context[function[at]])
    clone = copies.copy(parent, context[at])
    return np.stack([subject[at], copies.entity(function[at], first), copies.entity(function[at], clone)])


def find(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the positions of rows, all of which are there; sorted by all columns."""
    n = rows.shape[1]
    both = np.concatenate([rows, wanted], axis=1)
    order = np.lexsort((np.arange(both.shape[1]) >= n, *both[::-1]))
    position = np.maximum.accumulate(np.where(order < n, order, -1))
    found = np.empty(both.shape[1], np.int64)
    found[order] = position
    assert np.array_equal(rows[:, found[n:]], wanted), "a context that no call was known to give"
    return found[n:]
