"""Strata: the strongly connected components of the relations, in an order of evaluation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.language.checked_program import CheckedClause, Stratum
from engine.language.diagnostics import Report
from engine.language.syntax import Aggregate, Atom, Functor, Literal, Negation, Span
from engine.language.traverse import all_literals, literal_terms, subterms


@dataclass(frozen=True, slots=True)
class Dependency:
    """`head` needs `relation`, all of it when `through` is negation or aggregate, and not "" (a positive atom)."""

    head: str
    relation: str
    through: str
    span: Span


def dependencies(clause: CheckedClause) -> Iterable[Dependency]:
    for literal in clause.body:
        yield from _of_literal(clause.head.relation, literal)


def _of_literal(head: str, literal: Literal) -> Iterable[Dependency]:
    if isinstance(literal, Atom):
        yield Dependency(head, literal.relation, "", literal.span)
    elif isinstance(literal, Negation):
        yield Dependency(head, literal.atom.relation, "negation", literal.span)
    for term in literal_terms(literal):
        if isinstance(term, Aggregate):
            for inner in all_literals(term.body):
                for dependency in _of_literal(head, inner):
                    yield Dependency(head, dependency.relation, dependency.through or "aggregate", dependency.span)


def stratify(relations: Sequence[str], clauses: Iterable[CheckedClause], report: Report) -> tuple[Stratum, ...]:
    """Return the strata; of negations and aggregates within one the shortest cycle is reported."""
    by_head: dict[str, list[CheckedClause]] = {name: [] for name in relations}
    found: list[Dependency] = []
    for clause in clauses:
        by_head[clause.head.relation].append(clause)
        found += dependencies(clause)
    needs: dict[str, dict[str, None]] = {name: {} for name in relations}
    for dependency in found:
        needs[dependency.head][dependency.relation] = None
    components = strongly_connected(needs)
    stratum_of = {name: number for number, component in enumerate(components) for name in component}
    cyclic: dict[int, list[Dependency]] = {}
    for dependency in found:
        if dependency.through and stratum_of[dependency.head] == stratum_of[dependency.relation]:
            cyclic.setdefault(stratum_of[dependency.head], []).append(dependency)
    for inside in cyclic.values():
        _report_cycle(inside, needs, report)
    for clause in (clause for clauses in by_head.values() for clause in clauses if clause.body or clause.plan):
        _check_recursion(clause, stratum_of, report)
    return tuple(
        Stratum(
            tuple(component),
            len(component) > 1 or component[0] in needs[component[0]],
            tuple(clause for name in component for clause in by_head[name]),
        )
        for component in components
    )


def _check_recursion(clause: CheckedClause, stratum_of: Mapping[str, int], report: Report) -> None:
    """Report counters in a recursive clause, which would never end, and plans for versions that it has not."""
    own = stratum_of[clause.head.relation]
    n_recursive = sum(isinstance(atom, Atom) and stratum_of[atom.relation] == own for atom in clause.body)
    literals = (clause.head, *all_literals(clause.body)) if n_recursive else ()
    for term in (part for literal in literals for whole in literal_terms(literal) for part in subterms(whole)):
        if isinstance(term, Functor) and term.name == "autoinc":
            help = "number the tuples of a relation of an earlier stratum"
            report.error("E019", "'autoinc()' in a recursive rule never terminates", term.span, help)
    for version, _ in clause.plan:
        if version > max(0, n_recursive - 1):
            message = f"plan for version {version}, but the rule has versions 0 to {max(0, n_recursive - 1)}"
            report.error("E052", message, clause.span, "there is one version for each recursive atom")


def _report_cycle(inside: Sequence[Dependency], needs: Mapping[str, Iterable[str]], report: Report) -> None:
    """Report the shortest cycle of a component by one of the dependencies inside it, and how many others there are."""
    paths = [_path(dependency.relation, dependency.head, needs) for dependency in inside]
    path, dependency = min(zip(paths, inside, strict=True), key=lambda each: len(each[0]))
    cycle = " → ".join([dependency.head, *path])
    more = f" (one of {len(inside)} negations and aggregates in this recursion)" if len(inside) > 1 else ""
    if dependency.through == "negation":
        message = f"relation '{dependency.head}' depends on its own negation: {cycle}"
        help = f"compute the negated relation without this one, in an earlier stratum{more}"
        report.error("E030", message, dependency.span, help)
    else:
        message = f"relation '{dependency.head}' depends on an aggregate of itself: {cycle}"
        report.error("E031", message, dependency.span, f"compute the aggregated relation in an earlier stratum{more}")


def _path(start: str, goal: str, needs: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a shortest path of dependencies from start to goal, both included."""
    previous: dict[str, str | None] = {start: None}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        if name == goal:
            break
        for following in needs[name]:
            if following not in previous:
                previous[following] = name
                queue.append(following)
    path: list[str] = []
    step: str | None = goal
    while step is not None:
        path.append(step)
        step = previous[step]
    return path[::-1]


def strongly_connected(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the strongly connected components, what is needed before what needs it (Tarjan, 1972; iterative)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    components: list[list[str]] = []
    for root in needs:
        if root in index:
            continue
        work = [(root, iter(needs[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, following = work[-1]
            for next_name in following:
                if next_name not in index:
                    index[next_name] = low[next_name] = len(index)
                    stack.append(next_name)
                    on_stack.add(next_name)
                    work.append((next_name, iter(needs[next_name])))
                    break
                if next_name in on_stack:
                    low[name] = min(low[name], index[next_name])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    components.append(_pop_component(name, stack, on_stack))
    order = {name: position for position, name in enumerate(needs)}
    return [sorted(component, key=order.__getitem__) for component in components]


def _pop_component(root: str, stack: list[str], on_stack: set[str]) -> list[str]:
    component = []
    while True:
        name = stack.pop()
        on_stack.discard(name)
        component.append(name)
        if name == root:
            return component
