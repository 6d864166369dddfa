"""Facts and results as files, with Soufflé's conventions.

`load` reads what a program's `.input` directives name into a Database; `store` writes what its `.output` directives
name. `directive_files` says where; `text_file`, `json_file`, `sqlite_file` and `parquet_file` read and write one
relation; `value_text` turns records and other values into text and back.
"""

from engine.io.directive_files import file_name
from engine.io.facts_error import FactsError
from engine.io.load_facts import load
from engine.io.store_results import lines, store

__all__ = ["FactsError", "file_name", "lines", "load", "store"]
