"""Differential fuzzing: random programs, evaluated by the engine and by Soufflé, or where there is none by the oracle.

    python tests/conformance/fuzz.py --souffle PATH/TO/souffle --programs 5000

What differs is printed with the seed, and its program kept under `--keep`. Exit code 1 if any does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import engine
from engine import tables
from engine.queries import evaluate_outputs

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "oracle")]
import reference  # noqa: E402
from generator import Made, generate  # noqa: E402
from souffle import compare_lines  # noqa: E402

LIMIT_S = 60


class Rejected(Exception):
    """One of the two engines does not take a program; says which, and why."""


def against_souffle(made: Made, souffle: Path, directory: Path) -> str | None:
    """Return in what the engine and Soufflé differ on a program, or None."""
    file, own, theirs = directory / "program.dl", directory / "own", directory / "theirs"
    file.write_text(made.text)
    for output in (own, theirs):
        output.mkdir()
    done = subprocess.run(
        [souffle, "-w", "-D", theirs, file], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    try:
        program = engine.compile([made.text])
    except engine.ProgramError as error:
        if done.returncode == 0:
            return f"rejected by the engine only: {str(error)[:300]}"
        raise Rejected("both") from None
    if done.returncode != 0:
        raise Rejected(f"Soufflé: {souffle_error(done.stderr)}")
    result = evaluate_outputs(program, lambda needed: engine.load(needed, directory), threads=1)
    engine.store(program, result, own)
    for name in made.outputs:
        found, wanted = (rows_of(at / f"{name}.csv", made.outputs[name]) for at in (own, theirs))
        difference = compare_lines(wanted, found)
        if difference:
            return f"{name}: {difference}"
    return None


def rows_of(file: Path, kinds: tuple[str, ...]) -> list[str]:
    """The lines of an output, floats with the six digits that Soufflé writes."""
    rows = (line.split("\t") for line in file.read_text().splitlines())
    return [
        "\t".join(f"{float(value):.6g}" if kind == "float" else value for kind, value in zip(kinds, row, strict=True))
        if kinds
        else ""
        for row in rows
    ]


def souffle_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("Error")] or text.splitlines() or ["?"]
    return lines[0].partition(" in file")[0][:90]


def against_oracle(made: Made) -> str | None:
    """Return in what the engine and the oracle differ on a program, or None."""
    try:
        program = engine.compile([made.text])
    except engine.ProgramError as error:
        raise Rejected(str(error.diagnostics[0].code)) from None
    expected = reference.evaluate(program)
    result = engine.evaluate(program, engine.facts(program, {}), threads=1)
    found = tables.decode(program, result, program.relations)
    differing = [name for name in expected if set(map(repr, found[name])) != set(map(repr, expected[name]))]
    return ", ".join(differing) or None


def check(seed: int, souffle: Path | None, keep: Path | None) -> str:
    """Return "same", "rejected: …" or "differs: …" for the program of a seed."""
    made = generate(seed)
    try:
        if souffle is None:
            difference = against_oracle(made)
        else:
            with tempfile.TemporaryDirectory() as directory:
                difference = against_souffle(made, souffle, Path(directory))
    except Rejected as why:
        return f"rejected: {why}"
    except subprocess.TimeoutExpired:
        return f"rejected: Soufflé takes more than {LIMIT_S} s"
    if difference is None:
        return "same"
    if keep is not None:
        keep.mkdir(exist_ok=True, parents=True)
        (keep / f"{seed}.dl").write_text(made.text)
    return f"differs: {difference}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--souffle", type=Path, help="Soufflé's binary; without one, the oracle is asked")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--keep", type=Path, help="a directory for the programs that differ")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.programs):
        outcome = check(seed, options.souffle, options.keep)
        counts[outcome if outcome.startswith("rejected") else outcome.partition(":")[0]] += 1
        if outcome.startswith("differs"):
            print(f"{seed} {outcome}", flush=True)
    for outcome, n in counts.most_common():
        print(f"{n:6} {outcome}")
    return int(counts["differs"] > 0)


if __name__ == "__main__":
    sys.exit(main())
