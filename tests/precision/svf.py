"""Scores our points-to by the assertions of SVF's Test-Suite: `python tests/precision/svf.py TREE [--failed]`.

TREE is the suite's `src`; the C programs of basic_c_tests, cs_tests and fs_tests are evaluated one by one. What an
assertion says is checked by the rules of svf.dl. MAYALIAS, MUSTALIAS and PARTIALALIAS want the
two pointers to share an object, NOALIAS wants none; EXPECTEDFAIL_X is an X that the suite's own analyses miss, and is
right where X is.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import engine
from facts import extract, mount, schema_text
from facts.languages import language_of
from rules import library

PARTS = ("basic_c_tests", "cs_tests", "fs_tests")
RULES = Path(__file__).with_suffix(".dl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--failed", action="store_true", help="name each assertion that does not hold")
    parser.add_argument("--only", nargs="+", default=PARTS, metavar="PART", choices=PARTS)
    arguments = parser.parse_args()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    program = compiled()
    for part in arguments.only:
        for path in sorted((arguments.tree / part).glob("*.c")):
            for line, assertion, aliases in assertions(program, path):
                holds = aliases != assertion.endswith("NOALIAS")
                for group in (part, assertion, ""):
                    total[group] += 1
                    right[group] += holds
                if arguments.failed and not holds:
                    print(f"{part}/{path.name}:{line}: {assertion}")
    for group in sorted(total):
        if group:
            print(f"{group}: {right[group]}/{total[group]}")
    print(f"right {right['']}/{total['']} ({right[''] / total['']:.1%})")


def compiled() -> engine.CheckedProgram:
    sources = [("facts/schema.dl", schema_text()), *library.analysis(), (RULES.name, RULES.read_text())]
    outputs = "".join(f".output {name}\n" for name in ("asserted", "may_be_one", "location"))
    return engine.compile([engine.Source(name, text) for name, text in [*sources, ("outputs.dl", outputs)]])


def assertions(program: engine.CheckedProgram, path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield each assertion of a program that can run: its line, its name, and whether the two pointers may alias."""
    mounted = mount([(path.name, extract(path.read_bytes(), language_of(path.name)))])
    database = engine.Database(engine.Symbols(mounted.symbols), {"Entity": mounted.entities}, mounted.relations)
    result = engine.evaluate(program, database, threads=1)
    lines = dict(zip(*result.relation("location")[[0, 2]].tolist(), strict=True))
    aliased = set(result.relation("may_be_one")[0].tolist())
    calls, names = result.relation("asserted")
    for call, name in zip(calls.tolist(), result.symbols.texts(names), strict=True):
        yield lines[call], name, call in aliased


if __name__ == "__main__":
    main()
