"""The front end's pipeline: sources → items → includes and components expanded → checked program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

from engine.language.check import Checked, check, link
from engine.language.checked_program import CheckedProgram
from engine.language.compilation_unit import Unit, is_apart
from engine.language.components import expand
from engine.language.diagnostics import ProgramError, Report
from engine.language.modules import Module
from engine.language.modules import resolve as resolve_names
from engine.language.parse import parse
from engine.language.source import Source
from engine.language.surface_syntax import Component, Include, Init, Item
from engine.language.syntax import Directive

Resolver = Callable[[str, Source], Source | None]


def compile(
    sources: Source | str | Iterable[Source | str],
    *,
    resolve: Resolver | None = None,
    number_bits: int = 32,
    units: Mapping[Source, Unit] = MappingProxyType({}),
) -> CheckedProgram:
    """Return the checked program of a source, or of several together; their order does not matter.

    `resolve(path, including)` returns the source that an `.include` means, or None; without it there are no includes.
    `units` are sources that need not be checked again. Raises ProgramError with every error found.
    """
    given = [sources] if isinstance(sources, Source | str) else sources
    named = [Source("<text>", source) if isinstance(source, str) else source for source in given]
    checked = check_sources(named, resolve, number_bits, units)
    try:
        return link(checked)
    except ProgramError:
        if not units:
            raise
        # Units do not keep the places that messages name.
        return link(check_sources(named, resolve, number_bits))


def check_sources(
    sources: Sequence[Source],
    resolve: Resolver | None = None,
    number_bits: int = 32,
    units: Mapping[Source, Unit] = MappingProxyType({}),
) -> Checked:
    """Return the sources checked, each by itself but for the declarations of all. Raises ProgramError."""
    report = Report({})
    parts = [known(source, units[source], report) if source in units else read(source, report, resolve, ())
             for source in sources]  # fmt: skip
    old = [Module(source.module, part.items) for source, part in zip(sources, parts, strict=True)
           if isinstance(part, Unit)]  # fmt: skip
    new = [Module(source.module, part) for source, part in zip(sources, parts, strict=True)
           if not isinstance(part, Unit)]  # fmt: skip
    resolved = resolve_names(expand_modules(new, old, report), old, report)
    fresh = [[*filter(is_expanded, module.items), *items] for module, items in zip(new, resolved, strict=True)]
    if old and not is_apart(chain(*fresh), [item for module in old for item in module.items]):
        return check_sources(sources, resolve, number_bits)
    found = iter(fresh)
    return check([part if isinstance(part, Unit) else next(found) for part in parts], report, number_bits)


def flatten(sources: Sequence[Source]) -> list[Item]:
    """Return the items of all sources without components and modules, names resolved. Raises ProgramError."""
    report = Report({})
    new = [Module(source.module, read(source, report, None, ())) for source in sources]
    resolved = resolve_names(expand_modules(new, (), report), (), report)
    report.raise_if_errors()
    return list(chain(*resolved))


def expand_modules(new: Sequence[Module], old: Sequence[Module], report: Report) -> list[Module]:
    """Return the new modules without components."""
    known = chain(*(module.items for module in old))
    expanded = expand([module.items for module in new], known, report, lambda at, item: new[at].keeps(item))
    return [Module(module.name, items) for module, items in zip(new, expanded, strict=True)]


def is_expanded(item: Item) -> bool:
    return isinstance(item, Component | Init)


def known(source: Source, unit: Unit, report: Report) -> Unit:
    report.add_source(source.name, source.text)
    return unit


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
