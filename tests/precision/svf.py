"""Scores our points-to by the assertions of SVF's Test-Suite: `python tests/precision/svf.py TREE [--failed]`.

TREE is the suite's `src`; the C programs of basic_c_tests, cs_tests and fs_tests are evaluated one by one. What an
assertion says is checked by the rules of svf.dl: of basic_c_tests by points-to without order, of the others by what
pointers refer to where the assertion stands, as the suite's README says which analysis each folder is for. MAYALIAS,
MUSTALIAS and PARTIALALIAS want the two pointers to share an object, NOALIAS wants none, in any context; EXPECTEDFAIL_X
is an X that the suite's own analyses miss, and is right where X is. What cannot be reached is not asked.
`--context POLICY` evaluates under a context policy, beside C's own call strings.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluation import Evaluate, content, evaluator

from analyzer.context_policies import INSENSITIVE, POLICIES
from facts import extract, mount
from facts.languages import language_of

PARTS = {"basic_c_tests": "may_be_one_ever", "cs_tests": "may_be_one", "fs_tests": "may_be_one"}
"""The relation that tells which pointers may be one, for each folder."""
RULES = Path(__file__).with_suffix(".dl")
WANTED = ("asserted", "location", *sorted(set(PARTS.values())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--failed", action="store_true", help="name each assertion that does not hold")
    parser.add_argument("--only", nargs="+", default=PARTS, metavar="PART", choices=PARTS)
    parser.add_argument("--context", default=INSENSITIVE, metavar="POLICY", choices=[INSENSITIVE, *POLICIES])
    arguments = parser.parse_args()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with TemporaryDirectory() as directory:
        evaluate = evaluator(RULES, WANTED, Path(directory))
        for part in arguments.only:
            for path in sorted((arguments.tree / part).glob("*.c")):
                for line, assertion, aliases in assertions(evaluate, path, arguments.context):
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


def assertions(evaluate: Evaluate, path: Path, policy: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each assertion of a program that can run: its line, its name, and whether the two pointers may alias."""
    result = evaluate(mount([(path.name, extract(path.read_bytes(), language_of(path.name)))]), policy)
    lines = dict(zip(*result.relation("location")[[0, 2]].tolist(), strict=True))
    aliased = {content(result, call) for call in result.relation(PARTS[path.parent.name])[0].tolist()}
    calls, names = result.relation("asserted")
    asserted = zip(calls.tolist(), result.symbols.texts(names), strict=True)
    for place, (call, name) in {content(result, call): (call, name) for call, name in asserted}.items():
        yield lines[call], name, place in aliased


if __name__ == "__main__":
    main()
