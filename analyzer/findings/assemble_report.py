"""Assemble the report from facts and derived relations: findings, coverage, problems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import facts
from analyzer.configuration.config import Config
from analyzer.configuration.foreign_suppressions import ForeignNames
from analyzer.configuration.suppressions import judged, mistakes, parse_suppression
from analyzer.evaluation.rulebook import Rulebook
from analyzer.evaluation.unmatched_models import unmatched_models
from analyzer.extraction.collect_facts import Collected
from analyzer.findings.entities import Entities
from analyzer.findings.from_relations import Findings, call_coverage
from analyzer.findings.generated import leave_out_generated
from analyzer.findings.incompleteness import MAX_PLACES, first_places, points_to_cut
from analyzer.findings.presentation import present
from analyzer.findings.source_texts import Texts
from analyzer.findings.statement_lines import Statements
from analyzer.findings.winding_paths import with_short_paths
from analyzer.report import Check, Coarsened, Coverage, Finding, Place, Problem, Report, Suppression
from analyzer.sources.trees import Tree, path_from_scanned

if TYPE_CHECKING:
    import engine


def assemble(
    texts: Texts,
    config: Config,
    book: Rulebook,
    collected: Collected,
    result: engine.Result,
    only: Collection[str] | None = None,
    others: Mapping[str, engine.Result] = MappingProxyType({}),
) -> Report:
    """Return the report of findings and coverage on the tree of `texts`; with `only`, on these paths from the top.

    Of checks that ask for a context policy among the `others`, the findings are those of that evaluation.
    """
    tree = texts.tree

    def concerns(path: str) -> bool:
        return only is None or not path or tree.prefix + path in only

    results = {"": result, **others}
    searched = [Findings(each, checks_of(book, policy, others), texts) for policy, each in results.items()]
    entities = searched[0].entities
    everything = [finding for each in searched for finding in each.collect() if concerns(finding.place.file)]
    abandoned = {place for each in searched for place in each.abandoned}
    findings = everything
    if "audit" not in config.tier:
        findings = with_short_paths(everything, book.checks, abandoned, collected.files)
    comments = [comment for comment in directive_comments(collected.mounted) if concerns(comment[0])]
    suppressions = suppressions_of(comments, config, book, texts)
    presented = present(findings, suppressions, texts, Statements(collected.mounted))
    shown = presented.findings
    left_out: tuple[Finding, ...] = ()
    if not config.include_generated:
        shown, left_out = leave_out_generated(presented.findings, book.checks, texts)
    coverage = replace(
        coverage_of(collected, result, entities, concerns),
        generated=Counter(item.place.file for item in left_out),
        n_weaker=len(everything) - len(findings),
    )
    problems = (
        *from_scanned(book.problems, tree),
        *(each for each in collected.problems if concerns(each.file)),
        *cut_short(results.values(), book),
        *truncations(result, entities, abandoned),
        *(Problem(warning, level="warning") for warning in blind_spots(coverage, book.languages)),
        *(problem for comment in comments for problem in mistakes(*comment, book.known)),
        *from_scanned(models_of_nothing(book, collected), tree),
    )
    ran = {check.id for check in book.checks}
    return Report(
        target=tree.target,
        revision=tree.revision,
        prefix=tree.prefix,
        checks=tuple(book.checks),
        findings=shown,
        left_out=left_out,
        coverage=coverage,
        files=tuple(collected.files),
        problems=problems,
        unused_suppressions=tuple(item for item in presented.unused if judged(item, ran, book.known)),
    )


def suppressions_of(
    comments: Collection[tuple[str, int, str]], config: Config, book: Rulebook, texts: Texts
) -> list[Suppression]:
    """Return what comments suppress in our words and, unless the configuration takes no others, in other tools'."""
    suppressions = [found for comment in comments if (found := parse_suppression(*comment))]
    if not config.own_suppressions_only:
        names = ForeignNames(book.checks)
        for comment in comments:
            suppressions += names.suppressions(*comment, texts.lines(comment[0]))
    return suppressions


def models_of_nothing(book: Rulebook, collected: Collected) -> Iterator[Problem]:
    """Yield warnings about models of the user that nothing in the code matches."""
    for source in book.sources:
        if source.name in book.user:
            yield from unmatched_models(source.name, source.text, collected.mounted)


def from_scanned(problems: Iterable[Problem], tree: Tree) -> Iterator[Problem]:
    """Yield problems of sources with paths relative to the scanned directory instead of the top."""
    return (replace(problem, file=path_from_scanned(tree, problem.file)) for problem in problems)


def cut_short(results: Iterable[engine.Result], book: Rulebook) -> Iterator[Problem]:
    """Yield the checks that were not evaluated because time was up."""
    sources = {clause.span.source for result in results for clause in result.left_out}
    checks = sorted(check.id for source, check in book.by_source.items() if source in sources)
    if checks:
        yield Problem(f"timeout: {len(checks)} of {len(book.checks)} checks were not evaluated: {', '.join(checks)}")
    elif sources:
        yield Problem("timeout: the analysis is incomplete: some paths of findings and counts of calls are missing")


def truncations(result: engine.Result, entities: Entities, abandoned: Collection[Place]) -> Iterator[Problem]:
    """Yield problems for analyses and searches that reached their bounds."""
    yield from points_to_cut(result, entities)
    if abandoned:
        text = f"path search was abandoned; findings without a path: {len(abandoned):,}"
        yield Problem(text, places=tuple(sorted(abandoned)[:MAX_PLACES]))


def coarsened_of(result: engine.Result, entities: Entities) -> dict[str, Coarsened]:
    """Return, by kind, the number of places with coarser analysis and the first of them."""
    rows, found = result.relation("coarsened"), {}
    for kind in sorted(set(rows[0].tolist())):
        found[entities.text(kind)] = Coarsened(*first_places(entities, rows[1, rows[0] == kind]))
    return dict(sorted(found.items()))


def checks_of(book: Rulebook, policy: str, others: Collection[str]) -> list[Check]:
    """Return the checks whose findings are those under a policy of the `others`, or (empty) under none of them."""
    return [check for check in book.checks if (check.context if check.context in others else "") == policy]


def blind_spots(coverage: Coverage, languages: Collection[str]) -> Iterator[str]:
    """Yield warnings for a report without findings because no file, or no check of its language, was analysed."""
    if not coverage.languages:
        yield "no file in a supported language was found"
    naming = {name for name, language in facts.LANGUAGES.items() if not language.makes}
    for language in sorted(coverage.languages.keys() - languages - naming):
        n = coverage.languages[language]
        files = f"{n:,} file{'s' if n > 1 else ''}"
        yield f"no check that ran looks at {language}: {files}, from which there are facts only"


def directive_comments(mounted: facts.Mounted) -> list[tuple[str, int, str]]:
    """Return the file, line and text of the comments that speak to the analyser, in order."""
    symbols = mounted.symbols
    rows = mounted.relations["directive_comment"].T.tolist()
    return sorted((symbols[file], line, symbols[text]) for file, line, text in rows)


def coverage_of(
    collected: Collected, result: engine.Result, entities: Entities, concerns: Callable[[str], bool]
) -> Coverage:
    """Return the coverage; of partly parsed files only those that concern the report."""
    lines: dict[str, set[int]] = defaultdict(set)
    for file, line in collected.mounted.relations["unparsed"].T.tolist():
        lines[collected.mounted.symbols[file]].add(line)
    calls = call_coverage(result)
    return Coverage(
        parsed=len(collected.files) - len(lines),
        lines=sum(source.lines for source in collected.files),
        languages=Counter(source.language for source in collected.files),
        unparsed={path: tuple(sorted(lines[path])) for path in sorted(lines) if concerns(path)},
        skipped={reason: tuple(paths) for reason, paths in sorted(collected.skipped.items())},
        calls_resolved=calls.resolved,
        calls_by_name=calls.by_name,
        calls_unresolved=calls.unresolved,
        coarsened=coarsened_of(result, entities),
    )
