"""A checked program with outlines of its clauses, by which an evaluation decodes only those that it needs.

Most clauses of a program for several kinds of facts read relations that are empty. Which ones is told by outlines (see
`program_slice`), and by tables: constant facts of a relation, which go into the database as they are. So do rows that
follow from such facts alone (see `constant_clauses`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import msgpack
import numpy as np

from engine.codec import SURROGATES, WRONG, Codec, Damaged
from engine.database import Columns, Database
from engine.language.checked_program import CheckedClause, CheckedProgram, Relation, Stratum
from engine.language.clause_outline import Asked, Outline, OutlinedClauses, outline
from engine.language.program_codec import PROGRAM_CODEC, is_kept
from engine.language.syntax import Constant
from engine.language.traverse import all_atoms
from engine.plan.isolate_sources import BUILT
from engine.plan.program_slice import HeldRows, Outlines, needed_part, sliced, with_directives_of
from engine.plan.value_encoding import dtype_of, encode
from engine.symbols import Symbols

RELATIONS: Codec[Relation] = Codec(Relation, is_kept)
CLAUSES: Codec[CheckedClause] = Codec(CheckedClause, is_kept)


class ClauseOutline(NamedTuple):
    """The outline of a clause with numbers for relations, its position in the program, and the number of its source."""

    at: int
    source: int
    head: int
    needs: tuple[tuple[int, Asked], ...]
    reads: tuple[int, ...]
    is_fact: bool
    counts: bool
    splits: bool

    @property
    def body_reads(self) -> set[int]:
        """The relations that the body reads; the head's is one of `reads` in any case."""
        return {*(at for at in self.reads if at != self.head), *(at for at, _ in self.needs)}

    def named(self, names: Sequence[str]) -> Outline:
        needs = tuple([(names[relation], asked) for relation, asked in self.needs])
        reads = tuple([names[each] for each in self.reads])
        return Outline(names[self.head], needs, reads, self.counts, self.splits)


class Table(NamedTuple):
    """Facts of one source for a relation, in columns as in a database, but for symbols, which are numbers of texts."""

    source: int
    relation: int
    are_symbols: tuple[bool, ...]
    columns: tuple[tuple[int, ...], ...]


class StratumOutline(NamedTuple):
    """A stratum: `first` and `n` say where its clauses are."""

    relations: tuple[int, ...]
    recursive: bool
    premappable: bool
    first: int
    n: int
    outlines: tuple[ClauseOutline, ...]


class Folded(NamedTuple):
    """Strata that read nothing but the program's own facts, with tables of all rows of their relations; and clauses of
    other strata that do so, with tables of the rows that they add. Both are given by position.
    """

    strata: frozenset[int] = frozenset()
    tables: tuple[Table, ...] = ()
    clauses: frozenset[int] = frozenset()
    added: tuple[Table, ...] = ()


@dataclass(frozen=True, eq=False)
class OutlinedProgram:
    """A program of which clauses and declarations are decoded when asked for. Asking may raise Damaged.

    `head` is the program without relations and strata. `sources` are those of its clauses, of which only `kept` ones
    belong to the program.
    """

    head: CheckedProgram
    names: tuple[str, ...]
    sources: tuple[str, ...]
    texts: tuple[str, ...]
    strata: tuple[StratumOutline, ...]
    tables: tuple[Table, ...]
    relation_at: Callable[[int], Relation]
    clause_at: Callable[[int], CheckedClause]
    kept: frozenset[int]
    folded: Folded = Folded()

    @cached_property
    def whole(self) -> CheckedProgram:
        strata = []
        for stratum in self.strata:
            clauses = map(self.clause_at, range(stratum.first, stratum.first + stratum.n))
            kept = tuple(clause for clause in clauses if self.is_kept(clause.span.source))
            strata.append(self._stratum(stratum, kept))
        relations = {name: self.relation_at(at) for at, name in enumerate(self.names)}
        return replace(self.head, relations=relations, strata=tuple(strata))

    def _stratum(self, stratum: StratumOutline, clauses: Sequence[CheckedClause]) -> Stratum:
        relations = tuple(self.names[at] for at in stratum.relations)
        return Stratum(relations, stratum.recursive, clauses, stratum.premappable)

    @cached_property
    def declarations(self) -> CheckedProgram:
        """The program without rules, for which its relations are declared; these are decoded when asked for."""
        return replace(self.head, relations=Declarations(self))

    def extended(self, extension: CheckedProgram) -> OutlinedProgram:
        """Return the program with the rules of an extension of its declarations (see `engine.language.extension`)."""
        n_clauses, n_names = sum(stratum.n for stratum in self.strata), len(self.names)
        new = [relation for name, relation in extension.relations.items() if name not in self.declarations.relations]
        added = [stratum for stratum in extension.strata if {*stratum.relations} <= {held.name for held in new}]
        clauses = [clause for stratum in added for clause in stratum.clauses]
        names = {name: at for at, name in enumerate((*self.names, *(relation.name for relation in new)))}
        every_source = dict.fromkeys((*self.sources, *(clause.span.source for clause in clauses)))
        sources = {source: at for at, source in enumerate(every_source)}
        strata, at = [], n_clauses
        for stratum in added:
            outlines = [
                numbered(outline(clause), at + position, names, sources[clause.span.source], clause.is_fact)
                for position, clause in enumerate(stratum.clauses)
            ]
            members = tuple(names[name] for name in stratum.relations)
            n = len(outlines)
            strata.append(StratumOutline(members, stratum.recursive, stratum.premappable, at, n, tuple(outlines)))
            at += n
        return replace(
            self,
            head=self.head.extended(replace(extension, relations={}, strata=())),
            names=tuple(names),
            sources=tuple(sources),
            strata=(*self.strata, *strata),
            relation_at=lambda at: self.relation_at(at) if at < n_names else new[at - n_names],
            clause_at=lambda at: self.clause_at(at) if at < n_clauses else clauses[at - n_clauses],
            kept=self.kept | {sources[clause.span.source] for clause in clauses},
        )

    def beyond(self, extension: CheckedProgram, held: Collection[str]) -> CheckedProgram:
        """Return an extension with all rules that derive what it reads, but for relations that are held elsewhere.

        Those stand without rules, as what an extension reads does.
        """
        whole, needed = self.extended(extension), set(extension.relations)
        strata: list[Stratum] = []
        for stratum in reversed(whole.strata):
            names = [whole.names[at] for at in stratum.relations]
            if needed.isdisjoint(names):
                continue
            every = () if all(name in held for name in names) else range(stratum.first, stratum.first + stratum.n)
            clauses = tuple(each for each in map(whole.clause_at, every) if whole.is_kept(each.span.source))
            strata.append(whole._stratum(stratum, clauses))
            needed.update(names, (atom.relation for clause in strata[-1].clauses for atom in all_atoms(clause)))
        relations = {name: relation for name, relation in whole.declarations.relations.items() if name in needed}
        return replace(with_directives_of(whole.head, needed), relations=relations, strata=tuple(reversed(strata)))

    def is_kept(self, source: str) -> bool:
        return self.keeps_all or self.sources.index(source) in self.kept

    @property
    def keeps_all(self) -> bool:
        return len(self.kept) == len(self.sources)

    def only_sources(self, sources: Collection[str]) -> OutlinedProgram:
        """Return the program with the clauses of some sources alone; relations that only others write are empty."""
        kept = {*sources, BUILT}
        return replace(self, kept=frozenset(at for at, source in enumerate(self.sources) if source in kept))

    def written_by(self, sources: Collection[str]) -> dict[str, set[str]]:
        """Return the relations that rules of some sources write, each with those of the sources that do."""
        found: dict[str, set[str]] = {}
        for stratum in self.strata:
            for each in stratum.outlines:
                source = self.sources[each.source]
                if source in sources and each.source in self.kept and not each.is_fact:
                    found.setdefault(self.names[each.head], set()).add(source)
        return found

    def part_on(self, database: Database, wanted: Collection[str]) -> tuple[CheckedProgram, Database]:
        """Return the part that can derive wanted relations from a database, and that with the facts of the program.

        A clause goes that asks for rows which a relation of facts does not have: any at all, or any with the constants
        that the clause gives. Programs for several kinds of facts shrink to what is for those at hand.
        """
        outlines, tables = self._kept_outlines(), Tables(self, database)
        needed, live = self._needed_on(database, wanted, outlines, tables)
        return self._part(needed, outlines, live), tables.database(needed)

    def needed_on(self, database: Database, wanted: Collection[str]) -> set[str]:
        """Return the names of the relations of that part."""
        needed, _ = self._needed_on(database, wanted, self._kept_outlines(), Tables(self, database))
        return {self.names[at] for at in needed}

    @property
    def held(self) -> Folded:
        """The folded strata and clauses with their rows; nothing if clauses that these may come from are left out."""
        return self.folded if self.keeps_all else Folded()

    def _kept_outlines(self) -> list[list[ClauseOutline]]:
        """The outlines of the clauses that are kept and not folded, by stratum."""
        folded = self.held
        return [
            []
            if at in folded.strata
            else [each for each in stratum.outlines if each.source in self.kept and each.at not in folded.clauses]
            for at, stratum in enumerate(self.strata)
        ]

    def _needed_on(
        self, database: Database, wanted: Collection[str], outlines: Sequence[Sequence[ClauseOutline]], tables: Tables
    ) -> tuple[set[int], list[set[int]]]:
        """Return what `needed_part` does, of relations by their number."""
        number = {name: at for at, name in enumerate(self.names)}
        derived = {each.head for stratum in outlines for each in stratum}

        def held(at: int) -> Columns | None:
            if at in derived:
                return None
            return tables.columns(at) if at in tables.relations else database.relations.get(self.names[at])

        given = {
            at
            for at, name in enumerate(self.names)
            if name in database.relations or (at not in derived and at not in tables.relations)
        }
        return needed_part(
            [(stratum.relations, those) for stratum, those in zip(self.strata, outlines, strict=True)],
            {number[name] for name in wanted if name in number},
            given | tables.relations.keys(),
            HeldRows(held, database.symbols).may_have,
        )

    def _part(
        self, needed: Collection[int], outlines: Sequence[Sequence[ClauseOutline]], live: Sequence[Collection[int]]
    ) -> CheckedProgram:
        strata = tuple(
            self._stratum(stratum, self._undecoded([those[at] for at in sorted(kept)]))
            for stratum, those, kept in zip(self.strata, outlines, live, strict=True)
            if any(at in needed for at in stratum.relations)
        )
        relations = {name: self.relation_at(at) for at, name in enumerate(self.names) if at in needed}
        return replace(with_directives_of(self.head, relations), relations=relations, strata=strata)

    def _undecoded(self, outlines: Sequence[ClauseOutline]) -> OutlinedClauses:
        named = [each.named(self.names) for each in outlines]
        return OutlinedClauses(named, [each.at for each in outlines], self.clause_at)


class Declarations(Mapping[str, Relation]):
    """The relations of an outlined program by name, each decoded when it is asked for."""

    def __init__(self, program: OutlinedProgram) -> None:
        self._program, self._number = program, {name: at for at, name in enumerate(program.names)}

    def __getitem__(self, name: str) -> Relation:
        return self._program.relation_at(self._number[name])

    def __contains__(self, name: object) -> bool:
        return name in self._number

    def __iter__(self) -> Iterator[str]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)


class Tables:
    """The rows that a program has for some relations, facts and folded ones, behind those of a database."""

    def __init__(self, program: OutlinedProgram, database: Database) -> None:
        self.program, self._database = program, database
        self.relations: dict[int, list[Table]] = {table.relation: [table] for table in program.held.tables}
        complete = frozenset(self.relations)
        own = (table for table in program.tables if table.source in program.kept and table.relation not in complete)
        for table in (*own, *program.held.added):
            self.relations.setdefault(table.relation, []).append(table)
        self._columns: dict[int, Columns] = {}

    def columns(self, relation: int) -> Columns:
        """Return all facts of a relation."""
        if relation not in self._columns:
            declared = self.program.relation_at(relation)
            dtype = dtype_of((column.type.kind for column in declared.columns), self.program.head.number_bits)
            held = self._database.relations.get(declared.name)
            parts = [] if held is None else [held]
            for table in self.relations[relation]:
                n_rows = len(table.columns[0]) if table.columns else 1
                rows = np.empty((declared.arity, n_rows), dtype)
                for at, (column, is_symbol) in enumerate(zip(table.columns, table.are_symbols, strict=True)):
                    rows[at] = self._interned(column) if is_symbol else column
                parts.append(rows)
            self._columns[relation] = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return self._columns[relation]

    def _interned(self, column: tuple[int, ...]) -> np.ndarray:
        texts = self.program.texts
        return self._database.symbols.intern(texts[at] for at in column)

    def database(self, needed: Collection[int]) -> Database:
        added = {self.program.names[at]: self.columns(at) for at in self.relations if at in needed}
        return replace(self._database, relations={**self._database.relations, **added})


def outlined(
    program: CheckedProgram, wanted: Collection[str] | None = None, given: Collection[str] = ()
) -> OutlinedProgram:
    """Return a program with outlines, without what none of the wanted relations depends on; the given ones stay."""
    every: Outlines = [list(map(outline, stratum.clauses)) for stratum in program.strata]
    if wanted is not None:
        program, every = sliced(program, every, wanted, given)
    names = {name: at for at, name in enumerate(program.relations)}
    sources = {source: at for at, source in enumerate(dict.fromkeys(c.span.source for c in program.clauses))}
    facts = Facts(program)
    strata, at = [], 0
    for stratum, those in zip(program.strata, every, strict=True):
        outlines = tuple(
            numbered(those[position], at + position, names, sources[clause.span.source], clause.is_fact)
            for position, clause in enumerate(stratum.clauses)
            if not facts.take(clause)
        )
        relations = tuple(names[name] for name in stratum.relations)
        n = len(stratum.clauses)
        strata.append(StratumOutline(relations, stratum.recursive, stratum.premappable, at, n, outlines))
        at += n
    return OutlinedProgram(
        replace(program, relations={}, strata=()),
        tuple(names),
        tuple(sources),
        tuple(facts.symbols.texts(range(len(facts.symbols)))),
        tuple(strata),
        facts.tables(names, sources),
        list(program.relations.values()).__getitem__,
        program.clauses.__getitem__,
        frozenset(range(len(sources))),
    )


def is_set(program: CheckedProgram, name: str) -> bool:
    """Return True if a relation has the rows that its clauses derive, whatever their order, and no others."""
    relation = program.relations[name]
    return not (relation.aggregated or "eqrel" in relation.qualifiers or program.is_ordered(name))


class OutlinedProgramCodec:
    """Makes a program bytes, and opens them."""

    def pack(self, program: OutlinedProgram) -> bytes:
        """Raises ValueError where a program nests too deep."""
        n_clauses, folded = sum(stratum.n for stratum in program.strata), program.folded
        document = (
            PROGRAM_CODEC.pack(program.head),
            (program.names, program.sources, program.texts),
            program.strata,
            program.tables,
            RELATIONS.pack_each(map(program.relation_at, range(len(program.names)))),
            CLAUSES.pack_each(map(program.clause_at, range(n_clauses))),
            (sorted(folded.strata), folded.tables, sorted(folded.clauses), folded.added),
        )
        return msgpack.packb(document, unicode_errors=SURROGATES)

    def unpack(self, data: bytes) -> OutlinedProgram:
        """Raises Damaged."""
        try:
            document = msgpack.unpackb(data, use_list=False, unicode_errors=SURROGATES)
            head, (names, sources, texts), strata, tables, relations, clauses, folded = document
            strata_at, rows, clauses_at, added = folded
            return OutlinedProgram(
                PROGRAM_CODEC.unpack(head),
                names,
                sources,
                texts,
                tuple(StratumOutline._make((*s[:-1], tuple(map(ClauseOutline._make, s[-1])))) for s in strata),
                tuple(map(Table._make, tables)),
                cache(RELATIONS.unpack_each(relations)),
                cache(CLAUSES.unpack_each(clauses)),
                frozenset(range(len(sources))),
                Folded(
                    frozenset(strata_at),
                    tuple(map(Table._make, rows)),
                    frozenset(clauses_at),
                    tuple(map(Table._make, added)),
                ),
            )
        except WRONG as error:
            raise Damaged(str(error)) from None


def numbered(outline: Outline, at: int, names: Mapping[str, int], source: int, is_fact: bool) -> ClauseOutline:
    needs = tuple((names[relation], asked) for relation, asked in outline.needs)
    reads = tuple(names[name] for name in outline.reads)
    return ClauseOutline(at, source, names[outline.head], needs, reads, is_fact, outline.counts, outline.splits)


class Facts:
    """The constant facts of a program that tables can hold: those of plain relations, which have no order."""

    def __init__(self, program: CheckedProgram) -> None:
        self.program, self.symbols = program, Symbols()
        self.rows: dict[tuple[str, str, tuple[bool, ...]], list[list[int]]] = {}

    def take(self, clause: CheckedClause) -> bool:
        """Enter a fact, if it may stand in a table."""
        relation, terms = self.program.relations[clause.head.relation], clause.head.arguments
        constants = [term for term in terms if isinstance(term, Constant)]
        if not clause.is_fact or clause.counters or len(constants) < len(terms):
            return False
        if not is_set(self.program, relation.name):
            return False
        are_symbols = tuple(isinstance(term.value, str) for term in constants)
        rows = self.rows.setdefault((clause.span.source, relation.name, are_symbols), [])
        rows.append([encode(term, self.symbols) for term in constants])
        return True

    def tables(self, names: Mapping[str, int], sources: Mapping[str, int]) -> tuple[Table, ...]:
        return tuple(
            Table(sources[source], names[relation], are_symbols, tuple(zip(*rows, strict=True)))
            for (source, relation, are_symbols), rows in self.rows.items()
        )


OUTLINED_PROGRAM_CODEC = OutlinedProgramCodec()
