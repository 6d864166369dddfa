"""Which rules derive anything while tests run, and which of the bundled ones never do.

As a plugin of pytest, where RULE_COVERAGE names a directory, it notes there the places of the rules that have derived a
row in evaluations of each test process. Run by itself on that directory, it lists the bundled rules that are missing:

    python tests/rule_coverage.py DIRECTORY
"""

import os
import sys
from pathlib import Path

DIRECTORY = os.environ.get("RULE_COVERAGE")


def pytest_configure():
    if DIRECTORY:
        from engine.evaluation.evaluator import Evaluation

        derived, run = set(), Evaluation.run
        out = Path(DIRECTORY)
        out.mkdir(parents=True, exist_ok=True)

        def noted(evaluation):
            result = run(evaluation)
            before = len(derived)
            derived.update(rule.rule for stratum in result.statistics for rule in stratum.rules if rule.produced)
            if len(derived) > before:
                (out / f"{os.getpid()}.txt").write_text("\n".join(sorted(derived)))
            return result

        Evaluation.run = noted


def main(directory):
    import engine
    from analyzer.evaluation.rulebook import build_rulebook

    derived = {line for file in Path(directory).glob("*.txt") for line in file.read_text().splitlines()}
    program = engine.compile(build_rulebook((), ()).sources)
    spans = ((clause.head.relation, clause.span) for clause in program.clauses if not clause.is_fact)
    rules = {f"{relation} ({span.source}:{span.line})" for relation, span in spans}
    for place in sorted(rules - derived):
        print(place)
    print(f"{len(rules & derived):,} of {len(rules):,} rules have derived something")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1])
