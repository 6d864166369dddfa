"""Explanations of the tuples that a Datalog program derives from files of facts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analyzer.engine_errors import coded_errors
from analyzer.errors import AnalyzeError
from analyzer.escaping import json_text
from analyzer.explanation.questions import Extent
from engine.provenance import Document, Explainer, as_dot, as_text, explainer_of_file

FORMATS = ("text", "json", "dot")


@dataclass(frozen=True, slots=True)
class Explanations:
    """Explanations of tuples that match an atom, and how many more match it."""

    documents: list[Document]
    more: int = 0

    def render(self, format: str) -> str:
        """Return them in one of FORMATS. Raises AnalyzeError A009 where there is no graph to draw."""
        if format == "json":
            return json_text({"explanations": self.documents, "more": self.more})
        if format == "dot":
            if any("rules" in document for document in self.documents):
                raise AnalyzeError(
                    "A009", "a tuple that is not there has no derivation to draw", help="use --format text"
                )
            return "".join(map(as_dot, self.documents))
        blocks = ["\n".join(as_text(document)) for document in self.documents]
        if self.more:
            blocks.append(f"{self.more} more match; see them with --limit {self.more + len(self.documents)}")
        return "\n\n".join(blocks) + "\n"


def explain_atom(
    program: Path, facts: Path, atom: str, extent: Extent, *, number_bits: int = 32, jobs: int | None = None
) -> Explanations:
    """Explain the tuples of a program that match an atom; if there is none, why not.

    Raises AnalyzeError: R001 for an atom that does not fit the program, A009 for a derivation that there is not, others
    as `analyze run` does.
    """
    with coded_errors(program):
        return explained(explainer_of_file(program, facts, number_bits=number_bits, threads=jobs), atom, extent)


def explained(explainer: Explainer, atom: str, extent: Extent) -> Explanations:
    """Explain the tuples that match an atom; if there is none, why not."""
    pattern, found = explainer.matches(atom)
    if not found:
        return Explanations([explainer.why_not(pattern)])
    documents = []
    for fact in found[: extent.limit]:
        document = explainer.why(fact, extent.number, extent.depth)
        if document is None:
            message = f"{explainer.content(fact)} has no derivation {extent.number}"
            raise AnalyzeError("A009", message, help="give a smaller number; the lowest derivation is 1")
        documents.append(document)
    return Explanations(documents, len(found) - len(documents))
