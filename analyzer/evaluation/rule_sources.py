"""Files of rules as sources of the engine: each is a module. The schema of facts is none, so all see it."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from itertools import count
from pathlib import PurePath

import engine
import facts
from rules.catalogue import DatalogFile


def fact_schema() -> engine.Source:
    return engine.Source("facts/schema.dl", facts.schema_text())


@cache
def bundled(file: DatalogFile) -> engine.Source:
    return engine.Source(file.name, file.text, module=file.module)


def language_of(source: engine.Source) -> str | None:
    """Return the language that the rules of a bundled source are for: that of its folder, None in other folders."""
    *_, folder, _ = PurePath(source.name).parts
    language = facts.LANGUAGES.get(folder)
    return None if language is None else language.family


def own(name: str, text: str, taken: Collection[str]) -> engine.Source:
    """Return a user's file as a module `own.stem`, with a number where that name is taken."""
    stem = f"own.{PurePath(name).stem}"
    modules = (stem if n == 1 else f"{stem}_{n}" for n in count(1))
    return engine.Source(name, text, trusted=False, module=next(each for each in modules if each not in taken))
