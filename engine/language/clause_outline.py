"""What a clause derives, needs and reads: enough to order clauses and leave them out without decoding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, overload

from engine.language.checked_program import CheckedClause
from engine.language.separate_parts import unwanted
from engine.language.syntax import Atom, Constant
from engine.language.traverse import all_atoms

Asked = tuple[tuple[int, str, int | float | str | None], ...]
"""The columns of an atom that hold constants, with the types and values of these."""


class Outline(NamedTuple):
    """The relation that a clause derives rows of; those of which it needs rows, and which ones; all that it reads.

    `counts` says that it draws numbers (`autoinc`), `splits` that a part of its body may be asked for once, on its own.
    """

    head: str
    needs: tuple[tuple[str, Asked], ...]
    reads: tuple[str, ...]
    counts: bool = False
    splits: bool = False


def outline(clause: CheckedClause) -> Outline:
    counts = bool(clause.counters)
    if not clause.body and all(isinstance(term, Constant) for term in clause.head.arguments):
        return Outline(clause.head.relation, (), (clause.head.relation,), counts)
    atoms = [literal for literal in clause.body if isinstance(literal, Atom)]
    reads = dict.fromkeys(atom.relation for atom in all_atoms(clause))
    needs = tuple((atom.relation, asked(atom)) for atom in atoms)
    splits = not (clause.plan or counts) and bool(unwanted(clause))
    return Outline(clause.head.relation, needs, tuple(reads), counts, splits)


def asked(atom: Atom) -> Asked:
    return tuple((i, term.type, term.value) for i, term in enumerate(atom.arguments) if isinstance(term, Constant))


class OutlinedClauses(Sequence[CheckedClause]):
    """Clauses with their outlines, decoded when they are read, which may raise Damaged.

    `positions` are theirs in what `clause_at` decodes.
    """

    def __init__(
        self, outlines: Sequence[Outline], positions: Sequence[int], clause_at: Callable[[int], CheckedClause]
    ) -> None:
        self.outlines, self._positions, self._clause_at = outlines, positions, clause_at

    def __len__(self) -> int:
        return len(self.outlines)

    @overload
    def __getitem__(self, at: int) -> CheckedClause: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[CheckedClause]: ...

    def __getitem__(self, at: int | slice) -> CheckedClause | Sequence[CheckedClause]:
        return self._clause_at(self._positions[at]) if isinstance(at, int) else tuple(self)[at]

    def __iter__(self) -> Iterator[CheckedClause]:
        return map(self._clause_at, self._positions)

    def __reduce__(self) -> tuple[type, tuple[tuple[CheckedClause, ...]]]:
        return tuple, (tuple(self),)

    def only(self, kept: Iterable[int]) -> OutlinedClauses:
        outlines, positions = self.outlines, self._positions
        return OutlinedClauses([outlines[at] for at in kept], [positions[at] for at in kept], self._clause_at)


def outlines_of(clauses: Sequence[CheckedClause]) -> Sequence[Outline]:
    return clauses.outlines if isinstance(clauses, OutlinedClauses) else list(map(outline, clauses))


def only(clauses: Sequence[CheckedClause], kept: Sequence[int]) -> Sequence[CheckedClause]:
    """Return the clauses at some positions."""
    return clauses.only(kept) if isinstance(clauses, OutlinedClauses) else tuple(clauses[at] for at in kept)
