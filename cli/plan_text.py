"""A program's query plan and costs as text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.escaping import printable

if TYPE_CHECKING:
    from engine import RuleStatistics, StratumStatistics
    from engine.explanation import (
        Explanation,
        PartitioningPlan,
        RelationPlan,
        RulePlan,
        StepPlan,
        StratumPlan,
        SubJoinPlan,
        VariantPlan,
    )

MAX_READERS = 4
WIDTH_OF_PIPES = 4096
"""Width for output that is not a terminal: lines are not wrapped."""
PLACE = re.compile(r"\((.*):\d+\)")
UNITS = ("B", "KB", "MB", "GB", "TB")


def print_plan(plan: Explanation, console: Console) -> None:
    """Print the strata with rules, then the arrangements that the rules share."""
    places = Places(rule.place for stratum in plan.strata for rule in stratum.rules)
    for number, stratum in enumerate((s for s in plan.strata if s.rules), 1):
        print_stratum(number, stratum, places, console)
    if plan.arrangements:
        console.print(heading("Arrangements"))
        console.print(Padding(arrangement_table(plan, places), (0, 0, 0, 2), expand=False))


class Places:
    """Shortens the locations of rules by the directory common to all files."""

    def __init__(self, places: Iterable[str]) -> None:
        files = {match[1] for place in places if (match := PLACE.search(place))}
        directories = {os.path.dirname(file) for file in files}
        try:
            self.prefix = os.path.join(os.path.commonpath(directories), "") if directories else ""
        except ValueError:  # Some are absolute, others are not.
            self.prefix = ""

    def short(self, text: str) -> str:
        return printable(text.replace(f"({self.prefix}", "(") if self.prefix else text)


def heading(title: str, *rest: str) -> Text:
    text = Text.assemble((title, "bold cyan"))
    for part in rest:
        text.append(f" · {part}", "dim")
    return text


# ---- strata


def print_stratum(number: int, stratum: StratumPlan, places: Places, console: Console) -> None:
    names = ", ".join(relation.name for relation in stratum.relations)
    kind = "recursive" if stratum.recursive else "once"
    console.print(heading(f"Stratum {number}", printable(names), kind), no_wrap=True, overflow="ellipsis")
    for relation in stratum.relations:
        console.print(Text.assemble("  ", relation_line(relation)))
    if stratum.recursive:
        word = ("decomposable", "green") if stratum.decomposable else ("not decomposable", "yellow")
        exchange = "rounds with a barrier" if stratum.policy == "global" else f"exchange under {stratum.policy}"
        way = "partitions run to their fixpoints alone" if stratum.decomposable else exchange
        console.print(Text.assemble("  ", word, f": {places.short(stratum.reason)} ", (f"→ {way}", "dim")))
        if stratum.partitioning is not None:
            print_partitioning(stratum.partitioning, stratum.policy, places, console)
    for made in stratum.subjoins:
        console.print(Text.assemble("  ", *subjoin_line(made, places)))
    for rule in stratum.rules:
        print_rule(rule, places, console)
    console.print()


def print_partitioning(plan: PartitioningPlan, policy: str, places: Places, console: Console) -> None:
    """Print the partitioning of relations, the copies that rules read, and the cost of exchange."""
    title = "  partitions, were it to run by exchange" if plan.cost and policy == "global" else "  partitions"
    console.print(Text.assemble(title, (f" · cost {plan.cost}" if plan.cost else " · nothing is sent", "dim")))
    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(overflow="fold")
    for port in plan.ports:
        where = f"by {', '.join(port.columns)}" if port.columns else "in one place"
        read = f"read by {some(port.readers, places)}" if port.readers else "read by no recursive rule"
        word = ("home", "bold") if port.is_owner else ("port", "")
        table.add_row(Text.assemble(word, " of ", printable(port.relation)), where, Text(read, "dim"))
    console.print(Padding(table, (0, 0, 0, 4), expand=False))
    for rule in plan.auxiliaries:
        console.print(Text.assemble("    with ", printable(rule)))


def relation_line(relation: RelationPlan) -> Text:
    line = Text.assemble(
        (relation.name, "bold"), f"({', '.join(relation.columns)})", f"  {count(relation.rows, 'row')}"
    )
    if relation.partitions > 1:
        line.append(f", {count(relation.partitions, 'partition')} by {', '.join(relation.discriminating)}")
    return line


def subjoin_line(made: SubJoinPlan, places: Places) -> Iterator[str | tuple[str, str]]:
    yield made.name, "bold"
    yield f" eliminates {printable(made.eliminated)} from {places.short(made.place)}"
    if made.rows is not None and made.without is not None:
        condition = f" if {made.dense} is dense" if made.dense else ""
        yield f": {short(made.rows)} rows expected instead of {short(made.without)}{condition}", "dim"


def print_rule(rule: RulePlan, places: Places, console: Console) -> None:
    console.print()
    console.print(Padding(Text(printable(rule.text)), (0, 0, 0, 2), expand=False))
    console.print(Text(f"  {places.short(rule.place)}", "dim"))
    for variant in rule.variants:
        console.print(Text.assemble("    ", *variant_line(variant)))
        if variant.is_satisfiable:
            console.print(Padding(step_table(variant), (0, 0, 0, 6), expand=False))


def variant_line(variant: VariantPlan) -> Iterator[str | tuple[str, str]]:
    if variant.delta is None:
        yield "once"
    else:
        yield "each iteration, with the delta of "
        yield variant.source, "bold"
        yield f" (atom {variant.delta})"
    if not variant.is_satisfiable:
        yield " · constants contradict each other: derives nothing", "yellow"
    elif not variant.n_plans:
        yield " · not run, an atom has no rows: a guess", "yellow"
    elif variant.n_plans > 1:
        yield f" · planned {variant.n_plans} times as sizes grew: the last", "dim"


def step_table(variant: VariantPlan) -> Table:
    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for number, step in enumerate(variant.steps, 1):
        operators = Text(", ".join(step.operators) or "no work", "cyan" if step.is_atom else "dim")
        name = Text.assemble((f"{number} ", "dim"), printable(step.literal))
        table.add_row(name, operators, Text(choice(step), "dim"), Text(expected(step), "dim"))
    return table


def choice(step: StepPlan) -> str:
    """Return the reason for an atom's position in the join order."""
    if not step.is_atom:
        return ""
    if not step.bound:
        return "first" if "scan" in step.operators else "nothing bound"
    basis = "sampled" if step.is_measured else "estimated"
    return f"{', '.join(step.bound)} bound, {short(step.fan_out)} a row {basis}"


def expected(step: StepPlan) -> str:
    return f"{short(step.rows)} {'row' if step.rows == 1 else 'rows'}" if step.is_atom else ""


# ---- arrangements


def arrangement_table(plan: Explanation, places: Places) -> Table:
    table = Table.grid(padding=(0, 2))
    for name in ("relation[key]", "rows", "keys", "bytes", "read by"):
        table.add_column(justify="left" if name in ("relation[key]", "read by") else "right", overflow="fold")
    table.add_row(*(Text(name, "dim") for name in ("relation[key]", "rows", "keys", "size", "read by")))
    for arrangement in sorted(plan.arrangements, key=lambda a: (-len(a.readers), a.relation, a.key)):
        table.add_row(
            Text(f"{arrangement.relation}[{', '.join(arrangement.key)}]", "cyan"),
            f"{arrangement.rows:,}",
            f"{arrangement.keys:,}",
            size(arrangement.bytes),
            Text(f"{count(len(arrangement.readers), 'rule')}: {some(arrangement.readers, places)}"),
        )
    return table


def some(readers: Sequence[str], places: Places) -> str:
    """Return the first MAX_READERS readers as text."""
    more = f" and {len(readers) - MAX_READERS} more" if len(readers) > MAX_READERS else ""
    return ", ".join(map(places.short, readers[:MAX_READERS])) + more


# ---- costs


def print_dearest(rules: list[RuleStatistics], console: Console) -> None:
    """Print the rules that took the most time."""
    places = Places(rule.rule for rule in rules)
    table = Table.grid(padding=(0, 2))
    names = ("seconds", "planning", "rows in", "rows out", "duplicates", "runs", "rule")
    for name in names:
        table.add_column(justify="left" if name == "rule" else "right", overflow="fold")
    table.add_row(*(Text(name, "dim") for name in names))
    for rule in rules:
        numbers = (f"{number:,}" for number in (rule.read, rule.added, rule.duplicates, rule.runs))
        text = Text.assemble(printable(rule.text or rule.relation), "\n", (places.short(rule.rule), "dim"))
        table.add_row(f"{rule.elapsed_s:.3f}", f"{rule.planning_s:.3f}", *numbers, text)
    console.print()
    console.print(heading("Most expensive rules", "seconds, summed over threads"))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(n_bytes: float) -> str:
    for unit in UNITS[:-1]:
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" or n_bytes >= 100 else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} {UNITS[-1]}"


def short(number: float) -> str:
    """Return a number in few digits: 0.02, 2.4, 310, 1.2 M."""
    for divisor, unit in ((1e9, " G"), (1e6, " M"), (1e4, "")):
        if number >= divisor:
            return f"{number / divisor:.1f}{unit}" if unit else f"{number:,.0f}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


def print_strata(strata: Iterable[StratumStatistics], console: Console) -> None:
    """Print each stratum's method of evaluation by a group of processes, and its cost."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("stratum", overflow="fold")
    for title in ("rows", "supersteps", "sent", "seconds"):
        table.add_column(title, justify="right")
    table.add_column("how", overflow="fold")
    for stratum in strata:
        how = f"first member alone: {stratum.reason}" if stratum.reason else ways(stratum)
        steps = f"{sum(stratum.rounds):,}" if stratum.rounds else ""
        cells = (f"{stratum.rows:,}", steps, f"{stratum.tuples_sent:,}", f"{stratum.elapsed_s:.2f}")
        table.add_row(printable(", ".join(stratum.relations)), *cells, printable(how))
    console.print(table)


def ways(stratum: StratumStatistics) -> str:
    if stratum.policy == "broadcast":
        return "facts to all members"
    columns = [
        f"{name} by columns {', '.join(str(c + 1) for c in key)}" for name, key in stratum.partition_by.items() if key
    ]
    return " · ".join((["decomposed"] if stratum.local else []) + columns + stratum.divided)
