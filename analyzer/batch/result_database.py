"""The SQLite file of a batch: repositories, their files and findings, merged from the data sets."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.batch import result_files
from analyzer.errors import AnalyzeError
from analyzer.outputs.sqlite import FILES, FINDINGS

if TYPE_CHECKING:
    from sqlite_utils import Database

FILE = "findings.sqlite"


def merge(workspace: Path, names: Iterable[str]) -> None:
    """Write the database of a workspace, with the repositories in this order. Raises AnalyzeError S001."""
    import sqlite3

    import sqlite_utils

    path = workspace / f".tmp-{FILE}"
    path.unlink(missing_ok=True)
    try:
        database = sqlite_utils.Database(path)
        # The file is of no use before it is whole, and then it is moved into place.
        database.execute("pragma synchronous = off")
        with database.atomic():
            create_tables(database)
            for name in names:
                (row,) = result_files.read(workspace, name, "coverage")
                database.table("repositories").insert({"name": name, **row})
                for table in ("files", "findings"):
                    rows = ({"repository": name, **row} for row in result_files.read(workspace, name, table))
                    database.table(table).insert_all(rows)
        database.close()
        os.replace(path, workspace / FILE)
    except (sqlite3.Error, OSError) as error:
        raise AnalyzeError("S001", f"cannot write the database {workspace / FILE}: {error}") from None


def create_tables(database: Database) -> None:
    database.table("repositories").create({"name": str, **result_files.COVERAGE}, pk="name")
    key = [("repository", "repositories", "name")]
    database.table("files").create({"repository": str, **FILES}, foreign_keys=key)
    database.table("findings").create({"repository": str, **FINDINGS}, foreign_keys=key)
    database.table("findings").create_index(["repository", "rule"])
    database.table("findings").create_index(["fingerprint"])
    database.table("files").create_index(["repository"])
