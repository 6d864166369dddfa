"""Why a check reports nothing at a place, in words of the domain."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analyzer.escaping import json_text
from analyzer.evaluation.line_query import Question
from analyzer.evaluation.program import FLOW, SINK, compile_cached
from analyzer.evaluation.rule_sources import bundled
from analyzer.explanation.folded import COLUMN
from analyzer.explanation.obstacles import Search
from analyzer.explanation.questions import Silence
from analyzer.explanation.tree_questions import Scanned, opened, scanned
from analyzer.explanation.trial import WANTED, Obstacle, Trial
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.findings.entities import NIL
from analyzer.live.live_repository import LiveRepository
from analyzer.report import Report
from analyzer.scan import ScanRequest
from analyzer.sources.frozen_tree import FrozenTree
from engine import CheckedProgram
from engine.incremental import CannotUpdate
from engine.provenance import Document
from rules import catalogue, library

KINDS = {FLOW: "flow", "sink": "sink", "origin": "source", "taint_path": "guard"}


@dataclass(frozen=True, slots=True)
class Missing:
    """A thing that keeps a check from reporting a place, in words; `tuple` is what was tried, if anything was.

    `model` is a fact of models that says as much.
    """

    kind: str
    words: str
    place: str = ""
    tuple: str = ""
    model: str = ""

    def document(self) -> Document:
        found: Document = {"kind": self.kind, "reason": self.words}
        found |= {"at": self.place} if self.place else {}
        found |= {"tuple": self.tuple} if self.tuple else {}
        return found | ({"model": self.model} if self.model else {})


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The answer: the reasons, of which each by itself keeps the check from reporting, but for those in one list."""

    check: str
    where: str
    reasons: list[list[Missing]]
    is_reported: bool = False

    def document(self) -> Document:
        reasons = [[each.document() for each in together] for together in self.reasons]
        return {"check": self.check, "at": self.where, "reported": self.is_reported, "reasons": reasons}

    def render(self, format: str) -> str:
        return json_text(self.document()) if format == "json" else "\n".join(self.lines()) + "\n"

    def lines(self) -> Iterator[str]:
        said = "is reported at" if self.is_reported else "is not reported at"
        yield f"{self.check} {said} {self.where}"
        if not self.reasons and not self.is_reported:
            yield "  no single thing was found that keeps data from it: nothing near reaches this place"
        for number, together in enumerate(self.reasons, 1):
            for each in together:
                mark = f"{number:>3}  " if each is together[0] else "     and then "
                yield f"{mark}{each.words}" + (f"  ({each.place})" if each.place else "")
                if each.tuple:
                    yield f"       with {each.tuple} it is reported"
                if each.model:
                    yield f"       a model that says so: {each.model}"


def why_not(
    path: Path, check: str, where: str, begin: str | None, flags: Mapping[str, Any], progress: Progress = silent
) -> WhyNot:
    """Return why a check reports nothing at FILE:LINE of a working tree, of data from `begin`, another FILE:LINE.

    Raises AnalyzeError: A007 for what is not FILE:LINE, R002 for a check that there is not.
    """
    asked = Silence.parse(path, check, where, begin)
    with opened(path, flags, progress) as repository:
        return why_silent(repository, asked)


def why_silent(
    repository: LiveRepository, asked: Silence, request: ScanRequest | None = None, tree: FrozenTree | None = None
) -> WhyNot:
    """Return the answer for a tree, or the files as they are, by options that the relations are maintained for.

    A check that does not run by them is evaluated for itself. Raises AnalyzeError, and Refused for other options.
    """
    tree = tree or repository.frozen()
    not_run = [*not_selected(repository, tree, asked.check)]
    if not not_run:
        return answer(scanned(repository, request, tree), asked, [])
    with opened(repository.path, flags_for(asked.check, repository.flags), repository.progress) as other:
        return answer(scanned(other), asked, not_run)


def answer(held: Scanned, asked: Silence, not_run: list[Missing]) -> WhyNot:
    """Return the answer from relations in which the check is evaluated; `not_run` says why it is not selected."""
    reasons = [[each] for each in not_looked_at(held.report, asked.line)]
    if not reasons:
        is_found, suppressed = reported(held.report, asked.check, asked.line)
        reasons = [[each] for each in (*not_run, *suppressed)]
        if is_found:
            return WhyNot(asked.check, asked.where, reasons, not reasons)
        try:
            with searchable(held):
                reasons += obstacles(held, asked.check, asked.line, asked.begin)
        except CannotUpdate as error:
            text = f"what would be found otherwise cannot be tried: {error}; ask with --from FILE:LINE, or in a part"
            reasons.append([Missing("bound", text)])
    return WhyNot(asked.check, asked.where, reasons)


def flags_for(check: str, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that select one check alone, whatever its tier."""
    return {**flags, "rules": (check,), "tier": tuple({*flags.get("tier", ()), tier_of(check)} - {"default"})}


@contextmanager
def searchable(held: Scanned) -> Iterator[None]:
    """Maintain what a search reads beside a report. Where the search ends with an exception, the relations are gone."""
    repository = held.repository
    book = repository.settings_of(held.tree).book

    def make() -> CheckedProgram:
        sources = [*book.sources, bundled(library.why_not())]
        program = compile_cached(sources, repository.state.path, None).only_sources({source.name for source in sources})
        declared = program.declarations
        read = replace(declared, relations={name: declared.relations[name] for name in WANTED}, strata=())
        return program.beyond(read, repository.view.relations)

    try:
        repository.extend(make)
        yield
    except BaseException:
        repository.forget()
        raise


def tier_of(check: str) -> str:
    return next((each.tier for each in catalogue.checks() if each.id == check), "default")


def not_looked_at(report: Report, question: Question) -> Iterator[Missing]:
    """Yield why a file, or the line, was not analysed."""
    for reason, paths in report.coverage.skipped.items():
        if question.file in paths:
            yield Missing("file", f"the file was not analysed: {reason}")
            return
    if question.file not in {file.path for file in report.files}:
        yield Missing("file", "the file is not among those analysed: excluded, ignored, or in no language known")
    elif question.line in report.coverage.unparsed.get(question.file, ()):
        yield Missing("file", "the line could not be parsed")


def reported(report: Report, check: str, question: Question) -> tuple[bool, list[Missing]]:
    """Return whether there is a finding, and why it is not shown."""
    for finding in (*report.findings, *report.left_out):
        if finding.check == check and (finding.place.file, finding.place.line) == (question.file, question.line):
            if finding.suppression is not None:
                line = finding.suppression.line
                return True, [Missing("suppressed", f"it is found, and suppressed by the comment in line {line}")]
            if finding in report.left_out:
                return True, [Missing("generated", "it is found, and left out: the file is generated")]
            return True, []
    return False, []


def not_selected(repository: LiveRepository, tree: FrozenTree, check: str) -> Iterator[Missing]:
    """Yield why a check does not run by the settings of a repository."""
    settings = repository.settings_of(tree)
    if check in {each.id for each in settings.book.checks}:
        return
    tier = tier_of(check)
    if tier != "default" and tier not in settings.config.tier:
        yield Missing("tier", f"the check is of the tier '{tier}', which does not run: --tier {tier}")
    else:
        yield Missing("off", "the check is not among those selected")


def obstacles(held: Scanned, check: str, question: Question, source: Question | None) -> Iterator[list[Missing]]:
    """Yield what keeps the check from reporting, each with the obstacles before it."""
    view = held.repository.view
    mounted = held.repository.follower.collected().mounted
    (symbol,) = view.symbols.intern([check]).tolist()
    with Trial(held.steps, symbol, question.entities(mounted)[0]) as trial:
        for words, name in sorted(
            (trial.text(words), trial.text(name)) for _, words, name in trial.listed("unreported")
        ):
            yield [Missing("report", words.replace("{name}", name))]
        begin = [] if source is None else values_of(trial, source.entities(mounted)[0].tolist())
        yield from each_once(held, trial, Search(trial, begin).obstacles() or missing_atoms(held, trial))


def each_once(held: Scanned, trial: Trial, found: list[Obstacle]) -> Iterator[list[Missing]]:
    """Yield obstacles in words, those that read alike once."""
    seen: set[tuple[str, ...]] = set()
    for obstacle in found:
        together = [told(held, trial, each) for each in obstacle.all]
        told_before = tuple(f"{each.words} {each.place}" for each in together)
        if told_before not in seen:
            seen.add(told_before)
            yield together


def missing_atoms(held: Scanned, trial: Trial) -> list[Obstacle]:
    """Return the tuples of which one alone keeps a rule of the check from suspecting the place, each verified."""
    found = []
    for place in sorted(trial.places.tolist(), key=trial.order):
        for relation in ("suspect", "finding"):
            for rule, (name, row) in held.steps.explainer.missing(relation, (trial.check, place, None)):
                words = f"the rule at {rule} needs one thing more: {held.steps.writer.atom(name, row)}"
                found.append(Obstacle(name, row, 5, words, "", place, place))
    return [each for each in found if trial.would_find([each])]


def values_of(trial: Trial, entities: list[int]) -> list[int]:
    """Return the entities that are values: blocks, functions and the like are none."""
    others = {row[0] for name in ("block", "function", "class", "module", "cell") for row in trial.listed(name)}
    return [entity for entity in entities if entity not in others and entity != NIL]


def told(held: Scanned, trial: Trial, obstacle: Obstacle) -> Missing:
    """Return an obstacle in words, with its values as source text."""
    writer, entities = held.steps.writer, held.steps.entities
    values = {name: writer.entity(getattr(obstacle, name)) for name in ("value", "target")}
    values["name"] = obstacle.name
    words = COLUMN.sub(lambda match: values.get(match[1], match[0]), obstacle.words)
    place = entities.place(obstacle.target)
    where = f"{posixpath.normpath(place.file)}:{place.line}" if place else ""
    tried = writer.atom(obstacle.relation, obstacle.row)
    return Missing(KINDS.get(obstacle.relation, "rule"), words, where, tried, remedy(trial, obstacle))


def remedy(trial: Trial, obstacle: Obstacle) -> str:
    """Return the fact of models that stands for an obstacle's tuple; empty if there is none."""
    sought = obstacle.relation, obstacle.value, obstacle.target
    rows = ((trial.text(relation), value, target, model) for relation, value, target, model in trial.listed("remedy"))
    models = [trial.text(model) for *found, model in rows if tuple(found) == sought]
    kind = f'"{trial.text(obstacle.row[0])}"' if obstacle.relation == SINK else ""
    return min((model for model in models if kind in model), default="")
