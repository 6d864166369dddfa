"""Fact extraction: source text in, facts out.

What flows in: the bytes of one file and its language. What flows out: that file's facts, path-free, as integer
columns with a local symbol table, in the relations of `schema.dl` — the only contract between extractors and rules.
`mount` puts the facts of files together at their paths: global columns, ready to be loaded by the engine.

Open `schema.dl` first, then `row_builder` (entities and rows), `function_body` (a function under construction:
control flow in `control_flow_graph`, variables in `ssa`), `tree_walk` (from syntax tree to facts, whatever the
language), `python` (the extractor for Python), `mount`.
This package imports none of our other packages.
"""

from facts.facts_codec import FormatError, load, save, version
from facts.file_facts import NIL, FileFacts
from facts.languages import LANGUAGES, extract, language_of, language_of_script, may_be_script, other_content
from facts.minified import is_minified
from facts.mount import LAID_OUT, Mounted, modules_of, mount, mount_files, mount_layout
from facts.schema import text as schema_text

__all__ = [
    "LAID_OUT",
    "LANGUAGES",
    "NIL",
    "FileFacts",
    "FormatError",
    "Mounted",
    "extract",
    "is_minified",
    "language_of",
    "language_of_script",
    "load",
    "may_be_script",
    "modules_of",
    "mount",
    "mount_files",
    "mount_layout",
    "other_content",
    "save",
    "schema_text",
    "version",
]
