"""Scores our points-to by the assertions of PointerBench: `python tests/precision/pointerbench.py TREE [--failed]`.

TREE is a checkout. Each program is evaluated with the classes of `benchmark`. An assertion is a name in `mayAlias` or
`notMayAlias` of a `Benchmark.test`: the target and the named access path share an object that was made at the
allocation, or they do not. `mustAlias` is not asked: points-to tells what may be. So that paths mean what they do where
the assertion stands, they are put behind the arguments of the call before facts are extracted; what they may be is told
by the rules of pointerbench.dl. `--context POLICY` evaluates under a context policy.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluation import Evaluate, content, evaluator

from analyzer.context_policies import INSENSITIVE, POLICIES
from facts import extract, mount
from facts.languages import language_of

RULES = Path(__file__).with_suffix(".dl")
WANTED = ("asserted", "share")
TEST = re.compile(r'Benchmark\s*\.test\(\s*"([^"]*)",\s*((?:"[^"]*"\s*\+?\s*)+)\)')
GROUP = re.compile(r"\{(?:allocId:\s*(\d+)|NULLALLOC)\s*,(.*?)\}")
NAMES = re.compile(r"\b(mayAlias|notMayAlias)\s*:\s*\[([^\]]*)\]")
FIRST_PATH = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--failed", action="store_true", help="name each assertion that does not hold")
    parser.add_argument("--context", default=INSENSITIVE, metavar="POLICY", choices=[INSENSITIVE, *POLICIES])
    arguments = parser.parse_args()
    with TemporaryDirectory() as directory:
        score(arguments, evaluator(RULES, WANTED, Path(directory)))


def score(arguments: argparse.Namespace, evaluate: Evaluate) -> None:
    right = total = 0
    shared = {path: path.read_text(errors="replace") for path in sorted(arguments.tree.rglob("benchmark/*/*.java"))}
    for path in sorted(arguments.tree.rglob("*.java")):
        text = path.read_text(errors="replace")
        if path in shared or not TEST.search(text):
            continue
        files = {str(file.relative_to(arguments.tree)): text for file, text in shared.items()}
        files[str(path.relative_to(arguments.tree))] = TEST.sub(with_paths, text)
        for what, holds in judged(evaluate, files, arguments.context):
            total += 1
            right += holds
            if arguments.failed and not holds:
                print(f"{path.stem}: {what}")
    print(f"right {right}/{total} ({right / total:.1%})")


def with_paths(call: re.Match[str]) -> str:
    """Return the call with the access paths behind its two texts: the target, then all that are named."""
    target, expected = call[1], literal(call[2])
    return f'Benchmark.test("{target}", "{expected}", {", ".join(paths(target, expected))})'


def literal(concatenation: str) -> str:
    return "".join(re.findall(r'"([^"]*)"', concatenation))


def paths(target: str, expected: str) -> list[str]:
    named = [name for _, _, name in assertions(expected)]
    return list(dict.fromkeys([target, *named]))


def assertions(expected: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the allocation ("any" where there is none), whether the paths may alias, and the named path."""
    for allocation, lists in GROUP.findall(expected):
        for kind, names in NAMES.findall(lists):
            for name in filter(None, map(str.strip, names.split(","))):
                yield allocation or "any", kind == "mayAlias", name


def judged(evaluate: Evaluate, files: dict[str, str], policy: str) -> Iterator[tuple[str, bool]]:
    """Yield each assertion of a program, and whether it holds."""
    result = evaluate(mount((name, extract(text.encode(), language_of(name))) for name, text in files.items()), policy)
    calls, first, second, allocation = result.relation("share")
    places = [content(result, call) for call in calls.tolist()]
    share = set(zip(places, first.tolist(), second.tolist(), result.symbols.texts(allocation), strict=True))
    calls, expected = result.relation("asserted")
    texts = {name: text for text in files.values() for name in re.findall(r'Benchmark\.test\("([^"]*)"', text)}
    asserted = zip(calls.tolist(), result.symbols.texts(expected), strict=True)
    for place, text in {content(result, call): text for call, text in asserted}.items():
        target = target_of(text, texts)
        named = paths(target, text)
        for allocation, may, name in assertions(text):
            position = FIRST_PATH + named.index(name)
            holds = ((place, FIRST_PATH, position, allocation) in share) == may
            yield f"{target} and {name} {'may' if may else 'may not'} alias by {allocation}", holds


def target_of(expected: str, texts: dict[str, str]) -> str:
    return next(target for target, text in texts.items() if f'Benchmark.test("{target}", "{expected}"' in text)


if __name__ == "__main__":
    main()
