"""Changed tuples of a relation, and which of them a rule that begins with them can match.

Of the rules that read a relation most have no use for a change of it: a constant differs, or another atom has no tuple
for any of the rows. Rules share such conditions, so what rows fulfil them is kept with the rows, as a set of bits, and
asking again takes a microsecond where running a plan takes thirty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from engine.database import Columns
from engine.kernels.csr_runs import LENGTH
from engine.kernels.iterations import ABSENT
from engine.plan.rule import Literal, Match, Operand

if TYPE_CHECKING:
    from engine.incremental.maintained_relation import MaintainedRelation

FEW = 1 << 12
"""Of more rows than this nothing is asked: they may match."""
UNKNOWN = -1, 0, 0
"""Known of no row, at no version."""
Pairs = tuple[tuple[int, int], ...]


class Condition(Protocol):
    """Something that rows must fulfil to take part in a rule. Equal ones give the same answers."""

    @property
    def version(self) -> int:
        """A number that is another one when the answers may be others."""

    def holds(self, rows: Columns) -> np.ndarray:
        """Return for each row whether it fulfils the condition; True where that is not known."""


@dataclass(frozen=True, slots=True)
class Equal:
    """A column has a value."""

    column: int
    value: int
    version = 0

    def holds(self, rows: Columns) -> np.ndarray:
        return rows[self.column] == self.value


@dataclass(frozen=True, slots=True)
class Same:
    """Two columns agree."""

    left: int
    right: int
    version = 0

    def holds(self, rows: Columns) -> np.ndarray:
        return rows[self.left] == rows[self.right]


class Matched:
    """A relation has ever had a tuple that agrees in some columns with columns of the row, or with constants.

    `bound` are pairs of a column there and a column here, `fixed` of a column there and a constant. What finds the
    relation's tuples already is asked. There is one for each relation and such pairs, see `matched`.
    """

    def __init__(self, relation: MaintainedRelation, bound: Pairs, fixed: Pairs) -> None:
        self.relation, self.bound, self.fixed = relation, bound, fixed
        self.columns = {column: at for at, (column, _) in enumerate((*bound, *fixed))}

    @property
    def version(self) -> int:
        return self.relation.n

    def holds(self, rows: Columns) -> np.ndarray:
        relation, n = self.relation, rows.shape[1]
        key = self.key()
        if key is None or relation.dtype != rows.dtype:
            return np.ones(n, np.bool_)
        chunk = np.empty((len(self.columns), n), rows.dtype)
        for at, (_, here) in enumerate(self.bound):
            chunk[at] = rows[here]
        for at, (_, value) in enumerate(self.fixed, len(self.bound)):
            chunk[at] = value
        registers = np.array([self.columns[column] for column in key])
        if len(key) == relation.width:
            return relation.ids_of(chunk, n, registers) >= 0
        _, lengths = relation.arrangements[key].matches(chunk, n, registers, LENGTH)
        return lengths > 0

    def key(self) -> tuple[int, ...] | None:
        """Return the most columns that tuples can be found by: all, or those of an arrangement that is there."""
        keys = [key for key in [*self.relation.arrangements] if key and self.columns.keys() >= set(key)]
        if len(self.columns) == self.relation.width and not self.relation.sleeps:
            keys.append(tuple(range(self.relation.width)))
        return max(keys, key=len, default=None)


def conditions_of(
    terms: Sequence[Operand | None], body: Iterable[Literal], relations: Mapping[str, MaintainedRelation]
) -> list[Condition]:
    """Return the conditions on rows of these terms: those of the terms, and one for each positive atom of a body."""
    found: list[Condition] = []
    columns: dict[str, int] = {}
    for column, term in enumerate(terms):
        if isinstance(term, int):
            found.append(Equal(column, term))
        elif term is not None and columns.setdefault(term, column) != column:
            found.append(Same(columns[term], column))
    atoms = [matched(atom, columns, relations[atom.relation]) for atom in body if isinstance(atom, Match)]
    return found + sorted((each for each in atoms if each.bound), key=lambda each: -len(each.fixed))


def matched(atom: Match, columns: Mapping[str, int], relation: MaintainedRelation) -> Matched:
    """Return the condition that a relation has a tuple for an atom, given where the values of variables stand."""
    own = list(enumerate(atom.terms[: relation.width]))
    bound = tuple((column, columns[term]) for column, term in own if isinstance(term, str) and term in columns)
    fixed = tuple((column, term) for column, term in own if isinstance(term, int))
    found = relation.asked.get((bound, fixed))
    if found is None:
        found = relation.asked[bound, fixed] = Matched(relation, bound, fixed)
    return found


class AskedRows:
    """Rows, and what conditions they are known to fulfil: sets of rows are numbers whose bits stand for them."""

    def __init__(self, rows: Columns) -> None:
        self.rows, self.n = rows, rows.shape[1]
        self._every = (1 << self.n) - 1
        self._known: dict[Condition, tuple[int, int, int]] = {}

    def may_match(self, conditions: Iterable[Condition]) -> bool:
        """Return False if none of the rows fulfils all conditions; True if there are too many rows to ask."""
        if self.n > FEW:
            return True
        left = self._every
        for condition in conditions:
            left &= self._fulfilling(condition, left)
            if not left:
                break
        return left > 0

    def _fulfilling(self, condition: Condition, asked: int) -> int:
        """Return the set of the rows that fulfil a condition; it may lack rows that are not asked for."""
        version = condition.version
        at, known, fulfilling = self._known.get(condition, UNKNOWN)
        if at != version:
            known = fulfilling = 0
        unknown = asked & ~known
        if unknown:
            if unknown == self._every:
                holds = condition.holds(self.rows)
            else:
                places, holds = places_in(unknown, self.n), np.zeros(self.n, np.bool_)
                holds[places] = condition.holds(self.rows[:, places])
            fulfilling |= set_of(holds)
            self._known[condition] = version, known | unknown, fulfilling
        return fulfilling


class ChangedRows(AskedRows):
    """Tuples of a relation that differ between two states; `own` ones count with the iterations they have there."""

    def __init__(self, relation: MaintainedRelation, ids: np.ndarray, *, own: bool) -> None:
        self.relation, self.ids, self.own = relation, ids, own
        super().__init__(relation.rows_at(ids))
        self._begun: dict[bool, Columns] = {}

    def begun(self, negated: bool) -> Columns:
        """Return rows to begin with: tuples, their ids, and the iterations to begin from in both states.

        If `negated` these are the ones in which the tuples are not there.
        """
        if negated not in self._begun:
            states = self.relation.states_of(self.ids)
            if not self.own:
                states = presence(states[0], negated), presence(states[1], negated)
            self._begun[negated] = self.relation.rows_of(self.ids, *states)
        return self._begun[negated]


def presence(iterations: np.ndarray, negated: bool) -> np.ndarray:
    """The iterations of input tuples: 0 for those that are there (or, if negated, are not), ABSENT for the others."""
    return np.where((iterations == ABSENT) == negated, 0, ABSENT)


def set_of(mask: np.ndarray) -> int:
    """Return the set of the places where a mask is True."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def places_in(members: int, n: int) -> np.ndarray:
    """Return the places in a set, in increasing order; all are below n."""
    held = np.frombuffer(members.to_bytes((n + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(held, bitorder="little", count=n))
