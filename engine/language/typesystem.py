"""Declared types and their order: subset, union, equivalent, record and algebraic types.

Besides the declared types there is, for each primitive kind, the type of its constants, `~number` and so on: the top
of the kind. A constant or the result of a functor has that type and fits any type of the kind; a value of the declared
type `number` does not fit a subset of `number`. This is Soufflé's order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.language.checked_program import Branch, Field, Record, Type
from engine.language.diagnostics import Report, did_you_mean
from engine.language.syntax import Attribute, Span, TypeDeclaration

PRIMITIVES = ("symbol", "number", "unsigned", "float")
TypeSet = frozenset[str]


def constant_type(kind: str) -> str:
    return "~" + kind


SYNONYMS = {
    **dict.fromkeys(("int", "integer", "long", "i32", "i64", "bool", "boolean"), "number"),
    **dict.fromkeys(("string", "str", "text", "char", "varchar", "atom"), "symbol"),
    **dict.fromkeys(("uint", "u32", "u64", "natural"), "unsigned"),
    **dict.fromkeys(("double", "real", "f32", "f64"), "float"),
}
"""Names of the predefined types in other languages."""


@dataclass(frozen=True, slots=True)
class Known:
    """A resolved type: `kind` also tells record from adt; `root` is the record's name; `members` those of a union."""

    name: str
    kind: str
    base: str | None = None
    members: tuple[str, ...] = ()
    root: str | None = None


class TypeSystem:
    """The types of a program. Errors in their declarations are in the report; such types are left out."""

    def __init__(self, declarations: Iterable[TypeDeclaration], report: Report) -> None:
        self.report = report
        self.declarations: dict[str, TypeDeclaration] = {}
        self.known: dict[str, Known] = {}
        self.aliases: dict[str, str] = {}
        self.branches: dict[str, tuple[str, tuple[Attribute, ...]]] = {}
        self._subtype: dict[tuple[str, str], bool] = {}
        for kind in PRIMITIVES:
            self.known[constant_type(kind)] = Known(constant_type(kind), kind)
            self.known[kind] = Known(kind, kind, constant_type(kind))
        for declaration in declarations:
            self._declare(declaration)
        for name in self.declarations:
            self._resolve(name, ())
        for declaration in self.declarations.values():
            self._check_fields(declaration)

    # ---- declarations

    def _declare(self, declaration: TypeDeclaration) -> None:
        name = declaration.name
        if name in PRIMITIVES:
            self.report.error("E021", f"type '{name}' is predefined", declaration.span)
        elif name in self.declarations:
            first = self.declarations[name].span
            help = f"it is first declared in {first.source}:{first.line}"
            self.report.error("E021", f"type '{name}' is declared twice", declaration.span, help)
        else:
            self.declarations[name] = declaration

    def _resolve(self, name: str, path: tuple[str, ...]) -> Known | None:
        """Return the type of this name, resolving what it is made of first; None if that has an error."""
        name = self.aliases.get(name, name)
        if name in self.known:
            return self.known[name]
        declaration = self.declarations.get(name)
        if declaration is None:
            return None
        if name in path:
            cycle = " → ".join((*path[path.index(name) :], name))
            message = f"type '{name}' is defined by itself: {cycle}"
            self.report.error("E022", message, declaration.span)
            return None
        is_record = declaration.kind in ("record", "adt")
        members = (*path, name)
        known = Known(name, declaration.kind, root=name) if is_record else self._resolve_members(declaration, members)
        if known is not None and declaration.kind != "equivalence":
            self.known[name] = known
        return known

    def _resolve_members(self, declaration: TypeDeclaration, path: tuple[str, ...]) -> Known | None:
        members = []
        for member in declaration.members:
            known = self._resolve(member, path)
            if known is None:
                self._report_undeclared(member, declaration.name, declaration.span)
                return None
            members.append(known)
        name = declaration.name
        if declaration.kind == "equivalence":
            self.aliases[name] = members[0].name
            return members[0]
        if declaration.kind == "subset":
            base = members[0]
            if base.members or base.kind not in PRIMITIVES:
                kind = "union" if base.members else "algebraic" if base.kind == "adt" else base.kind
                message = f"type '{name}' cannot be a subset of the {kind} type '{base.name}'"
                help = f"for another name of the same type write '.type {name} = {base.name}'"
                self.report.error("E023", message, declaration.span, help)
            return Known(name, base.kind, base.name, root=base.root)
        return self._resolve_union(declaration, members)

    def _resolve_union(self, declaration: TypeDeclaration, members: list[Known]) -> Known | None:
        name = declaration.name
        for member in members:
            if member.kind not in PRIMITIVES:
                message = f"union type '{name}' contains '{member.name}', which is not a primitive type"
                self.report.error("E023", message, declaration.span)
                return None
        kinds = sorted({member.kind for member in members})
        if len(kinds) > 1:
            message = f"union type '{name}' mixes the primitive types {' and '.join(kinds)}"
            self.report.error("E023", message, declaration.span)
            return None
        return Known(name, kinds[0], members=tuple(member.name for member in members))

    def _report_undeclared(self, name: str, user: str, span: Span) -> None:
        if self.aliases.get(name, name) in self.declarations:
            return  # It has an error of its own.
        help = self.suggestion(name)
        self.report.error("E020", f"type '{name}' in the definition of '{user}' is not declared", span, help)

    def _check_fields(self, declaration: TypeDeclaration) -> None:
        self._check_attributes(declaration.name, declaration.fields)
        for branch, fields in declaration.branches:
            self._check_attributes(branch, fields)
            if branch in self.branches:
                other = self.branches[branch][0]
                message = f"branch '{branch}' is declared in '{other}' and in '{declaration.name}'"
                self.report.error("E029", message, declaration.span)
            else:
                self.branches[branch] = (declaration.name, fields)

    def _check_attributes(self, owner: str, attributes: tuple[Attribute, ...]) -> None:
        seen: set[str] = set()
        for attribute in attributes:
            if attribute.name in seen:
                message = f"field '{attribute.name}' of '{owner}' is declared twice"
                self.report.error("E013", message, attribute.span)
            seen.add(attribute.name)
            if self.lookup(attribute.type) is None:
                self._report_undeclared(attribute.type, owner, attribute.span)

    # ---- queries

    def lookup(self, name: str) -> Known | None:
        """Return the type of this name, or None if it is not declared or has an error."""
        return self.known.get(self.aliases.get(name, name))

    def suggestion(self, name: str) -> str:
        """Return help for a type that is not declared."""
        meant = SYNONYMS.get(name.lower())
        return f"did you mean '{meant}'?" if meant else did_you_mean(name, self.names())

    def names(self) -> list[str]:
        return [*self.declarations, *PRIMITIVES]

    def is_subtype(self, a: str, b: str) -> bool:
        """Return True if every value of type a is one of type b."""
        if a == b:
            return True
        key = (a, b)
        if key not in self._subtype:
            self._subtype[key] = self._compute_subtype(self.known[a], self.known[b])
        return self._subtype[key]

    def _compute_subtype(self, a: Known, b: Known) -> bool:
        if a.members:
            return all(self.is_subtype(member, b.name) for member in a.members)
        if a.base is not None and self.is_subtype(a.base, b.name):
            return True
        return any(self.is_subtype(a.name, member) for member in b.members)

    def meet(self, a: str, b: str) -> TypeSet:
        """Return the greatest common subtypes of two types."""
        if self.is_subtype(a, b):
            return frozenset((a,))
        if self.is_subtype(b, a):
            return frozenset((b,))
        if not (self.known[a].members and self.known[b].members):
            return frozenset()
        return frozenset().union(*(self._parts_below(member, b) for member in self.known[a].members))

    def _parts_below(self, a: str, b: str) -> TypeSet:
        if self.is_subtype(a, b):
            return frozenset((a,))
        return frozenset().union(*(self._parts_below(member, b) for member in self.known[a].members))

    def meet_sets(self, a: TypeSet, b: TypeSet) -> TypeSet:
        return a if a == b else frozenset().union(*(self.meet(x, y) for x in a for y in b))

    # ---- what evaluators receive

    def resolved(self, name: str) -> Type:
        known = self.known[self.aliases.get(name, name)]
        is_record = known.kind in ("record", "adt")
        return Type(name, "record" if is_record else known.kind, known.root)

    def fields(self, attributes: tuple[Attribute, ...]) -> tuple[Field, ...]:
        return tuple(Field(attribute.name, self.resolved(attribute.type)) for attribute in attributes)

    def records(self) -> dict[str, Record]:
        """Return the record tables of the program; algebraic types as records with a tag (see `Record`)."""
        found = {}
        for name, declaration in self.declarations.items():
            if declaration.kind == "record":
                found[name] = Record(name, self.fields(declaration.fields))
            elif declaration.kind == "adt":
                found[name] = self._adt_record(declaration)
        return found

    def _adt_record(self, declaration: TypeDeclaration) -> Record:
        # Soufflé numbers branches by name.
        ordered = sorted(declaration.branches)
        branches = tuple(Branch(name, tag, self.fields(fields)) for tag, (name, fields) in enumerate(ordered))
        width = max(len(branch.fields) for branch in branches)
        number = Type("number", "number")
        columns = (Field("tag", number), *(Field(f"field{i}", number) for i in range(width)))
        return Record(declaration.name, columns, branches)

    def tag(self, adt: str, branch: str) -> int:
        return sorted(name for name, _ in self.declarations[adt].branches).index(branch)

    def width(self, adt: str) -> int:
        return max(len(fields) for _, fields in self.declarations[adt].branches)
