"""Facts and results as files, with Soufflé's conventions.

`load` reads what a program's `.input` directives name into a Database; `store` writes what its `.output` directives
name. `directive_files` says where; `text_file`, `json_file`, `sqlite_file` and `parquet_file` read and write one
relation; `value_text` turns records and other values into text and back.
"""

from typing import TYPE_CHECKING

from engine.lazy_import import load_on_use

if TYPE_CHECKING:
    from engine.io.directive_files import file_name as file_name
    from engine.io.facts_error import FactsError as FactsError
    from engine.io.load_facts import load as load
    from engine.io.store_results import lines as lines
    from engine.io.store_results import store as store

PUBLIC = {
    "FactsError": "engine.io.facts_error",
    "file_name": "engine.io.directive_files",
    "lines": "engine.io.store_results",
    "load": "engine.io.load_facts",
    "store": "engine.io.store_results",
}

__getattr__ = load_on_use(__name__, PUBLIC)
