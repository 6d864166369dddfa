"""`analyze doctor`: check the environment."""

from __future__ import annotations

import click


@click.command()
def doctor() -> None:
    """Check the environment, and say what to install."""
    from rich.text import Text

    from analyzer.doctor import examine
    from cli.terminal import console

    shown = console()
    failed = False
    for check in examine():
        failed |= check.required and not check.ok
        mark = ("✓", "green") if check.ok else ("✗", "red") if check.required else ("–", "yellow")
        shown.print(Text.assemble(" ", mark, f" {check.name:<20}", check.detail))
        if not check.ok:
            shown.print(Text(f"   {'':<20}{check.help}", style="dim"))
    raise SystemExit(2 if failed else 0)
