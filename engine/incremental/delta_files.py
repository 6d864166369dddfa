"""Facts inserted and deleted, in files: NAME.insert.facts and NAME.delete.facts, or the same in Parquet."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from engine.database import Columns
from engine.incremental.maintained_program import MaintainedProgram
from engine.io.directive_files import Input, device
from engine.io.facts_error import FactsError
from engine.io.value_text import Interner
from engine.storage.record_table import RecordTable

FILE = re.compile(r"(?P<relation>.+)\.(?P<change>insert|delete)\.(?P<form>facts|parquet)")
READERS = {"facts": "engine.io.text_file", "parquet": "engine.io.parquet_file"}
TEXT_DEVICES = ("file", "stdin")


class KnownRecords(Interner):
    """Gives records the ids that they have in some tables; those that are new get one there."""

    def __init__(self, view: MaintainedProgram) -> None:
        super().__init__(view.program.records, view.symbols, view.program.number_bits)
        self.known: Mapping[str, RecordTable] = view.records

    def intern(self, table: str, fields: Sequence[int]) -> int:
        known = self.known[table]
        row = np.array(fields, known.dtype).reshape(-1, 1)
        return int(known.construct(row, 1, np.arange(len(row)))[0])


def read_delta(
    directory: Path, view: MaintainedProgram, unread: Collection[str] = ()
) -> tuple[dict[str, Columns], dict[str, Columns]]:
    """Return the facts that a directory inserts and deletes, by relation. Raises FactsError, and OSError.

    Text is read as the `.input` directive of the relation says. Files of `unread` inputs, which no output depends on,
    are not read, as in an evaluation.
    """
    interner = KnownRecords(view)
    found: dict[str, dict[str, Columns]] = {"insert": {}, "delete": {}}
    for path in sorted(directory.iterdir()):
        named = FILE.fullmatch(path.name)
        if named is None:
            if path.suffix in (".facts", ".parquet"):
                raise FactsError(path, 0, "the files of a delta are named NAME.insert.facts and NAME.delete.facts")
            continue
        if named["relation"] in unread:
            continue
        name, columns = named["relation"], found[named["change"]]
        source = Input(view.program.relations.get(name), path, parameters_of(name, view, path), interner)
        rows = import_module(READERS[named["form"]]).read(source)
        columns[name] = np.concatenate([columns[name], rows], axis=1) if name in columns else rows
    return found["insert"], found["delete"]


def parameters_of(name: str, view: MaintainedProgram, path: Path) -> dict[str, str]:
    """Return the format parameters of a relation's text. Raises FactsError if the program does not read it."""
    directives = [directive for directive in view.program.inputs if directive.relation == name]
    if not directives:
        known = ", ".join(sorted({directive.relation for directive in view.program.inputs}))
        raise FactsError(path, 0, f"the program has no input '{name}'; inputs: {known}")
    return next((dict(each.parameters) for each in directives if device(each) in TEXT_DEVICES), {})
