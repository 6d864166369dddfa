"""Relations as text, by module."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from analyzer.escaping import printable
from cli.output import terminal
from cli.text import plural

if TYPE_CHECKING:
    from analyzer.queries.relation_list import ListedRelation

PAGE_WIDTH = 120


def print_relations(relations: Sequence[ListedRelation], n_private: int) -> None:
    """Print relations with what their rows mean, and how many private ones are not among them."""
    shown = terminal(PAGE_WIDTH)
    for module, each in groupby(relations, key=lambda relation: relation.module):
        if module:
            shown.print(Text(printable(module), style="bold"))
        for relation in each:
            kind = "" if relation.kind in ("fact", "public") else f"  {relation.kind}"
            line = Text.assemble("  ", (printable(relation.signature), "cyan"), (kind, "dim"))
            shown.print(line, soft_wrap=True)
            if relation.description:
                shown.print(Padding(Text(printable(relation.description), style="dim"), (0, 0, 0, 6)))
    hidden = f", {n_private:,} private ones beside them (--private)" if n_private else ""
    shown.print(Text(f"{plural(len(relations), 'relation')}{hidden}", style="dim"))
