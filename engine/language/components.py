"""Component expansion: `.comp` and `.init` become plain declarations and clauses with qualified names.

`.init c = C<T>` yields the relations and types of C and of its bases under names `c.x`. Inside a component a name means
the component's own relation or type if there is one, else that of the place where it is initialised.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from engine.language.diagnostics import Report, did_you_mean, plural
from engine.language.rename_items import Renaming, rename
from engine.language.surface_syntax import Component, ComponentType, Init, Item, Override, Pragma
from engine.language.syntax import Clause, Declaration, TypeDeclaration

MAX_DEPTH = 100
MAX_INSTANCES = 10_000


@dataclass(frozen=True)
class Scope:
    """The component declarations visible at a place, innermost first."""

    components: Mapping[str, Component]
    parent: Scope | None = None

    def lookup(self, name: str) -> tuple[Component, Scope] | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.components:
                return scope.components[name], scope
            scope = scope.parent
        return None

    def names(self) -> set[str]:
        return set(self.components) | (self.parent.names() if self.parent else set())


@dataclass
class Content:
    """The contents of a component's instance, bases first; each item with the scope its names are looked up in."""

    items: list[tuple[Item, Scope, Mapping[str, str]]] = field(default_factory=list)
    overridable: dict[str, bool] = field(default_factory=dict)


def expand(
    groups: Sequence[Iterable[Item]],
    known: Iterable[Item],
    report: Report,
    is_private: Callable[[int, Item], bool] = lambda at, item: False,
) -> list[list[Item]]:
    """Return each group of items without components: declarations, types, directives, clauses and pragmas only.

    The `known` items are components, too, and are right by themselves. The name of an item of group `at` that
    `is_private` means something in this group alone.
    """
    items = [item for group in groups for item in group]
    scope = Scope(_declared([*known, *items]))
    shared: dict[str, str] = {}
    for at, group in enumerate(groups):
        own: dict[str, str] = {}
        for item in group:
            check_clash(item, ChainMap(own, shared) if is_private(at, item) else ChainMap(shared, own), report)
    expander = Expander(report)
    expander.check_components(scope)
    return [list(expander.expand(((item, scope, {}) for item in group), ())) for group in groups]


def _declared(items: Iterable[Item]) -> dict[str, Component]:
    return {item.type.name: item for item in items if isinstance(item, Component)}


def check_clash(item: Item, found: MutableMapping[str, str], report: Report) -> None:
    """Report a name that a scope gives to things of different kinds, or to two components or instances.

    `found` has the kinds of the names of the scope, to which that of the item is added.
    """
    match item:
        case Declaration(name=name):
            kind = "relation"
        case TypeDeclaration(name=name):
            kind = "type"
        case Component(type=type_):
            kind, name = "component", type_.name
        case Init(name=name):
            kind = "instance"
        case _:
            return
    other = found.get(name)
    found[name] = kind
    if other == kind and kind in ("component", "instance"):
        report.error("E011", f"{kind} '{name}' is declared twice", item.span)
    elif other not in (None, kind):
        report.error("E011", f"{kind} '{name}' has the name of a {other}", item.span)


class Expander:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.n_instances = 0

    def expand(
        self, items: Iterable[tuple[Item, Scope, Mapping[str, str]]], path: tuple[Component, ...]
    ) -> Iterator[Item]:
        """Yield the items with every Init replaced by its instance; `path` are the components being expanded."""
        for item, scope, bindings in items:
            if isinstance(item, Init):
                yield from self.instantiate(item, scope, bindings, path)
            elif isinstance(item, Override):
                if not path:
                    self.report.error("E043", "'.override' is outside a component", item.span)
            elif not isinstance(item, Component):
                yield item

    def check_components(self, scope: Scope, depth: int = 0) -> None:
        """Report what is wrong with components by themselves, also where they are never initialised."""
        for component in scope.components.values() if depth < MAX_DEPTH else ():
            parameters = component.type.parameters
            if not any(base.name in parameters for base in component.bases):
                self.collect(component.type, scope, frozenset(), Content(), ())
            inner = Scope(_declared(component.items), scope)
            self.check_components(inner, depth + 1)

    def instantiate(
        self, init: Init, scope: Scope, bindings: Mapping[str, str], path: tuple[Component, ...]
    ) -> Iterator[Item]:
        type = _bind_type(init.type, bindings)
        found = scope.lookup(type.name)
        self.n_instances += 1
        if found is not None and any(found[0] is component for component in path):
            self.report.error("E042", f"component '{type.name}' contains itself", init.span)
            return
        if self.n_instances > MAX_INSTANCES or len(path) > MAX_DEPTH:
            self.report.error("E042", f"more than {MAX_INSTANCES} instances of components", init.span)
            return
        content = Content()
        if not self.collect(type, scope, frozenset(), content, ()) or found is None:
            return
        names: dict[str, str] = {}
        for item, _, _ in content.items:
            check_clash(item, names, self.report)
        expanded = list(self.expand(content.items, (*path, found[0])))
        new = _qualify(init.name, expanded)
        for item in expanded:
            yield rename(item, new)

    def collect(
        self,
        type: ComponentType,
        scope: Scope,
        overridden: frozenset[str],
        content: Content,
        path: tuple[str, ...],
    ) -> bool:
        """Add what `type` is made of to the content, its bases first; clauses of overridden relations are dropped."""
        found = scope.lookup(type.name)
        if found is None:
            help = did_you_mean(type.name, scope.names())
            self.report.error("E040", f"component '{type.name}' is not declared", type.span, help)
            return False
        component, home = found
        if type.name in path:
            self.report.error("E042", f"component '{type.name}' inherits from itself", component.span)
            return False
        formal, actual = component.type.parameters, type.parameters
        if len(formal) != len(actual):
            message = f"component '{type.name}' takes {plural(len(formal), 'parameter')}, {len(actual)} given"
            self.report.error("E041", message, type.span)
            return False
        bindings = dict(zip(formal, actual, strict=True))
        overrides = frozenset(item.relation for item in component.items if isinstance(item, Override))
        inner = Scope(self.nested_components(component, bindings, home), home)
        bases = (_bind_type(base, bindings) for base in component.bases)
        if not all([self.collect(base, inner, overridden | overrides, content, (*path, type.name)) for base in bases]):
            return False
        self.check_overrides(component, content)
        self.add_items(component, inner, bindings, overridden, content)
        return True

    def nested_components(
        self, component: Component, bindings: Mapping[str, str], scope: Scope, depth: int = 0
    ) -> dict[str, Component]:
        """Return the components declared inside a component and, unless hidden by those, inside its bases."""
        found: dict[str, Component] = {}
        for base in component.bases if depth < MAX_DEPTH else ():
            base_type = _bind_type(base, bindings)
            looked_up = scope.lookup(base_type.name)
            if looked_up is not None:
                inner = dict(zip(looked_up[0].type.parameters, base_type.parameters, strict=False))
                found |= self.nested_components(looked_up[0], inner, looked_up[1], depth + 1)
        return found | _declared(component.items)

    def add_items(
        self,
        component: Component,
        scope: Scope,
        bindings: Mapping[str, str],
        overridden: frozenset[str],
        content: Content,
    ) -> None:
        for item in component.items:
            if isinstance(item, Clause) and item.head.relation in overridden:
                continue
            if isinstance(item, Pragma):
                self.report.error("E005", "'.pragma' inside a component is not supported", item.span)
                continue
            if isinstance(item, Declaration):
                content.overridable[item.name] = "overridable" in item.qualifiers
            content.items.append((rename(item, Renaming(types=bindings)), scope, bindings))

    def check_overrides(self, component: Component, content: Content) -> None:
        """Report overrides of what no base declares, or declares without `overridable`.

        A base that is a type parameter is not known where the override is written: it need not say `overridable`.
        """
        is_open = any(base.name in component.type.parameters for base in component.bases)
        for item in component.items:
            if not isinstance(item, Override):
                continue
            if item.relation not in content.overridable:
                message = f"no base component declares the overridden relation '{item.relation}'"
                self.report.error("E043", message, item.span, did_you_mean(item.relation, content.overridable))
            elif not (content.overridable[item.relation] or is_open):
                help = f"add the qualifier 'overridable' to the declaration of '{item.relation}'"
                self.report.error("E043", f"relation '{item.relation}' is not overridable", item.span, help)


def _qualify(prefix: str, items: Iterable[Item]) -> Renaming:
    """Return the renaming that puts `prefix.` before every name that the items declare."""
    relations: dict[str, str] = {}
    types: dict[str, str] = {}
    branches: dict[str, str] = {}
    for item in items:
        if isinstance(item, Declaration):
            relations[item.name] = f"{prefix}.{item.name}"
        elif isinstance(item, TypeDeclaration):
            types[item.name] = f"{prefix}.{item.name}"
            branches.update((name, f"{prefix}.{name}") for name, _ in item.branches)
    return Renaming(relations, types, branches)


def _bind_type(type: ComponentType, bindings: Mapping[str, str]) -> ComponentType:
    parameters = tuple(bindings.get(p, p) for p in type.parameters)
    return replace(type, name=bindings.get(type.name, type.name), parameters=parameters)
