"""All output to terminals, pipes and logs: control characters are escaped. A test enforces that nothing bypasses it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from analyzer.escaping import printable_lines

if TYPE_CHECKING:
    from rich.console import Console


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print lines to standard output, or to standard error."""
    click.echo(printable_lines(text), err=err, nl=nl)


def warn(*messages: str) -> None:
    """Print a line for each warning to standard error."""
    for message in messages:
        say(f"warning: {message}", err=True)


def console(**options: Any) -> Console:
    """Return a console that reads no markup, follows no links, and cleans all text that it prints."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class SafeConsole(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(printable_lines(segment.text), unlinked(segment))

    def unlinked(segment: Segment) -> Any:
        return segment.style.update_link(None) if segment.style and segment.style.link else segment.style

    return SafeConsole(highlight=False, markup=False, emoji=False, **options)
