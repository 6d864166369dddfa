"""The engine as the pipeline uses it: sources in, a checked program and its evaluation out, errors as AnalyzeError."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import engine
import facts
import rules
from analyzer.cache_entries import DamagedEntry, load_entry, save_entry
from analyzer.errors import AnalyzeError, NotEnoughMemory, ProgramErrors
from analyzer.evaluation.line_query import IN_QUESTION
from analyzer.evaluation.recursion_bounds import CHOSEN, widenings
from analyzer.evaluation.rule_sources import bundled, fact_schema, language_of
from analyzer.evaluation.rulebook import Rulebook
from analyzer.extraction.machine import READ, Machine
from analyzer.report import Problem
from engine import OUTLINED_PROGRAM_CODEC, Budget, BudgetExceeded, Damaged, OutlinedProgram, OutOfMemory
from facts import schema
from rules import catalogue, library

if TYPE_CHECKING:
    import numpy as np

    from engine import Unit
    from engine.incremental import PreparedProgram

Made = TypeVar("Made")

SHIPPED = Path(rules.__path__[0]) / "compiled"
"""The compiled programs in a wheel, for rules that nobody has changed; a checkout has nothing there."""

EVERYTHING = ("*",)
WRITTEN_IN = "written_in"
"""The relation of facts that tells which languages there is code in: rules for one ask for it."""
Tell = Callable[[str], None]


class Encoding(Hashable, Protocol[Made]):
    """Writes and reads values of one type."""

    def pack(self, value: Made, /) -> bytes: ...

    def unpack(self, data: bytes, /) -> Made:
        """Raises Damaged."""


def nobody(warning: str) -> None:
    """Say nothing."""


FLOW, SINK, SOURCE, HARM, BEGINS = "shared_step", "sink", "origin", "taint_path", "begins"
TRIED = frozenset({FLOW, SINK, SOURCE, HARM, BEGINS})
"""The relations of maintained programs that get rows on trial, to say why nothing is found: a step that data takes, a
sink, a source, harm that data does at a sink, and data that begins under a root of its own."""
GIVEN = frozenset({*schema.relations(), *CHOSEN, IN_QUESTION})
"""The relations that rows come for from elsewhere than rules: facts, what bounds put in, and questions."""


def compile_cached(
    sources: Sequence[engine.Source],
    directory: Path,
    wanted: Sequence[str] | None,
    given: Collection[str] = GIVEN,
    tell: Tell = nobody,
) -> OutlinedProgram:
    """Return the program of all sources together, cut to what is given and what the wanted relations depend on.

    Where `wanted` is None it is the whole program.

    Raises engine.ProgramError. Programs without errors are kept in `directory`, by the content of their sources and of
    the front end; `tell` is told of one that is damaged, and is made again. So are the units of bundled sources, so
    that rules beside them that change cost what they are.
    """
    name = _fingerprint(sources, (*(EVERYTHING if wanted is None else wanted), *sorted(given)), ("language", "plan"))
    untrusted = {source.name for source in sources if not source.trusted}

    def make() -> OutlinedProgram:
        from engine import conditional, fold_constants, isolate_sources, outlined

        layers = _layers(sources)
        units = _units(layers, directory, tell)
        program = isolate_sources(engine.compile(sources, units=units), untrusted)
        shipped = {source.name: language_of(source) for layer in layers for source in layer}
        folded = fold_constants(outlined(program, wanted, given), given, shipped, _evaluated)
        languages = {name: language for name, language in shipped.items() if language}
        return conditional(folded, WRITTEN_IN, languages) if languages else folded

    return _cached(directory, name, OUTLINED_PROGRAM_CODEC, make, tell)


def _evaluated(
    program: engine.CheckedProgram, database: engine.Database, asked: Collection[str]
) -> Callable[[str], np.ndarray]:
    return engine.evaluate(program, database, threads=1, asked=asked).relation


def _layers(sources: Sequence[engine.Source]) -> list[list[engine.Source]]:
    """Return the bundled sources: of the analysis, then with the other models, then with checks."""
    models = map(bundled, (*catalogue.library(), *catalogue.models()))
    layers: list[list[engine.Source]] = []
    known = {fact_schema()}
    for more in (map(bundled, library.analysis()), models, (bundled(check.file) for check in catalogue.checks())):
        known.update(more)
        layer = [each for each in sources if each in known]
        if len(layer) > sum(map(len, layers[-1:])):
            layers.append(layer)
    return layers


def _units(layers: Sequence[Sequence[engine.Source]], directory: Path, tell: Tell) -> dict[engine.Source, Unit]:
    """Return the units of the sources in the layers, each layer's kept by itself, up to one that cannot stand alone."""
    from engine import UNITS_CODEC, check_sources

    units: dict[engine.Source, Unit] = {}
    for layer in layers:
        new = [at for at, source in enumerate(layer) if source not in units]

        def make(layer: Sequence[engine.Source] = layer, new: Sequence[int] = new) -> tuple[Unit, ...]:
            checked = check_sources(layer, units=units)
            return tuple(checked.units[at] for at in new)

        try:
            made = _cached(directory, _fingerprint(layer, (), ("language",)), UNITS_CODEC, make, tell)
        except engine.ProgramError:
            break
        units.update(zip((layer[at] for at in new), made, strict=True))
    return units


def prepare_cached(
    sources: Sequence[engine.Source],
    directory: Path,
    wanted: Sequence[str],
    given: Collection[str] = GIVEN,
    tell: Tell = nobody,
) -> PreparedProgram:
    """Return the program of all sources as a view needs it, kept and failing as `compile_cached` does."""
    from engine.incremental import PREPARED_CODEC, prepare_program

    name = _fingerprint(sources, (*wanted, *sorted(given)), ("language", "plan", "evaluation", "incremental"))
    return _cached(
        directory,
        name,
        PREPARED_CODEC,
        lambda: prepare_program(compile_cached(sources, directory, wanted, given, tell).whole),
        tell,
    )


def _cached(directory: Path, name: str, codec: Encoding[Made], make: Callable[[], Made], tell: Tell) -> Made:
    """Return the cached or shipped object of a name. Else make it, and cache it unless it nests too deep."""
    entry = directory / "programs" / name
    for kept in (entry, SHIPPED / name):
        try:
            if stored := load_entry(kept):
                return _unpacked(codec, stored)
        except (DamagedEntry, Damaged):
            tell(f"the compiled rules in {kept} were damaged; compiled anew")
    made = make()
    with suppress(OSError, ValueError, RecursionError):
        save_entry(entry, codec.pack(made))
    return made


@lru_cache(maxsize=4)
def _unpacked(codec: Encoding[Made], stored: bytes) -> Made:
    """Decode bytes. Equal bytes give the same immutable object in one process."""
    return codec.unpack(stored)


def compile_rulebook(book: Rulebook, directory: Path) -> OutlinedProgram:
    """Return the program of a rulebook, without the user's sources that are wrong: those become problems of the book.

    Raises ProgramErrors where the bundled sources are wrong by themselves.
    """
    return _without_wrong_sources(book, lambda: compile_cached(book.sources, directory, READ, tell=book.warn))


def compile_whole_rulebook(book: Rulebook, directory: Path) -> OutlinedProgram:
    """Do the same, and return the program with all relations, whether reports read them or not."""
    return _without_wrong_sources(book, lambda: compile_cached(book.sources, directory, None, tell=book.warn))


def prepare_rulebook(book: Rulebook, directory: Path) -> PreparedProgram:
    """Do the same, and return the program as a view needs it: rows can be tried in it."""
    return _without_wrong_sources(book, lambda: prepare_cached(book.sources, directory, READ, GIVEN | TRIED, book.warn))


def _without_wrong_sources(book: Rulebook, make: Callable[[], Made]) -> Made:
    while True:
        try:
            return make()
        except engine.ProgramError as error:
            if not _drop_wrong_sources(book, error):
                raise ProgramErrors([diagnostic.render() for diagnostic in error.diagnostics]) from None


def _fingerprint(sources: Sequence[engine.Source], wanted: Sequence[str], parts: Sequence[str]) -> str:
    """Return a cache key of sources, which depends on all of them and on parts of the engine."""
    digest = hashlib.blake2b(repr((parts, wanted)).encode(), digest_size=16)
    home = Path(engine.__path__[0])
    for path in (home / "codec.py", *(path for part in parts for path in sorted((home / part).iterdir()))):
        if path.is_file():
            digest.update(path.read_bytes())
    for source in sources:
        text = source.text.encode("utf-8", "surrogatepass")
        digest.update(repr((source.name, len(text), source.trusted, source.module)).encode("utf-8", "surrogatepass"))
        digest.update(text)
    return digest.hexdigest()


def _drop_wrong_sources(book: Rulebook, error: engine.ProgramError) -> bool:
    """Remove the user's sources that have errors from the book; if no single one is to blame, all of them."""
    wrong = {diagnostic.span.source for diagnostic in error.diagnostics} & book.user
    for diagnostic in error.diagnostics:
        if diagnostic.span.source in wrong or not wrong:
            book.problems.append(_left_out(diagnostic))
    wrong = wrong or set(book.user)
    book.leave_out(wrong)
    return bool(wrong)


def _left_out(diagnostic: engine.Diagnostic) -> Problem:
    span, code = diagnostic.span, diagnostic.line_text
    return Problem(
        f"left out: error[{diagnostic.code}]: {diagnostic.message}", span.source, span.line, column=span.column,
        end_column=span.end_column if span.end_line == span.line else len(code) + 1, code=code, help=diagnostic.help,
    )  # fmt: skip


def evaluate_program(
    program: OutlinedProgram,
    mounted: facts.Mounted,
    machine: Machine,
    wanted: Sequence[str] = READ,
    copies: int = 1,
    budget: Budget | None = None,
) -> engine.Result:
    """Evaluate a program on facts, as far as the wanted relations need it; functions have up to so many `copies`.

    Raises AnalyzeError V001 where the engine cannot go on, V002 out of memory, and BudgetExceeded.
    """
    with evaluation_errors():
        part, database = program.part_on(database_of(mounted), wanted)
        return machine.evaluate(part, database, wanted, widenings(mounted, copies), budget)


def database_of(mounted: facts.Mounted) -> engine.Database:
    """Return the facts of a tree as the engine takes them."""
    return engine.Database(engine.Symbols(mounted.symbols), {"Entity": mounted.entities}, mounted.relations)


@contextmanager
def evaluation_errors() -> Iterator[None]:
    """Turn the engine's errors into AnalyzeErrors, but for BudgetExceeded, which is answered by leaving rules out."""
    try:
        yield
    except (OutOfMemory, MemoryError) as error:
        raise NotEnoughMemory(str(error)) from None
    except BudgetExceeded:
        raise
    except Damaged as error:
        raise AnalyzeError("V001", f"cached rules are damaged: {error}; delete the cache") from None
    except engine.EvaluationError as error:
        raise AnalyzeError("V001", f"the rules cannot be evaluated: {error}") from None


def evaluate_text(text: str, relation: str) -> list[list[Any]]:
    """Return the tuples of `relation`, of numbers, that a self-contained program derives."""
    result = engine.evaluate(engine.compile([engine.Source("<text>", text)]), engine.Database(), threads=1)
    return result.relation(relation).T.tolist()
