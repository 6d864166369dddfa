"""One question: which tainted data reaches the sinks on a line? It is answered on demand.

Of the checks only those on tainted data run, and taint starts at the sources whose data does harm there
(`rules/exports/line_question.dl`): where no sink stands on the line, it starts nowhere. Points-to and the call graph
are needed in full, for what negates them: what a value may be depends on stores anywhere. So the findings are those
that a whole scan has on the line, paths included.
"""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from analyzer.errors import AnalyzeError
from analyzer.evaluation.rulebook import Rulebook
from analyzer.report import Report
from analyzer.sources.trees import scanned_directory
from facts import Mounted
from rules import library

IN_QUESTION = "in_question"
EVERY_SINK = "rules/lib/taint_question.dl"


@dataclass(frozen=True, slots=True)
class Question:
    """A line of a scanned file, by its path from the scanned directory."""

    file: str
    line: int

    @classmethod
    def parse(cls, text: str, target: Path) -> Question:
        """Read FILE:LINE, the file by its path from the working directory. Raises AnalyzeError A007."""
        file, _, line = text.rpartition(":")
        if not file or not line.isascii() or not line.isdigit():
            help = "write FILE:LINE, such as app/views.py:12"
            raise AnalyzeError("A007", f"'{text}' is not FILE:LINE", help=help)
        path = os.path.relpath(file, scanned_directory(target)).replace(os.sep, posixpath.sep)
        return cls(path, int(line))

    def narrow(self, book: Rulebook) -> None:
        """Reduce the rulebook to the sources that the answer needs."""
        book.leave_out({name for name in book.by_source if not _is_on_taint(book, name)})
        asked = library.line_question()
        book.sources = [
            replace(source, name=asked.name, text=asked.text) if source.name == EVERY_SINK else source
            for source in book.sources
        ]

    def bind(self, mounted: Mounted) -> Mounted:
        """Return the facts with the entities on the line. Raises AnalyzeError A007 for a file that is not scanned."""
        files = {mounted.symbols[file] for file in np.unique(mounted.relations["module"][3]).tolist()}
        if self.file not in files:
            help = "give its path relative to the working directory"
            raise AnalyzeError("A007", f"{self.file} is not among the scanned files", help=help)
        return replace(mounted, relations={**mounted.relations, IN_QUESTION: self.entities(mounted)})

    def entities(self, mounted: Mounted) -> np.ndarray:
        """Return the entities on the line, [1, n]; one without a location has that of its scope."""
        location, scopes = mounted.relations["location"], mounted.entities[0]
        place = np.zeros(len(scopes) + 1, np.int64)
        place[location[0]] = np.arange(1, location.shape[1] + 1)
        while (lacking := np.flatnonzero(place[1:] == 0)).size:
            found = place[scopes[lacking]]
            if not found.any():
                break
            place[lacking + 1] = found
        is_there = (location[1] == mounted.symbols.index(self.file)) & (location[2] == self.line)
        return np.flatnonzero(np.append(False, is_there)[place]).astype(np.int32)[None, :]

    def answer(self, report: Report) -> Report:
        """Return the report reduced to findings on the line."""
        findings = (f for f in report.findings if (f.place.file, f.place.line) == (self.file, self.line))
        return replace(report, findings=tuple(findings), unused_suppressions=())


def _is_on_taint(book: Rulebook, name: str) -> bool:
    return any(
        source.name == name and re.search(r"\b(?:taint|library)_check\(", source.text) for source in book.sources
    )
