"""`analyze serve`: a process that keeps the results for one directory up to date, for editors and other commands."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cli.options import MAX_STATE, Size, report_options
from cli.terminal import say


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--status", is_flag=True, help="Say what the live process of PATH does, and end.")
@click.option("--stop", is_flag=True, help="End the live process of PATH.")
@click.option("--background", is_flag=True, help="Start it in the background, unless it runs.")
@click.option(
    "--idle-minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    metavar="MIN",
    help="End after MIN minutes without a request or a connected editor (default: 30).",
)
@click.option(
    "--memory-limit",
    "memory_bytes",
    type=Size(),
    metavar="SIZE",
    help="End when the process takes more, such as 4G (default: half of the machine's memory).",
)
@report_options
@MAX_STATE
def serve(
    path: Path,
    status: bool,
    stop: bool,
    background: bool,
    idle_minutes: float,
    memory_bytes: int | None,
    max_state_mb: int,
    **flags: Any,
) -> None:
    """Keep the results for PATH up to date while its files change; scans, hooks and editors then answer at once.

    Commands find the process through a socket that only you can reach. It reads files and runs nothing.
    """
    if status + stop + background > 1:
        raise click.UsageError("--status, --stop and --background exclude each other")
    if status or stop:
        raise SystemExit(stopped(path) if stop else told(path))
    if background:
        from analyzer.live.client import connected, started

        own = {"idle_minutes": idle_minutes, "memory_limit": memory_bytes, "max_state_mb": max_state_mb}
        arguments = as_arguments(own | flags)
        with connected(path) or started(path, arguments) as client:
            say(f"live process {client.call('status')['pid']}")
        return
    from analyzer.live.live_repository import LiveRepository
    from analyzer.live.server import Server
    from analyzer.queries.live_methods import LiveMethods

    live = LiveRepository(path.resolve(), flags, max_state_mb << 20)
    methods = LiveMethods.of(live).methods
    server = Server(live, path.resolve(), 60 * idle_minutes, memory_bytes, log, methods)
    server.run(lambda: say(f"listening on {server.place.socket}"))


def log(message: str) -> None:
    """Write a line with the time to standard error."""
    say(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}", err=True)


def told(path: Path) -> int:
    """Print what a live process does; return the exit code."""
    from analyzer.live.client import connected

    if (client := connected(path)) is None:
        say(f"no live process for {path}")
        return 1
    with client:
        found = client.call("status")
    say(f"process {found['pid']} for {found['path']}: {'ready' if found['ready'] else 'evaluating'}")
    say(f"  since      {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(found['since']))}")
    say(f"  memory     {found['bytes'] >> 20:,} MB")
    say(f"  clients    {found['clients'] - 1}")
    say(f"  answered   {found['answered']:,}, the last in {found['last_s']:.2f} s")
    return 0


def stopped(path: Path) -> int:
    """End a live process; return the exit code."""
    from analyzer.live.client import connected

    if (client := connected(path)) is None:
        say(f"no live process for {path}")
        return 1
    with client:
        client.call("stop")
    return 0


def as_arguments(options: Mapping[str, Any]) -> list[str]:
    """Return options as arguments for another process."""
    found = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            found.append(option)
        elif value not in (None, False):
            found += [f"{option}={each}" for each in (value if isinstance(value, tuple) else (value,))]
    return found
