"""`analyze relations`: the relations that queries and rules may read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.terminal import say

if TYPE_CHECKING:
    from analyzer.queries.relation_list import ListedRelation


@click.command()
@click.argument("pattern", required=False)
@click.option("--path", type=click.Path(path_type=Path), default=Path("."), help="Also the rules in PATH (default: .).")
@click.option("-p", "--program", type=click.Path(path_type=Path), metavar="FILE", help="Those of a Datalog program.")
@click.option("--private", is_flag=True, help="Also relations that modules keep to themselves.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
def relations(pattern: str | None, path: Path, program: Path | None, private: bool, format: str) -> None:
    """List relations that 'analyze query' and rules may read, by module: columns, types, and what a row means.

    PATTERN is a part of a name or a module, or a glob (*_target).
    """
    from analyzer.queries.relation_list import relations_of_program, relations_of_rules
    from analyzer.scan import ScanRequest

    found = relations_of_program(program) if program is not None else relations_of_rules(ScanRequest(path))
    fitting = [each for each in found if pattern is None or each.fits(pattern)]
    shown = [each for each in fitting if private or each.kind != "private"]
    if format == "json":
        say(as_json(shown), nl=False)
        return
    from cli.relation_table import print_relations

    print_relations(shown, len(fitting) - len(shown))


def as_json(relations: list[ListedRelation]) -> str:
    from analyzer.escaping import json_text

    return json_text(
        [
            {
                "name": each.name,
                "module": each.module,
                "kind": each.kind,
                "columns": [{"name": name, "type": type} for name, type in each.columns],
                "description": each.description,
                "file": each.file,
                "line": each.line,
            }
            for each in relations
        ]
    )
