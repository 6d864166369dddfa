"""`analyze doctor`: check the environment."""

from __future__ import annotations

import click


@click.command()
@click.option("--warm", "warmed", is_flag=True, help="Compile rules and kernels now, for an image or a cache.")
def doctor(warmed: bool) -> None:
    """Check the environment, and say what to install."""
    from itertools import chain

    from rich.text import Text

    from analyzer.doctor import examine, warm
    from cli.terminal import console

    shown = console()
    failed = False
    for check in chain(examine(), warm() if warmed else ()):
        failed |= check.required and not check.ok
        mark = ("✓", "green") if check.ok else ("✗", "red") if check.required else ("–", "yellow")
        shown.print(Text.assemble(" ", mark, f" {check.name:<20}", check.detail))
        if not check.ok:
            shown.print(Text(f"   {'':<20}{check.help}", style="dim"))
    raise SystemExit(2 if failed else 0)
