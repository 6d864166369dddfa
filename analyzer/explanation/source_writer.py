"""Values of relations as a reader of the source knows them: entities by their text and place."""

from __future__ import annotations

import posixpath

from analyzer.findings.entities import NIL, Entities
from analyzer.findings.source_texts import Texts
from engine import CheckedProgram
from engine.incremental import MaintainedProgram
from engine.provenance import AtomWriter, Type

LONGEST = 50
"""Characters of a quotation from the source."""


class SourceWriter(AtomWriter):
    """Writes atoms with entities as `'text' (file:line)`, and other records with their fields so."""

    def __init__(self, program: CheckedProgram, view: MaintainedProgram, entities: Entities, texts: Texts) -> None:
        super().__init__(program, view)
        self.entities, self.texts, self.view = entities, texts, view
        self._known: dict[tuple[str, int], str] = {}

    def value(self, value: int, type: Type) -> str:
        if type.record is None or value == NIL:
            return super().value(value, type)
        key = type.record, value
        if key not in self._known:
            self._known[key] = self.entity(value) if type.record == "Entity" else self._record(type.record, value)
        return self._known[key]

    def entity(self, entity: int) -> str:
        """Return an entity by its text; a definition, which spans lines, by its name, and a module by its file."""
        place = self.entities.place(entity)
        chain = [part.rpartition("#")[0] for part in self.entities.chain(entity).split("/")[1:]]
        if place is None:
            return f"'{chain[-1]}'" if chain and chain[-1] else f"'{self.entities.label(entity)}'"
        if self.entities.label(entity) == place.file:
            return posixpath.normpath(place.file)
        text = self.texts.region(place) if place.line == place.end_line else self.entities.label(entity)
        text = text if 0 < len(text) <= LONGEST else self.entities.label(entity) or text[: LONGEST - 1] + "…"
        return f"'{text}' ({posixpath.normpath(place.file)}:{place.line})"

    def _record(self, table: str, id: int) -> str:
        fields = self.program.records[table].fields
        row = self.view.records[table].columns[:, id - 1].tolist()
        return f"[{', '.join(self.value(value, field.type) for value, field in zip(row, fields, strict=True))}]"
