"""Modules: who may read a relation, and who may add rules to it.

A source that is a module offers the relations that it declares `public`, which others may read, and `open`, to which
they may also add rules. All others are its own: they become `module.relation`, so that modules need not know each
other's names. `.use m` imports what module m offers; a source without any `.use` imports everything. Relations of
sources that are not modules are open, and need no import.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from engine.language.diagnostics import Report, did_you_mean
from engine.language.rename_items import Renaming, rename
from engine.language.surface_syntax import Init, Item, Use
from engine.language.syntax import Clause, Declaration, Directive, Span
from engine.language.traverse import all_atoms

PUBLIC, OPEN = "public", "open"
CHANGES = frozenset(("input", "limitsize"))
"""The directives that change what a relation holds."""


@dataclass(frozen=True, slots=True)
class Module:
    """The items of a source, after expansion of components. A source that is not a module has no name."""

    name: str
    items: Sequence[Item]

    def declarations(self) -> Iterator[Declaration]:
        return (item for item in self.items if isinstance(item, Declaration))

    def offers(self, declaration: Declaration) -> bool:
        return not self.name or not declaration.qualifiers.isdisjoint((PUBLIC, OPEN))

    def keeps(self, item: Item) -> bool:
        """Return True for a relation that others do not see, and for an instance."""
        is_hidden = isinstance(item, Init) or (isinstance(item, Declaration) and not self.offers(item))
        return bool(self.name) and is_hidden

    def qualified(self, relation: str) -> str:
        return f"{self.name}.{relation}"


@dataclass(slots=True)
class Interface:
    """The relations that modules offer, by name, and the qualified names of all others with their modules."""

    offered: dict[str, tuple[Module, Declaration]] = field(default_factory=dict)
    private: dict[str, Module] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)

    def add(self, module: Module, is_resolved: bool, report: Report) -> None:
        """Add a module; in the items of one that `is_resolved`, names are qualified already."""
        self.modules.add(module.name)
        for declaration in module.declarations():
            if module.offers(declaration):
                first, _ = self.offered.setdefault(declaration.name, (module, declaration))
                if first.name and module.name and first is not module:
                    message = f"modules '{first.name}' and '{module.name}' both offer a relation '{declaration.name}'"
                    report.error("E011", message, declaration.span)
            else:
                self.private[declaration.name if is_resolved else module.qualified(declaration.name)] = module

    def private_named(self, name: str) -> tuple[str, Module] | None:
        """Return the qualified name and module of a private relation by its name, qualified or not."""
        if name in self.private:
            return name, self.private[name]
        found = ((qualified, each) for qualified, each in self.private.items() if qualified == each.qualified(name))
        return next(found, None)


def resolve(new: Sequence[Module], known: Iterable[Module], report: Report) -> list[list[Item]]:
    """Return the items of each new module with names resolved, and imports gone. What is not visible is reported.

    `known` modules are resolved already. Raises ProgramError where two modules offer relations of one name.
    """
    interface, clashes = Interface(), Report({})
    for module in known:
        interface.add(module, True, clashes)
    for module in new:
        interface.add(module, False, clashes)
    if clashes.has_errors:
        # Else each use of such a name would be an error besides.
        report.merge(clashes)
        report.raise_if_errors()
    return [Resolver(module, interface, report).items() for module in new]


class Resolver:
    """Resolves the names of one module."""

    def __init__(self, module: Module, interface: Interface, report: Report) -> None:
        self.module = module
        self.interface = interface
        self.report = report
        self.own = {declaration.name: declaration for declaration in module.declarations()}
        self.imports = {item.module: item.span for item in module.items if isinstance(item, Use)}
        self.imported: set[str] = set()
        self.renamed = {name: module.qualified(name) for name, item in self.own.items() if self.is_private(item)}

    def items(self) -> list[Item]:
        kept: list[Item] = [item for item in self.module.items if not isinstance(item, Use)]
        for item in kept:
            self.check(item)
        self.check_imports()
        names = Renaming(self.renamed)
        return [rename(item, names) for item in kept] if self.renamed else kept

    def is_private(self, declaration: Declaration) -> bool:
        """Return True if others do not see the relation; one that all see is not hidden, but declared twice."""
        others = self.interface.offered.get(declaration.name)
        return not self.module.offers(declaration) and (others is None or others[0].name != "")

    def check(self, item: Item) -> None:
        """Report names in the item that are not visible."""
        if isinstance(item, Clause):
            self.check_name(item.head.relation, item.head.span, is_changed=True)
            for atom in all_atoms(item):
                if atom is not item.head:
                    self.check_name(atom.relation, atom.span, is_changed=False)
        elif isinstance(item, Directive):
            self.check_name(item.relation, item.span, is_changed=item.kind in CHANGES)

    def check_name(self, name: str, span: Span, is_changed: bool) -> None:
        if name in self.own:
            return
        if name in self.interface.offered:
            owner, declaration = self.interface.offered[name]
            self.check_offered(name, owner, declaration, span, is_changed)
        elif self.module.name and (found := self.interface.private_named(name)):
            qualified, owner = found
            short = qualified.removeprefix(f"{owner.name}.")
            near = get_close_matches(short, list(self.interface.offered), n=1)
            help = "".join(f"use '{name}', or " for name in near) + f"declare it 'public' in '{owner.name}'"
            self.report.error("E080", f"relation '{short}' is private to module '{owner.name}'", span, help)
            self.renamed[name] = qualified  # So that it is not undeclared besides.

    def check_offered(self, name: str, owner: Module, declaration: Declaration, span: Span, is_changed: bool) -> None:
        if not owner.name:
            return
        self.imported.add(owner.name)
        if self.imports and owner.name not in self.imports:
            message = f"relation '{name}' is of module '{owner.name}', which is not imported"
            self.report.error("E081", message, span, f"add '.use {owner.name}'")
        if is_changed and OPEN not in declaration.qualifiers:
            message = f"relation '{name}' takes rules of module '{owner.name}' only"
            self.report.error("E082", message, span, "derive a relation of your own, or one that is declared 'open'")

    def check_imports(self) -> None:
        """Report imports of modules that do not exist, and of those that nothing needs."""
        for module, span in self.imports.items():
            if module not in self.interface.modules:
                known = self.interface.modules - {""}
                help = did_you_mean(module, known, "name a module by its path, with dots")
                self.report.error("E083", f"there is no module '{module}'", span, help)
            elif module not in self.imported:
                self.report.error("E083", f"nothing of module '{module}' is used", span, "remove the import")
