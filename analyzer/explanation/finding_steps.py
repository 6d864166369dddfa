"""Why something is found: the steps from source to sink, each with its reasons, or what the check looked at.

The steps of tainted data are those of the report (`analyzer/findings/taint_paths.py`); why there is such a step is
derived from the relations that are maintained, and folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from analyzer.explanation.folded import Folder, Reason
from analyzer.explanation.source_writer import SourceWriter
from analyzer.findings.entities import Entities
from analyzer.findings.from_relations import WAYS
from analyzer.findings.source_texts import Texts
from analyzer.findings.taint_paths import Paths
from analyzer.report import Finding, Place
from engine.incremental import MaintainedProgram
from engine.provenance import Document, Explainer, Tuple

SINK = "sink"


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """A step of a finding: what stands there, what happens, and why."""

    place: Place | None
    text: str
    words: str
    reasons: tuple[Reason, ...]

    def document(self) -> Document:
        place = {} if self.place is None else {"file": self.place.file, "line": self.place.line}
        return {**place, "text": self.text, "step": self.words, "because": [each.document() for each in self.reasons]}


class FindingSteps:
    """The explanations of findings by the relations of a view."""

    def __init__(self, view: MaintainedProgram, texts: Texts) -> None:
        self.view, self.entities = view, Entities(view.result())
        self.writer = SourceWriter(view.program, view, self.entities, texts)
        self.explainer = Explainer(view, writer=self.writer, most_tuples=0)
        relations = view.program.relations
        columns = {name: tuple(column.name for column in held.columns) for name, held in relations.items()}
        self.folder = Folder(columns)

    @cached_property
    def paths(self) -> Paths:
        return Paths(self.view.result(), self.entities)

    def tuple_of(self, finding: Finding) -> tuple[int, int, int] | None:
        """Return the row of `finding` that a finding was made from, if it is there."""
        rows = self.view.columns("finding").T.tolist()
        for check, entity, detail in sorted(rows, key=lambda row: self.entities.chain(row[1])):
            if self.entities.text(check) == finding.check and self.entities.place(entity) == finding.place:
                return check, entity, detail
        return None

    def whole(self, row: tuple[int, ...]) -> Document | None:
        """Return the derivation of a finding in full."""
        return self.explainer.why(("finding", row))

    def steps(self, row: tuple[int, int, int]) -> list[ExplainedStep]:
        """Return the steps of a finding: from source to sink, or one with all that is told of it."""
        check, entity, _ = row
        nodes = self.paths.find_nodes(check, entity) or []
        if not nodes:
            reasons = (*self._rules(row), *self._reasons(("finding", row)))
            return [*self._evidence(check, entity), self._step(entity, "found", reasons)]
        found = []
        for number, (node, way) in enumerate(nodes):
            value = self.paths.value(node)
            facts = [("source_node", (check, node))] if number == 0 else self._taint_steps(nodes[number - 1][0], node)
            found.append(self._step(value, WAYS[way], self._reasons(*facts[:1])))
        sink = self._reasons(("sink_node", (check, entity, nodes[-1][0])), ("finding", row))
        path_reasons = {reason for step in found for reason in step.reasons}
        found.append(self._step(entity, SINK, tuple(reason for reason in sink if reason not in path_reasons)))
        return merged(found)

    def _evidence(self, check: int, entity: int) -> list[ExplainedStep]:
        """Return the places that the check shows beside a finding, in order."""
        rows = self.explainer.derivations.tuples.matching("evidence", {0: check, 1: entity}).T.tolist()
        return [self._step(step, self.entities.text(words), ()) for _, _, _, step, words in sorted(rows)]

    def _rules(self, row: tuple[int, ...]) -> Iterator[Reason]:
        """Yield the rules of the check by which it suspects a place, as they are written."""
        document = self.explainer.why(("finding", row), closed=self.folder.words.closed)
        parts = [] if document is None else [part["tuple"] for part in document.get("body", ()) if "tuple" in part]
        for suspect in (document, *parts):
            if suspect is not None and suspect["relation"] == "suspect" and "rule" in suspect:
                yield Reason(suspect["rule"]["text"], f"{suspect['rule']['file']}:{suspect['rule']['line']}")

    def _taint_steps(self, source: int, target: int) -> list[Tuple]:
        rows = self.explainer.derivations.tuples.matching("taint_step", {0: source, 1: target})
        return [("taint_step", tuple(row)) for row in sorted(rows.T.tolist())]

    def _reasons(self, *facts: Tuple) -> tuple[Reason, ...]:
        return tuple(dict.fromkeys(reason for fact in facts for reason in self._told(fact)))

    def _told(self, fact: Tuple) -> Iterator[Reason]:
        document = self.explainer.why(fact, closed=self.folder.words.closed)
        if document is not None:
            yield from self.folder.fold(document)

    def _step(self, entity: int, words: str, reasons: tuple[Reason, ...]) -> ExplainedStep:
        place = self.entities.place(entity)
        text = self.writer.entity(entity).rpartition(" (")[0] if place else self.writer.entity(entity)
        return ExplainedStep(place, text, words, reasons)


def merged(steps: list[ExplainedStep]) -> list[ExplainedStep]:
    """Return the steps with those of one place in a row put together: a reader sees no difference."""
    found: list[ExplainedStep] = []
    for step in steps:
        if found and found[-1].place == step.place and step.words in ("", found[-1].words):
            last = found.pop()
            step = ExplainedStep(
                last.place, last.text, last.words, tuple(dict.fromkeys((*last.reasons, *step.reasons)))
            )
        found.append(step)
    return found
