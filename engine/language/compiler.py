"""The front end's pipeline: sources → items → includes and components expanded → checked program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from engine.language.check import check
from engine.language.components import expand
from engine.language.diagnostics import Report
from engine.language.parse import parse
from engine.language.program import CheckedProgram
from engine.language.surface import Component, Include, Item, Pragma
from engine.language.syntax import Clause, Declaration, Directive, Program, TypeDeclaration


@dataclass(frozen=True, slots=True)
class Source:
    """One source text. One that is not trusted may name no files: neither inputs, outputs nor includes."""

    name: str
    text: str
    trusted: bool = True


Resolver = Callable[[str, Source], Source | None]


def compile(
    sources: Iterable[Source | str], *, resolve: Resolver | None = None, number_bits: int = 32
) -> CheckedProgram:
    """Return the checked program made of all sources together; their order does not matter.

    `resolve(path, including)` returns the source that an `.include` means, or None; without it there are no includes.
    Raises ProgramError with every error found.
    """
    named = [Source("<text>", source) if isinstance(source, str) else source for source in sources]
    report = Report({})
    items = [item for source in named for item in read(source, report, resolve, ())]
    program = assemble(expand(items, report))
    return check(program, report, number_bits)


def read(source: Source, report: Report, resolve: Resolver | None, including: tuple[str, ...]) -> list[Item]:
    """Return the items of a source, includes replaced by what they name."""
    report.add_source(source.name, source.text)
    items = parse(source.name, source.text, report)
    if not source.trusted:
        check_untrusted(items, report)
        items = [item for item in items if not isinstance(item, Include)]
    return include(items, source, report, resolve, (*including, source.name))


def include(
    items: Iterable[Item], source: Source, report: Report, resolve: Resolver | None, including: tuple[str, ...]
) -> list[Item]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, Component):
            item = replace(item, items=tuple(include(item.items, source, report, resolve, including)))
        if not isinstance(item, Include):
            found.append(item)
            continue
        included = None if resolve is None else resolve(item.path, source)
        if included is None:
            report.error("E004", f"'{item.path}' cannot be included", item.span)
        elif included.name in including:
            report.error("E004", f"'{item.path}' includes itself", item.span)
        else:
            found += read(included, report, resolve, including)
    return found


def check_untrusted(items: Iterable[Item], report: Report) -> None:
    """Report directives that name files."""
    for item in items:
        if isinstance(item, Component):
            check_untrusted(item.items, report)
        elif isinstance(item, Include) or (isinstance(item, Directive) and item.kind in ("input", "output")):
            name = "include" if isinstance(item, Include) else item.kind
            report.error("E006", f"'.{name}' is not allowed in this source, which is not trusted", item.span)


def assemble(items: Iterable[Item]) -> Program:
    """Return the program that expanded items make up."""
    items = list(items)

    def of(kind: type) -> tuple:
        return tuple(item for item in items if isinstance(item, kind))

    pragmas = tuple((pragma.key, pragma.value) for pragma in of(Pragma))
    return Program(of(TypeDeclaration), of(Declaration), of(Directive), of(Clause), pragmas)
