"""`analyze update`: incremental maintenance of a Datalog program's results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import JOBS
from cli.terminal import say, warn

if TYPE_CHECKING:
    from engine.incremental import UpdateSummary

DIRECTORY = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("program", type=click.Path(path_type=Path))
@click.option("--state", required=True, type=DIRECTORY, metavar="DIRECTORY", help="Directory of the saved state.")
@click.option("--delta", type=DIRECTORY, metavar="DIRECTORY", help="NAME.insert.facts and NAME.delete.facts to apply.")
@click.option("-F", "--facts", type=DIRECTORY, metavar="DIRECTORY", help="NAME.facts for the first run.")
@click.option("-D", "--output", default=".", type=DIRECTORY, metavar="DIRECTORY", help="Of NAME.csv (default: .).")
@click.option(
    "--policy",
    type=click.Choice(["predicted", "elastic", "update", "bootstrap", "raced"]),
    default="predicted",
    help="When to evaluate from scratch instead of updating (default: predicted).",
)
@click.option(
    "--scheduler",
    type=click.Choice(["level", "lbl", "interval", "hybrid"]),
    default="hybrid",
    help="Scheduler of strata (default: hybrid).",
)
@click.option("--number-width", type=click.Choice(["32", "64"]), default="32", help="Bits of numbers (default: 32).")
@click.option("--wait", type=click.FloatRange(0), metavar="SECONDS", help="Wait for other runs (default: 600).")
@JOBS
def update(
    program: Path,
    state: Path,
    delta: Path | None,
    facts: Path | None,
    output: Path,
    policy: str,
    scheduler: str,
    number_width: str,
    wait: float | None,
    jobs: int | None,
) -> None:
    """Update the results of the Datalog program PROGRAM after insertions and deletions of facts.

    The first run evaluates it on the facts of -F and saves the state; later runs apply a delta to the state. Outputs
    are written in full, as by `analyze run`.
    """
    from analyzer.engine_errors import coded_errors
    from engine.incremental import update_program

    options = {} if wait is None else {"wait_s": wait}
    with coded_errors(program):
        output.mkdir(parents=True, exist_ok=True)
        done = update_program(
            program,
            state,
            output,
            delta=delta,
            facts=facts,
            policy=policy,
            scheduler=scheduler,
            number_bits=int(number_width),
            threads=jobs,
            waiting=lambda: say(f"another run is using {state}; waiting for its end", err=True),
            **options,
        )
    show(done)


def show(done: UpdateSummary) -> None:
    """Print the outputs that go to standard output, then what was done."""
    if done.damage:
        warn(f"{done.reason}; the program was evaluated anew on the facts given")
    for line in done.lines:
        say(line)
    say(f"{done.strategy}: {done.reason}")
    say(f"{done.elapsed_s:.3f} s, {done.loaded_s:.3f} s to load the state, {done.saved_s:.3f} s to save it")
    for name, (inserted, deleted) in sorted(done.changes.items()):
        if inserted or deleted:
            say(f"{name}\t+{inserted}\t-{deleted}")
